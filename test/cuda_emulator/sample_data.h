#pragma once

#include "test/support/program_file.h"

namespace tc::test {

/// Gives each parameter of \p function that subscripts use and that \p program says nothing of a range of values: such that no
/// check refuses the arguments that make_arguments() draws, where one number does for all of them. A subscript that is such an
/// element and nothing else takes all that is in bounds.
void complete_data(ProgramFile& program, const engine::Function& function, const lang::SizeMap& sizes);

}  // namespace tc::test
