#include "tc/polyhedral/map_grid/copy_reads.h"

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map_grid/copy_of_read.h"
#include "tc/polyhedral/map_grid/cut_into_blocks.h"
#include "tc/polyhedral/map_grid/hold_in_registers.h"
#include "tc/polyhedral/spread/grid_tree.h"
#include "test/polyhedral/block_passes_fixture.h"
#include "test/support/rejects.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class CopyReads : public BlockPassTest {
 protected:
  /// C(m) += A(m, k) B(k) for 8 m and 12 k.
  Scop product() const {
    auto box = " : 0 <= m < 8 and 0 <= k < 12";
    auto scop = ScopBuilder(context())
                    .input("A", {8, 12})
                    .input("B", {12})
                    .output("C", {8})
                    .accumulate(str("U[m, k]", box), "C[m]", {"A[m, k]", "B[k]"})
                    .scop();
    scop.tensor("C").live_in = true;
    scop.schedule = domain(ctx(), str("{ U[m, k]", box, " }"),
                           coincident_band("[{ U[m, k] -> [(m)] }]", 1, band("[{ U[m, k] -> [(k)] }]")));
    return scop;
  }
  GridClusterState state(int slots) const {
    GridClusterMapping mapping{.members = {{8, 0, {0}}}, .grid = {1, 1, 1}, .block = {8, 1, 1}};
    mapping.blocks = {"U", 1, 4, slots};
    mapping.copies = {{"U", 1, 0, -1, 1}};
    mapping.shared_bytes = 1000;
    return kernel_state(product(), mapping);
  }
};

TEST_F(CopyReads, BlocksOfAReductionStandAboveItsLoops) {
  auto scop = product();
  auto inner = scop.schedule.root().child(0).child(0);
  auto cut = cut_into_blocks(scop, inner, {"U", 1, 4, 1});
  auto blocks = band_members(cut.parent()), points = band_members(cut);
  ASSERT_EQ(blocks.size(), 1u);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(values(blocks[0], scop.domain()).extent(), 3);
  EXPECT_EQ(values(points[0], scop.domain()).extent(), 4);
  EXPECT_TRUE(rejects([&] { cut_into_blocks(scop, inner, {"U", 0, 4, 1}); }, "has no loop of its own"));
}

TEST_F(CopyReads, WhatABlockReadsIsCopiedBeforeIt) {
  auto state = this->state(1);
  auto scop = copy_reads(product(), state);
  EXPECT_EQ(order(scop), (std::vector<std::string>{"copy_B", "U"}));
  EXPECT_TRUE(scop.has_tensor("block_B"));
  EXPECT_EQ(simulate(scop), simulate(product()));
  ASSERT_EQ(state.buffers.size(), 1u);
  EXPECT_EQ(state.buffers[0].tensor, "block_B");
  EXPECT_TRUE(state.ahead.empty() && state.held.empty());
}

TEST_F(CopyReads, ACopyHasTheTilesAndBlocksOfItsPlace) {
  auto state = this->state(1);
  auto scop = product();
  const NestSharedCopy choice{.statement = 0, .read = 0};
  const auto copies = copy_of_read(scop, "U", choice, {{0, 4}, {1, 4}}, {"U", 1, 4, 1}, {0}, state);
  ASSERT_EQ(copies.size(), 1u);
  const auto& copy = copies.front();
  EXPECT_EQ(copy.host, "U");
  EXPECT_TRUE(copy.statement.domain.is_equal(isl::set(ctx(), "{ copy_A[m, k] : 0 <= m < 8 and 0 <= k < 12 }")));
  ASSERT_EQ(copy.loops.size(), 1u) << "m is a loop around the copy";
  EXPECT_EQ(values(copy.loops.front().at(0), copy.statement.domain.to_union_set()).extent(), 4) << "a block of k";
  EXPECT_EQ(range_name(scop.statement("U").reads.front().function), "block_A");
}

TEST_F(CopyReads, WithTwoSlotsALoadRunsAheadAndWaits) {
  auto state = this->state(2);
  auto scop = copy_reads(product(), state);
  EXPECT_EQ(order(scop), (std::vector<std::string>{"load_B", "copy_B", "U"}));
  ASSERT_EQ(state.ahead.size(), 2u) << "the load, and the copy behind the reader";
  ASSERT_EQ(state.held.size(), 1u);
  EXPECT_EQ(state.held[0].statement, "load_B");
  EXPECT_EQ(state.buffers[0].slots, 2);
}

TEST_F(CopyReads, WithoutCopiesNothingChanges) {
  auto none = kernel_state(product(), {});
  auto scop = copy_reads(product(), none);
  EXPECT_EQ(order(scop), std::vector<std::string>{"U"});
  EXPECT_TRUE(plain_equal(scop.schedule, product().schedule));
}

class HoldInRegisters : public BlockPassTest {
 protected:
  /// h(i) = A(i), then B(i) = h(i), 16 elements in 8 threads.
  Scop handed_on() const {
    auto box = " : 0 <= i < 16";
    auto scop = ScopBuilder(context())
                    .input("A", {16})
                    .temporary("h", {16})
                    .output("B", {16})
                    .copy(str("L[i]", box), "h[i]", "A[i]")
                    .copy(str("S[i]", box), "B[i]", "h[i]")
                    .scop();
    scop.schedule =
        domain(ctx(), str("{ L[i]", box, "; S[i]", box, " }"),
               sequence({{"{ L[i] }", band("[{ L[i] -> [(i)] }]")}, {"{ S[i] }", band("[{ S[i] -> [(i)] }]")}}));
    return scop;
  }
  GridTree numbered(const char* index) const {
    GridTree tree;
    for (const char* id : {"L", "S"}) {
      tree.statements.push_back({id, isl::union_set(ctx(), str("{ ", id, "[i] }")), {}});
      tree.statements.back().numbers = {{isl::union_pw_aff(ctx(), str("{ ", id, "[i] -> [(", index, ")] }")), 2}};
    }
    return tree;
  }
};

TEST_F(HoldInRegisters, AnElementIsInTheRegisterOfItsInstance) {
  auto scop = hold_in_registers(handed_on(), "h", numbered("floor(i/8)"), {0});
  const auto& buffer = scop.tensors.back();
  EXPECT_EQ(buffer.name, "local_h");
  EXPECT_TRUE(buffer.in_registers);
  EXPECT_EQ(buffer.extent, std::vector<std::int64_t>{2});
  EXPECT_TRUE(scop.statement("L")
                  .write.function.as_map()
                  .intersect_domain(scop.statement("L").domain)
                  .is_equal(map("{ L[i] -> local_h[floor(i/8)] : 0 <= i < 16 }")));
  EXPECT_EQ(count(scop, "allocate_local_h"), 1);
}

TEST_F(HoldInRegisters, RefusesAStatementThatIsNotRunByNumber) {
  auto tree = numbered("floor(i/8)");
  tree.statements.pop_back();
  EXPECT_TRUE(rejects([&] { hold_in_registers(handed_on(), "h", tree, {0}); },
                      "statement S holds 'h' and is not run by number"));
}

}  // namespace
}  // namespace tc::polyhedral
