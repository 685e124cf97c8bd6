#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/halide_bridge/lower/program.h"

namespace tc::halide_bridge {

/// Strides beyond this are left: nothing in a network strides further than a patch of an image.
inline constexpr std::int64_t most_residues = 32;

/// An iterator of a result whose remainder tells that of one that is reduced over.
struct Residue {
  std::string left, reduction;
  std::size_t dimension = 0;  ///< of the target, that `left` subscripts
  std::int64_t stride = 0;
  std::vector<std::int64_t> matching;  ///< for each remainder of `left` without its minimum, that of `reduction`
};

/// The dimension of what \p statement writes that \p iterator runs through, whole.
std::optional<std::size_t> written_dimension(const ProgramStatement& statement, const std::string& iterator,
                                             const ProgramTensor& target);

/// The residues that the conditions of \p statement tell, no iterator in two of them, and none that is \p kept:
///
///   O(h) +=! (h - k) % 2 == 0 ? X((h - k) / 2) * W(k) : 0      left h, reduction k, stride 2, matching {0, 1}
std::vector<Residue> residues_of(const ProgramStatement& statement, const ProgramTensor& target,
                                 const std::set<std::string>& kept);

}  // namespace tc::halide_bridge
