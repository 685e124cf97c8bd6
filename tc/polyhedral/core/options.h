#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tc::polyhedral {

/// Max: fuse whenever legal. Min: never. Preserve3Coincident: fuse while the fused band keeps as many coincident
/// members as each part had, or three.
enum class FusionStrategy { Max, Preserve3Coincident, Min };

/// How statements are scheduled and mapped, as the passes take it. tc/options/mapping_options.h is what users write: it
/// validates, and its defaults are these.
struct MappingOptions {
  FusionStrategy fusion = FusionStrategy::Preserve3Coincident;
  bool allow_skewing = false;      ///< schedule rows may be sums of several iterators
  bool positive_orthant = true;    ///< schedule coefficients are not negative
  std::vector<std::int64_t> tile;  ///< sizes for each cluster's outer band; empty: the strategy chooses; 0: not tiled
  bool parallel = true;            ///< outer coincident loops on the thread pool
  bool vectorise = true;
  bool promote = true;              ///< temporaries and accumulators in local buffers
  unsigned long quota = 2'000'000;  ///< isl operations a phase may take before a simpler schedule is used; 0: no limit
  std::int64_t promote_bytes = 0;   ///< of temporaries a tile keeps in local buffers; 0: the strategy chooses
  std::int64_t vector_bytes = 0;    ///< of the widest vectors; 0: the target's
  std::vector<std::int64_t> register_tile;  ///< rows and columns of accumulators; empty: the strategy chooses
  std::int64_t unroll = 0;                  ///< vectors in flight along a reduction's own loop; 0: the strategy chooses
  bool pack = true;                         ///< operands of tiled reductions in packed copies, where that pays
  std::int64_t reduction_block = 0;  ///< iterations of a tiled reduction's outermost loop; 0: the strategy chooses
  bool prefetch = true;  ///< what a later iteration reads is asked for where the processor cannot foresee it
  std::int64_t prefetch_distance = 0;       ///< iterations ahead; 0: chosen for what is read
  std::vector<std::string> parallel_along;  ///< iterators along which loops run on threads, where that is legal
  std::vector<std::string> vector_along;    ///< iterators along which lanes run, where that is legal and pays

  std::vector<std::int64_t> grid;   ///< blocks at most, in x, y, z; empty: the strategy chooses
  std::vector<std::int64_t> block;  ///< threads of a block at most; empty: the strategy chooses
  bool shared = true;               ///< copies and temporaries in memory that the threads of a block share
  bool registers = true;            ///< accumulators and temporaries of one thread in its registers
  std::int64_t shared_bytes = 0;    ///< of such memory, for a block; 0: what the target gives without asking
  bool reduce_in_block = true;      ///< all threads of a block reduce a row
  std::int64_t unroll_limit = 0;    ///< iterations of a thread that are unrolled at most; 0: the strategy chooses
  bool cooperative =
      false;  ///< kernels that run one after the other are phases of one, whose blocks wait for each other
  std::int64_t gather_reuse = 0;  ///< reads by a block of each element that it copies through index tensors, at least;
                                  ///< 0: the strategy chooses
  /// Where inner loops run on threads too: iterations of shared outer members for which a statement that does not
  /// accumulate gives up others; 0: none suffice. Clusters are kernels then, so the statements that compute one number
  /// are one cluster.
  std::int64_t fuse_rows = 0;
  std::int64_t reduction_parts =
      0;                         ///< parts of a reduction that run beside each other; 1: none, 0: the strategy chooses
  bool batch_invariant = false;  ///< the order of a sum depends on the lengths of its reductions alone
  std::string nest;              ///< of some clusters, in one line (nest_line.h); "": the strategy chooses

  bool operator==(const MappingOptions&) const = default;
};

}  // namespace tc::polyhedral
