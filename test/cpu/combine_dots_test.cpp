#include "tc/cpu/stmt/combine_dots.h"

#include <gtest/gtest.h>

#include <sstream>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::combine_dots_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Halide::Int;
using Halide::UInt;
using ir::Stmt;

Expr load(Halide::Type type, const char* buffer, const Expr& index) {
  int lanes = index.type().lanes();
  return ir::Load::make(type.with_lanes(lanes), buffer, index, Halide::Buffer<>(), ir::Parameter(),
                        ir::const_true(lanes), ir::ModulusRemainder());
}
Stmt store(const char* buffer, const Expr& index, const Expr& value) {
  return ir::Store::make(buffer, value, index, ir::Parameter(), ir::const_true(index.type().lanes()),
                         ir::ModulusRemainder());
}
Expr ramp(const Expr& base, int stride) { return ir::Ramp::make(base, stride, 16); }

struct Term {
  Halide::Type a = UInt(8), b = Int(8);
  int a_step = 1, b_step = 1, stride = 4;
  const char* a_name = "a";
};

/// c += a[i + q] b[j + q], with lanes along b.
Stmt term(int q, const Term& term) {
  Expr a = ir::Broadcast::make(ir::Cast::make(Int(32), load(term.a, term.a_name, variable("i") + q * term.a_step)), 16);
  Expr b = ir::Cast::make(Int(32, 16), load(term.b, "b", ramp(variable("j") + q * term.b_step, term.stride)));
  Expr place = ramp(0, 1), unsigned_old = ir::Cast::make(UInt(32, 16), load(Int(32), "c", place));
  return store(
      "c", place,
      ir::Cast::make(Int(32, 16), ir::Add::make(unsigned_old, ir::Cast::make(UInt(32, 16), ir::Mul::make(a, b)))));
}

std::string combined(const Term& each, int count = 4) {
  std::vector<Stmt> terms;
  for (int q = 0; q < count; ++q) terms.push_back(term(q, each));
  std::ostringstream text;
  text << combine_dots(ir::Block::make(terms));
  return text.str();
}

int dots(const std::string& text) {
  int count = 0;
  for (auto at = text.find("tc_dot_u8s8_i32"); at != std::string::npos; at = text.find("tc_dot_u8s8_i32", at + 1))
    ++count;
  return count;
}

TEST(CombineDots, SumsFourProductsOfBytes) {
  EXPECT_EQ(
      combined({}),
      "c[ramp(0, 1, 16)] = (int32x16)tc_dot_u8s8_i32((int32x16)c[ramp(0, 1, 16)], "
      "(uint8x64)reinterpret(x16(reinterpret((uint8x4)a[ramp(i + 0, 1, 4)]))), (int8x64)b[ramp(j + 0, 1, 64)])\n");
  EXPECT_EQ(dots(combined({.a = Int(8), .b = UInt(8)})), 1);
  EXPECT_EQ(dots(combined({}, 9)), 2);
}

TEST(CombineDots, LeavesOtherSums) {
  EXPECT_EQ(dots(combined({.b = UInt(8)})), 0);
  EXPECT_EQ(dots(combined({.a = UInt(16)})), 0);
  EXPECT_EQ(dots(combined({.a_step = 2})), 0);
  EXPECT_EQ(dots(combined({.b_step = 4})), 0);
  EXPECT_EQ(dots(combined({.stride = 8})), 0);
  EXPECT_EQ(dots(combined({.a_name = "c"})), 0);
  EXPECT_EQ(dots(combined({}, 3)), 0);
}

std::string stored(int stride, int step, const char* from = "a") {
  std::vector<Stmt> stores;
  for (int q = 0; q < 4; ++q)
    stores.push_back(
        store("b", ramp(variable("j") + q * step, stride), load(Int(8), from, ramp(variable("i") + 100 * q, 1))));
  std::ostringstream text;
  text << combine_dots(ir::Block::make(stores));
  return text.str();
}

TEST(CombineDots, StoresColumnsThatStandSideBySideTogether) {
  EXPECT_EQ(stored(4, 1).find("b[ramp(j + 0, 1, 64)] = interleave_vectors("), 0u) << stored(4, 1);
  EXPECT_EQ(stored(8, 1).find("interleave"), std::string::npos);
  EXPECT_EQ(stored(4, 2).find("interleave"), std::string::npos);
  EXPECT_EQ(stored(4, 1, "b").find("interleave"), std::string::npos);
}

}  // namespace
}  // namespace tc::cpu::combine_dots_test
