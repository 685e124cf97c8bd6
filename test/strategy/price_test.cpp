#include "tc/strategy/price/price.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/price/statement_nest.h"
#include "tc/strategy/price/touched_lines.h"
#include "test/support/expect_error.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class PriceTest : public polyhedral::IslTest {
 protected:
  const Target target_ = Target::parse("cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m");

  PricedCluster priced(Scop scop) const {
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    auto all = polyhedral::clustered(scop);
    return PricedCluster(all.scop, all.clusters.front(), target_);
  }
  static ClusterMapping mapping(const std::string& text) { return polyhedral::parse_mapping(text).clusters.at(0); }

  /// C = A B, or of A transposed, of n x n matrices.
  PricedCluster product(int n, bool transposed = false) const {
    auto ij = str("0 <= i, j < ", n);
    auto result = priced(ScopBuilder(context())
                             .input("A", {n, n})
                             .input("B", {n, n})
                             .output("C", {n, n})
                             .identity(str("I[i, j] : ", ij), "C[i, j]")
                             .accumulate(str("U[i, j, k] : ", ij, " and 0 <= k < ", n), "C[i, j]",
                                         {transposed ? "A[k, i]" : "A[i, k]", "B[k, j]"})
                             .scop());
    result.statements[1].body.simple = 1;
    return result;
  }
  /// C[i, j] = A[i, j], or A transposed.
  PricedCluster copy(int n, bool transposed) const {
    return priced(ScopBuilder(context())
                      .input("A", {n, n})
                      .output("C", {n, n})
                      .statement(str("S[i, j] : 0 <= i, j < ", n), "C[i, j]", {transposed ? "A[j, i]" : "A[i, j]"})
                      .scop());
  }
  double cycles(const PricedCluster& cluster, const std::string& text) const {
    return price(cluster, mapping(text), 1 << 18).core_cycles;
  }
  double seconds(const PricedCluster& cluster, const std::string& text) const {
    return price(cluster, mapping(text), 1 << 18).seconds;
  }
};

TEST_F(PriceTest, LoopsStandInTheOrderOfTheMapping) {
  auto cluster = product(512);
  auto nest = statement_nest(
      cluster, mapping("outermost 1, blocks 128x256, above 0, register 8x32, U: i1 x16, U: i2 in blocks of 64"), 1);
  std::vector<std::pair<int, double>> loops;
  for (const auto& loop : nest.loops) loops.emplace_back(loop.iterator, loop.trips);
  const std::vector<std::pair<int, double>> expected{{1, 2}, {0, 4}, {2, 8}, {0, 16}, {1, 8}, {2, 64}, {0, 8}, {1, 2}};
  EXPECT_EQ(loops, expected);
  EXPECT_EQ(nest.copies, 3u);
  EXPECT_EQ(nest.blocks, 3u);
  EXPECT_EQ(nest.tile, 5u);
  EXPECT_EQ(nest.points, 6u);
  EXPECT_TRUE(nest.unrolled);
  EXPECT_EQ(nest.trips_above(nest.points), 2.0 * 4 * 8 * 16 * 8 * 64);
  EXPECT_EQ(nest.spans(cluster.statements[1], 3), (std::vector<double>{128, 256, 64}));
}

TEST_F(PriceTest, LinesAreThoseThatRunsTouch) {
  auto cluster = product(512);
  const auto& b = cluster.statements[1].reads[1];
  auto block = touched_lines(cluster, b, {1, 32, 8});
  EXPECT_EQ(block.bytes, 8 * 128);
  EXPECT_EQ(block.runs, 8);
  EXPECT_EQ(block.rows[0].bytes, 2048);
  auto rows = touched_lines(cluster, b, {1, 512, 4});
  EXPECT_EQ(rows.bytes, 4 * 2048);
  EXPECT_EQ(rows.runs, 1);
  auto column = touched_lines(cluster, b, {1, 1, 512});
  EXPECT_EQ(column.bytes, 512 * 64);
  EXPECT_EQ(column.lines_of_a_set(4096), 256) << "two rows begin in a period";
  EXPECT_EQ(column.sets(4096), 2);
  EXPECT_EQ(block.lines_of_a_set(4096), 4);
  EXPECT_EQ(block.sets(4096), 4) << "two lines in each of two sets";
  EXPECT_EQ(rows.sets(4096), 64);
  EXPECT_EQ(copied_lines(b, 4, {7, 32, 8}).bytes, 32 * 8 * 4);
}

TEST_F(PriceTest, OfATensorInBlocksRunsFollowBlocks) {
  auto cluster = product(512);
  auto panels = cluster.statements[1].reads[1];
  panels.strides = {0, 1, 16};
  panels.blocks[1] = {16, 1, 512 * 16};
  auto tile = touched_lines(cluster, panels, {1, 16, 512});
  EXPECT_EQ(tile.bytes, 512 * 64);
  EXPECT_EQ(tile.runs, 1) << "rows of a panel follow one another";
  auto wide = touched_lines(cluster, panels, {1, 48, 100});
  EXPECT_EQ(wide.bytes, 3 * 100 * 64);
  EXPECT_EQ(wide.runs, 3);
  auto part = touched_lines(cluster, panels, {1, 24, 1});
  EXPECT_EQ(part.bytes, 2 * 64);
}

TEST_F(PriceTest, ARegisterTileLoadsWhatItsPointsShareOnce) {
  auto cluster = product(512);
  auto tile = price(cluster, mapping("register 4x64, I: i1 x16, U: i1 x16, stage C"), 1 << 18);
  double steps = 512.0 * 512 * 512 / (4 * 64);
  EXPECT_DOUBLE_EQ(tile.core.operations, steps * 16 / cluster.rates.operations);
  EXPECT_NEAR(tile.core.loads, steps * (4 + 4) / cluster.rates.loads, steps);
  EXPECT_LT(cycles(cluster, "register 4x64, I: i1 x16, U: i1 x16, stage C"),
            cycles(cluster, "register 1x64, I: i1 x16, U: i1 x16, stage C"));
  EXPECT_LT(cycles(cluster, "register 4x64, I: i1 x16, U: i1 x16, stage C"),
            cycles(cluster, "register 1x16, I: i1 x16, U: i1 x16, stage C"))
      << "one accumulator waits for itself";
  EXPECT_LT(cycles(cluster, "register 4x64, I: i1 x16, U: i1 x16, stage C"),
            cycles(cluster, "register 16x64, I: i1 x16, U: i1 x16, stage C"))
      << "64 accumulators do not fit 32 registers";
}

TEST_F(PriceTest, LanesThatAreIdleCost) {
  auto whole = copy(512, false);
  EXPECT_LT(cycles(whole, "points 1x16, S: i1 x16"), cycles(whole, "points 1x8, S: i1 x8"));
  EXPECT_LT(cycles(whole, "points 1x8, S: i1 x8"), cycles(whole, "members 2"));
  EXPECT_LT(cycles(whole, "points 1x16, S: i1 x16"), cycles(whole, "points 16x1, S: i0 x16"))
      << "lanes across rows are gathered and scattered";
}

TEST_F(PriceTest, ElementsThatLieApartCostALineEach) {
  auto read = [&](const char* what, int columns) {
    return priced(ScopBuilder(context())
                      .input("A", {512, columns})
                      .output("C", {512, 512})
                      .statement("S[i, j] : 0 <= i, j < 512", "C[i, j]", {what})
                      .scop());
  };
  EXPECT_GT(seconds(read("A[i, 16*j]", 8192), "points 1x16, S: i1 x16"),
            5 * seconds(read("A[i, j]", 512), "points 1x16, S: i1 x16"));
}

TEST_F(PriceTest, StoresIntoRowsOfOneSetWaitForEachOther) {
  // Rows of 4096 bytes: 32 of them lie in one set of 8 ways, so 24 of 32 lines are gone when the next column is written.
  auto colliding = copy(1024, true), spread = copy(1040, true);
  auto into_rows = [&](const PricedCluster& cluster) {
    return price(cluster, mapping("points 32x1, S: i0 x16"), 1 << 18).far[0].written_colliding;
  };
  EXPECT_DOUBLE_EQ(into_rows(colliding), 0.75 * 1024 * 1024);
  EXPECT_EQ(into_rows(spread), 0);
  EXPECT_GT(seconds(colliding, "points 32x1, S: i0 x16"), 5 * seconds(spread, "points 32x1, S: i0 x16"));
}

TEST_F(PriceTest, SquaresAreTransposedInRegisters) {
  auto transposed = copy(512, true);
  EXPECT_LT(cycles(transposed, "register 16x16, S: i1 x16"), cycles(transposed, "points 1x16, S: i1 x16"));
  EXPECT_LT(seconds(transposed, "register 16x16, S: i1 x16"), seconds(transposed, "points 1x16, S: i1 x16"));
}

TEST_F(PriceTest, BlocksKeepInACacheWhatTilesUseAgain) {
  auto cluster = product(1024);
  auto far = [&](const std::string& text) { return price(cluster, mapping(text), 1 << 18).far; };
  auto plain = far("register 4x64, I: i1 x16, U: i1 x16, stage C");
  auto blocked = far("blocks 0x256, above 1, register 4x64, I: i1 x16, U: i1 x16, U: i2 in blocks of 256, stage C");
  EXPECT_LT(blocked[1].bytes, plain[1].bytes);
  EXPECT_GT(plain[1].bytes, 4e6 * 3) << "B comes from the third cache for each row of tiles";
  auto small = price(product(32), mapping("register 4x32, I: i1 x16, U: i1 x16, stage C"), 1 << 18).far;
  EXPECT_EQ(small[0].bytes, 0) << "everything fits the first cache";
}

TEST_F(PriceTest, CopiesTakeTimeAndSaveConflicts) {
  auto cluster = product(1024, true);
  auto packed =
      price(cluster,
            mapping("above 1, register 8x48, I: i1 x16, U: i1 x16, stage C, U: i2 in blocks of 256, pack read 0 "
                    "of U in panels of 8 i0 lanes 8"),
            1 << 18);
  EXPECT_GT(packed.copies.loads, 0);
  auto plain =
      price(cluster, mapping("above 1, register 8x48, I: i1 x16, U: i1 x16, stage C, U: i2 in blocks of 256"), 1 << 18);
  EXPECT_EQ(plain.copies.loads, 0);
  EXPECT_LT(packed.far[0].runs, plain.far[0].runs);
}

TEST_F(PriceTest, ThreadsShareTheOutermostLoop) {
  auto cluster = product(512);
  auto one =
      price(cluster, mapping("outermost 0, blocks 128x0, register 4x64, I: i1 x16, U: i1 x16, stage C"), 1 << 18);
  auto two = price(cluster, mapping("parallel 0, blocks 128x0, register 4x64, I: i1 x16, U: i1 x16, stage C"), 1 << 18);
  EXPECT_EQ(one.busy, 1);
  EXPECT_EQ(two.busy, 2);
  EXPECT_LT(two.seconds, one.seconds);
  auto uneven =
      price(cluster, mapping("parallel 0, blocks 256x0, register 4x64, I: i1 x16, U: i1 x16, stage C"), 1 << 18);
  EXPECT_EQ(uneven.busy, 2);
  auto three =
      price(cluster, mapping("parallel 0, blocks 172x0, register 4x64, I: i1 x16, U: i1 x16, stage C"), 1 << 18);
  EXPECT_EQ(three.busy, 1.5);
  EXPECT_EQ(two.on(1, cluster.rates).seconds, one.seconds);
  EXPECT_EQ(one.on(2, cluster.rates).seconds, one.seconds) << "no loop is shared";
}

TEST_F(PriceTest, PrintsEachTerm) {
  auto text = to_string(price(product(64), mapping("register 4x64, I: i1 x16, U: i1 x16, stage C"), 1 << 18));
  for (const char* term : {" us on 1 core; ", "operations", "loads", "latency", "from L2", "from L3", "from memory"})
    EXPECT_NE(text.find(term), std::string::npos) << text;
  auto rates = to_string(rates_of(target_));
  EXPECT_NE(rates.find("hertz 4.1e+09"), std::string::npos) << rates;
  EXPECT_EQ(with_rates(rates_of(target_), "hertz=2e9,misses=7").misses, 7);
  EXPECT_ERROR(with_rates(rates_of(target_), "herz=2e9"), OptionsError, "'herz=2e9' is no rate of a machine");
  EXPECT_ERROR(with_rates(rates_of(target_), "hertz=fast"), OptionsError, "'hertz=fast' is no rate of a machine");
}

}  // namespace
}  // namespace tc::strategy
