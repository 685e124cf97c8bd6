// The list of stages, and the decision of a mapping as a text in the middle of it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/engine/graph/graph_stages.h"
#include "tc/lang/syntax/print.h"
#include "test/support/fuzz_settings.h"
#include "test/support/oracle.h"

namespace tc::engine {
namespace {

/// The words of docs/architecture.md behind \p name and a colon at the start of a line, up to the next such line or the
/// end of the block.
std::vector<std::string> documented_stages(const std::string& name) {
  std::ifstream page(std::filesystem::path(TC_SOURCE_DIR) / "docs/architecture.md");
  std::vector<std::string> words;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("```", 0) == 0) here = false;
    if (!line.empty() && line[0] != ' ') here = line.rfind(name + ":", 0) == 0;
    if (!here) continue;
    std::istringstream in(line);
    for (std::string word; in >> word;)
      if (word != name + ":") words.push_back(word);
  }
  return words;
}

TEST(Stages, AreThoseOfTheArchitecture) {
  EXPECT_EQ(join(stage_names(Target::parse("cpu")), " "), join(documented_stages("cpu"), " "));
  EXPECT_EQ(join(stage_names(Target::parse("cuda:sm_90")), " "), join(documented_stages("cuda"), " "));
  std::vector<std::string> graphs;
  for (const auto& stage : graph_stages()) graphs.push_back(stage.name);
  EXPECT_EQ(join(graphs, " "), join(documented_stages("graph"), " "));
}

/// One random program, ready to be compiled.
struct Prepared {
  std::shared_ptr<const Function> function;
  test::Arguments arguments;
  CompileOptions options;
};

/// The program of \p seed, nothing where it is not valid.
std::optional<Prepared> prepare(std::uint64_t seed, test::FuzzSetting (*setting_of)(const test::RandomProgram&)) {
  test::RandomOptions random;
  random.contractions = random.whole_tiles = 40;
  auto program = test::random_program(seed, random);
  auto setting = setting_of(program);
  Prepared result;
  try {
    result.function = define(program.text()).functions.back();
    auto inputs = test::arguments_of(program, setting.strided);
    for (const auto& param : result.function->def.params) result.arguments.inputs.push_back(inputs.at(param.name));
    for (const auto& info : infer_output_tensor_info(*result.function, result.arguments.input_specs()))
      result.arguments.outputs.push_back(
          test::random_tensor(program, info.name, info.dtype, info.shape, setting.strided));
  } catch (const Error&) {
    return std::nullopt;
  }
  result.options.target = Target::parse(setting.target);
  if (!result.options.target.instructions->on_this_machine()) result.options.target = Target::parse("cpu");
  result.options.mapping = options::MappingOptions::parse(setting.options);
  return result;
}

/// The decision of each launch as a text, by the name of the stage that takes it.
std::map<std::string, std::string> decisions(const CompileState& state) {
  std::map<std::string, std::string> result;
  for (std::size_t i = 0; i < state.launches.size(); ++i) {
    if (!state.launches[i].scop) continue;
    auto& text = result[state.launches.size() > 1 ? str("choose.", i) : "choose"];
    std::visit(overloaded{[&](const CpuLaunch& on) {
                            if (!on.mapping) return;
                            text = to_string(*on.mapping);
                            EXPECT_EQ(polyhedral::parse_mapping(text), *on.mapping) << text;
                          },
                          [&](const GridLaunch& on) {
                            text = to_string(*on.mapping);
                            EXPECT_EQ(polyhedral::parse_grid_mapping(text), *on.mapping) << text;
                          }},
               state.launches[i].on);
  }
  return result;
}

std::string schedules(const CompileState& state) {
  std::string text;
  for (const auto& launch : state.launches) {
    if (launch.scop && !launch.scop->schedule.is_null()) text += print_block(launch.scop->schedule);
    if (const auto* on = std::get_if<GridLaunch>(&launch.on))
      for (const auto& kernel : on->kernels) text += print_block(kernel.kernel->scop.schedule);
  }
  return text;
}

/// What is chosen, and the schedules that follow from it.
std::pair<std::map<std::string, std::string>, std::string> mapped(const Prepared& program,
                                                                  const CompileOptions& options) {
  std::pair<std::map<std::string, std::string>, std::string> result;
  auto arguments =
      make_arguments(*program.function, program.arguments.input_specs(), program.arguments.output_specs(), options);
  map_launches(program.function, arguments, options,
               [&](CompileState& state) { result = {decisions(state), schedules(state)}; });
  return result;
}

class ChosenMapping : public testing::TestWithParam<test::FuzzSetting (*)(const test::RandomProgram&)> {};

TEST_P(ChosenMapping, TakesThePlaceOfTheChoiceAsAText) {
  int programs = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    auto program = prepare(seed, GetParam());
    if (!program) continue;
    auto [texts, schedule] = mapped(*program, program->options);
    auto replaced = program->options;
    replaced.stages.replace = {texts.begin(), texts.end()};
    if (texts.empty()) continue;
    ASSERT_EQ(mapped(*program, replaced).second, schedule) << "seed " << seed << "\n"
                                                           << lang::print(program->function->def);
    ++programs;
  }
  EXPECT_GT(programs, 8);
}

INSTANTIATE_TEST_SUITE_P(Targets, ChosenMapping, testing::Values(test::cpu_setting_of, test::grid_setting_of));

/// \p text with some of its numbers changed.
std::string disturbed(const std::string& text, std::mt19937_64& random) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool digit = std::isdigit(static_cast<unsigned char>(text[i]));
    result += digit && random() % 6 == 0 ? static_cast<char>('0' + random() % 10) : text[i];
  }
  return result;
}

/// Any text is either a mapping that the program can have, and then it computes what the program says, or an OptionsError.
TEST(ChosenMapping, ComputesTheSameWhateverIsChosen) {
  std::mt19937_64 random(5);
  int carried_out = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    auto program = prepare(seed, test::cpu_setting_of);
    if (!program) continue;
    program->options.stages.verify = true;
    auto texts = mapped(*program, program->options).first;
    for (auto& [stage, text] : texts) program->options.stages.replace[stage] = disturbed(text, random);
    std::string shown = str("seed ", seed, "\n", lang::print(program->function->def));
    for (const auto& [stage, text] : program->options.stages.replace) shown += str(stage, ": ", text);
    try {
      auto wrong =
          test::mismatch(program->function, program->arguments, program->options, test::random_program(seed).tolerance);
      EXPECT_FALSE(wrong) << shown << *wrong;
      ++carried_out;
    } catch (const OptionsError& error) {
      EXPECT_NE(std::string(error.what()).find("mapping"), std::string::npos) << shown << error.what();
      ++refused;
    }
  }
  EXPECT_GT(carried_out, 2);
  EXPECT_GT(refused, 2);
}

struct Refusal {
  const char* text;
  const char* message;
};

std::string refusal_of(const char* target, const char* text, const char* mapping) {
  auto function = define(text).functions.front();
  CompileOptions options;
  options.target = Target::parse(target);
  options.stages.replace["choose"] = mapping;
  auto arguments = make_arguments(*function, {contiguous(DType::Float32, {40, 50})}, {}, options);
  try {
    map_launches(function, arguments, options);
    return "";
  } catch (const OptionsError& error) {
    return error.what();
  }
}

TEST(ChosenMapping, SaysWhyItIsNone) {
  const char* program = "def f(float(M,N) A) -> (O) { O(i) +=! A(i,j) }";
  const Refusal cases[] = {
      {"", "the mapping has lines for 0 clusters, the program has 1"},
      {"points 4x4", "it has sizes for 2 members, the cluster has 1"},
      {"points 4, outermost 1", "the outermost loop name member 1, the cluster has 1"},
      {"points 4, S7: i0 x4", "it has no statement 'S7' but S0, S1"},
      {"points 4, S1: i2 x4", "'S1' has no iterator i2, it has 2"},
      {"points 4, S1: i0 x4096", "'S1' has 4096 lanes: they have 1, 2, 4, ... 64"},
      {"points 4, S1: i0 x4, S1: i0 x4", "'S1' has lanes twice"},
      {"points 4, stage Q", "there is no tensor 'Q' to stage"},
      {"points 4, S1: i0 in blocks of 4", "i0 of 'S1' is not cut into blocks: it is no loop of a reduction"},
      {"points 4, pack read 3 of S1 in panels of 4 i0 lanes 4", "'S1' has no read 3"},
      {"points 4, pack read 0 of S1 in panels of 4 i0", "copies have 0 lanes"},
      {"points 4, copies along 2 x4", "the lanes of copies name member 2, the cluster has 1"},
  };
  for (const auto& test : cases) {
    auto message = refusal_of("cpu", program, test.text);
    EXPECT_NE(message.find(test.message), std::string::npos) << test.text << ": " << message;
  }
  EXPECT_EQ(refusal_of("cpu", program, "points 8, S0: i0 x8, S1: i0 x8"), "");
  const Refusal of_grids[] = {
      {"grid 4, block 2048, S1: i1 threads x", "a block has at most 1024 threads"},
      {"grid 4, block 4, member 0 tile 4, member 1 tile 4", "it has 2 members, the cluster has 1"},
      {"grid 4, block 4, S9: plain", "it has no statement 'S9'"},
      {"grid 4, block 4, S1: together", "only copies that passes make run together"},
      {"grid 4, block 4, S1: i0 in blocks of 4, copy read 0 of S1", "i0 of 'S1' is not reduced"},
      {"grid 4, block 4, copy read 5 of S1", "'S1' has no read 5"},
      {"grid 4, block 4, promote Q", "there is no tensor 'Q'"},
      {"grid 4, block 4, S1: i1 threads x, S1: i0 threads x", "are one, or are spread over one dimension"},
  };
  for (const auto& test : of_grids) {
    auto message = refusal_of("cuda:sm_90", program, test.text);
    EXPECT_NE(message.find(test.message), std::string::npos) << test.text << ": " << message;
  }
  EXPECT_EQ(refusal_of("cuda:sm_90", program, "grid 10, block 4, member 0 tile 4 blocks x threads x"), "");
}

}  // namespace
}  // namespace tc::engine
