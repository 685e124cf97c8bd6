#include "test/strategy/price_fixture.h"

/// What threads, copies and points of tiles have in common, and what that costs or saves.
namespace tc::strategy {
namespace {

constexpr std::int64_t buffers = 1 << 18;

TEST_F(PriceTest, CopiesMadeOnceStartThreadsAndComeFromTheOtherCore) {
  auto cluster = product(512);
  const std::string tile = "register 6x64, I: i1 x16, U: i1 x16, stage C, pack read 1 of U in panels of 64 i1 ",
                    rest = "lanes 16, copies along 1 x16";
  auto each = price(cluster, mapping("parallel 0, blocks 258x0, " + tile + rest), buffers),
       once = price(cluster, mapping("parallel 0, blocks 258x0, " + tile + "once " + rest), buffers);
  const auto& rates = rates_of(target_);
  EXPECT_EQ(each.starts, 1);
  EXPECT_EQ(once.starts, 2);
  EXPECT_EQ(each.shared_lines, 0);
  EXPECT_EQ(once.shared_lines, 512 * 512 / 16);
  EXPECT_NEAR(once.threads - each.threads, rates.start_threads + rates.foreign_line * 512 * 512 / 16 / 2, 1);
  EXPECT_LT(once.copy_cycles, each.copy_cycles);
}

TEST_F(PriceTest, WhatThreadsLeaveTheSameComesIntoTheCachesOfEach) {
  auto cluster = product(400);
  auto bytes = [&](const std::string& how) {
    return price(cluster, mapping(how + ", blocks 200x0, register 8x16, I: i1 x16, U: i1 x16, stage C"), buffers)
        .far[1]
        .bytes;
  };
  EXPECT_NEAR(bytes("parallel 0") - bytes("outermost 0"), 400 * 400 * 4, 1) << "all of B, which fits beside half of A";
}

TEST_F(PriceTest, NothingRunsBesideACopyThatWaits) {
  auto cluster = product(2048);
  auto with_copies = [&](const char* rates) {
    cluster.rates = with_rates(rates_of(target_), rates);
    return price(cluster,
                 mapping("blocks 0x96, above 1, register 8x48, I: i1 x16, U: i1 x16, stage C, "
                         "pack read 1 of U in panels of 48 i1 lanes 16, copies along 1 x16"),
                 buffers);
  };
  auto fast = with_copies("l3_bytes=1000,memory_bytes=1000,memory_latency=1,l3_latency=1"),
       slow = with_copies("l3_bytes=1000,memory_bytes=1,memory_latency=1,l3_latency=1");
  EXPECT_LT(fast.copy_waits, slow.copy_waits);
  EXPECT_NEAR(slow.copy_waits + slow.copy_cycles, 2048 * 2048 * 4, 2048 * 2048 * 0.1) << "B comes once, a byte a cycle";
}

TEST_F(PriceTest, RunsFromMemoryStopACoreThatDoesNotLookAheadFarEnough) {
  auto cluster = product(2048);
  auto stalls = [&](const char* rates) {
    cluster.rates = with_rates(rates_of(target_), rates);
    return price(cluster, mapping("register 8x48, I: i1 x16, U: i1 x16, stage C"), buffers).stalls;
  };
  EXPECT_GT(stalls("memory_latency=600"), stalls("memory_latency=500"));
  EXPECT_EQ(stalls("memory_latency=1"), 0) << "less than its window takes";
}

/// C[i, j] = A[i - 1, j] + A[i, j] + A[i + 1, j]
TEST_F(PriceTest, PointsOfATileReadWhatOthersHave) {
  auto cluster = priced(ScopBuilder(context())
                            .input("A", {66, 64})
                            .output("C", {64, 64})
                            .statement("S[i, j] : 0 <= i, j < 64", "C[i, j]", {"A[i, j]", "A[i + 1, j]", "A[i + 2, j]"})
                            .scop());
  auto loads = [&](const std::string& text) { return price(cluster, mapping(text), buffers).core.loads; };
  const double vectors = 64 * 64 / 16;
  EXPECT_NEAR(loads("points 1x16, S: i1 x16") * cluster.rates.loads, 3 * vectors, 1e-6);
  EXPECT_NEAR(loads("register 8x16, S: i1 x16") * cluster.rates.loads, vectors * (8 + 1 + 1) / 8, 1e-6);
}

/// s[i] += A[i, j] * A[i, j]: a copy of one of the reads leaves the other to be loaded.
TEST_F(PriceTest, ACopyOfOneReadIsNotWhatTheOtherReads) {
  auto cluster = dots(64, 64, "A[i, j]", target_);
  ASSERT_EQ(cluster.statements[1].reads[1].near.size(), 1u);
  EXPECT_TRUE(cluster.statements[1].reads[1].near[0].shifts.empty());
  const std::string tile = "register 16, I: i0 x16, U: i0 x16, stage s";
  auto neither = price(cluster, mapping(tile), buffers).core.loads,
       one = price(cluster, mapping(tile + ", pack read 0 of U in panels of 16 i0 lanes 16"), buffers).core.loads,
       both =
           price(cluster,
                 mapping(tile + ", pack read 0 of U in panels of 16 i0 lanes 16, pack read 1 of U in panels of 16 i0 "
                                "lanes 16"),
                 buffers)
               .core.loads;
  EXPECT_GT(one, neither);
  EXPECT_LT(both, one);
}

/// Each block of a sum adds vectors to those of the block before, where lanes run along the sum.
TEST_F(PriceTest, BlocksOfASumAlongLanesKeepTheirVectorsInMemory) {
  auto cluster = product(512);
  auto core = [&](const char* how) { return price(cluster, mapping(how), buffers).core; };
  auto whole = core("register 4x4, U: i2 x16, stage C"), cut = core("register 4x4, U: i2 x16, U: i2 in blocks of 256"),
       along_columns = core("register 4x64, I: i1 x16, U: i1 x16, U: i2 in blocks of 256");
  EXPECT_GT(cut.stores, 10 * whole.stores);
  EXPECT_LT(along_columns.stores, cut.stores / 4);
}

TEST_F(PriceTest, ShufflesTakeThePortsOfOperations) {
  const auto zen4 = Target::parse("cpu:avx512,core=zen4,cores=1,l1=32k,l2=1m,l3=16m");
  auto cluster = dots(64, 4096, "B[i, j]", zen4);
  auto core = [&](const char* rates) {
    cluster.rates = with_rates(rates_of(zen4), rates);
    return price(cluster, mapping("register 16, I: i0 x16, U: i0 x16, stage s"), buffers).core_cycles;
  };
  EXPECT_LT(core("shuffles_as_operations=0.01,operations=0.01"), core("shuffles_as_operations=1,operations=0.01"));
}

}  // namespace
}  // namespace tc::strategy
