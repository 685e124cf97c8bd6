#include "tc/halide_bridge/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tc/lang/math.h"
#include "test/support/isl_fixture.h"
#include "test/support/kernel_runner.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;

/// Distance of \p got from \p exact in units of the last place of a float32 of that size.
double ulps(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : 1e9;
  float rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got || std::fabs(exact) > 3.4028235e38 ? 0 : 1e9;
  int exponent = std::max(std::ilogb(std::max(std::fabs(exact), 1e-300)), -126);
  return std::fabs(got - exact) / std::ldexp(1.0, exponent - 23);
}

class VectorMathTest : public polyhedral::IslTest {
 protected:
  static constexpr int count = 1 << 14;

  Kernel kernel(const std::string& function, const std::string& target, int lanes) const {
    auto scop = polyhedral::ScopBuilder(context())
                    .input("A", {count})
                    .output("C", {count})
                    .statement(str("S[i] : 0 <= i < ", count), "C[i]", {"A[i]"})
                    .scop();
    KernelCase result(scop);
    result.vectorise("S", "i", lanes);
    auto type = Halide::Float(32);
    auto read = element(type, "A", {iterator("i")});
    result.value("S", ir::Call::make(type, "tc_" + function + "_f32", {read}, ir::Call::PureExtern));
    return load_kernel(result.compile(target));
  }
};

struct Row {
  const char* function;
  double (*exact)(double);
  double limit;
};
const Row rows[] = {
    {"exp", [](double x) { return std::exp(x); }, 0.9},
    {"log", [](double x) { return std::log(x); }, 0.8},
    {"tanh", [](double x) { return std::tanh(x); }, 1.1},
    {"sigmoid", [](double x) { return lang::math::sigmoid(x); }, 2},
    {"silu", [](double x) { return lang::math::silu(x); }, 2.5},
    {"softplus", [](double x) { return lang::math::softplus(x); }, 1.7},
    {"erf", [](double x) { return std::erf(x); }, 1.2},
    {"gelu", [](double x) { return lang::math::gelu(x); }, 4},
};

/// A sample of all float32 bit patterns: NaNs, infinities, denormals and zeros among them.
std::vector<float> sample(std::uint32_t round) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i < (1 << 14); ++i) values.push_back(std::bit_cast<float>(i * 262147u + round * 7919u));
  const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 1e-45f, -1e-45f, 88.72284f, 88.7229f, -103.97f, -104.0f, 1.17549435e-38f, 0.625f, 0.9375f};
  std::copy(std::begin(special), std::end(special), values.begin());
  for (std::uint32_t i = 100; i < 6000; ++i) values[i] = (static_cast<int>(i) - 3000) * (0.004f + 0.031f * round);
  return values;
}

TEST_F(VectorMathTest, ErrorsStayBelowTheirLimits) {
  for (const auto& target : runnable_targets())
    for (const auto& row : rows) {
      Kernel scalar = kernel(row.function, target, 1), vector = kernel(row.function, target, 8);
      double worst = 0;
      float at = 0;
      for (std::uint32_t round = 0; round < 8; ++round) {
        auto in = sample(round);
        std::vector<float> out(count), out_scalar(count);
        void* pointers[] = {in.data(), out.data()};
        void* pointers_scalar[] = {in.data(), out_scalar.data()};
        ASSERT_EQ(vector.function(pointers), 0);
        ASSERT_EQ(scalar.function(pointers_scalar), 0);
        for (int i = 0; i < count; ++i) {
          double exact = row.exact(in[i]), error = ulps(out[i], exact);
          if (error > worst) worst = error, at = in[i];
          ASSERT_TRUE(std::bit_cast<std::uint32_t>(out[i]) == std::bit_cast<std::uint32_t>(out_scalar[i]) || std::isnan(out[i]))
              << row.function << " of " << in[i] << " differs between scalar and vector code on " << target;
        }
      }
      EXPECT_LE(worst, row.limit) << row.function << " of " << at << " on " << target;
      RecordProperty(row.function, str(worst));
    }
}

}  // namespace
}  // namespace tc::cpu
