#include "tc/cpu/stmt/match_tiles.h"

#include <gtest/gtest.h>

#include <functional>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::match_tiles_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

Expr bytes(const char* buffer, const Expr& index) {
  return ir::Load::make(Halide::Int(8), buffer, index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(),
                        ir::ModulusRemainder());
}
Expr ints(const char* buffer, const Expr& index) {
  return ir::Load::make(Halide::Int(32), buffer, index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(),
                        ir::ModulusRemainder());
}
Expr wide(const Expr& e) { return ir::Cast::make(Halide::Int(32), e); }

const Expr m = variable("m"), n = variable("n"), q = variable("q"), k = variable("k");

/// c[m*32 + n] += a[m*100 + q] * b[(q/4)*128 + n*4 + q%4], from k on; \p change takes the three addresses.
Stmt product(const std::function<void(Expr&, Expr&, Expr&)>& change = {}, int steps = 64) {
  Expr a = k * 64 + m * 100 + q, b = k * 4096 + q / 4 * 128 + n * 4 + q % 4, c = m * 32 + n;
  if (change) change(a, b, c);
  Expr sum = ir::Add::make(ints("c", c), ir::Mul::make(wide(bytes("a", a)), wide(bytes("b", b))));
  return loop("m", 16, loop("n", 12, loop("q", steps, store("c", c, sum))));
}

TEST(MatchTiles, ReadsAProductOff) {
  auto found = match_tile_product(product());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->a.buffer, "a");
  EXPECT_EQ(found->a.row, 100);
  EXPECT_EQ(found->b.buffer, "b");
  EXPECT_EQ(found->b.row, 128);
  EXPECT_EQ(found->c.row, 32);
  EXPECT_EQ(found->steps, 64);
  EXPECT_EQ(found->width, 4) << "bytes that one lane sums";
  EXPECT_TRUE(ir::is_const(found->rows, 16) && ir::is_const(found->columns, 12));
  EXPECT_TRUE(ir::equal(ir::simplify(found->a.base - k * 64), Expr(0)));
  EXPECT_TRUE(ir::equal(ir::simplify(found->b.base - k * 4096), Expr(0)));
}

TEST(MatchTiles, TellsTheFactorOfTheRowsByTheSum) {
  auto found = match_tile_product(product([](Expr&, Expr&, Expr& c) { c = n * 32 + m; }));
  EXPECT_FALSE(found) << "columns would not stand side by side in groups";
  auto other = match_tile_product(product([](Expr& a, Expr& b, Expr& c) {
    std::swap(a, b);
    c = m * 32 + n;
  }));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->a.buffer, "b");
  EXPECT_EQ(other->b.buffer, "a");
}

TEST(MatchTiles, RefusesNearMisses) {
  EXPECT_FALSE(match_tile_product(product([](Expr& a, Expr&, Expr&) { a = m * 100 + q * 2; }))) << "steps apart";
  EXPECT_FALSE(match_tile_product(product([](Expr&, Expr& b, Expr&) { b = q * 128 + n; }))) << "steps not in groups";
  EXPECT_FALSE(match_tile_product(product([](Expr&, Expr&, Expr& c) { c = m * 32 + n * 2; }))) << "columns apart";
  EXPECT_FALSE(match_tile_product(product({}, 65))) << "a row of a tile has 64 bytes";
  EXPECT_FALSE(match_tile_product(product([](Expr& a, Expr&, Expr&) { a = m * n + q; }))) << "no stride";
  EXPECT_FALSE(match_tile_product(loop("m", 16, store("c", m, ints("c", m))))) << "no product";
}

TEST(MatchTiles, RefusesASumThatStartsFromElsewhere) {
  Expr value = ir::Add::make(ints("d", m), ir::Mul::make(wide(bytes("a", m)), wide(bytes("b", m))));
  EXPECT_FALSE(match_tile_product(loop("m", 16, store("c", m, value))));
  Expr own = ir::Add::make(ints("c", m), ir::Mul::make(wide(bytes("c", m)), wide(bytes("b", m))));
  EXPECT_FALSE(match_tile_product(loop("m", 16, store("c", m, own)))) << "a factor is the sum";
}

}  // namespace
}  // namespace tc::cpu::match_tiles_test
