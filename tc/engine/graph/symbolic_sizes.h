#pragma once

#include <memory>
#include <vector>

#include "tc/engine/graph/symbolic_graph.h"

/// One code for many values of a size.
namespace tc::engine {

/// The values of a symbolic size of value \p size, at least 1, for which one code is made, where \p count sizes are symbolic.
/// A range ends at a multiple of the end before it, a smaller one where more sizes multiply, because temporaries have room for
/// the largest values. 1 is a range of its own, because loops over it vanish.
///
///   one size   1   2..4   5..16   17..64   65..512   513..4096   ...        two   1   2..4   5..16   17..64   65..256   ...
lang::SizeRange range_around(std::int64_t size, std::size_t count);

/// The executable for tensors like these of code for ranges of the sizes that \p options.dynamic names, which \p compile_for makes.
/// A def is compiled in parts as for the largest sizes; what is compiled of it is given again to further calls where \p keeps. Where no code
/// for ranges can be, the executable of code for these sizes alone; CompileStats::sizes says why.
std::shared_ptr<const Executable> compile_for_ranges(const std::shared_ptr<const Function>& function,
                                                     const std::vector<TensorSpec>& inputs,
                                                     const std::vector<TensorSpec>& outputs,
                                                     const CompileOptions& options, const CompileFor& compile_for,
                                                     bool keeps);

/// \p whole, of \p function and options.symbolic, for tensors like \p inputs: it holds the values that its code is told, so it
/// takes the same tensors as any executable for these. Shares the code. Throws ArgumentError for sizes that the code is not for.
std::shared_ptr<const Executable> bind_sizes(const std::shared_ptr<const Executable>& whole, const Function& function,
                                             const std::vector<TensorSpec>& inputs);

/// The code of \p executable, also of one that was loaded, for other \p inputs: those of its image, with other values of the sizes that its code is
/// for any values of. Throws ArgumentError for sizes that the code is not for, and for code without such sizes.
std::shared_ptr<const Executable> for_inputs(const std::shared_ptr<const Executable>& executable,
                                             const std::vector<TensorSpec>& inputs);

/// The ranges that the code of \p image is for, "B from 9 to 64"; "" for fixed sizes.
std::string ranges_text(const Image& image);

}  // namespace tc::engine
