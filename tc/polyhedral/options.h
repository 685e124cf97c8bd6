#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tc::polyhedral {

/// Max: fuse whenever legal. Min: never. Preserve3Coincident: fuse while the fused band keeps as many coincident
/// members as each part had, or three.
enum class FusionStrategy { Max, Preserve3Coincident, Min };

/// How statements are scheduled and mapped. Values the strategy fills in when they are not given.
struct MappingOptions {
  FusionStrategy fusion = FusionStrategy::Preserve3Coincident;
  bool allow_skewing = false;      ///< schedule rows may be sums of several iterators
  bool positive_orthant = true;    ///< schedule coefficients are not negative
  std::vector<std::int64_t> tile;  ///< sizes for each cluster's outer band; empty: the strategy chooses; 0: not tiled
  bool parallel = true;            ///< outer coincident loops on the thread pool
  bool vectorise = true;
  bool promote = true;             ///< temporaries and accumulators in local buffers
  unsigned long quota = 2'000'000; ///< isl operations a phase may take before a simpler schedule is used; 0: no limit

  bool operator==(const MappingOptions&) const = default;
};

/// For example "fusion=max,tile=32x32,parallel=1"; every field that differs from its default, "" for none.
std::string to_string(const MappingOptions& options);
/// The inverse of to_string. Throws OptionsError that names the field and lists what it may be.
MappingOptions parse_mapping_options(std::string_view text);
/// Throws OptionsError for values that mean nothing (negative tile sizes, ...).
void validate(const MappingOptions& options);

}  // namespace tc::polyhedral
