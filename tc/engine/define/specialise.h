#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tc/engine/define/function.h"

namespace tc::engine {

/// The integer scalar parameters of \p def whose values its ranges and strides are made of.
///
///   def pool(int s, float(N) X) -> (O) { O(i) max=! X(s * i + k) where k in 0:s }      s
std::vector<std::string> valued_parameters(const lang::Def& def);

/// \p function for \p values of these parameters, as a text of one def of the same parameters. Throws ArgumentError where
/// one has no value, or where the def cannot have it: a stride of 0, say.
std::string specialised_text(const std::shared_ptr<const Function>& function, const lang::SizeMap& values);

/// The function of that text; \p function itself where no parameter decides ranges.
std::shared_ptr<const Function> specialised(const std::shared_ptr<const Function>& function,
                                            const lang::SizeMap& values);

}  // namespace tc::engine
