// Mappings among which a price may choose compute what the interpreter does.

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/strategy/grid/grid_candidates.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

/// Of the candidates of a program, how many are run: a part, as each is compiled; more where TC_ALL_RUNS=1.
const std::size_t most_run = all_runs_are_taken() ? 14 : 2;

struct Small {
  const char *name, *text;
  lang::SizeMap sizes;
};

void PrintTo(const Small& program, std::ostream* out) { *out << program.text; }

/// The stage that chooses the mappings of the last launch, and the texts of all candidates for its first cluster, the others as rules
/// choose.
struct Candidates {
  std::string stage;
  std::vector<std::string> texts;
};

Candidates candidates(const std::shared_ptr<const engine::Function>& function, const Arguments& arguments,
                      const engine::CompileOptions& options) {
  auto result = std::make_shared<Candidates>();
  auto add_all = [result](engine::CompileState& state) {
    const auto& launch = state.launches.back();
    result->stage = state.launches.size() > 1 ? str("choose.", state.launches.size() - 1) : "choose";
    auto mapping = *launch.grid().mapping;
    for (const auto& candidate :
         strategy::grid_candidates(*launch.scop, launch.clusters.front(), *state.target.grid, state.mapping))
      for (const auto& cluster : {candidate, strategy::with_half_the_blocks(candidate)}) {
        mapping.clusters.front() = cluster;
        result->texts.push_back(to_string(mapping));
      }
  };
  engine::map_launches(function, engine::make_arguments(*function, arguments.input_specs(), arguments.output_specs()),
                       options, add_all, engine::Phase::Choose);
  return *result;
}

class GridCandidates : public testing::TestWithParam<Small> {};

TEST_P(GridCandidates, ComputeWhatTheInterpreterDoes) {
  ProgramFile program;
  program.text = GetParam().text;
  auto function = function_of(program, "candidate");
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  auto arguments = make_arguments(*function, program, GetParam().sizes);
  const auto [choose, all] = candidates(function, arguments, options);
  ASSERT_GT(all.size(), most_run);
  auto want = reference(*function, arguments);
  const auto step = all.size() / most_run;
  for (std::size_t i = step / 2; i < all.size(); i += step) {
    SCOPED_TRACE(all[i]);
    options.stages.replace[choose] = all[i];
    auto device = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
    EXPECT_EQ(emulated_mismatch(device, *function, arguments, {1}, want).value_or(""), "");
  }
}

const Small programs[] = {
    {"product",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 70}, {"N", 68}, {"K", 40}}},
    {"convolution",
     "def f(float(N,C,H,W) X, float(O,C,KH,KW) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+kh,w+kw) * K(o,c,kh,kw) }",
     {{"N", 2}, {"C", 6}, {"H", 12}, {"W", 17}, {"O", 34}, {"KH", 3}, {"KW", 3}}},
    {"small_images",
     "def f(float(N,C,H,W) X, float(O,C,KH,KW) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+kh,w+kw) * K(o,c,kh,kw) }",
     {{"N", 3}, {"C", 6}, {"H", 7}, {"W", 7}, {"O", 40}, {"KH", 3}, {"KW", 3}}},
    {"few_rows",
     "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
     {{"M", 11}, {"N", 150}, {"K", 72}}},
    {"short_rows", "def f(float(N,M) A) -> (B) { B(i) +=! A(i,j) }", {{"N", 70}, {"M", 48}}},
    {"columns", "def f(float(N,M) A) -> (B) { B(j) +=! A(i,j) }", {{"N", 30}, {"M", 260}}},
    {"softmax",
     "def f(float(N,C) X) -> (Y) { top(n) max=! X(n,c)  e(n,c) = exp(X(n,c) - top(n))  t(n) +=! e(n,c)\n"
     "  Y(n,c) = e(n,c) / t(n) }",
     {{"N", 40}, {"C", 40}}},
    {"planes", "def f(float(N,C,H,W) X) -> (Y) { Y(n,c) +=! X(n,c,h,w) }", {{"N", 2}, {"C", 20}, {"H", 7}, {"W", 9}}},
    {"upsample",
     "def f(float(C,H,W) X) -> (Y) { Y(c,h,w) = X(c,h/2,w/2) where h in 0:24, w in 0:40 }",
     {{"C", 5}, {"H", 12}, {"W", 20}}},
    {"lookup_sum",
     "def f(float(V,D) T, int64(B,L) I) -> (O) { O(b,d) +=! T(I(b,l),d) }",
     {{"V", 30}, {"D", 36}, {"B", 20}, {"L", 6}}},
};

INSTANTIATE_TEST_SUITE_P(Small, GridCandidates, testing::ValuesIn(programs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::test
