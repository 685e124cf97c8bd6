#include "tc/cpu/prefetch/prefetch_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::prefetch_tiles_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

Stmt store(const Expr& value) { return cpu::store("z", vector(0, value.type().lanes()), value); }

/// What is asked for ahead, in order.
std::string prefetched(const Stmt& body, const PrefetchOptions& options = {}) {
  return prefetches(prefetch_tiles(body, Target::parse("cpu:avx512,cores=1,l1=32k,l2=64k"), options));
}

/// The sum over `rows` rows of x[base + row*pitch], each broadcast to a vector.
Expr sum(const Expr& base, int rows, int pitch) {
  Expr result;
  for (int row = 0; row < rows; ++row) {
    Expr next = ir::Broadcast::make(load("x", base + row * pitch), 16);
    result = result.defined() ? result + next : next;
  }
  return result;
}

/// for o, for k: the rows of tile number o, `rows` of `length` elements, side by side; tiles start `step` elements apart.
Stmt tiles(int rows, int step, const Expr& trips = 1000, int length = 64) {
  return loop("o", trips, loop("k", length, store(sum(variable("o") * step + variable("k"), rows, length))));
}

TEST(PrefetchTiles, AsksForTheNextTileOfManyRowsLineByLine) {
  EXPECT_EQ(prefetched(tiles(16, 1024)),
            "(void *)x, (((int64(k)*(int64)16) + int64((o*1024))) + (int64)1024)*(int64)4; ");
  EXPECT_EQ(prefetched(tiles(16, 1024), {3}),
            "(void *)x, (((int64(k)*(int64)16) + int64((o*1024))) + (int64)3072)*(int64)4; ");
}

/// for o, for k < 3: 8 rows of 64, from row k of those of tile number o on, 4 vectors a row. Lines of which few vectors are
/// read are needed sooner than the first cache can wait for them.
TEST(PrefetchTiles, AsksForWhatComesAfterWindowsThatOverlap) {
  Expr value;
  for (int part = 0; part < 32; ++part) {
    Expr next = load("x", vector(variable("o") * 512 + variable("k") + part * 16));
    value = value.defined() ? value + next : next;
  }
  EXPECT_EQ(prefetched(loop("o", 1000, loop("k", 3, store(value)))), "");
  auto asked = prefetched(loop("o", 1000, loop("k", 3, store(value * value))));
  EXPECT_EQ(asked.find("L2: (void *)x, (((int64(k)*(int64)171) + int64((o*512))) + (int64)1026)*(int64)4; "), 0u)
      << asked;
  EXPECT_EQ(std::count(asked.begin(), asked.end(), ';'), 11);
}

/// The processor follows few rows, but has just found them where they are short.
TEST(PrefetchTiles, AsksForShortRows) {
  EXPECT_EQ(
      prefetched(tiles(8, 512)).find("(void *)x, (((int64(k)*(int64)8) + int64((o*512))) + (int64)1024)*(int64)4; "),
      0u)
      << prefetched(tiles(8, 512));
}

TEST(PrefetchTiles, LeavesFewRowsAndRowsReadInOrder) {
  EXPECT_EQ(prefetched(tiles(2, 1024, 1000, 512)), "");
  EXPECT_EQ(prefetched(tiles(1, 512, 1000, 512)), "");
  Stmt in_order = loop("k", 64, store(load("x", vector(variable("o") * 1024 + variable("k") * 16))));
  EXPECT_EQ(prefetched(loop("o", 1000, in_order)), "");
}

TEST(PrefetchTiles, LeavesSmallTensorsAndLoopsOfUnknownLength) {
  EXPECT_EQ(prefetched(tiles(16, 1024, 4)), "");
  EXPECT_EQ(prefetched(tiles(16, 1024, variable("n"))), "");
}

TEST(PrefetchTiles, LeavesTilesThatAreSparseOverlapOrDoNotFit) {
  Expr base = variable("o") * 16384 + variable("k");
  EXPECT_EQ(prefetched(loop("o", 1000, loop("k", 64, store(sum(base, 16, 1024))))), "");
  EXPECT_EQ(prefetched(tiles(16, 256)), "");
  EXPECT_EQ(prefetched(tiles(64, 4096)), "");
}

TEST(PrefetchTiles, LeavesLocalBuffers) {
  EXPECT_EQ(prefetched(ir::Allocate::make("x", Halide::Float(32), Halide::MemoryType::Heap, {1 << 20}, ir::const_true(),
                                          tiles(16, 1024))),
            "");
}

}  // namespace
}  // namespace tc::cpu::prefetch_tiles_test
