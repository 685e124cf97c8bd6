// Random programs over the whole grammar, compiled with random options and run on random sizes and strides, against the
// interpreter. A failure prints a reduced program.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=1 build/bin/fuzz_test     one program, printed first
//   TC_FUZZ_COUNT=20000 build/bin/fuzz_test                  a long run
//   TC_FUZZ_CONTRACTIONS=100 build/bin/fuzz_test             percent of the programs that are contractions

#include <gtest/gtest.h>

#include "test/support/fuzz_settings.h"

namespace tc::test {
namespace {

TEST(CompiledPrograms, AgreeWithTheInterpreter) {
  fuzz_programs(
      200, cpu_setting_of,
      [](const auto& function, Arguments& arguments, engine::CompileOptions options, const RandomProgram& program) {
        if (!options.target.instructions->on_this_machine()) options.target = Target::parse("cpu");
        return mismatch(function, arguments, options, program.tolerance);
      });
}

}  // namespace
}  // namespace tc::test
