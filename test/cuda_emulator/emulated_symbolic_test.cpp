// Random programs whose sizes are symbolic, some or all, compiled for CUDA once for a range and run in the emulator for several
// values of it, against the interpreter. A failure prints a reduced program. TC_FUZZ_SEED, TC_FUZZ_COUNT as for emulated_fuzz_test.

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "tc/base/str.h"
#include "tc/engine/define/late_inlining.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/fuzz_settings.h"

namespace tc::test {
namespace emulated_symbolic {

/// Symbolic sizes of a program whose laws are checked: of more, they take long.
constexpr std::size_t most_proved = 2;

constexpr int sizes_of_program = 5;

/// What the code \p compiled computes otherwise than the interpreter for the sizes of \p program; nothing where that refuses them.
std::optional<std::string> differs(const DeviceProgram& compiled, const engine::Function& function,
                                   const RandomProgram& program, const std::map<std::string, std::int64_t>& symbolic) {
  Arguments arguments;
  try {
    arguments = arguments_for(program, function);
  } catch (const ArgumentError&) {
    return std::nullopt;
  }
  return emulated_mismatch(with_sizes(compiled, function, arguments, symbolic), function, arguments, {program.seed},
                           reference(function, arguments));
}

std::string text_of(const lang::SizeMap& sizes) {
  std::string result;
  for (const auto& [name, size] : sizes) result += str(" ", name, "=", size);
  return result;
}

TEST(EmulatedSymbolic, AgreesForValuesOfSymbolicSizes) {
  RandomOptions programs;
  programs.contractions = 50;
  programs.whole_tiles = 60;
  int taken = 0, refused = 0, shrinking = 0, pipelined = 0;
  fuzz_programs(
      10, grid_setting_of,
      [&](const auto& given, Arguments& arguments, engine::CompileOptions options,
          const RandomProgram& program) -> std::optional<std::string> {
        const auto function = engine::inlined(given);
        std::mt19937_64 random(program.seed);
        for (const auto& [name, size] : program.sizes)
          if (size > 0 && random() % 3 > 0) options.symbolic[name] = 1;
        if (options.symbolic.empty()) return std::nullopt;
        options.stages.verify = options.symbolic.size() <= most_proved;
        std::vector<TensorSpec> specs;
        for (const auto& spec : arguments.input_specs()) specs.push_back(contiguous(spec.dtype, spec.shape));
        DeviceProgram compiled;
        try {
          compiled = device_program(function, specs, {}, options);
        } catch (const OptionsError&) {
          ++refused;
          return std::nullopt;
        }
        ++taken;
        pipelined += compiled.text.find("tc_copy_async_") != std::string::npos;
        for (const auto& launch : compiled.launches)
          for (const auto& kernel : launch.kernels)
            for (const auto& extent : kernel.whole.used) shrinking += !extent.is_fixed();
        for (const auto& sizes : sampled_sizes(program.sizes, options.symbolic, sizes_of_program, program.seed)) {
          auto smaller = program;
          smaller.sizes = sizes;
          if (auto wrong = differs(compiled, *function, smaller, options.symbolic))
            return str("for", text_of(sizes), ": ", *wrong);
        }
        return std::nullopt;
      },
      programs);
  std::printf(
      "%d programs with symbolic sizes, %d with asynchronous copies, %d refused; %d dimensions of grids shrink\n",
      taken, pipelined, refused, shrinking);
  EXPECT_GT(taken, refused);
}

/// The code of the def \p text for sizes up to \p largest, of which \p least are symbolic.
DeviceProgram compiled_for(const engine::Function& function, const lang::SizeMap& largest,
                           const std::map<std::string, std::int64_t>& least, bool verify) {
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.symbolic = least;
  options.stages.verify = verify;
  return device_program(std::make_shared<engine::Function>(function), engine::inputs_for(function, largest), {},
                        options);
}

/// What is wrong with \p program for \p sizes, which it is a compile of \p text for.
std::optional<std::string> wrong_for(const DeviceProgram& program, const engine::Function& function,
                                     const lang::SizeMap& sizes, const std::map<std::string, std::int64_t>& symbolic) {
  std::mt19937_64 random(11);
  Arguments arguments;
  for (const auto& spec : engine::inputs_for(function, sizes))
    arguments.inputs.push_back(random_integers(spec, -2, 3, random));
  for (const auto& info : engine::infer_output_tensor_info(function, arguments.input_specs()))
    arguments.outputs.emplace_back(info);
  return emulated_mismatch(with_sizes(program, function, arguments, symbolic), function, arguments, {3},
                           reference(function, arguments));
}

/// Products with symbolic rows, columns or sums are computed by matrix units, whose copies run ahead, as for one size.
TEST(EmulatedSymbolic, ProductsKeepUnits) {
  const auto function =
      *engine::define("def mm(float16(M,K) A, float16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "<test>")
           .functions.back();
  const lang::SizeMap largest{{"M", 128}, {"N", 128}, {"K", 128}};
  for (const auto& [name, least] : std::vector<std::pair<std::string, std::int64_t>>{{"M", 65}, {"N", 1}, {"K", 1}}) {
    const std::map<std::string, std::int64_t> symbolic{{name, least}};
    const auto program = compiled_for(function, largest, symbolic, name == "M");
    EXPECT_NE(program.text.find("tc_multiply_m16n8k16"), std::string::npos) << name;
    EXPECT_NE(program.text.find("tc_copy_async_16"), std::string::npos) << name;
    for (const auto& sizes : sampled_sizes(largest, symbolic, 3, 1)) {
      const auto wrong = wrong_for(program, function, sizes, symbolic);
      EXPECT_FALSE(wrong) << text_of(sizes) << ": " << wrong->substr(0, 1000);
    }
  }
}

TEST(EmulatedSymbolic, FindsPlantedFaults) {
  const auto function =
      *engine::define("def add(float(N,64) A) -> (B) { B(i,j) = A(i,j) + 1 }", "<test>").functions.back();
  const lang::SizeMap largest{{"N", 64}}, some{{"N", 37}};
  const std::map<std::string, std::int64_t> symbolic{{"N", 1}};
  const auto program = compiled_for(function, largest, symbolic, true);
  EXPECT_FALSE(wrong_for(program, function, some, symbolic));
  auto too_few = program;
  auto& extent = too_few.launches[0].kernels[0].whole.used[0];
  ASSERT_FALSE(extent.is_fixed());
  extent.parts[0][0].constant -= extent.parts[0][0].divisor;
  EXPECT_TRUE(wrong_for(too_few, function, some, symbolic)) << "a block is not launched";
  auto unguarded = program;
  const auto guard = unguarded.text.find("<= N)");
  ASSERT_NE(guard, std::string::npos) << program.text;
  unguarded.text.replace(guard, 5, "<= N + 5)");
  EXPECT_TRUE(wrong_for(unguarded, function, some, symbolic)) << "rows beyond the tensor are written";
}

}  // namespace emulated_symbolic
}  // namespace tc::test
