#include "test/support/fuzz_run.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/support/from_environment.h"

namespace tc::test {
namespace {

constexpr int reduction_trials = 200;

/// What is wrong with the compiled \p program, or nothing; \p ran says whether it is a valid program at all.
std::optional<std::string> check_program(const RandomProgram& program, const FuzzSetting& setting,
                                         const FuzzCheck& check, bool& ran) {
  ran = false;
  std::shared_ptr<const engine::Function> function;
  Arguments arguments;
  try {
    function = engine::define(program.text()).functions.back();
    arguments = arguments_for(program, *function, setting.strided);
  } catch (const InternalError& error) {
    ran = true;
    return str("define fails: ", error.what());
  } catch (const Error&) {
    return std::nullopt;
  }
  ran = true;
  engine::CompileOptions options;
  options.target = Target::parse(setting.target);
  options.mapping = options::MappingOptions::parse(setting.options);
  try {
    return check(function, arguments, options, program);
  } catch (const Error& error) {
    return str("the compile fails: ", error.what());
  }
}

/// What a message says before its particulars: the law that is broken, where it is one.
std::string kind_of(const std::string& message) {
  const auto law = message.find("law '"), end = message.find(" is broken");
  if (law != std::string::npos && end != std::string::npos) return message.substr(law, end - law);
  return message.substr(0, message.find(':'));
}

/// Reports \p wrong, what \p program does, and a smaller program that does wrong in the same way.
void report(const RandomProgram& program, const FuzzSetting& setting, const FuzzCheck& check,
            const std::string& wrong) {
  bool ran = false;
  auto fails = [&](const RandomProgram& candidate) {
    const auto found = check_program(candidate, setting, check, ran);
    return found && kind_of(*found) == kind_of(wrong);
  };
  auto small = reduce_program(program, fails, reduction_trials);
  ADD_FAILURE() << "TC_FUZZ_SEED=" << program.seed << " TC_FUZZ_COUNT=1, options '" << setting.options << "', target "
                << setting.target << (setting.strided ? ", strided" : "") << "\n"
                << small.describe() << "\n"
                << check_program(small, setting, check, ran).value_or(wrong);
}

}  // namespace

Arguments arguments_for(const RandomProgram& program, const engine::Function& function, bool strided) {
  Arguments result;
  auto inputs = arguments_of(program, strided);
  for (const auto& param : function.def.params) result.inputs.push_back(inputs.at(param.name));
  for (const auto& info : engine::infer_output_tensor_info(function, result.input_specs()))
    result.outputs.push_back(random_tensor(program, info.name, info.dtype, info.shape, strided));
  return result;
}

void fuzz_programs(std::uint64_t count, const std::function<FuzzSetting(const RandomProgram&)>& setting_of,
                   const FuzzCheck& check, RandomOptions options, std::uint64_t first) {
  first = from_environment("TC_FUZZ_SEED", first);
  count = from_environment("TC_FUZZ_COUNT", count);
  options.contractions =
      static_cast<int>(from_environment("TC_FUZZ_CONTRACTIONS", static_cast<std::uint64_t>(options.contractions)));
  options.scatters =
      static_cast<int>(from_environment("TC_FUZZ_SCATTERS", static_cast<std::uint64_t>(options.scatters)));
  options.ragged = static_cast<int>(from_environment("TC_FUZZ_RAGGED", static_cast<std::uint64_t>(options.ragged)));
  options.parts = static_cast<int>(from_environment("TC_FUZZ_PARTS", static_cast<std::uint64_t>(options.parts)));
  std::uint64_t valid = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto program = random_program(seed, options);
    auto setting = setting_of(program);
    if (count == 1)
      std::printf("%soptions '%s', target %s\n", program.describe().c_str(), setting.options.c_str(),
                  setting.target.c_str());
    bool ran = false;
    auto wrong = check_program(program, setting, check, ran);
    valid += ran;
    if (wrong) report(program, setting, check, *wrong);
  }
  std::printf("seeds %llu to %llu: %llu valid programs\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1), static_cast<unsigned long long>(valid));
  EXPECT_GE(2 * valid, count) << "too few of the programs are valid";
}

}  // namespace tc::test
