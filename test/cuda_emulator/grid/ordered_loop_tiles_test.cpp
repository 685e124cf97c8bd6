// Nests of loops that run in order around products (tile_ordered_loop.h) compute what the interpreter does.

#include <gtest/gtest.h>

#include <algorithm>

#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/strategy/grid/tile_ordered_loop.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test::ordered_loop_tiles_test {
namespace {

/// Of the nests of a program, how many are run: a part, as each is compiled; more where TC_ALL_RUNS=1.
const std::size_t most_run = all_runs_are_taken() ? 24 : 2;

struct Small {
  const char *name, *text;
  lang::SizeMap sizes;
};

void PrintTo(const Small& program, std::ostream* out) { *out << program.text; }

/// Attention with a running maximum and sums that are corrected when it rises; keys in blocks of 16, the last of which is short.
const char* const attention = R"(
def f(float(H,N,K) Q, float(H,J,K) W, float(H,J,D) V) -> (O) {
  for b in 0:(J+15)/16 {
    S(h,b,n,w) +=! 16*b + w < J ? Q(h,n,k) * W(h,16*b + w,k) : 0 where w in 0:16, k in 0:K, n in 0:N, h in 0:H
    p(h,b,n) max=! 16*b + w < J ? S(h,b,n,w) : -1e30 where w in 0:16
    m(h,b,n) = b > 0 ? max(p(h,b,n), m(h,b-1,n)) : p(h,b,n) where n in 0:N
    c(h,b,n) = b > 0 ? exp(m(h,b-1,n) - m(h,b,n)) : 1.0 where n in 0:N
    E(h,b,n,w) = 16*b + w < J ? exp(S(h,b,n,w) - m(h,b,n)) : 0.0 where w in 0:16
    q(h,b,n) +=! E(h,b,n,w) where w in 0:16
    l(h,b,n) = b > 0 ? q(h,b,n) + l(h,b-1,n) * c(h,b,n) : q(h,b,n) where n in 0:N
    P(h,b,n,d) +=! 16*b + w < J ? E(h,b,n,w) * V(h,16*b + w,d) : 0 where w in 0:16
    A(h,b,n,d) = b > 0 ? P(h,b,n,d) + A(h,b-1,n,d) * c(h,b,n) : P(h,b,n,d) where n in 0:N, d in 0:D
  }
  O(h,n,d) = A(h,(J+15)/16-1,n,d) / l(h,(J+15)/16-1,n) where n in 0:N
}
)";

/// A recurrence of matrix products with a sum of rows beside it; integers stay exact.
const char* const recurrence = R"(
def f(float(N,K) X, float(T,K,C) W) -> (Y, R) {
  for t in 0:T {
    G(t,n,c) +=! X(n,k) * W(t,k,c)
    H(t,n,c) = t > 0 ? 0.5 * H(t-1,n,c) + G(t,n,c) : G(t,n,c) where n in 0:N, c in 0:C
    r(t,n) +=! H(t,n,c)
    U(t,n) = t > 0 ? max(U(t-1,n), r(t,n)) : r(t,n) where n in 0:N
  }
  Y(n,c) = H(T-1,n,c)   R(n) = U(T-1,n)
}
)";

/// Products of 16 bits, which units for matrices compute: of copies, and of what threads have handed on.
const char* const halves = R"(
def f(bfloat16(N,K) Q, bfloat16(B,W,K) X, bfloat16(B,W,D) V) -> (O) {
  for b in 0:B {
    S(b,n,w) +=! float32(Q(n,k)) * float32(X(b,w,k))
    E(b,n,w) = exp(0.125 * S(b,n,w) - 20.0)
    q(b,n) +=! E(b,n,w)
    l(b,n) = b > 0 ? q(b,n) + l(b-1,n) : q(b,n) where n in 0:N
    P(b,n,w) = bfloat16(E(b,n,w))
    G(b,n,d) +=! float32(P(b,n,w)) * float32(V(b,w,d))
    A(b,n,d) = b > 0 ? G(b,n,d) + A(b-1,n,d) : G(b,n,d) where n in 0:N, d in 0:D
  }
  U(n,d) = A(B-1,n,d) / l(B-1,n)   O(n,d) = bfloat16(U(n,d))
}
)";

/// The gradients of keys and values: four products share two temporaries of an iteration.
const char* const gradient = R"(
def f(bfloat16(B,W,K) Q, bfloat16(N,K) X, bfloat16(N,K) V, bfloat16(B,W,K) G, float(B,W) L, float(B,W) Z) -> (Y, U) {
  for b in 0:B {
    S(b,n,w) +=! float32(X(n,k)) * float32(Q(b,w,k))
    A(b,n,w) +=! float32(V(n,k)) * float32(G(b,w,k))
    E(b,n,w) = exp(0.125 * S(b,n,w) - L(b,w))
    P(b,n,w) = bfloat16(E(b,n,w))
    R(b,n,w) = bfloat16(E(b,n,w) * (A(b,n,w) - Z(b,w)))
    C(b,n,k) +=! float32(R(b,n,w)) * float32(Q(b,w,k))
    c(b,n,k) = b > 0 ? C(b,n,k) + c(b-1,n,k) : C(b,n,k) where n in 0:N, k in 0:K
    D(b,n,k) +=! float32(P(b,n,w)) * float32(G(b,w,k))
    d(b,n,k) = b > 0 ? D(b,n,k) + d(b-1,n,k) : D(b,n,k) where n in 0:N, k in 0:K
  }
  Y(n,k) = c(B-1,n,k)   U(n,k) = d(B-1,n,k)
}
)";

/// Rows that need the first iterations only: those behind do not run.
const char* const causal = R"(
def f(bfloat16(N,K) Q, bfloat16(B,W,K) X, bfloat16(B,W,D) V) -> (O, M) {
  for b in 0:B {
    S(b,n,w) +=! float32(Q(n,k)) * float32(X(b,w,k))
    m(b,n) max=! W*b + w <= n ? S(b,n,w) : -inf
    M_(b,n) = b > 0 ? max(M_(b-1,n), m(b,n)) : m(b,n) where n in 0:N
    P(b,n,w) = W*b + w <= n ? bfloat16(S(b,n,w)) : 0.0
    G(b,n,d) +=! float32(P(b,n,w)) * float32(V(b,w,d))
    A(b,n,d) = b > 0 ? G(b,n,d) + A(b-1,n,d) : G(b,n,d) where n in 0:N, d in 0:D
  }
  O(n,d) = A(n/W,n,d)   M(n) = M_(n/W,n)
}
)";

/// The texts of the nests that the laws allow for the only kernel of a program, and how many there were.
struct Nests {
  std::vector<std::string> texts;
  std::size_t all = 0;
};

Nests nests_of(const std::shared_ptr<const engine::Function>& function, const Arguments& arguments,
               const engine::CompileOptions& options) {
  auto result = std::make_shared<Nests>();
  auto add_all = [result](engine::CompileState& state) {
    ASSERT_EQ(state.launches.size(), 1);
    const auto& launch = state.launches.front();
    ASSERT_EQ(launch.clusters.size(), 1) << "the loop and what follows it are one kernel";
    const auto& space = launch.grid().nests.front().space;
    const auto names = polyhedral::nest_names(*launch.scop, launch.clusters.front());
    for (const auto& tile :
         strategy::ordered_loop_tiles(*launch.scop, launch.clusters.front(), space, *state.target.grid)) {
      ++result->all;
      const auto nest = polyhedral::without_idle_loops(space, tile);
      if (polyhedral::is_realisable_kernel(*launch.scop, launch.clusters.front(), nest, *state.target.grid))
        result->texts.push_back(polyhedral::to_string(nest, names));
    }
  };
  engine::map_launches(function, engine::make_arguments(*function, arguments.input_specs(), arguments.output_specs()),
                       options, add_all, engine::Phase::Choose);
  return *result;
}

/// A part of \p texts; the last is one whose copies run ahead in the ordered loop, if there is one.
std::vector<std::string> texts_to_run(const std::vector<std::string>& texts) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < texts.size(); i += texts.size() / most_run) result.push_back(texts[i]);
  const auto ahead = std::find_if(texts.begin(), texts.end(), [](const std::string& text) {
    return text.find("b with copies") != std::string::npos;
  });
  if (ahead != texts.end()) result.push_back(*ahead);
  return result;
}

class OrderedLoopTiles : public testing::TestWithParam<Small> {};

TEST_P(OrderedLoopTiles, ComputeWhatTheInterpreterDoes) {
  ProgramFile program;
  program.text = GetParam().text;
  auto function = function_of(program, "tiles");
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  auto arguments = make_arguments(*function, program, GetParam().sizes);
  const auto [texts, all] = nests_of(function, arguments, options);
  ASSERT_GT(texts.size(), most_run);
  EXPECT_GE(2 * texts.size(), all) << "the laws refuse most nests";
  const auto first = texts.front().find("by unit m16n8k16"), last = texts.front().rfind("by unit m16n8k16");
  EXPECT_EQ(first != last, GetParam().text == halves || GetParam().text == gradient || GetParam().text == causal)
      << "of several products";
  const auto want = reference(*function, arguments);
  auto run = texts_to_run(texts);
  EXPECT_EQ(run.back().find("b with copies") != std::string::npos, first != last) << "copies run ahead in the loop";
  for (std::size_t i = 0; i < run.size(); ++i) {
    SCOPED_TRACE(run[i]);
    options.stages.replace["nest"] = run[i];
    options.stages.verify = i + 1 == run.size();
    auto device = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
    EXPECT_EQ(device.fallbacks, std::vector<std::string>());
    EXPECT_EQ(emulated_mismatch(device, *function, arguments, {1}, want).value_or(""), "");
  }
}

const Small programs[] = {
    {"attention", attention, {{"H", 2}, {"N", 70}, {"J", 40}, {"K", 12}, {"D", 8}}},
    {"causal", causal, {{"N", 64}, {"K", 32}, {"B", 2}, {"W", 32}, {"D", 24}}},
    {"halves", halves, {{"N", 64}, {"K", 32}, {"B", 3}, {"W", 32}, {"D", 24}}},
    {"odd", halves, {{"N", 45}, {"K", 32}, {"B", 2}, {"W", 32}, {"D", 16}}},
    {"gradient", gradient, {{"N", 64}, {"K", 32}, {"B", 2}, {"W", 32}}},
    {"recurrence", recurrence, {{"N", 66}, {"K", 32}, {"T", 4}, {"C", 40}}},
};

INSTANTIATE_TEST_SUITE_P(Small, OrderedLoopTiles, testing::ValuesIn(programs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::test::ordered_loop_tiles_test
