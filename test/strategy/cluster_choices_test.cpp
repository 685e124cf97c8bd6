#include <gtest/gtest.h>

#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/cpu/choose_lanes.h"
#include "tc/strategy/cpu/choose_lines.h"
#include "tc/strategy/cpu/choose_outermost.h"
#include "tc/strategy/cpu/choose_staged.h"
#include "tc/strategy/cpu/choose_tile.h"
#include "tc/strategy/cpu/choose_window.h"
#include "test/support/isl_fixture.h"
#include "test/support/scops.h"

/// Each choice for a cluster of a processor alone, from facts to a value.
namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ClusterChoices : public polyhedral::IslTest {
 protected:
  const Target target_ = Target::parse("cpu:avx512,cores=2,l1=32k,l2=1m,l3=16m");
  MappingOptions options_;
  Scop scop_;
  polyhedral::ClusterView cluster_;

  /// Facts of the first cluster of \p scop, until the next ones.
  ClusterFacts facts(Scop scop) {
    scop_ = std::move(scop);
    scop_.schedule = polyhedral::compute_schedule(scop_, polyhedral::compute_dependences(scop_), options_);
    auto all = polyhedral::clustered(scop_);
    scop_ = all.scop;
    cluster_ = all.clusters.front();
    return {scop_, cluster_, target_, options_};
  }
  static ClusterMapping whole(const ClusterFacts& facts) {
    ClusterMapping result;
    result.members.resize(static_cast<std::size_t>(facts.member_count()));
    return result;
  }

  /// C[i, j] = A[i, j], or A transposed.
  Scop pointwise(int n, int m, bool transposed = false) const {
    auto ij = str("0 <= i < ", n, " and 0 <= j < ", m);
    return ScopBuilder(context())
        .input("A", {transposed ? m : n, transposed ? n : m})
        .output("C", {n, m})
        .statement(str("S[i, j] : ", ij), "C[i, j]", {transposed ? "A[j, i]" : "A[i, j]"})
        .scop();
  }
  Scop product(int n) const { return polyhedral::scops::square_product(context(), n); }
  /// A register tile of 4 rows and 32 columns.
  static ClusterMapping tile(const ClusterFacts& facts) {
    auto result = whole(facts);
    result.members[0].points = 4;
    result.members[1].points = 32;
    result.register_tile = true;
    return result;
  }
  /// O[h, w] += I[h + k, w] K[k], k < 3.
  Scop convolution() const {
    return ScopBuilder(context())
        .input("I", {66, 64})
        .input("K", {3})
        .output("O", {64, 64})
        .identity("Z[h, w] : 0 <= h, w < 64", "O[h, w]")
        .accumulate("U[h, w, k] : 0 <= h, w < 64 and 0 <= k < 3", "O[h, w]", {"I[h + k, w]", "K[k]"})
        .scop();
  }
};

TEST_F(ClusterChoices, FactsAreThoseOfTheHeaviestStatement) {
  auto of = facts(product(64));
  EXPECT_EQ(of.heaviest.id, "U");
  EXPECT_EQ(of.work, 64 * 64 + 64 * 64 * 64);
  EXPECT_EQ(of.target_of(of.heaviest), "C");
  EXPECT_TRUE(of.is_reduction(of.heaviest));
  EXPECT_EQ(of.outer_candidates(of.heaviest), (std::vector<int>{0, 1}));
  EXPECT_EQ(of.inner_candidates(of.heaviest), (std::vector<int>{2}));
  EXPECT_EQ(member_of(of.heaviest, 1), 1);
  EXPECT_EQ(member_of(of.heaviest, 2), -1);
  auto mapping = whole(of);
  mapping.members[0] = {.block = 16, .points = 5};
  EXPECT_EQ(of.extent(0, mapping), 16);
  EXPECT_EQ(of.trips(0, mapping), 13);
}

TEST_F(ClusterChoices, LanesAreHalvedWhileHalfOfThemWouldBeIdle) {
  EXPECT_EQ(lanes_within(16, 100), 16);
  EXPECT_EQ(lanes_within(16, 9), 16);
  EXPECT_EQ(lanes_within(16, 8), 8);
  EXPECT_EQ(lanes_within(16, 1), 1);
}

TEST_F(ClusterChoices, AProductGetsARegisterTileAndBlocks) {
  auto of = facts(product(512));
  auto tiling = choose_tile(of, whole(of), tile_lanes(of).front());
  EXPECT_TRUE(tiling.mapping.register_tile);
  EXPECT_EQ(tiling.lanes.iterator, 1);
  EXPECT_GT(tiling.mapping.members[0].points, 1);
  EXPECT_EQ(tiling.mapping.members[1].points % 16, 0);
  EXPECT_FALSE(tiling.blocked.empty());
}

TEST_F(ClusterChoices, WhatIsReadOnceGetsPointsForItsLanesAlone) {
  auto of = facts(pointwise(64, 64));
  auto tiling = choose_tile(of, whole(of), tile_lanes(of).front());
  EXPECT_EQ(tiling.lanes.iterator, 1);
  EXPECT_EQ(tiling.mapping.members[1].points, 16);
  EXPECT_EQ(tiling.mapping.members[0].points, 1);
  EXPECT_FALSE(tiling.mapping.register_tile);
  EXPECT_TRUE(tiling.blocked.empty());
}

TEST_F(ClusterChoices, AShortLoopThatMovesAsTheRowsIsAWindow) {
  auto of = facts(convolution());
  RegisterTile tile{.rows = 0, .columns = 1};
  std::vector<Operand> operands{{.members = {true, true}, .vector = true}, {.members = {false, false}}};
  auto window = choose_window(of, tile, operands);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->read, 0);
  EXPECT_EQ(window->mapping, (polyhedral::WindowMapping{"U", 2, 0, 3, 1}));
  operands[0].vector = false;
  EXPECT_FALSE(choose_window(of, tile, operands));
  EXPECT_FALSE(choose_window(of, {.rows = -1, .columns = 1}, operands));
}

TEST_F(ClusterChoices, LinesThatLieAcrossTheLanesAreUsedWhole) {
  auto of = facts(pointwise(64, 64, true));
  auto mapping = whole(of);
  mapping.members[1].points = 16;
  auto lines = choose_lines(of, {1, 16, 0}, mapping);
  EXPECT_EQ(lines.members[0].points, 16);
  EXPECT_TRUE(lines.register_tile);
  auto along = facts(pointwise(64, 64));
  EXPECT_EQ(choose_lines(along, {1, 16, 0}, mapping), mapping);
}

TEST_F(ClusterChoices, StatementsOfARegisterTileShareItsLanes) {
  auto of = facts(product(64));
  auto mapping = tile(of);
  auto lanes = choose_lanes(of, {1, 16, 0}, mapping);
  for (const char* id : {"I", "U"}) {
    EXPECT_EQ(lanes.statement(id).iterator, 1) << id;
    EXPECT_EQ(lanes.statement(id).lanes, 16) << id;
  }
  EXPECT_EQ(lanes.copies, (polyhedral::StatementMapping{"", 1, 16}));
}

/// What else would be cheapest for it is no matter: its tile is made for these lanes.
TEST_F(ClusterChoices, TheHeaviestStatementHasTheLanesOfItsTile) {
  auto of = facts(product(64));
  auto mapping = tile(of);
  mapping.reduction = {"U", 2, 16};
  auto lanes = choose_lanes(of, {1, 16, 0}, mapping);
  EXPECT_EQ(lanes.statement("U").iterator, 1);
  mapping.members[1].points = 4;
  EXPECT_EQ(choose_lanes(of, {2, 16, 0}, mapping).statement("U").iterator, 2);
}

TEST_F(ClusterChoices, AccumulatorsStayInABufferUnlessTheirLanesAreCombinedOnce) {
  auto of = facts(product(64));
  auto mapping = whole(of);
  EXPECT_EQ(choose_staged(of, mapping), std::vector<std::string>{"C"});
  mapping.statements = {{"U", 2, 16}};
  EXPECT_EQ(choose_staged(of, mapping), std::vector<std::string>{});
  mapping.register_tile = true;
  EXPECT_EQ(choose_staged(of, mapping), std::vector<std::string>{"C"});
}

TEST_F(ClusterChoices, ThreadsShareTheFirstLoopUnlessAnotherIsCheaper) {
  auto of = facts(pointwise(4096, 1024));
  auto alike = [](const ClusterMapping&, double) { return 1.0; };
  auto mapping = choose_outermost(of, whole(of), alike);
  EXPECT_TRUE(mapping.parallel);
  EXPECT_EQ(mapping.outermost, 0);
  EXPECT_EQ(mapping.members[0].block, 512) << "four blocks a core";
  auto columns_at = [](double price) {
    return [price](const ClusterMapping& next, double) { return next.members[1].block == 512 ? price : 1; };
  };
  EXPECT_EQ(choose_outermost(of, whole(of), columns_at(0.98)), mapping) << "prices do not tell these apart";
  auto cheaper = choose_outermost(of, whole(of), columns_at(0.9));
  EXPECT_EQ(cheaper.outermost, 1);
  EXPECT_EQ(cheaper.members[1].block, 512) << "one block a core";
  auto small = facts(pointwise(20, 30));
  EXPECT_EQ(choose_outermost(small, whole(small), alike), whole(small));
}

}  // namespace
}  // namespace tc::strategy
