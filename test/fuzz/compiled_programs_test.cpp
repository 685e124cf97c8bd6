// Random programs over the whole grammar, compiled with random options and run on random sizes and strides, against the
// interpreter. A failure prints a reduced program.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=1 build/bin/fuzz_test     one program, printed first
//   TC_FUZZ_COUNT=20000 build/bin/fuzz_test                  a long run
//   TC_FUZZ_CONTRACTIONS=100 build/bin/fuzz_test             percent of the programs that are contractions

#include <gtest/gtest.h>

#include <random>

#include "tc/base/str.h"
#include "tc/engine/define/late_inlining.h"
#include "tc/engine/graph/symbolic_sizes.h"
#include "test/support/from_environment.h"
#include "test/support/fuzz_settings.h"
#include "test/support/random/random_loops.h"

namespace tc::test {
namespace {

/// Runs \p executable, of \p program, for its sizes: what differs from the interpreter, or nothing.
std::optional<std::string> differs(const std::shared_ptr<const engine::Executable>& executable,
                                   const engine::Function& function, const RandomProgram& program) {
  Arguments arguments;
  try {
    arguments = arguments_for(program, function);
  } catch (const ArgumentError&) {
    return std::nullopt;
  }
  std::optional<std::vector<HostTensor>> want;
  try {
    want = interpreted(function, arguments);
  } catch (const ArgumentError&) {
  }
  auto given = arguments.input_views(), made = arguments.output_views();
  try {
    engine::bind_sizes(executable, function, arguments.input_specs())->run(given, made);
  } catch (const ArgumentError& error) {
    return want ? std::optional(str("the run is refused: ", error.what())) : std::nullopt;
  }
  if (!want) return "the run accepts what the interpreter refuses";
  for (const auto* tensors : {&arguments.inputs, &arguments.outputs})
    for (const auto& tensor : *tensors)
      if (!tensor.guards_intact()) return "the run writes beside a tensor";
  return first_difference(function, arguments.outputs, *want, program.tolerance);
}

/// Symbolic sizes of a program whose code is proved right for all of their values: of more, the laws of ASTs take minutes.
constexpr std::size_t most_proved = 2;

/// Random programs whose sizes are symbolic, some or all, up to those that they have, run for sizes below them. Those whose ranges
/// are not affine in their sizes are refused.
TEST(CompiledPrograms, AgreeForAllValuesOfSymbolicSizes) {
  int taken = 0, refused = 0;
  fuzz_programs(16, cpu_setting_of,
                [&](const auto& given, Arguments& arguments, engine::CompileOptions options,
                    const RandomProgram& program) -> std::optional<std::string> {
                  if (!options.target.instructions->on_this_machine()) options.target = Target::parse("cpu");
                  const auto function = engine::inlined(given);
                  std::mt19937_64 random(program.seed);
                  for (const auto& [name, size] : program.sizes)
                    if (size > 0 && random() % 3 > 0) options.symbolic[name] = 1;
                  if (options.symbolic.empty()) return std::nullopt;
                  options.stages.verify = options.symbolic.size() <= most_proved;
                  std::vector<TensorSpec> specs;
                  for (const auto& spec : arguments.input_specs()) specs.push_back(contiguous(spec.dtype, spec.shape));
                  std::shared_ptr<const engine::Executable> made;
                  try {
                    made = engine::compile(function, specs, {}, options);
                  } catch (const OptionsError&) {
                    ++refused;
                    return std::nullopt;
                  }
                  ++taken;
                  for (int run = 0; run < 6; ++run) {
                    auto smaller = program;
                    for (const auto& [name, least] : options.symbolic)
                      if (run > 0) smaller.sizes[name] = 1 + static_cast<std::int64_t>(random() % smaller.sizes[name]);
                    if (auto wrong = differs(made, *function, smaller)) {
                      std::string sizes;
                      for (const auto& [name, size] : smaller.sizes) sizes += str(" ", name, "=", size);
                      return str("for", sizes, ": ", *wrong);
                    }
                  }
                  return std::nullopt;
                });
  std::printf("%d programs with symbolic sizes, %d refused\n", taken, refused);
  EXPECT_GT(taken, refused);
}

/// Random programs with ordered loops.
TEST(CompiledPrograms, AgreeOverLoops) {
  static const std::vector<std::string> mappings = {"",
                                                    "fusion=max",
                                                    "fusion=min,tile=4x8",
                                                    "promote=0,tile=0x16",
                                                    "parallel=0,vectorise=0,promote=0",
                                                    "fusion=max,tile=3x5x2"};
  static const std::vector<std::string> targets = {"cpu", "cpu:avx2", "cpu:plain"};
  const auto first = from_environment("TC_FUZZ_SEED", 1), count = from_environment("TC_FUZZ_COUNT", 24);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const ProgramFile program = random_loops(seed);
    if (count == 1) std::puts(program.text.c_str());
    SCOPED_TRACE(str("seed ", seed, "\n", program.text));
    const auto function = function_of(program, "loops");
    const auto arguments = make_arguments(*function, program, program.runs.front());
    engine::CompileOptions options;
    options.target = Target::parse(targets[seed % targets.size()]);
    if (!options.target.instructions->on_this_machine()) options.target = Target::parse("cpu");
    options.mapping = options::MappingOptions::parse(mappings[seed / targets.size() % mappings.size()]);
    const auto wrong = mismatch(function, arguments, options);
    EXPECT_FALSE(wrong) << *wrong << "\nsizes " << program.runs.front().at("T") << ' ' << program.runs.front().at("N")
                        << ' ' << program.runs.front().at("M");
  }
}

TEST(CompiledPrograms, AgreeWithTheInterpreter) {
  fuzz_programs(
      32, cpu_setting_of,
      [](const auto& function, Arguments& arguments, engine::CompileOptions options, const RandomProgram& program) {
        if (!options.target.instructions->on_this_machine()) options.target = Target::parse("cpu");
        return mismatch(function, arguments, options, program.tolerance);
      });
}

}  // namespace
}  // namespace tc::test
