#include "tc/cpu/stmt/expand_divisions.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "test/cpu/kernel_fixture.h"
#include "test/support/from_environment.h"

namespace tc::cpu {
namespace {

using Wide = __int128;

/// Halide's quotient: the remainder is not negative, x/0 = 0.
Wide euclidean(Wide a, Wide b) {
  if (b == 0) return 0;
  Wide quotient = a / b;
  return a - quotient * b >= 0 ? quotient : b > 0 ? quotient - 1 : quotient + 1;
}

/// A(i) / B(i) or A(i) % B(i) of two columns of numbers, compiled for every target, scalar and in vectors.
template <typename Number>
class Columns : public KernelTest {
 public:
  void TestBody() override {}

  std::vector<Number> a, b;

  void check(const std::string& what) const {
    Expr x = element(type(), "A", {iterator("i")}), y = element(type(), "B", {iterator("i")});
    check(ir::Div::make(x, y), [](Wide p, Wide q) { return euclidean(p, q); }, what + " /");
    check(ir::Mod::make(x, y), [](Wide p, Wide q) { return q == 0 ? 0 : p - q * euclidean(p, q); }, what + " %");
  }

  /// B is not read: the divisor is \p literal, or an expression which the code generator finds to be \p literal.
  void check_constant(Number literal, bool folded) {
    Expr x = element(type(), "A", {iterator("i")});
    Expr y = ir::make_const(type(), literal);
    if (folded) y = ir::Add::make(ir::Mul::make(x, ir::make_zero(type())), y);
    auto what = str(folded ? "folded " : "literal ", +literal);
    check(ir::Div::make(x, y), [=](Wide p, Wide) { return euclidean(p, literal); }, what + " /", b, true);
    check(
        ir::Mod::make(x, y), [=](Wide p, Wide) { return literal == 0 ? 0 : p - Wide(literal) * euclidean(p, literal); },
        what + " %", b, true);
    ++turn_;
  }

  /// The divisor is i - 1 where B(i) is not 0, else i: in vectors a choice between literals, each with a zero.
  void check_choice() const {
    Expr x = element(type(), "A", {iterator("i")}), y = element(type(), "B", {iterator("i")});
    Expr chosen = ir::Cast::make(type(), ir::NE::make(y, ir::make_zero(type())));
    Expr divisor = ir::Sub::make(ir::Cast::make(type(), iterator("i")), chosen);
    std::vector<Number> divisors;
    for (std::size_t i = 0; i < b.size(); ++i) divisors.push_back(static_cast<Number>(i - (b[i] != 0)));
    check(ir::Div::make(x, divisor), [](Wide p, Wide q) { return euclidean(p, q); }, "chosen /", divisors);
    check(
        ir::Mod::make(x, divisor), [](Wide p, Wide q) { return q == 0 ? 0 : p - q * euclidean(p, q); }, "chosen %",
        divisors);
  }

 private:
  static Halide::Type type() { return Halide::type_of<Number>(); }
  static DType dtype() {
    int bits = 8 * sizeof(Number);
    for (DType candidate : {DType::Int8, DType::Int16, DType::Int32, DType::Int64, DType::UInt8, DType::UInt16,
                            DType::UInt32, DType::UInt64})
      if (bit_size(candidate) == bits && is_signed_integer(candidate) == std::is_signed_v<Number>) return candidate;
    return DType::Bool;
  }

  template <typename Want>
  void check(const Expr& value, Want want, const std::string& what) const {
    check(value, want, what, b);
  }
  /// \p value is \p want of a and \p divisors; where it is sampled, on a third of the targets and lanes, the next value on others,
  /// and on all where TC_ALL_INSTRUCTIONS=1, as in `make test-long`.
  template <typename Want>
  void check(const Expr& value, Want want, const std::string& what, const std::vector<Number>& divisors,
             bool sampled = false) const {
    static const bool all = test::from_environment("TC_ALL_INSTRUCTIONS", 0) != 0;
    const int n = static_cast<int>(a.size());
    std::size_t pair = 0;
    for (const auto& target : runnable_targets())
      for (int lanes : {1, 8}) {
        if (sampled && !all && pair++ % 3 != turn_ % 3) continue;
        auto kernel = pointwise(n, lanes, value);
        kernel.type("A", dtype()).type("B", dtype()).type("C", dtype());
        auto pa = a, pb = b;
        std::vector<Number> c(n);
        EXPECT_EQ(kernel.run(target, {pa.data(), pb.data(), c.data()}), 0);
        for (int i = 0; i < n; ++i)
          ASSERT_EQ(c[i], static_cast<Number>(want(a[i], divisors[i])))
              << +a[i] << ' ' << what << ' ' << +divisors[i] << ", " << 8 * sizeof(Number) << " bits, " << lanes
              << " lanes, " << target;
      }
  }

  std::size_t turn_ = 0;
};

template <typename Number>
std::vector<Number> interesting() {
  std::vector<Number> result;
  for (int value = -9; value <= 9; ++value) result.push_back(static_cast<Number>(value));
  using Limits = std::numeric_limits<Number>;
  result.insert(result.end(), {Limits::min(), static_cast<Number>(Limits::min() + 1), Limits::max(),
                               static_cast<Number>(Limits::max() - 1), static_cast<Number>(Limits::max() / 2)});
  return result;
}

template <typename Number>
class ExpandDivisions : public testing::Test {};
using Numbers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                               std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ExpandDivisions, Numbers);

TYPED_TEST(ExpandDivisions, RandomPairsDivide) {
  Columns<TypeParam> columns;
  auto some = interesting<TypeParam>();
  for (auto x : some)
    for (auto y : some) {
      columns.a.push_back(x);
      columns.b.push_back(y);
    }
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) {
    columns.a.push_back(static_cast<TypeParam>(random() >> random() % 64));
    columns.b.push_back(static_cast<TypeParam>(random() >> random() % 64));
  }
  columns.check("random");
}

TYPED_TEST(ExpandDivisions, ConstantsDivide) {
  Columns<TypeParam> columns;
  columns.a = interesting<TypeParam>();
  std::mt19937_64 random(11);
  for (int i = 0; i < 200; ++i) columns.a.push_back(static_cast<TypeParam>(random() >> random() % 64));
  columns.b.resize(columns.a.size());
  for (int number : {3, 7, 127, 128, 129, 255, 300, 1000, -1, -3})
    columns.check_constant(static_cast<TypeParam>(number), false);
  for (int number : {0, 3, 300, -1}) columns.check_constant(static_cast<TypeParam>(number), true);
}

TYPED_TEST(ExpandDivisions, LanesChosenFromLiteralsDivide) {
  Columns<TypeParam> columns;
  columns.a = {7, 9, 11, 13, 100, 101, 102, 103};
  columns.b = {1, 1, 0, 1, 0, 0, 1, 1};
  columns.check_choice();
  columns.b = {0, 1, 1, 1, 1, 1, 1, 1};
  columns.check_choice();
}

/// Lanes of an iterator are a constant vector, which holds a 0.
TEST_F(KernelTest, IteratorsDivide) {
  for (const auto& target : runnable_targets())
    for (int lanes : {1, 2, 8}) {
      auto i = iterator("i");
      auto kernel = pointwise(
          lanes, lanes,
          ir::Add::make(ir::Div::make(element(Int(64), "A", {i}), i), ir::Mod::make(element(Int(64), "A", {i}), i)));
      kernel.type("A", DType::Int64).type("C", DType::Int64);
      std::vector<std::int64_t> a = {-7, -8, -9, 10, -11, 12, 13, 14}, b(8), c(8);
      EXPECT_EQ(kernel.run(target, {a.data(), b.data(), c.data()}), 0);
      for (int k = 0; k < lanes; ++k)
        EXPECT_EQ(c[k], k == 0 ? 0 : euclidean(a[k], k) + (a[k] - k * euclidean(a[k], k))) << k << " of " << lanes;
    }
}

TEST_F(KernelTest, HalideCutsAQuotientByALiteralWrongly) {
  auto x = element(Int(32), "A", {iterator("i")});
  auto kernel = pointwise(
      2, 1,
      ir::Call::make(Int(32), ir::Call::div_round_to_zero, {x, ir::make_const(Int(32), 3)}, ir::Call::PureIntrinsic));
  kernel.type("A", DType::Int32).type("C", DType::Int32);
  std::vector<std::int32_t> a = {1, 10}, b(2), c(2);
  EXPECT_EQ(kernel.run("plain", {a.data(), b.data(), c.data()}), 0);
  EXPECT_EQ(c, (std::vector<std::int32_t>{-1, -2})) << "Halide learnt to divide: expand_divisions can go";
}

TEST(ExpandDivisionsOfBytes, AllPairsDivide) {
  Columns<std::int8_t> columns;
  for (int x = -128; x < 128; ++x)
    for (int y = -128; y < 128; ++y) {
      columns.a.push_back(static_cast<std::int8_t>(x));
      columns.b.push_back(static_cast<std::int8_t>(y));
    }
  columns.check("all");
}

TEST(ExpandDivisionsOfBytes, SmallLiteralsStay) {
  Expr x = ir::Variable::make(Int(32), "x");
  auto expanded = [&](const Expr& value) { return str(expand_divisions(ir::Evaluate::make(value))); };
  EXPECT_EQ(expanded(ir::Div::make(x, 3)), "x/3\n");
  EXPECT_EQ(expanded(ir::Mod::make(x, 1024)), "x % 1024\n");
  EXPECT_NE(expanded(ir::Mod::make(x, 1000)), "x % 1000\n");
  EXPECT_EQ(expanded(ir::Div::make(x, 0)), "0\n");
  EXPECT_NE(expanded(ir::Div::make(x, -2)), "x/-2\n");
}

}  // namespace
}  // namespace tc::cpu
