// Runs every program of programs/: compiled code against the interpreter, for several options and targets.
// What a program says of its runs stands in its comments: see test/support/program_file.h.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

namespace fs = std::filesystem;

struct Variant {
  std::string options, target;
  Placement placement = Placement::Dense;
};

/// How all programs are compiled; behind these stand the variants that a program asks for.
constexpr std::size_t usual_variants = 6;

/// Options that the program asks for are taken on one of the targets, all where all runs are.
std::vector<Variant> variants(const ProgramFile& program, std::size_t number) {
  std::vector<Variant> result{{"", "cpu"},
                              {"fusion=max", "cpu:avx2", Placement::Reversed},
                              {"fusion=min,tile=4x8", "cpu:plain"},
                              {"parallel=0,vectorise=0,promote=0", "cpu:plain", Placement::Spread},
                              {"fusion=max,tile=3x5x2,promote=0", "cpu"},
                              {"promote=0,tile=0x16", "cpu:avx2", Placement::Reversed}};
  std::vector<std::string> targets{"cpu", "cpu:avx2", "cpu:plain"};
  targets.insert(targets.end(), program.targets.begin(), program.targets.end());
  for (std::size_t option = 0; option < program.options.size(); ++option)
    for (std::size_t target = 0; target < targets.size(); ++target)
      if (all_runs_are_taken() || target == (number + option) % targets.size())
        result.push_back({program.options[option], targets[target]});
  return result;
}

class ProgramFileTest : public testing::Test {
 public:
  explicit ProgramFileTest(fs::path path) : path_(std::move(path)) {}

  void TestBody() override {
    auto program = read_program(path_);
    ASSERT_FALSE(program.runs.empty()) << "no '# run:' line";
    for (std::size_t run = 0; run < program.runs.size(); ++run) {
      const auto function = function_of(program, path_.filename().string(), program.runs[run]);
      const auto all = variants(program, number_of(path_));
      for (std::size_t v = 0; v < all.size(); ++v) {
        if (!is_sampled(path_, v, run, usual_variants)) continue;
        const auto& variant = all[v];
        if (!Target::parse(variant.target).instructions->on_this_machine()) continue;
        SCOPED_TRACE(str("run ", run, ", options '", variant.options, "', target ", variant.target));
        engine::CompileOptions options;
        options.target = Target::parse(variant.target);
        options.mapping = options::MappingOptions::parse(variant.options);
        auto arguments = make_arguments(*function, program, program.runs[run], variant.placement);
        Tolerances tolerances;
        for (const auto& output : function->def.returns) tolerances[output.name] = program.tolerance;
        try {
          auto text = mismatch(function, arguments, options, tolerances, are_laws_sampled(path_, run, false));
          EXPECT_FALSE(text.has_value()) << *text;
        } catch (const InternalError& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }

 private:
  fs::path path_;
};

void register_programs() {
  for (const auto& path : program_paths(fs::path(TC_SOURCE_DIR) / "test/filetests/programs"))
    testing::RegisterTest("Programs", path.stem().string().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test* { return new ProgramFileTest(path); });
}

}  // namespace
}  // namespace tc::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tc::test::register_programs();
  return RUN_ALL_TESTS();
}
