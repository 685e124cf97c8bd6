#pragma once

#include "test/support/fuzz_run.h"

/// How random programs are compiled, by their seeds.
namespace tc::test {

/// Options, a target of CPUs and strides for \p program. Contractions mostly go without tiles of the user and have
/// caches small enough for blocks and packed copies; statements over parts of tensors are fused, in tiles that vectors do
/// not divide.
FuzzSetting cpu_setting_of(const RandomProgram& program);

/// The same with a target of grids. Contractions whose sizes are whole tiles get options that leave or vary the copies of
/// operands, which run ahead.
FuzzSetting grid_setting_of(const RandomProgram& program);

}  // namespace tc::test
