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

/// C(i) = C(i) + a dot product of 2 or 4 neighbours of A and B, in vectors; a hand-made loop.
class DotTest : public KernelTest {
 protected:
  static constexpr int vectors = 8;

  static ir::Stmt loop(const std::string& function, const Halide::Type& sum, const Halide::Type& a,
                       const Halide::Type& b, int lanes) {
    int step = 32 / a.bits();
    auto at = [&](int width) {
      return ir::Ramp::make(ir::Variable::make(Int(32), "v") * (lanes * width), 1, lanes * width);
    };
    auto read = [&](const char* name, const Halide::Type& type, int width) {
      return ir::Load::make(type.with_lanes(lanes * width), name, at(width), Halide::Buffer<>(), ir::Parameter(),
                            ir::const_true(lanes * width), ir::ModulusRemainder());
    };
    auto dot = ir::Call::make(sum.with_lanes(lanes), function,
                              {read("C", sum, 1), read("A", a, step), read("B", b, step)}, ir::Call::PureExtern);
    auto store = ir::Store::make("C", dot, at(1), ir::Parameter(), ir::const_true(lanes), ir::ModulusRemainder());
    return ir::For::make("v", 0, vectors, ir::ForType::Serial, Halide::DeviceAPI::None, store);
  }
  static ObjectCode bfloat_code(const std::string& target, int lanes) {
    auto body = loop("tc_dot_bf16_f32", Float(32), Halide::UInt(16), Halide::UInt(16), lanes);
    return emit_object("dot", body, {"A", "B", "C"}, Target::parse(target));
  }
  static ObjectCode byte_code(const std::string& target, int lanes) {
    auto body = loop("tc_dot_u8s8_i32", Int(32), Halide::UInt(8), Int(8), lanes);
    return emit_object("dot", body, {"A", "B", "C"}, Target::parse(target));
  }
};

TEST_F(DotTest, BfloatSumsOfWholeNumbersAreExact) {
  for (const auto& target : runnable_targets())
    for (int lanes : {4, 8, 16, 32}) {
      int n = vectors * lanes;
      std::vector<std::uint16_t> a(2 * n), b(2 * n);
      std::vector<float> c(n), expected(n);
      auto bits = [](int value) {
        return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
      };
      for (int i = 0; i < n; ++i) {
        expected[i] = c[i] = static_cast<float>(i * 7 - 100);
        for (int k = 0; k < 2; ++k) {
          int x = (13 * i + 5 * k) % 255 - 127, y = (29 * i + 11 * k) % 251 - 125;
          a[2 * i + k] = bits(x), b[2 * i + k] = bits(y);
          expected[i] += static_cast<float>(x * y);
        }
      }
      void* pointers[] = {a.data(), b.data(), c.data()};
      ASSERT_EQ(load_kernel(bfloat_code(target, lanes)).function(pointers), 0);
      EXPECT_EQ(c, expected) << target << ", lanes " << lanes;
    }
}

TEST_F(DotTest, ByteSumsAreExactAtTheEndsOfTheirRanges) {
  for (const auto& target : runnable_targets())
    for (int lanes : {4, 8, 16, 32}) {
      int n = vectors * lanes;
      std::vector<std::uint8_t> a(4 * n);
      std::vector<std::int8_t> b(4 * n);
      std::vector<std::int32_t> c(n), expected(n);
      for (int i = 0; i < n; ++i) {
        expected[i] = c[i] = i * 1000 - 5;
        for (int k = 0; k < 4; ++k) {
          a[4 * i + k] = static_cast<std::uint8_t>(i % 3 == 0 ? 255 : 31 * i + k);
          b[4 * i + k] = static_cast<std::int8_t>(i % 3 == 0 ? (i % 2 ? -128 : 127) : 17 * i - 3 * k);
          expected[i] += a[4 * i + k] * b[4 * i + k];
        }
      }
      void* pointers[] = {a.data(), b.data(), c.data()};
      ASSERT_EQ(load_kernel(byte_code(target, lanes)).function(pointers), 0);
      EXPECT_EQ(c, expected) << target << ", lanes " << lanes;
    }
}

TEST_F(DotTest, TheTargetsInstructionsAreUsed) {
  auto has = [](const ObjectCode& code, const char* instruction) {
    return disassemble(code).find(instruction) != std::string::npos;
  };
  EXPECT_TRUE(has(bfloat_code("avx512,bf16_dot", 16), "vdpbf16ps"));
  EXPECT_TRUE(has(byte_code("avx512,int8_dot", 16), "vpdpbusd"));
  EXPECT_TRUE(has(byte_code("avx2,int8_dot", 8), "vpdpbusd"));
  EXPECT_FALSE(has(bfloat_code("avx2", 8), "vdpbf16ps"));
  EXPECT_TRUE(has(bfloat_code("avx2", 8), "vfmadd"));
  EXPECT_FALSE(has(byte_code("plain", 4), "vpdpbusd"));
  EXPECT_TRUE(has(byte_code("plain", 4), "pmaddwd"));
}

TEST_F(DotTest, HalvesAreConvertedByTheirInstructions) {
  auto type = Float(32);
  auto scop = ScopBuilder(context())
                  .input("A", {64})
                  .output("C", {64})
                  .statement("S[i] : 0 <= i < 64", "C[i]", {"A[i]"})
                  .scop();
  KernelCase twice(scop);
  twice.type("A", DType::Float16).type("C", DType::Float16).vectorise("S", "i", 8);
  twice.value("S", element(type, "A", {iterator("i")}) * 2.0f);
  for (const char* target : {"avx2", "avx512"}) {
    auto text = disassemble(twice.compile(target));
    EXPECT_NE(text.find("vcvtph2ps"), std::string::npos) << text;
    EXPECT_NE(text.find("vcvtps2ph"), std::string::npos) << text;
    EXPECT_NE(text.find("vcvtph2ps\tymm"), std::string::npos) << text;
    EXPECT_EQ(text.find("movzx"), std::string::npos) << "lane by lane: " << text;
  }
}

}  // namespace
}  // namespace tc::cpu
