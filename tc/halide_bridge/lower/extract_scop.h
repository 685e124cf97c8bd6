#pragma once

#include <memory>

#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::halide_bridge {

/// Has \p statement, of \p program, no instance, whatever symbolic sizes are?
bool is_empty(const Program& program, const ProgramStatement& statement);

/// One launch of \p program as a scop in program order. Statement ids are the program's.
///
/// Reads come in the order the value names them, left to right, depth first, subscripts before the access that uses
/// them. A subscript that is affine (also with / and % by positive constants) is exact; another one makes the access
/// "any index of that dimension". Affine guards of if_then_else around an access restrict its relation. Parameters,
/// returns and temporaries that other launches use are live in or out as their role says. Strides are row-major; the
/// engine sets those of arguments. The scop is made in \p context; null: in one of its own. Ends as check_cancelled() says.
polyhedral::Scop extract_scop(const Program& program, std::size_t launch,
                              std::shared_ptr<polyhedral::Context> context = nullptr);

}  // namespace tc::halide_bridge
