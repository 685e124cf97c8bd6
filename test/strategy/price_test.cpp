#include "tc/strategy/price/price.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tc/base/error.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/strategy/price/nest_walk.h"
#include "test/strategy/price_fixture.h"
#include "test/support/expect_error.h"

namespace tc::strategy {
namespace {

TEST_F(PriceTest, LoopsStandInTheOrderOfTheMapping) {
  auto cluster = product(512);
  const auto shown = nest_of(
      cluster.nests,
      mapping(
          "outermost 1, blocks 128x256, above 0, register 8x32, U: i1 x16, U: i2 in blocks of 64, pack read 1 of U in "
          "panels of 32 i1 lanes 16"));
  const auto nest = walk(cluster, shown).statements[1];
  std::vector<std::pair<int, double>> loops;
  for (const auto& loop : nest.loops) loops.emplace_back(loop.iterator, loop.trips);
  const std::vector<std::pair<int, double>> expected{{1, 2}, {0, 4}, {2, 8}, {0, 16}, {1, 8}, {2, 64}, {0, 8}, {1, 2}};
  EXPECT_EQ(loops, expected);
  EXPECT_EQ(nest.copies[1].place, 3u);
  EXPECT_EQ(nest.copy_of(0), nullptr);
  EXPECT_TRUE(nest.with_private_sums);
  EXPECT_EQ(nest.tile, 5u);
  EXPECT_EQ(nest.points, 6u);
  EXPECT_TRUE(nest.unrolled);
  EXPECT_EQ(nest.trips_above(nest.points), 2.0 * 4 * 8 * 16 * 8 * 64);
  EXPECT_EQ(nest.spans(cluster.statements[1], 3), (std::vector<double>{128, 256, 64}));
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
  const auto of_an_element = [&](std::int64_t n) {
    return cycles(copy(n, true), "register 16x16, S: i1 x16") / static_cast<double>(n * n);
  };
  EXPECT_GT(of_an_element(24), 2 * of_an_element(32)) << "elements outside of whole squares are accessed alone";
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
  EXPECT_NEAR(three.busy, 512.0 / (172 + 168), 1e-9) << "one of two cores has the first and the last";
  EXPECT_EQ(two.on(1, cluster.rates).seconds, one.seconds);
  EXPECT_EQ(one.on(2, cluster.rates).seconds, one.seconds) << "no loop is shared";
}

TEST_F(PriceTest, APartialTaskIsAPart) {
  auto cluster = product(500);
  auto busy = [&](const char* how) { return price(cluster, mapping(how), 1 << 18).busy; };
  EXPECT_NEAR(busy("parallel 0, blocks 496x0, register 4x64, I: i1 x16, U: i1 x16, stage C"), 500.0 / 496, 1e-9)
      << "the second task has four rows";
  EXPECT_NEAR(busy("parallel 0, blocks 240x0, register 4x64, I: i1 x16, U: i1 x16, stage C"), 500.0 / 260, 1e-9)
      << "20 rows are left when both cores have done 240";
}

TEST_F(PriceTest, ThreadsWaitForLinesThatOthersWriteTo) {
  const std::string columns = "parallel 1, blocks 0x256, points 1x16, S: i1 x16",
                    torn = "parallel 1, blocks 0x250, points 1x10, S: i1 x16";
  auto even = price(copy(512, false), mapping(columns), 1 << 18),
       uneven = price(copy(500, false), mapping(torn), 1 << 18);
  EXPECT_EQ(even.torn_lines, 0) << "blocks of whole lines";
  EXPECT_EQ(uneven.torn_lines, 500 * 0.875)
      << "rows have a line of both blocks, but where that begins one, of multiples of 8 bytes";
  const auto& rates = rates_of(target_);
  EXPECT_EQ(even.borders, 512) << "each row goes on where another thread writes";
  EXPECT_NEAR(uneven.threads - even.threads, 500 * 0.875 * rates.torn_line - 12 * rates.next_line, 1);
  auto rows = price(copy(500, false), mapping("parallel 0, blocks 250x0, points 1x16, S: i1 x16"), 1 << 18);
  EXPECT_LE(rows.torn_lines, 1);
  EXPECT_EQ(rows.borders, 1);
  auto four = price(copy(512, false), mapping("parallel 1, blocks 0x128, points 1x16, S: i1 x16"), 1 << 18);
  EXPECT_NEAR(four.threads, rates.start_threads + 2 * rates.take_task + 0.25 * 2 * 512 * rates.next_line, 1)
      << "two tasks a core, which are not at the same rows for long";
}

TEST_F(PriceTest, TheLastCacheKeepsAPartOfWhatIsALittleLarger) {
  auto from_memory = [&](int megabytes) {
    auto cluster = copy(static_cast<int>(std::sqrt(megabytes * 131072.0)), false);
    return price(cluster, mapping("points 1x16, S: i1 x16"), 1 << 18).far[2].bytes / (megabytes * 1e6);
  };
  EXPECT_EQ(from_memory(7), 0) << "half of 16 MB, a program finds to itself";
  EXPECT_GT(from_memory(11), 0.4);
  EXPECT_LT(from_memory(11), 1.1) << "1.5, of a copy that it reads, and writes there and back";
  EXPECT_GT(from_memory(100), 1.45);
}

TEST_F(PriceTest, CopiesOfHalfVectorsTakeAPartOfTheTime) {
  auto copies = [&](const char* core, int lanes) {
    auto cluster = product(512);
    cluster.rates = rates_of(Target::parse(str("cpu:avx512", core)));
    auto how =
        mapping(str("register 4x64, I: i1 x16, U: i1 x16, stage C, pack read 1 of U in panels of 64 i1 lanes ", lanes));
    return price(cluster, how, 1 << 18).copies.stores;
  };
  EXPECT_DOUBLE_EQ(copies("", 8), 2 * copies("", 16));
  EXPECT_DOUBLE_EQ(copies(",core=zen4", 8), copies(",core=zen4", 16)) << "half a vector takes half the time";
}

TEST_F(PriceTest, CoresHaveRatesOfTheirOwn) {
  EXPECT_EQ(rates_of(Target::parse("cpu:avx512,core=zen4")).name, "zen4");
  EXPECT_EQ(rates_of(Target::parse("cpu:avx512,core=zen4,vectors=32")).name, "registers of 32 bytes");
  EXPECT_EQ(rates_of(Target::parse("cpu:avx512")).name, "registers of 64 bytes");
}

TEST_F(PriceTest, HalfAVectorTakesAPartOfTheTimeOfAWholeOne) {
  for (const auto& [text, share] : {std::pair("cpu:avx512,-amx", 1.0), std::pair("cpu:avx512,core=zen4,-amx", 0.5)}) {
    auto cluster = dots(512, 512, "B[i, j]", Target::parse(text));
    auto core = [&](const char* how) { return price(cluster, mapping(how), 1 << 18).core; };
    auto whole = core("points 16, I: i0 x16, U: i0 x16"), half = core("points 8, I: i0 x8, U: i0 x8");
    EXPECT_NEAR(half.operations, 2 * share * whole.operations, 1e-6) << text;
  }
}

TEST_F(PriceTest, WhatAStatementReadsTwiceIsLoadedOnce) {
  auto how = mapping("members 1, U: i1 x16 unroll 4");
  auto two = dots(512, 512, "B[i, j]", target_), one = dots(512, 512, "A[i, j]", target_);
  auto loads = [&](const PricedCluster& cluster) { return price(cluster, how, 1 << 18).core.loads; };
  EXPECT_NEAR(loads(one), loads(two) / 2, 0.01 * loads(two));
  EXPECT_EQ(loads(dots(512, 512, "B[i, 511 - j]", target_)) > loads(one), true);
  auto far = [&](const PricedCluster& cluster) { return price(cluster, how, 1 << 18).far[0].bytes; };
  EXPECT_NEAR(far(one), far(two) / 2, 0.01 * far(two));
}

TEST_F(PriceTest, LanesAlongAReductionAreCombinedForEachResult) {
  auto cluster = dots(512, 512, "B[i, j]", target_);
  auto along = price(cluster, mapping("members 1, U: i1 x16 unroll 4"), 1 << 18).core;
  EXPECT_DOUBLE_EQ(along.shuffles, 512 * 4 / cluster.rates.shuffles) << "16 lanes are halved four times";
}

TEST_F(PriceTest, ShortTilesHideTheBeginningsOfEachOther) {
  auto how = mapping("members 1, U: i1 x16 unroll 4");
  auto lost = [&](int columns) { return price(dots(512, columns, "B[i, j]", target_), how, 1 << 18).core.loops / 512; };
  EXPECT_LT(lost(64), 3) << "the core sees the next rows while one is summed";
  EXPECT_GE(lost(4096), 8) << "two latencies of four cycles";
}

TEST_F(PriceTest, AccumulatorsThatTheFirstCacheHasNoRoomForComeFromTheSecond) {
  auto cluster = dots(4096, 64, "B[i, j]", target_);
  auto stores = [&](const char* how) { return price(cluster, mapping(how), 1 << 18).core.stores; };
  EXPECT_GT(stores("points 1024, U: i1 x16"), 2 * stores("points 256, U: i1 x16"))
      << "1024 vectors of accumulators are twice as many bytes as the cache";
}

TEST_F(PriceTest, LinesComeFromFarInTheOrderOfTheLoops) {
  auto cluster =
      priced(ScopBuilder(context())
                 .input("X", {64, 400, 256})
                 .output("s", {64, 256})
                 .identity("I[a, c] : 0 <= a < 64 and 0 <= c < 256", "s[a, c]")
                 .accumulate("U[a, c, b] : 0 <= a < 64 and 0 <= c < 256 and 0 <= b < 400", "s[a, c]", {"X[a, b, c]"})
                 .scop());
  auto runs = [&](const char* how) { return price(cluster, mapping(how), 1 << 18).far[2].runs; };
  EXPECT_LT(runs("register 1x256, I: i1 x16, U: i1 x16, stage s"), 1000) << "rows, one behind another";
  EXPECT_GT(runs("register 8x16, I: i1 x16, U: i1 x16, stage s"), 64 * 400 * 16 * 0.7)
      << "each line that comes is a run";
}

TEST_F(PriceTest, PointsShareTheElementThatAQuotientSubscripts) {
  auto cluster = priced(ScopBuilder(context())
                            .input("X", {256, 512})
                            .output("Y", {512, 512})
                            .statement("S[i, j] : 0 <= i, j < 512", "Y[i, j]", {"X[floor(i/2), j]"})
                            .scop());
  auto loads = [&](const char* how) { return price(cluster, mapping(how), 1 << 18).core.loads; };
  EXPECT_DOUBLE_EQ(loads("register 2x16, S: i1 x16"), loads("register 1x16, S: i1 x16") / 2);
}

TEST_F(PriceTest, RunsInMorePagesThanACoreRemembersWaitForTheirAddresses) {
  const auto walks = [&](int n) {
    return price(copy(n, true), mapping("points 1x16, S: i1 x16"), 1 << 18).far[0].walks;
  };
  EXPECT_EQ(walks(1040), 0) << "the rows of a column lie in 1040 pages";
  EXPECT_GE(walks(2000), 2000 * 2000 / 16);
}

TEST_F(PriceTest, APageIsFoundOnceForTheRowsInIt) {
  auto walks = [&](int columns) {
    return price(copy(4096, false), mapping(str("outermost 1, points 1x", columns, ", S: i1 x16")), 1 << 18)
        .far[0]
        .walks;
  };
  EXPECT_EQ(walks(16), 2 * 4096.0 * 256) << "of what is read and what is written; a row is four pages";
  auto narrow = priced(ScopBuilder(context())
                           .input("A", {32768, 264})
                           .output("s", {264})
                           .identity("I[i] : 0 <= i < 264", "s[i]")
                           .accumulate("U[i, a] : 0 <= i < 264 and 0 <= a < 32768", "s[i]", {"A[a, i]"})
                           .scop());
  const auto found = price(narrow, mapping("register 16, I: i0 x16, U: i0 x16, stage s"), 1 << 18).far[0];
  EXPECT_LT(found.walks, 0.3 * found.runs) << "a page has almost four rows";
  EXPECT_GT(found.walks, 0.2 * found.runs);
}

TEST_F(PriceTest, CopiesThatLieAcrossBothWaysMoveElements) {
  auto stores = [&](const char* rows) {
    return price(product(512, true),
                 mapping(str("register 8x64, I: i1 x16, U: i1 x16, stage C, pack read 0 of U in ", rows,
                             " of 8 i0 lanes 16")),
                 1 << 18)
        .copies.stores;
  };
  EXPECT_GT(stores("rows"), 4 * stores("panels")) << "elements of a column lie in rows of their own";
}

TEST_F(PriceTest, UpToALimitIsThePriceOrABoundOfIt) {
  const auto cluster = product(512), far = copy(2000, true);
  const auto ask = [&](const PricedCluster& of, const char* text, double share) {
    const auto whole = seconds(of, text), found = price_up_to(share * whole, of, mapping(text), 1 << 18);
    EXPECT_LE(found, whole) << text;
    EXPECT_GE(found, std::min(share, 1.0) * whole) << text;
    if (share > 1) {
      EXPECT_EQ(found, whole) << text;
    }
  };
  for (const double share : {0.1, 0.5, 0.9, 1.1, 10.0}) {
    ask(cluster, "register 4x64, I: i1 x16, U: i1 x16, stage C", share);
    ask(cluster, "parallel 0, blocks 64x0, register 4x64, I: i1 x16, U: i1 x16, stage C", share);
    ask(far, "points 1x16, S: i1 x16", share);
  }
}

TEST_F(PriceTest, AccumulatorsInMemoryWaitForTheirStores) {
  const auto long_rows = dots(512, 8192, "B[i, j]", target_);
  const auto& rates = long_rows.rates;
  const auto core = price(long_rows, mapping("points 4, U: i1 x16"), 1 << 18).core;
  EXPECT_GE(core.loops / (512 / 4), 2 * (rates.operation_latency + rates.forward_latency))
      << "the first and the last sum of each tile of four";
  EXPECT_DOUBLE_EQ(core.stores * rates.stores -
                       price(long_rows, mapping("members 1, U: i1 x16"), 1 << 18).core.stores * rates.stores,
                   512 * 8192 / 16 + 512)
      << "each sum, and the zeros they begin with";
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
