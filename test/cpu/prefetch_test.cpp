#include "tc/cpu/prefetch/prefetch.h"

#include <gtest/gtest.h>

#include "tc/cpu/prefetch/prefetch_rows.h"
#include "test/cpu/halide_statements.h"

namespace tc::cpu::prefetch_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

Expr subscript(const char* buffer, const Expr& index) {
  return ir::Load::make(Halide::Int(32), buffer, index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(),
                        ir::ModulusRemainder());
}

/// What is asked for ahead, in order.
std::string prefetched(const Stmt& body, const PrefetchOptions& options = {}) {
  return prefetches(prefetch(body, Target::parse("cpu:avx512,cores=1,l1=32k,l2=1m"), options));
}

/// for i { for j m[i] += x[i*step + j*16]  for k y = x[i*step + k*16] }
Stmt rows(int step, int trips) {
  Expr i = variable("i");
  Stmt first =
      loop("j", trips,
           store("m", vector(i * 16), load("m", vector(i * 16)) + load("x", vector(i * step + variable("j") * 16))));
  Stmt last =
      loop("k", trips, store("y", vector(variable("k") * 16), load("x", vector(i * step + variable("k") * 16))));
  return loop("i", 1000, ir::Block::make(first, last));
}

TEST(Prefetch, AsksForTheNextRowInTheLastLoopThatReadsIt) {
  EXPECT_EQ(prefetched(rows(1024, 64)), "(void *)x, int64(((((i*64) + k)*16) + 1024))*(int64)4; ");
  EXPECT_EQ(prefetched(rows(1024, 64), {3}), "(void *)x, int64(((((i*64) + k)*16) + 3072))*(int64)4; ");
}

TEST(Prefetch, SharesARowAmongLoopsThatReadItAlike) {
  Expr i = variable("i");
  const auto two = [&](const char* name, const char* sum) {
    Expr at = i * 1024 + variable(name) * 32;
    return loop(name, 32,
                ir::Block::make(store(sum, vector(0), load(sum, vector(0)) + load("x", vector(at))),
                                store(sum, vector(16), load(sum, vector(16)) + load("x", vector(at + 16)))));
  };
  Expr at = i * 1024 + variable("l") * 16;
  Stmt last = loop("l", 64, store("y", vector(at), load("x", vector(at))));
  EXPECT_EQ(prefetched(loop("i", 1000, ir::Block::make({two("j", "m"), two("k", "v"), last}))),
            "(void *)x, int64(((((i*32) + j)*32) + 1040))*(int64)4; "
            "(void *)x, int64(((((i*32) + k)*32) + 1024))*(int64)4; ");
  EXPECT_EQ(prefetched(loop("i", 1000, ir::Block::make({two("j", "m"), last}))),
            "(void *)x, int64(((((i*32) + j)*32) + 1024))*(int64)4; "
            "(void *)x, int64(((((i*32) + j)*32) + 1040))*(int64)4; ");
}

TEST(Prefetch, AsksForShortRowsFurtherAhead) {
  EXPECT_EQ(prefetched(rows(64, 4)), "(void *)x, int64(((((i*4) + k)*16) + 256))*(int64)4; ");
  EXPECT_EQ(prefetched(rows(192, 12)), "(void *)x, int64(((((i*12) + k)*16) + 384))*(int64)4; ");
}

TEST(Prefetch, LeavesRowsThatDoNotFitAndThoseThatDoNotMove) {
  EXPECT_EQ(prefetched(rows(1 << 20, 1 << 16)), "");
  EXPECT_EQ(prefetched(rows(0, 64)), "");
}

TEST(Prefetch, LeavesWhatOneLoopReads) {
  Expr i = variable("i"), j = variable("j");
  EXPECT_EQ(prefetched(loop(
                "i", 1000, loop("j", 64, store("y", vector(i * 1024 + j * 16), load("x", vector(i * 1024 + j * 16)))))),
            "");
}

TEST(Prefetch, LeavesLocalBuffers) {
  EXPECT_EQ(prefetched(ir::Allocate::make("x", Halide::Float(32), Halide::MemoryType::Heap, {1 << 20}, ir::const_true(),
                                          rows(1024, 64))),
            "");
}

TEST(Prefetch, OfRowsStandsInTheLoopsThatReadThem) {
  const Stmt body = rows(1024, 64);
  const auto* outer = body.as<ir::For>();
  const Target target = Target::parse("cpu:avx512,cores=1,l1=32k,l2=1m");
  const Additions found = prefetches_of_rows(outer, {"y"}, target, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->first->name, "k");
  EXPECT_EQ(found.begin()->second.size(), 1u);
  EXPECT_TRUE(prefetches_of_rows(outer, {"x"}, target, {}).empty());
}

TEST(Prefetch, AsksForWhatLaterSubscriptsSay) {
  Expr l = variable("l");
  Stmt direct =
      loop("l", 50, store("y", vector(0), load("y", vector(0)) + load("table", vector(subscript("index", l) * 64))));
  EXPECT_EQ(prefetched(direct), "(void *)table, int64(((int32)index[min(l + 4, 49)]*64))*(int64)4; ");
  EXPECT_EQ(prefetched(direct, {1}), "(void *)table, int64(((int32)index[min(l + 1, 49)]*64))*(int64)4; ");
  Expr named = ir::Let::make("s", subscript("index", l), load("table", vector(variable("s") * 64)));
  Stmt twice = loop("l", 50, store("y", vector(0), named + named));
  EXPECT_EQ(prefetched(twice), "(void *)table, int64(((int32)index[min(l + 4, 49)]*64))*(int64)4; ");
}

TEST(Prefetch, LeavesWhatValuesOfTheIterationSay) {
  Expr row = subscript("index", variable("bound"));
  Stmt body = store("y", vector(0), load("table", vector(row * 64 + variable("l"))));
  EXPECT_EQ(prefetched(loop("l", 50, ir::LetStmt::make("bound", variable("l") * 2, body))), "");
}

}  // namespace
}  // namespace tc::cpu::prefetch_test
