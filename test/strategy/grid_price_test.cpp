#include "tc/strategy/grid_price/grid_price.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/grid_price/access_box.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::GridClusterMapping;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

const std::string tiled =
    "grid 16x16, block 16x16, member 0 tile 64 blocks y threads y run 4, member 1 tile 64 blocks x threads x run 4, "
    "others: tile vector unroll, ";
const std::string in_blocks =
    "U: i2 in blocks of 16 slots 2, copy read 0 of U along i0 run i2 vector 4 beside 4 by registers, "
    "copy read 1 of U along i1 run i1 vector 4 asynchronous, shared bytes 49152, ";

class GridPriceTest : public polyhedral::IslTest {
 protected:
  PricedCluster priced(Scop scop, const std::string& target = "cuda:sm_90") const {
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    auto all = polyhedral::clustered(scop);
    return PricedCluster(all.scop, all.clusters.front(), Target::parse(target));
  }
  static GridClusterMapping mapping(const std::string& text) {
    return polyhedral::parse_grid_mapping(text + "\n").clusters.at(0);
  }
  static polyhedral::Nest nest(const PricedCluster& cluster, const std::string& text) {
    return nest_of(cluster.nests, mapping(text));
  }
  static BlockCounts counts(const PricedCluster& cluster, const std::string& text) {
    const auto how = nest(cluster, text);
    return block_counts(cluster, how, kernel_shape(cluster, how));
  }
  PricedCluster product(int n, int k, const std::string& target = "cuda:sm_90") const {
    auto ij = str("0 <= i, j < ", n);
    auto result =
        priced(ScopBuilder(context())
                   .input("A", {n, k})
                   .input("B", {k, n})
                   .output("C", {n, n})
                   .identity(str("I[i, j] : ", ij), "C[i, j]")
                   .accumulate(str("U[i, j, k] : ", ij, " and 0 <= k < ", k), "C[i, j]", {"A[i, k]", "B[k, j]"})
                   .scop(),
               target);
    result.statements[1].body.simple = 1;
    return result;
  }
  /// O[i, j] = A[i, j] of n x n.
  PricedCluster copy(int n) const {
    return priced(ScopBuilder(context())
                      .input("A", {n, n})
                      .output("O", {n, n})
                      .statement(str("S[i, j] : 0 <= i, j < ", n), "O[i, j]", {"A[i, j]"})
                      .scop());
  }
};

TEST_F(GridPriceTest, IteratorsAreSpreadAsTheMappingSays) {
  auto cluster = product(1024, 512);
  auto how = nest(cluster, tiled + in_blocks + "stage C");
  EXPECT_EQ(kernel_shape(cluster, how), (KernelShape{{16, 16, 1}, {16, 16, 1}}));
  auto spread = thread_spread(cluster, how, 1);
  const auto& i = spread.iterators.at(0);
  EXPECT_EQ(std::tuple(i.extent, i.tile, i.tiles, i.dimension, i.run, i.count), std::tuple(1024, 64, 1.0, 1, 4, 16));
  EXPECT_EQ(i.in_thread(), 4);
  EXPECT_EQ(spread.iterators.at(2).in_thread(), 512);
  EXPECT_EQ(spread.iterators.at(2).cut, 16);
  EXPECT_EQ(spread.vector, 1);
}

TEST_F(GridPriceTest, BlocksGoRoundWhereThereAreFew) {
  auto cluster = copy(1000);
  auto how = nest(cluster, "grid 4, block 256, member 0 tile 1 blocks x, member 1 tile 256 threads x");
  EXPECT_EQ(kernel_shape(cluster, how), (KernelShape{{4, 1, 1}, {256, 1, 1}}));
  EXPECT_EQ(thread_spread(cluster, how, 0).iterators[0].tiles, 250);
}

TEST_F(GridPriceTest, ABlockOfAProductMovesWhatItsCopiesHold) {
  auto cluster = product(1024, 512);
  auto block = counts(cluster, tiled + in_blocks + "stage C");
  EXPECT_EQ(block.sectors_read(), 2 * 64 * 512 * 4 / 32);
  EXPECT_EQ(block.sectors_written(), 64 * 64 * 4 / 32);
  EXPECT_EQ(block.operations, 64.0 * 64 * 512);
  EXPECT_EQ(block.shared_bytes, 2 * 2 * 64 * 16 * 4);
}

TEST_F(GridPriceTest, NeighboursThatReadColumnsTakeASectorEach) {
  auto cluster = copy(1024);
  const auto* rows = "grid 4x1024, block 256, member 0 tile 1 blocks y, member 1 tile 256 blocks x threads x";
  const auto* columns = "grid 4x1024, block 256, member 0 tile 256 blocks x threads x, member 1 tile 1 blocks y";
  EXPECT_EQ(counts(cluster, rows).sectors_read(), 256 * 4 / 32);
  EXPECT_EQ(counts(cluster, columns).sectors_read(), 256);
  EXPECT_GT(grid_price(cluster, mapping(columns)).seconds, 1.5 * grid_price(cluster, mapping(rows)).seconds);
}

TEST_F(GridPriceTest, TilesOfAccumulatorsPayAndCopiesReadEachSectorOnce) {
  auto cluster = product(1024, 1024);
  auto alone = mapping(
      "grid 64x64, block 16x16, member 0 tile 16 blocks y threads y, member 1 tile 16 blocks x threads x, stage C");
  auto copies = grid_price(cluster, mapping(tiled + in_blocks + "stage C"));
  EXPECT_EQ(copies.sector_share, 1);
  EXPECT_LT(grid_price(cluster, mapping(tiled + "stage C")).sector_share, 0.2);
  EXPECT_GT(grid_price(cluster, alone).seconds, 3 * copies.seconds);
}

TEST_F(GridPriceTest, ResidentBlocksAndWavesFollowFromTheLimits) {
  auto how = mapping(tiled + in_blocks + "stage C");
  auto price = grid_price(product(1024, 512, "cuda:sm_90,multiprocessors=16"), how);
  EXPECT_EQ(price.resident, 6);  // 40 registers of 256 threads: 10240 of 65536
  EXPECT_EQ(price.waves, 3);
  EXPECT_EQ(price.occupancy, 6 * 256 / 2048.0);
  auto more = grid_price(product(1024, 512, "cuda:sm_90,multiprocessors=132"), how);
  EXPECT_EQ(more.waves, 1);
  EXPECT_LT(more.seconds, price.seconds / 3);
}

TEST_F(GridPriceTest, ThreadsThatWaitAreHiddenByOtherBlocks) {
  auto cluster = copy(4096);
  auto few = mapping("grid 132, block 32, member 0 tile 1 blocks x, member 1 tile 32 threads x");
  auto many = mapping("grid 128x4096, block 32, member 0 tile 1 blocks y, member 1 tile 32 blocks x threads x");
  EXPECT_GT(grid_price(cluster, few).latency, 3 * grid_price(cluster, many).latency);
}

/// The machine begins a number of blocks a second, however little each does.
TEST_F(GridPriceTest, ManySmallBlocksTakeTheTimeOfTheirStarts) {
  auto cluster = copy(4096);
  auto small = grid_price(
      cluster, mapping("grid 128x4096, block 32, member 0 tile 1 blocks y, member 1 tile 32 blocks x threads x"));
  auto large = grid_price(
      cluster, mapping("grid 16x4096, block 256, member 0 tile 1 blocks y, member 1 tile 256 blocks x threads x"));
  EXPECT_DOUBLE_EQ(small.starts, 8 * large.starts);
  EXPECT_GT(small.seconds, 4 * large.seconds);
}

/// Statements that read the same elements, and accesses of one that differ in where they begin, find them in the caches.
TEST_F(GridPriceTest, WhatIsTouchedAgainComesOnce) {
  auto cluster =
      priced(ScopBuilder(context())
                 .input("A", {1024, 1026})
                 .output("O", {1024, 1024})
                 .statement("S[i, j] : 0 <= i, j < 1024", "O[i, j]", {"A[i, j]", "A[i, j + 1]", "A[i, j + 2]"})
                 .scop());
  auto block =
      counts(cluster, "grid 4x1024, block 256, member 0 tile 1 blocks y, member 1 tile 256 blocks x threads x");
  auto named =
      std::find_if(cluster.tensors.begin(), cluster.tensors.end(), [](const auto& t) { return t.name == "A"; });
  const auto& of_a = block.tensors.at(static_cast<std::size_t>(named - cluster.tensors.begin()));
  EXPECT_GE(of_a.read, 3 * 256 * 4 / 32);
  EXPECT_LT(of_a.once, 1.1 * 256 * 4 / 32);
}

/// Bytes are those of all blocks: each operand of a tiled product comes once for each column, or row, of tiles.
TEST_F(GridPriceTest, BytesAreThoseOfAllBlocks) {
  const auto price = grid_price(product(1024, 512), mapping(tiled + in_blocks + "stage C"));
  const double operand = 1024 * 512 * 4, result = 1024 * 1024 * 4;
  EXPECT_LE(price.l2_bytes, 2 * 16 * operand + result);
  EXPECT_GE(price.l2_bytes, 2 * operand + result);
  EXPECT_EQ(price.memory_bytes, 0) << "the second cache keeps all";
  const auto large =
      grid_price(copy(8192), mapping("grid 32x8192, block 256, member 0 tile 1 blocks y, member 1 tile 256 "
                                     "blocks x threads x"));
  EXPECT_EQ(large.memory_bytes, 2.0 * 8192 * 8192 * 4);
}

TEST_F(GridPriceTest, CopiesThatHaveNoRoomAreNotPossible) {
  auto how = mapping(tiled + in_blocks + "stage C");
  auto cluster = product(1024, 512);
  EXPECT_LT(grid_price(cluster, how).seconds, 1);
  how.shared_bytes = 8192;
  EXPECT_TRUE(std::isinf(grid_price(cluster, how).seconds));
}

/// Each thread of a warp reads a row of its own: 32 lines are looked up for 32 words.
TEST_F(GridPriceTest, LinesThatAWarpLooksUpTakeTheirTime) {
  auto cluster = copy(1024);
  const auto rows =
      counts(cluster, "grid 4x1024, block 256, member 0 tile 1 blocks y, member 1 tile 256 blocks x threads x");
  const auto columns =
      counts(cluster, "grid 4x1024, block 256, member 0 tile 256 blocks x threads x, member 1 tile 1 blocks y");
  EXPECT_GT(columns.cache_rounds, 10 * rows.cache_rounds);
}

TEST_F(GridPriceTest, APriceIsOneLine) {
  auto text = to_string(grid_price(product(1024, 512), mapping(tiled + in_blocks + "stage C")));
  EXPECT_NE(text.find("256 blocks of 256 threads"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

PricedAccess access(const std::vector<std::int64_t>& strides) {
  PricedAccess result;
  result.strides = strides;
  result.blocks.resize(strides.size());
  for (auto stride : strides) result.used.push_back(stride != 0);
  return result;
}

TEST(AccessBox, JoinsWhatOverlapsOrFollows) {
  using Sides = std::vector<BoxSide>;
  EXPECT_EQ(access_box(access({66, 1, 66, 1}), {4, 64, 3, 3}), (Sides{{1, 5 * 66 + 66}}));
  EXPECT_EQ(access_box(access({100, 1}), {4, 64}), (Sides{{1, 64}, {100, 4}}));
  EXPECT_EQ(access_box(access({2, 1}), {8, 3}), (Sides{{1, 17}}));
  EXPECT_EQ(access_box(access({0, 7}), {8, 3}), (Sides{{7, 3}}));
  EXPECT_EQ(access_box(access({5}), {1}), Sides{});
  EXPECT_EQ(elements(access_box(access({100, 1}), {4, 64})), 256);
}

TEST(AccessBox, CountsSectorsOfRows) {
  EXPECT_EQ(sectors({{1, 64}, {128, 4}}, 4, 32), 4 * 8);
  EXPECT_EQ(sectors({{8, 10}}, 4, 32), 10);
  EXPECT_EQ(sectors({}, 4, 32), 1);
  EXPECT_DOUBLE_EQ(sectors({{1, 33}, {33, 2}}, 4, 32), 2 * (32 * 4 / 32.0 + 1));
}

TEST(GridRates, AreThoseOfTheArchitecture) {
  EXPECT_EQ(grid_rates_of(GridLimits::of("sm_90a")).name, "sm_90");
  EXPECT_EQ(grid_rates_of(GridLimits::of("sm_87")).name, "sm_86");
  EXPECT_EQ(grid_rates_of(GridLimits::of("sm_121")).name, "sm_120");
  for (const auto& rates : known_grid_rates()) EXPECT_NE(to_string(rates).find("memory_latency"), std::string::npos);
}

}  // namespace
}  // namespace tc::strategy
