#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/cpu/kernel_fixture.h"

namespace tc::cpu {
namespace {

class KernelValuesTest : public KernelTest {};

TEST_F(KernelValuesTest, FloatsAreIeee) {
  const std::vector<float> a = {nan, 1, infinity, -infinity, 0.0f, -0.0f, 1e-42f, 2};
  const std::vector<float> b = {1, nan, infinity, infinity, -0.0f, 0.0f, 1, -2};
  Expr x = read("A", {"i"}), y = read("B", {"i"});
  struct Row {
    const char* what;
    Expr value;
    float (*want)(float, float);
  };
  const Row rows[] = {
      {"a - a", x - x + 0.0f * y, [](float p, float q) { return p - p + 0.0f * q; }},
      {"a + b - b", (x + y) - y,
       [](float p, float q) {
         volatile float s = p + q;
         return s - q;
       }},
      {"a / b", x / y, [](float p, float q) { return p / q; }},
      {"a + 0", x + 0.0f, [](float p, float) { return p + 0.0f; }},
      {"-0 - a", -0.0f - x, [](float p, float) { return -0.0f - p; }},
      {"a == b", Halide::select(x == y, 1.0f, 0.0f), [](float p, float q) { return p == q ? 1.0f : 0.0f; }},
      {"a != b", Halide::select(x != y, 1.0f, 0.0f), [](float p, float q) { return p != q ? 1.0f : 0.0f; }},
      {"!(a < b)", Halide::select(!(x < y), 1.0f, 0.0f), [](float p, float q) { return !(p < q) ? 1.0f : 0.0f; }},
      {"max", call("tc_max_f32", {x, y}),
       [](float p, float q) { return std::isnan(p) || std::isnan(q) ? nan : std::max(p, q); }},
      {"min", call("tc_min_f32", {x, y}),
       [](float p, float q) { return std::isnan(p) || std::isnan(q) ? nan : std::min(p, q); }},
      {"fmax", call("tc_fmax_f32", {x, y}), [](float p, float q) { return std::fmax(p, q); }},
      {"fmin", call("tc_fmin_f32", {x, y}), [](float p, float q) { return std::fmin(p, q); }},
      {"pow", call("tc_pow_f32", {x, y}), [](float p, float q) { return std::pow(p, q); }},
  };
  for (const auto& target : runnable_targets())
    for (int lanes : {1, 4, 8})
      for (const auto& row : rows) {
        std::vector<float> c(8);
        auto pa = a, pb = b;
        EXPECT_EQ(pointwise(8, lanes, row.value).run(target, {pa.data(), pb.data(), c.data()}), 0);
        for (int i = 0; i < 8; ++i) {
          float want = row.want(a[i], b[i]);
          bool same = std::isnan(want) ? std::isnan(c[i]) : c[i] == want;
          EXPECT_TRUE(same) << row.what << " of " << a[i] << ", " << b[i] << " in " << lanes << " lanes on " << target
                            << ": " << c[i];
        }
      }
}

TEST_F(KernelValuesTest, TypesInMemory) {
  const std::vector<float> values = {0.0f,    -0.0f,   1.0f,     -2.5f, 65504.0f, 65520.0f, 6e-8f, 2.98e-8f,
                                     2049.0f, 2051.0f, infinity, nan,   1e-5f,    -3.1f,    1e38f, 7.0f};
  const int n = static_cast<int>(values.size());
  for (const auto& target : runnable_targets())
    for (int lanes : {1, 8})
      for (DType type : {DType::Float16, DType::BFloat16}) {
        auto kernel = pointwise(n, lanes, read("A", {"i"}) + read("B", {"i"}));
        kernel.type("B", type).type("C", type);
        auto a = values;
        std::vector<std::uint16_t> b(n), c(n);
        auto narrow = [&](float x) { return type == DType::Float16 ? float_to_half(x) : float_to_bfloat(x); };
        auto widen = [&](std::uint16_t x) { return type == DType::Float16 ? half_to_float(x) : bfloat_to_float(x); };
        for (int i = 0; i < n; ++i) b[i] = narrow(i % 3 == 0 ? values[(i + 5) % n] : 0.0f);
        EXPECT_EQ(kernel.run(target, {a.data(), b.data(), c.data()}), 0);
        for (int i = 0; i < n; ++i) {
          float exact = a[i] + widen(b[i]);
          if (std::isnan(exact)) {
            EXPECT_TRUE(std::isnan(widen(c[i]))) << i;
          } else {
            EXPECT_EQ(c[i], narrow(exact)) << type << " of " << exact << " on " << target;
          }
        }
      }
}

TEST_F(KernelValuesTest, BoolIsAByte) {
  for (int lanes : {1, 8}) {
    auto kernel = pointwise(11, lanes, element(Bool(), "A", {iterator("i")}) && read("B", {"i"}) > 0.0f);
    kernel.type("A", DType::Bool).type("C", DType::Bool);
    std::vector<std::uint8_t> a = {1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0}, c(11, 9);
    std::vector<float> b = {1, 1, -1, -1, 2, 2, nan, nan, 0, 5, 5};
    EXPECT_EQ(kernel.run("native", {a.data(), b.data(), c.data()}), 0);
    EXPECT_EQ(c, (std::vector<std::uint8_t>{1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
  }
}

TEST_F(KernelValuesTest, IntegersWrapAndDivisionNeverTraps) {
  const std::int32_t low = std::numeric_limits<std::int32_t>::min(), high = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t> a = {low, low, 7, -7, 0, high, 9, -9}, b = {-1, 0, 2, 2, 0, 1, 4, 4};
  Expr x = element(Int(32), "A", {iterator("i")}), y = element(Int(32), "B", {iterator("i")});
  for (int lanes : {1, 8}) {
    auto run = [&](const Expr& value) {
      auto kernel = pointwise(8, lanes, value);
      kernel.type("A", DType::Int32).type("B", DType::Int32).type("C", DType::Int32);
      alignas(64) std::int32_t pa[9], pb[9], pc[9];
      std::copy(a.begin(), a.end(), pa + 1);
      std::copy(b.begin(), b.end(), pb + 1);
      for (const auto& target : runnable_targets()) EXPECT_EQ(kernel.run(target, {pa + 1, pb + 1, pc + 1}), 0);
      return std::vector<std::int32_t>(pc + 1, pc + 9);
    };
    EXPECT_EQ(run(ir::Div::make(x, y)), (std::vector<std::int32_t>{low, 0, 3, -4, 0, high, 2, -3}));
    EXPECT_EQ(run(ir::Mod::make(x, y)), (std::vector<std::int32_t>{0, 0, 1, 1, 0, 0, 1, 3}));
  }
}

}  // namespace
}  // namespace tc::cpu
