#include "tc/cpu/lane_functions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <type_traits>

#include "test/cpu/kernel_fixture.h"

namespace tc::cpu {
namespace {

constexpr int count = 1 << 12;

class QuotientTest : public KernelTest {
 protected:
  /// C(i) = A(i) / B(0) in vectors.
  template <typename T>
  Kernel kernel(const std::string& target, int lanes) const {
    auto scop = ScopBuilder(context())
                    .input("A", {count})
                    .input("B", {1})
                    .output("C", {count})
                    .statement(str("S[i] : 0 <= i < ", count), "C[i]", {"A[i]", "B[0]"})
                    .scop();
    bool single = std::is_same_v<T, float>;
    auto type = Float(single ? 32 : 64);
    KernelCase result(scop);
    for (const char* name : {"A", "B", "C"}) result.type(name, single ? DType::Float32 : DType::Float64);
    result.vectorise("S", "i", lanes);
    Expr zero = ir::make_const(Int(64), 0);
    result.value("S", element(type, "A", {iterator("i")}) / element(type, "B", {zero}));
    return load_kernel(result.compile(target));
  }

  template <typename T>
  static void expect_ieee(const Kernel& kernel, const std::vector<T>& a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    std::vector<T> c(count);
    void* pointers[] = {const_cast<T*>(a.data()), &b, c.data()};
    ASSERT_EQ(kernel.function(pointers), 0);
    for (int i = 0; i < count; ++i) {
      T exact = a[i] / b;
      ASSERT_TRUE(std::bit_cast<Bits>(c[i]) == std::bit_cast<Bits>(exact) || (std::isnan(c[i]) && std::isnan(exact)))
          << std::hexfloat << a[i] << " / " << b << " is " << exact << ", not " << c[i];
    }
  }

  /// Numbers with any bits, then numbers of one binade; zeros, infinities and NaN in the middle of a vector of others.
  template <typename T>
  void divide_everything(const std::string& target, int lanes) {
    auto divide = kernel<T>(target, lanes);
    std::mt19937_64 random(lanes);
    auto any = [&] {
      if constexpr (sizeof(T) == 4)
        return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      else
        return std::bit_cast<double>(random());
    };
    auto near_one = [&] {
      return std::ldexp(static_cast<T>(random() >> 11 | std::uint64_t{1} << 52), -52) * (random() % 2 ? T{1} : T{-1});
    };
    const T infinity = std::numeric_limits<T>::infinity(), tiny = std::numeric_limits<T>::denorm_min();
    const T special[] = {0,
                         -T{0},
                         infinity,
                         -infinity,
                         std::numeric_limits<T>::quiet_NaN(),
                         tiny,
                         -tiny,
                         std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max(),
                         std::ldexp(T{1}, sizeof(T) == 4 ? -90 : -900),
                         std::ldexp(T{1}, sizeof(T) == 4 ? 90 : 900)};
    std::vector<T> a(count);
    for (int round = 0; round < 600; ++round) {
      for (T& x : a) x = round % 3 == 0 ? any() : near_one();
      if (round % 3 == 1)
        for (int i = 0; i < count; i += 37) a[i] = special[i / 37 % std::size(special)];
      T b = round < 200 ? any() : near_one();
      if (round >= 200 && round % 4 == 0) b = std::nextafter(round % 8 ? T{2} : T{1}, round % 16 ? T{0} : T{3});
      if (round < static_cast<int>(std::size(special))) b = special[round];
      expect_ieee(divide, a, b);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_F(QuotientTest, ByOneValueIsTheIeeeQuotient) {
  for (const auto& target : runnable_targets())
    for (int lanes : {2, 4, 8, 16}) {
      SCOPED_TRACE(str(target, ", lanes ", lanes));
      divide_everything<float>(target, lanes);
      if (lanes <= 8) divide_everything<double>(target, lanes);
      if (HasFatalFailure()) return;
    }
}

TEST_F(QuotientTest, DividesByProductsWhereTheTargetFuses) {
  for (const auto& target : runnable_targets()) {
    auto scop = ScopBuilder(context())
                    .input("A", {64})
                    .input("B", {1})
                    .output("C", {64})
                    .statement("S[i] : 0 <= i < 64", "C[i]", {"A[i]", "B[0]"})
                    .scop();
    KernelCase division(scop);
    division.vectorise("S", "i", 8);
    division.value("S", read("A", {"i"}) / element(Float(32), "B", {ir::make_const(Int(64), 0)}));
    auto text = disassemble(division.compile(target));
    EXPECT_EQ(text.find("vfmadd") != std::string::npos || text.find("vfnmadd") != std::string::npos, target != "plain")
        << text;
  }
}

}  // namespace
}  // namespace tc::cpu
