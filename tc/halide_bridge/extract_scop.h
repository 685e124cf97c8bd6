#pragma once

#include "tc/halide_bridge/program.h"
#include "tc/polyhedral/scop.h"

namespace tc::halide_bridge {

/// One launch of \p program as a scop in program order. Statement ids are the program's.
///
/// Reads come in the order the value names them, left to right, depth first, subscripts before the access that uses
/// them. A subscript that is affine (also with / and % by positive constants) is exact; another one makes the access
/// "any index of that dimension". Affine guards of if_then_else around an access restrict its relation. Parameters,
/// returns and temporaries that other launches use are live in or out as their role says. Strides are row-major; the
/// engine sets those of arguments.
polyhedral::Scop extract_scop(const Program& program, std::size_t launch);

}  // namespace tc::halide_bridge
