#include <gtest/gtest.h>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/laws/take_turns.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map/buffer_slots.h"
#include "tc/polyhedral/map_cpu/contract_loops.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/rejects.h"
#include "test/support/simulate.h"

namespace tc::polyhedral::circular_buffer_test {
namespace {

/// h[t, n] = X[t, n] + h[t - distance, n] in an ordered loop over t; Y[n] = h[T - 1, n] behind it.
class CircularBuffers : public MappingPassTest {
 protected:
  Scop scan(int distance, int steps = 12) const {
    const auto tn = str("0 <= t < ", steps, " and 0 <= n < 5");
    auto scop =
        ScopBuilder(context())
            .input("X", {steps, 5})
            .temporary("h", {steps, 5})
            .output("Y", {5})
            .statement(str("S[t, n] : ", tn), "h[t, n]", {"X[t, n]", str("h[t - ", distance, ", n] : t >= ", distance)})
            .statement("R[n] : 0 <= n < 5", "Y[n]", {str("h[", steps - 1, ", n]")})
            .scop();
    scop.statement("S").loops = {{1, 0}};
    scop.schedule = program_order(scop);
    return scop;
  }
  std::vector<std::int64_t> slots(const Scop& scop) const {
    return buffer_slots(scop, Subtree(scop, {0}), "h", scop.tensor("h").extent);
  }
};

TEST_F(CircularBuffers, HaveASlotForEachElementThatIsNeededAtOneTime) {
  EXPECT_EQ(slots(scan(1)), (std::vector<std::int64_t>{1, 5}));
  EXPECT_EQ(slots(scan(3)), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(slots(scan(1, 4)), (std::vector<std::int64_t>{1, 5}));
  EXPECT_EQ(slots(scan(3, 5)), (std::vector<std::int64_t>{5, 5})) << "three of five slots are no gain";
  auto late = scan(1);
  late.statement("S").reads[1] =
      exact_access(isl::map(ctx(), "{ S[t, n] -> h[t - 1, 4 - n] : 1 <= t < 12 and 0 <= n < 5 }"));
  EXPECT_EQ(slots(late), (std::vector<std::int64_t>{2, 5})) << "another instance writes in the place that one reads";
  auto alone = scan(1);
  alone.statement("S").loops.clear();
  EXPECT_EQ(slots(alone), (std::vector<std::int64_t>{12, 5})) << "a loop that passes may reorder is no time";
  auto early = scan(1);
  early.statement("R").reads[0] = exact_access(isl::map(ctx(), "{ R[n] -> h[2, n] : 0 <= n < 5 }"));
  EXPECT_EQ(slots(early), (std::vector<std::int64_t>{12, 5})) << "element 2 is needed until the end";
}

TEST_F(CircularBuffers, KeepTheValuesOfTheProgram) {
  for (const int distance : {1, 2, 5}) {
    const auto scop = scan(distance);
    const auto result = contract_loops(scop, {});
    EXPECT_EQ(result.tensor("local_h").extent, (std::vector<std::int64_t>{distance, 5}));
    EXPECT_EQ(simulate(result), simulate(scop));
    EXPECT_NO_THROW(verify(result, compute_dependences(scop)));
  }
}

/// The fault that the law is for: one slot less, and each element takes the place of one that is read later.
TEST_F(CircularBuffers, WithOneSlotLessAreRefused) {
  for (const int distance : {2, 3, 5}) {
    auto scop = contract_loops(scan(distance), {});
    const auto fold = [&](Access& access) {
      if (access.function.is_null() || range_name(access.function) != "local_h") return;
      const auto less = isl::multi_aff(ctx(), str("{ local_h[t, n] -> local_h[t mod ", distance - 1, ", n] }"));
      access.function = less.to_pw_multi_aff().pullback(access.function);
    };
    for (auto& statement : scop.statements)
      for (auto* access : accesses(statement)) fold(*access);
    EXPECT_TRUE(rejects([&] { verify_promotion(scop); }, "buffer 'local_h': a place holds two elements")) << distance;
  }
}

TEST_F(CircularBuffers, TakeTurnsInOneThreadOnly) {
  auto scop = contract_loops(scan(1), {});
  EXPECT_NO_THROW(verify_promotion(scop));
  const isl::union_map writes(ctx(), "{ S[t, n] -> h[t, n] }"), reads(ctx(), "{ S[t, n] -> h[t - 1, n] }");
  using namespace build;
  const std::string all = "{ S[t, n] : 0 <= t < 12 and 0 <= n < 5 }";
  const auto in_turn = domain(ctx(), all, band("[{ S[t, n] -> [(t)] }]"));
  const auto at_once = domain(ctx(), all, mark("parallel", coincident_band("[{ S[t, n] -> [(t)] }]", 1)));
  const auto runs = isl::union_set(ctx(), all);
  const auto turns = [&](const isl::schedule& schedule, const char* homes) {
    const auto written = writes.intersect_domain(runs), read = reads.intersect_domain(runs);
    return take_turns(schedule, read, written,
                      isl::union_map(ctx(), homes).intersect_domain(written.unite(read).range()));
  };
  EXPECT_TRUE(turns(in_turn, "{ h[t, n] -> b[t mod 2, n] }"));
  EXPECT_TRUE(turns(in_turn, "{ h[t, n] -> b[0, n] }")) << "an instance reads before it writes";
  EXPECT_FALSE(turns(in_turn, "{ h[t, n] -> b[0, n mod 2] }")) << "instances of one iteration run in any order";
  EXPECT_FALSE(turns(at_once, "{ h[t, n] -> b[t mod 2, n] }"));
  EXPECT_FALSE(turns(at_once, "{ h[t, n] -> b[0, n] }"));
}

}  // namespace
}  // namespace tc::polyhedral::circular_buffer_test
