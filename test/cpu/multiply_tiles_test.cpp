#include "tc/cpu/stmt/multiply_tiles.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <sstream>

#include "tc/base/dtype.h"
#include "tc/cpu/kernel.h"
#include "test/cpu/halide_statements.h"
#include "test/cpu/kernel_fixture.h"
#include "test/support/guarded_buffer.h"

namespace tc::cpu::multiply_tiles_test {
namespace {

using Halide::UInt;
using ir::Stmt;

Expr load(const Halide::Type& type, const char* buffer, const Expr& index) {
  return ir::Load::make(type, buffer, index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(),
                        ir::ModulusRemainder());
}
Stmt store(const char* buffer, const Expr& index, const Expr& value) {
  int lanes = index.type().lanes();
  return ir::Store::make(buffer, value, index, ir::Parameter(), ir::const_true(lanes), ir::ModulusRemainder());
}
Stmt loop(const char* name, const Expr& extent, const Stmt& body) {
  return ir::For::make(name, 0, extent, ir::ForType::Serial, Halide::DeviceAPI::None, body);
}
Expr widened(const Expr& bits) { return ir::Call::make(Float(32), "tc_from_bfloat_f32", {bits}, ir::Call::PureExtern); }

/// What the loops of a product are like.
struct Product {
  Expr rows = 16, columns = 16;
  int steps = 32;
  Halide::Type a = UInt(16), b = UInt(16);
  int a_step = 1, group = 2;  ///< elements from one step of a to the next; steps of b that stand side by side
  const char* a_name = "a";
};

/// c[m*32 + n] += a[m*100 + q] * b[(q/2)*64 + n*2 + q%2], a and b from `k` on.
Stmt product(const Product& p) {
  Expr m = variable("m"), n = variable("n"), q = variable("q"), k = variable("k");
  Expr place = m * 32 + n;
  Expr a = load(p.a, p.a_name, k * 32 + m * 100 + q * p.a_step);
  Expr b = load(p.b, "b", k * 1024 + q / p.group * (32 * p.group) + n * p.group + q % p.group);
  bool half = p.a.bits() == 16;
  Halide::Type sum = half ? Float(32) : Int(32);
  auto wide = [&](const Expr& e) { return half ? widened(e) : ir::Cast::make(Int(32), e); };
  Expr value = ir::Add::make(load(sum, "c", place), ir::Mul::make(wide(a), wide(b)));
  return loop("m", p.rows, loop("n", p.columns, loop("q", p.steps, store("c", place, value))));
}

std::string multiplied(const Stmt& body) {
  std::ostringstream text;
  text << multiply_tiles(body);
  return text.str();
}
std::size_t count(const std::string& text, const std::string& word) {
  std::size_t result = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++result;
  return result;
}

TEST(MultiplyTiles, KeepsAccumulatorsInTilesAroundALoop) {
  EXPECT_EQ(multiplied(loop("k", 4, product({}))),
            "tc_tile_configure((uint64)1152921573326323728, (uint64)64, (uint64)18014398509482048)\n"
            "tc_tile_load_0((void *)c, (int64)0, (int64)128)\n"
            "for (k, 0, 4) {\n"
            " tc_tile_pass_7((void *)b, int64((k*1024))*(int64)2, (int64)128)\n"
            " tc_tile_load_4((void *)a, int64((k*32))*(int64)2, (int64)200)\n"
            " tc_tile_multiply_bf16_0_4_7()\n"
            "}\n"
            "tc_tile_store_0((void *)c, (int64)0, (int64)128)\n"
            "tc_tile_release()\n");
}

TEST(MultiplyTiles, NamesTheTypes) {
  struct Case {
    Product product;
    const char* kind;
  };
  for (const Case& c : {Case{{.steps = 64, .a = UInt(8), .b = Int(8), .group = 4}, "_us_"},
                        {{.steps = 64, .a = Int(8), .b = UInt(8), .group = 4}, "_su_"},
                        {{.steps = 64, .a = Int(8), .b = Int(8), .group = 4}, "_ss_"},
                        {{.steps = 64, .a = UInt(8), .b = UInt(8), .group = 4}, "_uu_"}})
    EXPECT_EQ(count(multiplied(product(c.product)), std::string("tc_tile_multiply") + c.kind), 1u) << c.kind;
}

TEST(MultiplyTiles, LoadsEachFactorOnceForSeveralAccumulators) {
  auto text = multiplied(product({.rows = 32, .columns = 32}));
  EXPECT_EQ(count(text, "tc_tile_multiply_bf16"), 4u) << text;
  for (const char* name : {"tc_tile_load_4(", "tc_tile_load_5(", "tc_tile_pass_6(", "tc_tile_pass_7("})
    EXPECT_EQ(count(text, name), 1u) << name;
  EXPECT_NE(text.find("tc_tile_store_3((void *)c, (int64)2112, (int64)128)"), std::string::npos) << text;
}

TEST(MultiplyTiles, StepsThatFillNoTileAreLoadedUnderMasks) {
  auto text = multiplied(product({.rows = 5, .columns = 3, .steps = 7}));
  EXPECT_NE(
      text.find("tc_tile_load_part_4((void *)a, int64((k*32))*(int64)2, (int64)200, 5, (uint64)16383, (uint64)16383)"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("tc_tile_load_part_7((void *)b, int64((k*1024))*(int64)2, (int64)128, 4, (uint64)4095, (uint64)819)"),
      std::string::npos)
      << text;
}

TEST(MultiplyTiles, StartsWithZerosWhereVectorsStoredThem) {
  auto zeros = [](int rows) {
    std::vector<Stmt> result;
    for (int m = 0; m < rows; ++m)
      result.push_back(store("c", ir::Ramp::make(m * 32, 1, 16), ir::Broadcast::make(0.0f, 16)));
    return result;
  };
  auto with = [&](int rows) {
    auto parts = zeros(rows);
    parts.push_back(product({}));
    return multiplied(ir::Block::make(parts));
  };
  EXPECT_EQ(count(with(16), "tc_tile_zero_0"), 1u);
  EXPECT_EQ(count(with(16), "ramp"), 0u);
  EXPECT_EQ(count(with(15), "tc_tile_load_0"), 1u);
  EXPECT_EQ(count(with(15), "ramp"), 15u);
}

TEST(MultiplyTiles, RowsMayBeAnExpression) {
  auto text = multiplied(loop("i", 3, product({.rows = Halide::min(variable("i") * -32 + 70, 32)})));
  EXPECT_EQ(count(text, "tc_tile_configure"), 1u) << text;
  EXPECT_LT(text.find("for (i"), text.find("tc_tile_configure")) << text;
  EXPECT_NE(text.find("if ("), std::string::npos) << text;
}

TEST(MultiplyTiles, ConfiguresOncePerThreadWhatHasOneShape) {
  auto parallel = [](const Stmt& body) {
    return ir::For::make("t", 0, 2, ir::ForType::Parallel, Halide::DeviceAPI::None, body);
  };
  auto text = multiplied(parallel(loop("i", 3, loop("j", 3, product({})))));
  EXPECT_LT(text.find("parallel (t"), text.find("tc_tile_configure"));
  EXPECT_LT(text.find("tc_tile_configure"), text.find("for (i")) << text;
  auto two = multiplied(loop("i", 3, ir::Block::make(loop("j", 3, product({})), loop("l", 3, product({.rows = 4})))));
  EXPECT_EQ(count(two, "tc_tile_configure"), 2u) << two;
  EXPECT_EQ(count(two, "tc_tile_release"), 2u) << two;
  EXPECT_LT(two.find("for (i"), two.find("tc_tile_configure"));
}

TEST(MultiplyTiles, ConfiguresBelowAConditionWithoutAnElse) {
  auto shapes = ir::Block::make(loop("j", 3, product({})), loop("l", 3, product({.rows = 4})));
  auto text = multiplied(ir::IfThenElse::make(variable("i") == 1, shapes));
  EXPECT_EQ(count(text, "tc_tile_configure"), 2u) << text;
  EXPECT_LT(text.find("if ("), text.find("tc_tile_configure")) << text;
}

TEST(MultiplyTiles, LeavesOtherLoops) {
  for (const Product& p : {Product{.steps = 33}, Product{.a_step = 2}, Product{.group = 1}, Product{.group = 4},
                           Product{.a = UInt(8)}, Product{.a_name = "c"}})
    EXPECT_EQ(count(multiplied(product(p)), "tc_tile"), 0u);
}

/// Products of random whole numbers, with nothing readable behind the factors.
class TileKernel : public KernelTest {
 protected:
  struct Shape {
    int m, n, k;
  };

  KernelCase product(const Shape& s, DType a, DType b) const {
    int width = a == DType::BFloat16 ? 2 : 4;
    auto scop = ScopBuilder(context())
                    .input("A", {s.m, s.k})
                    .input("B", {(s.k + width - 1) / width, s.n, width})
                    .output("C", {s.m, s.n})
                    .identity(str("S0[m, n] : 0 <= m < ", s.m, " and 0 <= n < ", s.n), "C[m, n]")
                    .accumulate(str("S1[m, n, k] : 0 <= m < ", s.m, " and 0 <= n < ", s.n, " and 0 <= k < ", s.k),
                                "C[m, n]", {"A[m, k]", str("B[floor(k/", width, "), n, k mod ", width, "]")})
                    .scop();
    bool half = width == 2;
    KernelCase result(scop);
    result.type("A", a).type("B", b).type("C", half ? DType::Float32 : DType::Int32);
    Expr zero = ir::make_const(Int(64), 0);
    auto factor = [&](const char* tensor, DType type, std::vector<Expr> subscripts) {
      if (half) return element(Float(32), tensor, subscripts);
      return ir::Cast::make(Int(32), element(is_signed_integer(type) ? Int(8) : UInt(8), tensor, subscripts));
    };
    result.value("S1", factor("A", a, {iterator("m"), iterator("k")}) * factor("B", b, {zero, zero, zero}));
    return result;
  }
};

/// The bits of a small whole number as a bfloat16, or as a byte.
std::uint16_t bits_of(int value, bool half) {
  float number = static_cast<float>(value);
  return half ? static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16)
              : static_cast<std::uint8_t>(value);
}

using Bytes = GuardedBuffer<std::uint8_t>;

void fill(Bytes& buffer, const std::vector<int>& values, bool half) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto bits = bits_of(values[i], half);
    std::memcpy(buffer.data() + i * (half ? 2 : 1), &bits, half ? 2 : 1);
  }
}

TEST_F(TileKernel, EqualsSumsOfProducts) {
  if (!Target::parse("avx512").matrix_tiles) GTEST_SKIP() << "this machine multiplies no tiles";
  std::mt19937 random(7);
  for (const Shape& s : {Shape{16, 16, 32},
                         {32, 32, 17},
                         {1, 16, 31},
                         {16, 1, 2},
                         {31, 29, 32},
                         {3, 33, 5},
                         {33, 2, 9},
                         {7, 9, 1},
                         {2, 2, 63}})
    for (auto [a, b] :
         {std::pair{DType::BFloat16, DType::BFloat16}, {DType::UInt8, DType::Int8}, {DType::Int8, DType::Int8}}) {
      bool half = a == DType::BFloat16;
      int width = half ? 2 : 4, groups = (s.k + width - 1) / width;
      if (half && s.k > 32) continue;
      SCOPED_TRACE(str(s.m, "x", s.n, "x", s.k, " of ", a));
      std::vector<int> x(s.m * s.k), y(groups * s.n * width);
      for (int& value : x) value = static_cast<int>(random() % 100);
      for (int& value : y) value = static_cast<int>(random() % 200) - 100;
      Bytes left(x.size() * (half ? 2 : 1)), right(y.size() * (half ? 2 : 1)),
          sums(static_cast<std::size_t>(s.m) * s.n * 4);
      fill(left, x, half);
      fill(right, y, half);
      auto code = product(s, a, b).compile("avx512");
      EXPECT_NE(disassemble(code).find(half ? "tdpbf16ps" : "tdpb"), std::string::npos);
      void* pointers[] = {left.data(), right.data(), sums.data()};
      ASSERT_EQ(load_kernel(code).function(pointers), 0);
      for (int m = 0; m < s.m; ++m)
        for (int n = 0; n < s.n; ++n) {
          int expected = 0;
          for (int k = 0; k < s.k; ++k) expected += x[m * s.k + k] * y[(k / width * s.n + n) * width + k % width];
          auto at = static_cast<std::size_t>(m) * s.n + n;
          auto found = half ? static_cast<int>(reinterpret_cast<float*>(sums.data())[at])
                            : reinterpret_cast<int*>(sums.data())[at];
          ASSERT_EQ(found, expected) << m << ", " << n;
        }
    }
}

TEST_F(TileKernel, NeedsTheInstructions) {
  auto with = disassemble(product({16, 16, 32}, DType::BFloat16, DType::BFloat16).compile("avx512,amx"));
  for (const char* word : {"ldtilecfg", "tileloadd", "tdpbf16ps", "tilestored", "tilerelease"})
    EXPECT_NE(with.find(word), std::string::npos) << word;
  auto without = disassemble(product({16, 16, 32}, DType::BFloat16, DType::BFloat16).compile("avx512,-amx"));
  EXPECT_EQ(without.find("tdpbf16ps"), std::string::npos);
}

}  // namespace
}  // namespace tc::cpu::multiply_tiles_test
