#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/compile/compile.h"
#include "tc/strategy/grid/tile_units.h"
#include "test/support/oracle.h"

namespace tc::test {

/// The text of the nest in which units compute a product of \p function for arguments like \p arguments, in the first of
/// \p tiles that fits; nothing where none does. It replaces the stage `nest` of a compile with \p options. Throws as
/// engine::compile.
std::optional<std::string> unit_nest(const std::shared_ptr<const engine::Function>& function,
                                     const Arguments& arguments, const engine::CompileOptions& options,
                                     const std::vector<strategy::UnitTile>& tiles);

}  // namespace tc::test
