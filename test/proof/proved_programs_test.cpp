#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/engine.h"
#include "tc/proof/check.h"
#include "test/proof/evidence_fixture.h"
#include "test/support/from_environment.h"
#include "test/support/program_file.h"
#include "test/support/random/random_program.h"

namespace tc::proof {
namespace {

/// How many of the programs had which outcome.
struct Tally {
  std::map<Outcome, int> count;
  double milliseconds = 0;

  void add(const std::string& program, const proto::Evidence& evidence) {
    const auto verdict = check(evidence.SerializeAsString());
    ++count[verdict.outcome];
    milliseconds += verdict.milliseconds;
    EXPECT_NE(verdict.outcome, Outcome::Refused) << program << ": " << to_string(verdict);
  }
  int all() { return count[Outcome::Proved] + count[Outcome::NotDecided] + count[Outcome::Refused]; }
  void print() {
    std::cout << count[Outcome::Proved] << " proved, " << count[Outcome::NotDecided] << " not decided, "
              << count[Outcome::Refused] << " refused, " << milliseconds / std::max(1, all()) << " ms each\n";
  }
};

/// None of the programs of the file tests is refused, and most are proved: of every second one, all where TC_ALL_RUNS=1.
TEST(ProvedPrograms, OfFiles) {
  Tally tally;
  const std::vector<std::pair<std::string, std::string>> variants = {{"", "cpu:avx2"},
                                                                     {"fusion=max,tile=3x5x2,promote=0", "cpu:plain"}};
  const auto folder = std::filesystem::path(TC_SOURCE_DIR) / "test/filetests/programs";
  for (const auto& path : test::program_paths(folder)) {
    if (test::number_of(path) % 2 == 1 && !test::all_runs_are_taken()) continue;
    const auto program = test::read_program(path);
    const auto function = test::function_of(program, path.filename().string(), program.runs[0]);
    if (function->generic || function->late) continue;
    const auto arguments = test::make_arguments(*function, program, program.runs[0]);
    const auto& [options, target] = variants[static_cast<std::size_t>(tally.all()) % variants.size()];
    try {
      tally.add(path.stem().string(),
                evidence_of(function, arguments.input_specs(), arguments.output_specs(), options, target));
    } catch (const ResourceError&) {
    } catch (const OptionsError&) {
    }
  }
  tally.print();
  EXPECT_GT(tally.count[Outcome::Proved], 0.6 * tally.all());
}

/// TC_FUZZ_SEED and TC_FUZZ_COUNT choose the programs.
TEST(ProvedPrograms, OfRandomTexts) {
  Tally tally;
  const auto first = test::from_environment("TC_FUZZ_SEED", 1), count = test::from_environment("TC_FUZZ_COUNT", 30);
  for (auto seed = first; seed < first + count; ++seed) {
    try {
      const auto program = test::random_program(seed);
      const auto function = engine::define(program.text()).functions.back();
      std::vector<TensorSpec> inputs;
      auto tensors = test::arguments_of(program);
      for (const auto& param : function->def.params) inputs.push_back(tensors.at(param.name).view());
      if (function->generic || function->late) continue;
      tally.add(str("seed ", seed),
                evidence_of(function, inputs, {}, "", seed % 2 ? "cpu:avx2" : "cpu:avx2,l1=1k,l2=4k"));
    } catch (const SemanticError&) {
    } catch (const ArgumentError&) {
    }
  }
  tally.print();
  EXPECT_GT(tally.count[Outcome::Proved], 0.3 * tally.all());
}

}  // namespace
}  // namespace tc::proof
