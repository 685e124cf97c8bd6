// Random programs over the whole grammar, compiled for CUDA with random options and run in the emulator on random sizes and
// strides with two interleavings, against the interpreter. A failure prints a reduced program.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=1 build/bin/emulated_fuzz_test     one program, printed first
//   TC_FUZZ_COUNT=20000 build/bin/emulated_fuzz_test                  a long run
//   TC_FUZZ_CONTRACTIONS=100 build/bin/emulated_fuzz_test             percent of the programs that are contractions

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/random_program.h"

namespace tc::test {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// One way to compile and to lay out tensors.
struct Setting {
  std::string options, target;
  bool strided = false;
};

Setting setting_of(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 5);
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  Setting result;
  result.options = str("fusion=", pick({"max", "preserve3", "preserve3", "min"}),
                       pick({"", "", "", ",tile=4", ",tile=3x5", ",tile=16x0x8", ",tile=1x32"}), pick({"", "", "", ",promote=0"}),
                       pick({"", "", "", ",vectorise=0"}), pick({"", "", "", "", "", "", "", ",parallel=0"}));
  static const std::vector<std::string> of_the_grid = {"", "", ",grid=1", ",grid=3x2", ",block=1", ",block=7", ",block=32x8", ",block=5x3x2",
                                                       ",block=16x16,grid=2x2"};
  static const std::vector<std::string> of_memory = {"", "", "", ",shared=0", ",registers=0", ",reduce_in_block=0", ",shared_bytes=512"};
  static const std::vector<std::string> of_tiles = {"", "", "", ",unroll_limit=1", ",unroll_limit=64", ",register_tile=2x4", ",register_tile=8x8",
                                                    ",reduction_block=4", ",reduction_block=3,register_tile=4x4"};
  for (const auto* list : {&of_the_grid, &of_memory, &of_tiles}) result.options += pick(*list);
  if (random() % 10 == 0) result.options = pick({"naive", "single_thread", "pointwise", "mlp", "conv", "group_conv"});
  result.target = pick({"cuda:sm_75", "cuda:sm_80", "cuda:sm_90", "cuda:sm_90"});
  result.strided = random() % 3 == 0;
  return result;
}

/// What is wrong with the compiled \p program, or nothing; \p ran says whether it is a valid program at all.
std::optional<std::string> check_program(const RandomProgram& program, const Setting& how, bool& ran) {
  ran = false;
  std::shared_ptr<const engine::Function> function;
  Arguments arguments;
  try {
    function = engine::define(program.text()).functions.back();
    auto inputs = arguments_of(program, how.strided);
    for (const auto& param : function->def.params) arguments.inputs.push_back(inputs.at(param.name));
    for (const auto& info : engine::infer_output_tensor_info(*function, arguments.input_specs()))
      arguments.outputs.push_back(random_tensor(program, info.name, info.dtype, info.shape, how.strided));
  } catch (const InternalError& error) {
    ran = true;
    return str("define fails: ", error.what());
  } catch (const Error&) {
    return std::nullopt;
  }
  ran = true;
  engine::CompileOptions options;
  options.target = Target::parse(how.target);
  options.mapping = options::MappingOptions::parse(how.options);
  try {
    return emulated_mismatch(function, arguments, options, {program.seed + 1, program.seed + 2}, program.tolerance);
  } catch (const Error& error) {
    return str("the compile fails: ", error.what());
  }
}

TEST(EmulatedPrograms, AgreeWithTheInterpreter) {
  const std::uint64_t first = setting("TC_FUZZ_SEED", 1), count = setting("TC_FUZZ_COUNT", 200);
  RandomOptions random_options;
  random_options.contractions = static_cast<int>(setting("TC_FUZZ_CONTRACTIONS", static_cast<std::uint64_t>(random_options.contractions)));
  std::uint64_t valid = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto program = random_program(seed, random_options);
    auto how = setting_of(seed);
    if (count == 1) std::printf("%soptions '%s', target %s\n", program.describe().c_str(), how.options.c_str(), how.target.c_str());
    bool ran = false;
    auto wrong = check_program(program, how, ran);
    valid += ran;
    if (!wrong) continue;
    auto small = reduce_program(program, [&](const RandomProgram& candidate) {
      bool executed = false;
      return check_program(candidate, how, executed).has_value();
    }, 200);
    bool executed = false;
    ADD_FAILURE() << "TC_FUZZ_SEED=" << seed << " TC_FUZZ_COUNT=1, options '" << how.options << "', target " << how.target
                  << (how.strided ? ", strided" : "") << "\n" << small.describe() << "\n"
                  << check_program(small, how, executed).value_or(*wrong);
  }
  std::printf("seeds %llu to %llu: %llu valid programs\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1), static_cast<unsigned long long>(valid));
  EXPECT_GE(2 * valid, count) << "too few of the programs are valid";
}

}  // namespace
}  // namespace tc::test
