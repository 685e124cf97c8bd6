#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tc/engine/compile/compile.h"
#include "tc/layout/rewrite/apply.h"

namespace tc::engine {

/// Seconds that a run of \p function, which holds no calls, may take on \p arguments: it is scheduled and mapped as \p options
/// say, and strategy::price() sums its clusters. No pass is carried out and nothing is compiled or measured. Good for comparing
/// programs that compute the same. Where options.libraries takes a routine for it, it is as many times as cheap as the prices of
/// libraries tell; where they tell nothing, as dear as own code, or as moving its operands in each of its runs. Nothing where no model prices the target, or a quota ran out before the mapping.
///
/// Throws as map_launches().
std::optional<double> price_function(const std::shared_ptr<const Function>& function,
                                     const std::vector<Argument>& arguments, const CompileOptions& options);

/// The same of \p def, without calls, for \p sizes with tensors in \p layouts, and dense ones else. Nothing, too, where it cannot
/// take them.
std::optional<double> price_in_layouts(const lang::InlinedDef& def, const lang::SizeMap& sizes,
                                       const layout::Layouts& layouts, const CompileOptions& options);

/// Does a library that options.libraries allows compute \p def, without calls, in these layouts? No, too, where it cannot take
/// them.
bool library_takes(const lang::InlinedDef& def, const lang::SizeMap& sizes, const layout::Layouts& layouts,
                   const CompileOptions& options);

}  // namespace tc::engine
