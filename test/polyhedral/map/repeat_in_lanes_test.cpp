#include "tc/polyhedral/map_grid/repeat_in_lanes.h"

#include "tc/polyhedral/core/are_copies.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"
#include "tc/polyhedral/map_grid/reduce_in_block.h"
#include "test/polyhedral/block_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class RepeatInLanes : public BlockPassTest {
 protected:
  /// t(i) = 0, t(i) += A(i, k), s(i) = t(i), B(i, k) = s(i), for 8 rows of 64.
  Scop scaled_rows() const {
    const std::string row = " : 0 <= i < 8", all = " : 0 <= i < 8 and 0 <= k < 64";
    auto scop = ScopBuilder(context())
                    .input("A", {8, 64})
                    .temporary("t", {8})
                    .temporary("s", {8})
                    .output("B", {8, 64})
                    .identity("I[i]" + row, "t[i]")
                    .accumulate("U[i, k]" + all, "t[i]", {"A[i, k]"})
                    .statement("S[i]" + row, "s[i]", {"t[i]"})
                    .statement("W[i, k]" + all, "B[i, k]", {"s[i]"})
                    .scop();
    scop.schedule = domain(ctx(), "{ I[i]" + row + "; U[i, k]" + all + "; S[i]" + row + "; W[i, k]" + all + " }",
                           coincident_band("[{ I[i] -> [(i)]; U[i, k] -> [(i)]; S[i] -> [(i)]; W[i, k] -> [(i)] }]", 1,
                                           sequence({{"{ I[i] }"},
                                                     {"{ U[i, k] }", band("[{ U[i, k] -> [(k)] }]")},
                                                     {"{ S[i] }"},
                                                     {"{ W[i, k] }", coincident_band("[{ W[i, k] -> [(k)] }]", 1)}})));
    return scop;
  }
  /// A row in a block of so many threads.
  GridClusterMapping mapping(std::int64_t threads) const {
    GridClusterMapping result{.members = {{1, 0}},
                              .statements = {{"U", {{1, {0}}}}, {"W", {{1, {0}}}}},
                              .grid = {8, 1, 1},
                              .block = {threads, 1, 1}};
    result.promoted = {"t", "s"};
    result.shared_bytes = 1000;
    return result;
  }
};

TEST_F(RepeatInLanes, EachThreadComputesWhatItWouldBeHanded) {
  const auto scop = scaled_rows();
  auto state = kernel_state(scop, mapping(32));
  const auto reduced = reduce_in_block(scop, state);
  const auto repeated = repeat_in_lanes(reduced, state);
  EXPECT_EQ(simulate(repeated), simulate(scop));
  EXPECT_EQ(repeated.tensor("t").extent, (std::vector<std::int64_t>{8, 32}));
  EXPECT_EQ(repeated.tensor("s").extent, (std::vector<std::int64_t>{8, 32}));
  EXPECT_TRUE(repeated.statement("U_combine").combined_in_all);
  EXPECT_EQ(box(repeated.statement("S").domain).back().extent(), 32) << "all threads run S";
  EXPECT_EQ(dimensions(repeated.statement("W").domain), 2) << "W is on threads already";
  EXPECT_TRUE(writes(repeated, "S", "S[i, x] -> s[i, x]"));
}

TEST_F(RepeatInLanes, RegistersTakeThePlaceOfSharedMemoryAndBarriers) {
  auto kernel = map_to_grid(clustered(scaled_rows()), {{mapping(32)}}, warp_size).at(0);
  EXPECT_EQ(kernel.shared_bytes, 0);
  EXPECT_TRUE(kernel.scop.tensor("local_s").in_registers);
  EXPECT_EQ(count(kernel.scop, "barrier"), 0);
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(RepeatInLanes, RowsOfSeveralElementsStayInSharedMemory) {
  const std::string all = " : 0 <= i < 8 and 0 <= k < 64";
  auto scop = ScopBuilder(context())
                  .input("A", {8, 64})
                  .temporary("t", {8, 64})
                  .output("B", {8, 64})
                  .statement("S[i, k]" + all, "t[i, k]", {"A[i, k]"})
                  .statement("W[i, k]" + all, "B[i, k]", {"t[i, 63 - k]"})
                  .scop();
  scop.schedule = domain(ctx(), "{ S[i, k]" + all + "; W[i, k]" + all + " }",
                         coincident_band("[{ S[i, k] -> [(i)]; W[i, k] -> [(i)] }]", 1,
                                         sequence({{"{ S[i, k] }", band("[{ S[i, k] -> [(k)] }]")},
                                                   {"{ W[i, k] }", coincident_band("[{ W[i, k] -> [(k)] }]", 1)}})));
  auto rows = mapping(32);
  rows.statements = {{"W", {{1, {0}}}}};
  rows.promoted = {"t"};
  auto state = kernel_state(scop, rows);
  EXPECT_TRUE(are_copies(repeat_in_lanes(scop, state), scop));
}

TEST_F(RepeatInLanes, ThreadsOfSeveralWarpsHandOn) {
  const auto scop = scaled_rows();
  auto state = kernel_state(scop, mapping(64));
  const auto reduced = reduce_in_block(scop, state);
  EXPECT_TRUE(are_copies(repeat_in_lanes(reduced, state), reduced));
  EXPECT_GT(map_to_grid(clustered(scop), {{mapping(64)}}, warp_size).at(0).shared_bytes, 0);
}

}  // namespace
}  // namespace tc::polyhedral
