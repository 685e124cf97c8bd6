#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/base/target.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/map_grid/check_unit_nest.h"
#include "test/polyhedral/nest/nest_fixture.h"
#include "test/support/expect_error.h"

namespace tc::polyhedral {
namespace {

/// The same product as a kernel of a grid.
class GridNestTest : public NestTest {
 protected:
  static GridClusterMapping tiled() {
    GridClusterMapping result{.members = {{16, 1, {1, 4}}, {32, 0, {0, 4}}}, .grid = {2, 4, 1}, .block = {8, 4, 1}};
    result.others.tile = result.others.vector = result.others.unroll = true;
    result.blocks = {"U", 2, 8, 2};
    result.copies = {{"U", 0, 0, 2, 4, 2, GridCopy::Way::Registers}, {"U", 1, 1, 1, 4, 1, GridCopy::Way::Asynchronous}};
    result.separate = true;
    result.staged = {"C"};
    result.shared_bytes = 49152;
    result.blocks_per_multiprocessor = 2;
    return result;
  }
  std::string text(const GridClusterMapping& mapping) const {
    return to_string(nest_of(scop_, cluster_, mapping), names_);
  }
  Nest nest(const GridClusterMapping& mapping) const { return nest_of(scop_, cluster_, mapping); }
  Nest read(const std::string& text) const {
    auto nest = parse_nest(text, names_);
    check_nest(scop_, cluster_, names_, nest);
    check_kernel_nest(scop_, cluster_, names_, nest, *Target::parse("cuda:sm_90").grid);
    return nest;
  }
  Nest edited(const std::string& from, const std::string& to) const {
    auto result = text(tiled());
    auto place = result.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return read(result.replace(place, from.size(), to));
  }
};

const std::string tiled_kernel = R"(nest of I, U
  blocks of 8x4 threads, shared bytes 49152, blocks per multiprocessor 2
  m/16 on grid.y
    n/32 on grid.x of 2
      separate full tiles
      copy A of U to shared memory along m, 4 of k at once, 2 beside
      copy B of U to shared memory along n, 4 of n at once, asynchronous
      keep C
      added statements points innermost, unrolled, in lanes
      I: m%16/4 on thread.y  n%32/4 on thread.x  m%4 unrolled  n%4 lanes
      U: k/8 with copies in 2 slots  k%8 unrolled  m%16/4 on thread.y  n%32/4 on thread.x  m%4 unrolled  n%4 lanes)";

TEST_F(GridNestTest, HasATextThatIsReadBack) {
  EXPECT_EQ(text(tiled()), tiled_kernel);
  EXPECT_EQ(read(tiled_kernel), nest(tiled()));
  EXPECT_EQ(text(GridClusterMapping{}), "nest of I, U\n  blocks of 1 threads\n  I: m  n\n  U: m  n  k");
  EXPECT_EQ(read(text(GridClusterMapping{})), nest(GridClusterMapping{}));
}

TEST_F(GridNestTest, ThreadsTakeRoundsAndRuns) {
  GridClusterMapping mapping{.members = {{1, 0}, {0, -1, {0, 2}}}, .grid = {16, 1, 1}, .block = {8, 1, 1}};
  const auto shown =
      "nest of I, U\n  blocks of 8 threads\n  m on grid.x of 16\n    I: n/16  n%16/2 on thread.x  n%2\n"
      "    U: n/16  n%16/2 on thread.x  k  n%2";
  EXPECT_EQ(text(mapping), shown);
  EXPECT_EQ(read(shown), nest(mapping));
}

TEST_F(GridNestTest, SumsTakeAllThreadsAlongX) {
  GridClusterMapping mapping{.members = {{1, 0}, {1, 1}}, .grid = {64, 100, 1}, .block = {64, 1, 1}};
  mapping.statements = {{"U", {{2, {0, 1}}}}};
  mapping.thread_elements = 16;
  const auto shown =
      "nest of I, U\n  blocks of 64 threads, thread elements 16\n  m on grid.x\n    n on grid.y\n      I:\n      U: k "
      "on "
      "thread.x";
  EXPECT_EQ(text(mapping), shown);
  EXPECT_EQ(read(shown), nest(mapping));
}

TEST_F(GridNestTest, WhatHasNoEffectLeavesNoTrace) {
  auto mapping = tiled();
  mapping.grid = {2, 100, 7};
  mapping.block = {16, 16, 2};
  mapping.members[0].tile = 16;
  mapping.statements = {{"I", {}}};
  mapping.statements[0].tile = mapping.statements[0].vector = mapping.statements[0].unroll = true;
  EXPECT_EQ(text(mapping), tiled_kernel);
  GridClusterMapping whole{.members = {{100, 0, {1, 1}}, {100, 1, {0, 1}}}, .grid = {5, 5, 1}, .block = {1, 100, 1}};
  whole.separate = true;
  whole.others.unroll = true;
  EXPECT_EQ(text(whole),
            "nest of I, U\n  blocks of 1x64 threads\n  I: m on thread.y  n unrolled\n"
            "  U: m on thread.y  n unrolled  k unrolled");
}

TEST_F(GridNestTest, LoopsCountAsOneOnAllThreads) {
  GridClusterMapping mapping{.members = {{8, 0}, {0}}, .grid = {8, 1, 1}, .block = {1, 1, 1}};
  mapping.statements = {{"U", {{2, {-1, 4}, 2}, {1, {}}}, true}};
  const auto shown =
      "nest of I, U\n  blocks of 1 threads\n  m/8 on grid.x\n    I: m%8  n\n"
      "    U: k/4 on threads beside 2  n on threads  k%4";
  EXPECT_EQ(text(mapping), shown);
  EXPECT_EQ(to_string(parse_nest(shown, names_), names_), shown);
}

TEST_F(GridNestTest, EditsAreNestsOfMappings) {
  auto wanted = tiled();
  wanted.blocks.slots = 3;
  EXPECT_EQ(edited("in 2 slots", "in 3 slots"), nest(wanted));
  wanted = tiled();
  wanted.members[0].tile = 8;
  wanted.grid[1] = 8;
  wanted.block[1] = 2;
  auto eights = tiled_kernel;
  for (std::size_t at; (at = eights.find("m%16")) != std::string::npos;) eights.replace(at, 4, "m%8");
  eights.replace(eights.find("m/16"), 4, "m/8").replace(eights.find("8x4"), 3, "8x2");
  EXPECT_EQ(read(eights), nest(wanted));
  wanted = tiled();
  wanted.members[0].grid = -1;
  wanted.grid[1] = 1;
  EXPECT_EQ(edited("m/16 on grid.y", "m/16"), nest(wanted));
}

TEST_F(GridNestTest, LawsAreNamed) {
  EXPECT_ERROR(edited("  blocks of 8x4 threads, shared bytes 49152, blocks per multiprocessor 2\n", ""), OptionsError,
               "line 2 of the nest, 'm/16 on grid.y', breaks the law 'machine': it is of a kernel for a GPU");
  EXPECT_ERROR(edited("n/32 on grid.x of 2", "n/32 on cores"), OptionsError,
               "line 4 of the nest, 'n/32 on cores', breaks the law 'machine': it is of a processor");
  EXPECT_ERROR(edited("n/32 on grid.x", "n/32 on grid.y"), OptionsError,
               "'grid': a loop above is along this dimension");
  EXPECT_ERROR(edited("8x4", "4x4"), OptionsError,
               "breaks the law 'threads': the loop has 8 values and the block 4 threads along x; count the rounds in a "
               "loop above it, 'n%32/16'");
  EXPECT_ERROR(edited("n%32/4 on thread.x", "n%32/4 on thread.y"), OptionsError,
               "'threads': loops over two indices are along one dimension of the block");
  EXPECT_ERROR(edited("U: k/8 with copies in 2 slots", "U: k/8 with copies"), OptionsError,
               "breaks the law 'copies': they are asynchronous where");
  EXPECT_ERROR(edited("k/8 with copies in 2 slots  k%8", "k/32 with copies in 3 slots  k%32"), OptionsError,
               "breaks the law 'copies': the reduction has too few blocks for 3 slots");
  EXPECT_ERROR(edited("m%4 unrolled  n%4 lanes", "n%4 lanes  m%4 unrolled"), OptionsError, "breaks the law 'lanes'");
  EXPECT_ERROR(edited("U: k/8 with copies in 2 slots  k%8 unrolled", "U: k/8 with copies in 2 slots"), OptionsError,
               "breaks the law 'digits': no loop is over k%8");
  EXPECT_ERROR(
      edited("8x4", "512x4"), OptionsError,
      "line 2 of the nest, 'blocks of 512x4 threads, shared bytes 49152, blocks per multiprocessor 2', breaks the "
      "law 'block': a block has at most 1024 threads");
  EXPECT_NO_THROW(edited("8x4", "32x4")) << "some threads have nothing to do";
  EXPECT_ERROR(edited("on grid.y", "on grid.w"), OptionsError, "'w' is none of x, y, z");
  EXPECT_ERROR(edited("on grid.y", "on rows"), OptionsError, "'rows' is no place, as 'cores', 'grid.x', 'thread.x'");
}

/// A product of halves as a kernel in which units for matrices compute.
class UnitNestTest : public GridNestTest {
 protected:
  UnitNestTest() {
    scop_ = product(64, 128, 128);
    for (const char* operand : {"A", "B"}) scop_.tensor(operand).type = DType::BFloat16;
    scop_.statement("U").product = true;
    cluster_ = cluster_views(scop_).at(0);
    names_ = nest_names(scop_, cluster_);
  }

  /// Tiles of a warp of \p rows x \p columns, and warps along both.
  static GridClusterMapping by_units(std::int64_t rows, std::int64_t columns, std::int64_t warp_rows,
                                     std::int64_t warp_columns) {
    GridClusterMapping result;
    const auto along = [](std::int64_t tile, int dimension) { return tile < 128 ? dimension : -1; };
    result.members = {
        {rows * warp_rows, along(rows * warp_rows, 1), {1, 1, 8, {1, rows, warp_rows}}},
        {columns * warp_columns, along(columns * warp_columns, 0), {0, 2, 4, {2, columns, warp_columns}}}};
    result.grid = {128 / (columns * warp_columns), 128 / (rows * warp_rows), 1};
    result.block = {4, 8 * warp_rows, warp_columns};
    result.others.tile = result.others.vector = result.others.unroll = true;
    result.statements = {{"U", {}}};
    result.statements[0].tile = result.statements[0].unroll = true;
    result.statements[0].unit = {"m16n8k16", 0, 1, 2};
    result.blocks = {"U", 2, 32, 2};
    result.copies = {{"U", 0, 2, 2, 8, 1, GridCopy::Way::Asynchronous},
                     {"U", 1, 1, 1, 8, 1, GridCopy::Way::Asynchronous}};
    result.staged = {"C"};
    result.shared_bytes = 49152;
    result.blocks_per_multiprocessor = 1;
    return result;
  }
  Nest edited(const std::vector<std::pair<std::string, std::string>>& changes) const {
    auto result = text(by_units(32, 16, 2, 2));
    for (const auto& [from, to] : changes) {
      auto place = result.find(from);
      EXPECT_NE(place, std::string::npos) << from;
      for (; place != std::string::npos; place = result.find(from, place + to.size()))
        result.replace(place, from.size(), to);
    }
    return read(result);
  }
};

TEST_F(UnitNestTest, WarpsAreASecondLoopOnThreads) {
  EXPECT_EQ(text(by_units(32, 16, 2, 2)), R"(nest of I, U
  blocks of 4x16x2 threads, shared bytes 49152, blocks per multiprocessor 1
  m/64 on grid.y
    n/32 on grid.x
      copy A of U to shared memory along k, 8 of k at once, asynchronous
      copy B of U to shared memory along n, 8 of n at once, asynchronous
      keep C
      added statements points innermost, unrolled, in lanes
      I: m%64/32 on thread.y  m%32/8 unrolled  m%8 on thread.y  n%32/16 on thread.z  n%16/8 unrolled  n%8/2 on thread.x  n%2 lanes
      U: k/32 with copies in 2 slots  k%32 unrolled  m%64/32 on thread.y  m%32/8 unrolled  m%8 on thread.y  n%32/16 on thread.z  n%16/8 unrolled  n%8/2 on thread.x  n%2 unrolled  by unit m16n8k16)");
  EXPECT_NE(text(by_units(16, 8, 1, 1)).find("I: m%16/8 unrolled  m%8 on thread.y  n%8/2 on thread.x  n%2 lanes"),
            std::string::npos);
  auto rounds = by_units(32, 16, 2, 2);
  rounds.members[1].tile = 64;
  rounds.grid[0] = 2;
  EXPECT_NE(text(rounds).find("n%64/32 unrolled  n%32/16 on thread.z  n%16/8 unrolled  n%8/2 on thread.x"),
            std::string::npos)
      << text(rounds);
  EXPECT_EQ(read(text(rounds)), nest(rounds));
}

TEST_F(UnitNestTest, HasATextThatIsReadBack) {
  for (std::int64_t rows : {16, 32, 64})
    for (std::int64_t columns : {8, 16, 64})
      for (std::int64_t warp_rows : {1, 2, 4})
        for (std::int64_t warp_columns : {1, 2, 4}) {
          if (rows * warp_rows > 128 || columns * warp_columns > 128) continue;
          const auto mapping = by_units(rows, columns, warp_rows, warp_columns);
          EXPECT_EQ(read(text(mapping)), nest(mapping)) << text(mapping);
          if (HasFailure()) return;
        }
}

TEST_F(UnitNestTest, EditsAreNestsOfMappings) {
  auto wanted = by_units(32, 16, 2, 2);
  wanted.blocks = {"U", 2, 16, 3};
  EXPECT_EQ(edited({{"k/32 with copies in 2 slots  k%32", "k/16 with copies in 3 slots  k%16"}}), nest(wanted));
  EXPECT_EQ(edited({{"m%64/32", "m%64/16"}, {"m%32/8", "m%16/8"}, {"4x16x2", "4x32x2"}}), nest(by_units(16, 16, 4, 2)));
  EXPECT_TRUE(edited({{"  by unit m16n8k16", ""}}).branches.back().unit.empty());
}

TEST_F(UnitNestTest, LawsAreNamed) {
  EXPECT_ERROR(edited({{"m16n8k16", "m8n8k4"}}), OptionsError, "breaks the law 'unit': there is no unit 'm8n8k4' but");
  EXPECT_ERROR(edited({{"by unit m16n8k16", "by unit"}}), OptionsError, "a unit is missing at the end");
  EXPECT_ERROR(edited({{"by unit m16n8k16", "by unit m16n8k16  k%32"}}), OptionsError,
               "'k%32' stands behind the unit, which is the last word");
  EXPECT_ERROR(edited({{"by unit", "by hand"}}), OptionsError, "");
  EXPECT_ERROR(edited({{"m%8 on thread.y", "m%8 unrolled"}}), OptionsError,
               "breaks the law 'threads': a thread has at most 16 neighbouring iterations");
  EXPECT_ERROR(edited({{"m%64/32 on thread.y", "m%64/32 on thread.x"}}), OptionsError,
               "'threads': loops over two indices are along one dimension of the block");
  EXPECT_ERROR(edited({{"      copy B of U to shared memory along n, 8 of n at once, asynchronous\n", ""}}),
               OptionsError, "breaks the law 'unit': it reads both operands from shared memory");
  const auto refused = [&](const GridClusterMapping& mapping, const GridLimits& limits) {
    std::string message;
    const auto space = kernel_nest_space(scop_, cluster_);
    const auto refuse = [&](const NestPart&, const std::string&, const std::string& why) { throw OptionsError(why); };
    try {
      check_unit_nest(scop_, space, nest(mapping), 1, limits, refuse);
    } catch (const OptionsError& error) {
      message = error.what();
    }
    return message;
  };
  const auto limits = *Target::parse("cuda:sm_90").grid;
  EXPECT_EQ(refused(by_units(32, 16, 2, 2), limits), "");
  EXPECT_EQ(refused(by_units(32, 16, 2, 2), *Target::parse("cuda:sm_75").grid).find("the target has no unit"), 0u);
  auto uneven = by_units(32, 16, 2, 2);
  uneven.members[1].threads.warps.run = 12;
  EXPECT_EQ(refused(uneven, limits).find("sizes are multiples of the tiles"), 0u) << text(uneven);
  scop_.tensor("A").type = DType::Float32;
  EXPECT_ERROR(edited({}), OptionsError, "breaks the law 'unit': it does not multiply elements of float32");
}

}  // namespace
}  // namespace tc::polyhedral
