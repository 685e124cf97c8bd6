// Random programs over the whole grammar, compiled with random options and run on random sizes and strides, against the
// interpreter. A failure prints a reduced program.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=1 build/bin/fuzz_test     one program, printed first
//   TC_FUZZ_COUNT=20000 build/bin/fuzz_test                  a long run
//   TC_FUZZ_CONTRACTIONS=100 build/bin/fuzz_test             percent of the programs that are contractions

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/support/oracle.h"
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
  std::mt19937_64 random(seed * 7919 + 1);
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  std::string tile = pick({"", "", "", ",tile=4", ",tile=3x5", ",tile=16x0x8", ",tile=1x32"});
  Setting result{
      str("fusion=", pick({"max", "preserve3", "preserve3", "min"}), tile, pick({"", "", ",parallel=0"}),
              pick({"", "", "", ",vectorise=0"}), pick({"", "", "", ",promote=0"})),
      pick({"cpu", "cpu", "cpu:avx2", "cpu:plain"}), random() % 3 == 0};
  result.options += pick({"", "", "", "", ",vector_bytes=8", ",vector_bytes=16,unroll=1", ",register_tile=3x2",
                          ",register_tile=1x5,promote_bytes=64", ",reduction_block=2", ",pack=0"});
  return result;
}

/// For contractions: mostly without tiles of the user, and with caches small enough for blocks and packed copies.
Setting contraction_setting_of(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7907 + 3);
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  Setting result;
  result.options = str("fusion=", pick({"max", "preserve3", "preserve3", "min"}),
                       pick({"", "", "", "", "", "", ",tile=4", ",tile=3x5", ",tile=16x0x8"}), pick({"", "", ",parallel=0"}),
                       pick({"", "", "", "", "", "", "", ",vectorise=0"}), pick({"", "", "", "", "", "", "", ",promote=0"}),
                       pick({"", "", "", "", "", ",vector_bytes=16", ",vector_bytes=32,unroll=1", ",register_tile=3x2",
                             ",register_tile=1x5", ",register_tile=8x1", ",register_tile=5x3,promote_bytes=512"}));
  result.target = str(pick({"cpu:", "cpu:", "cpu:avx2,", "cpu:plain,"}), "cores=", pick({"1", "2", "3", "8"}),
                      pick({"", ",l1=1k,l2=4k", ",l1=1k,l2=16k", ",l1=2k,l2=8k", ",l1=4k,l2=1m"}));
  result.strided = random() % 4 == 0;
  return result;
}

/// What is wrong with the compiled \p program, or nothing; \p ran says whether it is a valid program at all.
std::optional<std::string> check_program(const RandomProgram& program, const Setting& setting, bool& ran) {
  ran = false;
  std::shared_ptr<const engine::Function> function;
  Arguments arguments;
  try {
    function = engine::define(program.text()).functions.back();
    auto inputs = arguments_of(program, setting.strided);
    for (const auto& param : function->def.params) arguments.inputs.push_back(inputs.at(param.name));
    for (const auto& info : engine::infer_output_tensor_info(*function, arguments.input_specs()))
      arguments.outputs.push_back(random_tensor(program, info.name, info.dtype, info.shape, setting.strided));
  } catch (const InternalError& error) {
    ran = true;
    return str("define fails: ", error.what());
  } catch (const Error&) {
    return std::nullopt;
  }
  ran = true;
  engine::CompileOptions options;
  options.target = Target::parse(setting.target);
  if (options.target.isa > Target::parse("cpu").isa) options.target = Target::parse("cpu");
  options.mapping = options::MappingOptions::parse(setting.options);
  try {
    return mismatch(function, arguments, options, program.tolerance);
  } catch (const Error& error) {
    return str("the compile fails: ", error.what());
  }
}

TEST(CompiledPrograms, AgreeWithTheInterpreter) {
  const std::uint64_t first = setting("TC_FUZZ_SEED", 1), count = setting("TC_FUZZ_COUNT", 500);
  RandomOptions random_options;
  random_options.contractions = static_cast<int>(setting("TC_FUZZ_CONTRACTIONS", static_cast<std::uint64_t>(random_options.contractions)));
  std::uint64_t valid = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto program = random_program(seed, random_options);
    auto how = program.contraction ? contraction_setting_of(seed) : setting_of(seed);
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
