#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/compile/compile_options.h"
#include "tc/strategy/grid/tile_units.h"
#include "test/support/oracle.h"

namespace tc::test {

/// The text of the nest in which units compute a product of \p function for \p inputs and \p outputs, in the first of
/// \p tiles that fits; nothing where none does. Units are those of a warp or, \p groups, of a group with the columns of the
/// tile. It replaces the stage `nest` of a compile with \p options. Throws as
/// engine::compile.
std::optional<std::string> unit_nest(const std::shared_ptr<const engine::Function>& function,
                                     const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                                     const engine::CompileOptions& options,
                                     const std::vector<strategy::UnitTile>& tiles, bool groups = false);
inline std::optional<std::string> unit_nest(const std::shared_ptr<const engine::Function>& function,
                                            const Arguments& arguments, const engine::CompileOptions& options,
                                            const std::vector<strategy::UnitTile>& tiles, bool groups = false) {
  return unit_nest(function, arguments.input_specs(), arguments.output_specs(), options, tiles, groups);
}

}  // namespace tc::test
