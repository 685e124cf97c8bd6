#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "test/support/oracle.h"
#include "test/support/random/random_program.h"

namespace tc::test {

/// One way to compile a random program and to lay out its tensors.
struct FuzzSetting {
  std::string options, target;
  bool strided = false;
};

/// What is wrong with a program compiled as the options say, or nothing. May throw what a compile throws.
using FuzzCheck = std::function<std::optional<std::string>(const std::shared_ptr<const engine::Function>&, Arguments&,
                                                           const engine::CompileOptions&, const RandomProgram&)>;

/// Random arguments of \p function, of the text of \p program: inputs, and the outputs that it infers for them. Throws as
/// infer_output_tensor_info().
Arguments arguments_for(const RandomProgram& program, const engine::Function& function, bool strided = false);

/// Checks random programs, each with the setting that \p setting_of gives it, and fails the test with a reduced program
/// for every one that \p check finds wrong. The environment chooses:
///
///   TC_FUZZ_SEED=123          the first seed, else \p first
///   TC_FUZZ_COUNT=20000       how many, else \p count; a single one is printed first
///   TC_FUZZ_CONTRACTIONS=100  percent of the programs that are contractions, else as \p options say
///   TC_FUZZ_RAGGED=100        percent of the others whose reductions have ranges between elements, and triangles
///   TC_FUZZ_PARTS=100         percent of the others that mostly assign again to parts of tensors
void fuzz_programs(std::uint64_t count, const std::function<FuzzSetting(const RandomProgram&)>& setting_of,
                   const FuzzCheck& check, RandomOptions options = {}, std::uint64_t first = 1);

}  // namespace tc::test
