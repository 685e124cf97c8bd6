#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// options.constants, each with its place among the parameters of \p function, for \p inputs like these.
/// Throws ArgumentError for a name that no parameter has or two constants, and for one that is not like the input of its
/// place; OptionsError where the target is no CPU, whose memory they are in.
std::vector<Constant> check_constants(const Function& function, const std::vector<TensorSpec>& inputs,
                                      const CompileOptions& options);

/// The names of the parameters that \p constants are for.
std::set<std::string> names_of(const std::vector<Constant>& constants);

/// \p whole with \p constants, which have places, bound: it takes the other inputs alone.
///
///   before  f(X, W) -> (Y)   launch 0: X W Y          after  f(X) -> (Y)   launch 0: X constant_0 Y
std::shared_ptr<const Executable> bind_constants(const std::shared_ptr<const Executable>& whole,
                                                 const std::vector<Constant>& constants);

}  // namespace tc::engine
