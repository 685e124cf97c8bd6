#pragma once

#include <string>
#include <vector>

#include "tc/base/target.h"
#include "tc/engine/define/function.h"
#include "tc/engine/run/executable.h"

namespace tc::autotuner {

/// One choice: an option, or one number of an option that has several, and what it may be as text. values[0] is "": not
/// given, the strategy chooses.
struct Gene {
  std::string option;
  int position = 0;
  std::vector<std::string> values;
};

/// What can be chosen for a def, the sizes of its tensors and a machine.
///
///   tile, reduction_block      for each extent e powers of two up to it, and ceil(e / 2^k)
///   register_tile              rows and columns
///   reduction_parts            powers of two up to the longest reduction with few results
///   parallel_along, vector_along     one of the iterators (a processor)
///   block, grid                threads in x and y, blocks in x (a GPU)
///   cooperative                where there may be several kernels: of statements, or of parts of a reduction (a GPU)
///   gather_reuse               where tensors are read through others (a GPU)
///   fusion, allow_skewing, unroll, promote_bytes, ...     where statements, windows, reductions, temporaries make them matter
///
/// All choices are legal, but for products of numbers that exceed a limit (SearchSpace::normalised): what cannot be
/// done is left out by the compiler.
std::vector<Gene> genes_of(const engine::Function& function, const std::vector<engine::Argument>& arguments,
                           const Target& target);

/// The number that \p text is, -1 for none.
std::int64_t number_of(const std::string& text);

}  // namespace tc::autotuner
