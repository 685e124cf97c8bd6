#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <span>
#include <type_traits>

#include "tc/lang/interpret/math.h"
#include "test/support/from_environment.h"
#include "test/support/isl_fixture.h"
#include "test/support/kernel_runner.h"

namespace tc::cpu::vector_math_test {
namespace {

namespace ir = Halide::Internal;
using Real = long double;

constexpr int count = 1 << 14;

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Distance of \p got from \p exact in units of the last place of a T of that size, or of \p size if that is more.
template <typename T>
double ulps(T got, Real exact, Real size = 0) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : 1e9;
  T rounded = static_cast<T>(exact);
  if (std::isinf(exact)) return rounded == got ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got))
    return std::fabs(static_cast<Real>(got)) >= Limits::max() && std::fabs(exact) > Limits::max() * (1 - Real{1e-7})
               ? 0
               : 1e9;
  if (got == exact) return 0;
  size = std::max(size, std::fabs(exact));
  int exponent = size == 0 ? Limits::min_exponent - 1 : std::max(std::ilogb(size), Limits::min_exponent - 1);
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(Real{1}, exponent - Limits::digits + 1));
}

class VectorMathTest : public polyhedral::IslTest {
 protected:
  /// The function of arrays; its last argument is \p last, if there is one.
  template <typename T>
  ObjectCode code(const std::string& function, const std::string& target, int lanes,
                  std::optional<double> last = std::nullopt) const {
    bool single = sizeof(T) == 4;
    int arity = lang::find_math_function(function)->arity() - (last ? 1 : 0);
    polyhedral::ScopBuilder builder(context());
    std::vector<std::string> accesses;
    for (int i = 0; i < arity; ++i) {
      builder.input(str("A", i), {count});
      accesses.push_back(str("A", i, "[i]"));
    }
    KernelCase result(builder.output("C", {count}).statement(str("S[i] : 0 <= i < ", count), "C[i]", accesses).scop());
    result.vectorise("S", "i", lanes);
    auto type = Halide::Float(single ? 32 : 64);
    std::vector<Halide::Expr> args;
    for (int i = 0; i < arity; ++i) {
      args.push_back(element(type, str("A", i), {iterator("i")}));
      result.type(str("A", i), single ? DType::Float32 : DType::Float64);
    }
    if (last) args.push_back(ir::make_const(type, *last));
    result.type("C", single ? DType::Float32 : DType::Float64);
    result.value("S", ir::Call::make(type, "tc_" + function + (single ? "_f32" : "_f64"), args, ir::Call::PureExtern));
    return result.compile(target);
  }

  template <typename T>
  static std::vector<T> run(const Kernel& kernel, std::vector<std::vector<T>>& in) {
    std::vector<T> out(count);
    std::vector<void*> pointers;
    for (auto& values : in) pointers.push_back(values.data());
    pointers.push_back(out.data());
    EXPECT_EQ(kernel.function(pointers.data()), 0);
    return out;
  }
};

template <typename T>
const std::vector<T>& special_values() {
  using Limits = std::numeric_limits<T>;
  static const std::vector<T> values = [] {
    std::vector<T> positive = {0,
                               Limits::infinity(),
                               Limits::quiet_NaN(),
                               Limits::denorm_min(),
                               Limits::min(),
                               Limits::max(),
                               std::nextafter(Limits::min(), T{0}),
                               1,
                               2,
                               3,
                               T{0.5},
                               T{1.5},
                               T{2.5},
                               T{4.5},
                               10,
                               1000,
                               std::nextafter(T{1}, T{0}),
                               std::nextafter(T{1}, T{2}),
                               T{0.625},
                               T{0.9375},
                               T{0.75},
                               T{88.72284},
                               T{88.7229},
                               T{103.97},
                               T{104},
                               T{709.78},
                               T{745.13},
                               T{1.5707963267948966},
                               T{3.141592653589793},
                               T{8388608},
                               T{8388609},
                               T{16777216},
                               T{1073741824},
                               T{1073741952},
                               T{1e10},
                               T{1e22},
                               T{7.0e15},
                               T{1e30}};
    std::vector<T> all = positive;
    for (T x : positive) all.push_back(-x);
    return all;
  }();
  return values;
}

/// Values of all sizes, values of the sizes that functions treat differently, and at the front the special ones.
template <typename T>
std::vector<T> sample(std::uint32_t round) {
  std::vector<T> values;
  std::mt19937_64 random(round);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i < count / 3) {
      values.push_back(std::bit_cast<T>(static_cast<Bits<T>>(random())));
    } else {
      double sign = random() % 2 ? 1 : -1, uniform = (random() >> 11) * 0x1p-53;
      values.push_back(
          static_cast<T>(i % 2 ? sign * std::exp2(40 * uniform - 30) : sign * (i % 4 ? 1.5 : 40) * uniform));
    }
  }
  std::copy(special_values<T>().begin(), special_values<T>().end(), values.begin());
  return values;
}

struct Row {
  const char* function;
  double limit_f32, limit_f64;  ///< in units of the last place; 0: not of that type
  Real (*exact)(Real) = nullptr;
  Real (*size)(Real) = nullptr;  ///< of a term that is greater than the value
};

Real sine_of_turns(Real x) {
  Real r = std::remainder(x, Real{2});
  if (std::fabs(r) > Real{0.5}) r = std::copysign(1 - std::fabs(r), r);
  return std::sin(std::numbers::pi_v<Real> * r);
}
Real cosine_of_turns(Real x) {
  Real r = std::fabs(std::remainder(x, Real{2}));
  return r < Real{0.25} ? std::cos(std::numbers::pi_v<Real> * r) : std::sin(std::numbers::pi_v<Real> * (Real{0.5} - r));
}
Real scaled_complement(Real x) {
  Real w = 1 / (x * x);
  if (x > 100)
    return std::numbers::inv_sqrtpi_v<Real> / x *
           (1 - w / 2 + 3 * w * w / 4 - 15 * w * w * w / 8 + 105 * w * w * w * w / 16);
  return x < -100 ? std::numeric_limits<Real>::infinity() : std::exp(x * x) * std::erfc(x);
}
Real normal_distribution(Real x) { return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; }

/// By Newton's method from the function of float64.
Real inverse_error_function(Real x) {
  Real y = lang::math::erfinv(static_cast<double>(x)), a = std::fabs(x);
  if (!std::isfinite(y) || y == 0) return y;
  y = std::fabs(y);
  for (int step = 0; step < 3; ++step) {
    Real slope = 2 * std::numbers::inv_sqrtpi_v<Real> * std::exp(-y * y);
    y -= (a < Real{0.5} ? std::erf(y) - a : (1 - a) - std::erfc(y)) / slope;
  }
  return std::copysign(y, x);
}
Real logarithmic_gamma(Real x) {
  int sign = 0;
  return ::lgammal_r(x, &sign);
}
/// The greatest term of log(pi/|sin(pi x)|) - lgamma(1 - x).
Real term_of_gamma(Real x) {
  if (!(x < 0)) return 0;
  Real reflected = std::log(std::numbers::pi_v<Real> / std::fabs(sine_of_turns(x)));
  return std::max(std::fabs(reflected), logarithmic_gamma(1 - x));
}

const Row unary_rows[] = {
    {"exp", 0.9, 1, [](Real x) { return std::exp(x); }},
    {"exp2", 0.9, 1, [](Real x) { return std::exp2(x); }},
    {"exp10", 1, 1.1, [](Real x) { return ::exp10l(x); }},
    {"expm1", 0.6, 2, [](Real x) { return std::expm1(x); }},
    {"sinh", 0.6, 2, [](Real x) { return std::sinh(x); }},
    {"cosh", 0.6, 2, [](Real x) { return std::cosh(x); }},
    {"tanh", 1.4, 4, [](Real x) { return std::tanh(x); }},
    {"sigmoid", 1.5, 2.5, [](Real x) { return 1 / (1 + std::exp(-x)); }},
    {"silu", 1.8, 3, [](Real x) { return x / (1 + std::exp(-x)); }},
    {"softplus", 1.7, 2,
     [](Real x) { return std::isnan(x) ? x : std::max(x, Real{0}) + std::log1p(std::exp(-std::fabs(x))); }},
    {"log", 0.9, 1, [](Real x) { return std::log(x); }},
    {"log2", 1, 2, [](Real x) { return std::log2(x); }},
    {"log10", 1, 2, [](Real x) { return std::log10(x); }},
    {"log1p", 0.6, 2, [](Real x) { return std::log1p(x); }},
    {"asinh", 0.6, 3, [](Real x) { return std::asinh(x); }},
    {"acosh", 0.6, 3, [](Real x) { return std::acosh(x); }},
    {"atanh", 0.6, 3, [](Real x) { return std::atanh(x); }},
    {"cbrt", 0.6, 1.5, [](Real x) { return std::cbrt(x); }},
    {"rcbrt", 0.6, 2, [](Real x) { return 1 / std::cbrt(x); }},
    {"sin", 0.6, 1, [](Real x) { return std::sin(x); }},
    {"cos", 0.6, 1, [](Real x) { return std::cos(x); }},
    {"tan", 0.6, 2, [](Real x) { return std::tan(x); }},
    {"asin", 0.6, 2.5, [](Real x) { return std::asin(x); }},
    {"acos", 0.6, 2, [](Real x) { return std::acos(x); }},
    {"atan", 0.6, 2, [](Real x) { return std::atan(x); }},
    {"erf", 1.4, 2, [](Real x) { return std::erf(x); }},
    {"erfc", 0.6, 4, [](Real x) { return std::erfc(x); }},
    {"sinpi", 0.6, 2, sine_of_turns},
    {"cospi", 0.6, 2, cosine_of_turns},
    {"erfcx", 0.6, 4, scaled_complement},
    {"normcdf", 0.6, 4, normal_distribution},
    {"gelu", 1.6, 4, [](Real x) { return x * normal_distribution(x); }},
    {"erfinv", 0.6, 4, inverse_error_function},
    {"lgamma", 0.6, 5, logarithmic_gamma, term_of_gamma},
    {"floor", 0, 0},
    {"ceil", 0, 0},
    {"trunc", 0, 0},
    {"round", 0, 0},
    {"logb", 0, 0},
    {"sqrt", 0.5, 0.5},
};

const Row other_rows[] = {
    {"pow", 0.6, 1.5},   {"atan2", 0.6, 2},  {"hypot", 0.6, 1.5}, {"rhypot", 0.6, 2.5}, {"fmod", 0, 0},
    {"remainder", 0, 0}, {"fdim", 0.5, 0.5}, {"nextafter", 0, 0}, {"copysign", 0, 0},   {"norm3d", 0.6, 2},
    {"rnorm3d", 0.6, 3}, {"norm4d", 0.6, 2}, {"rnorm4d", 0.6, 3}, {"fma", 0, 0},
};

/// The value of a function of several arguments, as exact as its limits need.
template <typename T>
Real model(const std::string& name, const std::vector<Real>& x) {
  auto length = [&] {
    for (Real value : x)
      if (std::isinf(value)) return std::numeric_limits<Real>::infinity();
    Real sum = 0;
    for (Real value : x) sum += value * value;
    return std::sqrt(sum);
  };
  if (name == "pow") return std::pow(x[0], x[1]);
  if (name == "atan2") return std::atan2(x[0], x[1]);
  if (name == "hypot" || name.starts_with("norm")) return length();
  if (name[0] == 'r' && name != "remainder") return 1 / length();
  if (name == "fma") return std::fma(static_cast<T>(x[0]), static_cast<T>(x[1]), static_cast<T>(x[2]));
  T a = static_cast<T>(x[0]), b = static_cast<T>(x[1]);
  return name == "fmod"        ? std::fmod(a, b)
         : name == "remainder" ? std::remainder(a, b)
         : name == "fdim"      ? std::fdim(a, b)
         : name == "nextafter" ? std::nextafter(a, b)
                               : std::copysign(a, b);
}

/// Arguments of a function of several: all pairs of special values, sizes that fit together, whole numbers.
template <typename T>
std::vector<std::vector<T>> arguments(int arity, std::uint32_t round) {
  std::vector<std::vector<T>> in;
  for (int i = 0; i < arity; ++i) in.push_back(sample<T>(round + 100 * i));
  if (arity == 1) return in;
  const auto& special = special_values<T>();
  std::size_t n = special.size();
  for (std::size_t i = 0; round == 0 && i < n * n; ++i) in[0][i] = special[i / n], in[1][i] = special[i % n];
  for (int i = 0; round % 2 && i < count; i += 2) in[1][i] = std::trunc(in[1][i]);
  return in;
}

template <typename T>
Real exact_value(const Row& row, const std::vector<std::vector<T>>& in, int i) {
  if (in.size() == 1) {
    if (row.exact) return row.exact(in[0][i]);
    return std::get<0>(lang::find_math_function(row.function)->f64)(in[0][i]);
  }
  std::vector<Real> x;
  for (const auto& values : in) x.push_back(values[i]);
  return model<T>(row.function, x);
}

/// Functions on all targets, as in `make test-long`?
bool all_instructions() { return test::from_environment("TC_ALL_INSTRUCTIONS", 0) != 0; }

/// The functions of the tables, in vectors on each target, against their exact values; scalar code gives the same bits. Special
/// values are in the first round, whole numbers in each second.
class Errors : public VectorMathTest {
 protected:
  const std::uint64_t rounds = test::from_environment("TC_MATH_ROUNDS", 2);

  /// The targets of the next function of two types: the last one, whose bits scalar code has, and one of the others in turn; all where
  /// TC_ALL_INSTRUCTIONS=1, as in `make test-long`.
  std::vector<std::string> next_targets() {
    std::vector<std::string> all = runnable_targets();
    if (all.size() <= 2 || all_instructions()) return all;
    return {all[turn_++ / 2 % (all.size() - 1)], all.back()};
  }

  template <typename T>
  void expect_limits(const Row& row) {
    std::vector<Kernel> kernels;
    const auto targets = next_targets();
    for (const auto& target : targets) kernels.push_back(load_kernel(code<T>(row.function, target, 64 / sizeof(T))));
    Kernel scalar = load_kernel(code<T>(row.function, targets.back(), 1));
    double limit = sizeof(T) == 4 ? row.limit_f32 : row.limit_f64;
    int arity = lang::find_math_function(row.function)->arity();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      auto in = arguments<T>(arity, round);
      std::vector<Real> exact(count);
      for (int i = 0; i < count; ++i) exact[i] = exact_value(row, in, i);
      std::vector<T> out;
      for (std::size_t k = 0; k < kernels.size(); ++k) {
        out = run(kernels[k], in);
        expect_close(row, in, exact, out, limit, targets[k]);
      }
      auto same = run(scalar, in);
      for (int i = 0; i < count; ++i)
        ASSERT_TRUE(std::bit_cast<Bits<T>>(out[i]) == std::bit_cast<Bits<T>>(same[i]) ||
                    (std::isnan(out[i]) && std::isnan(same[i])))
            << row.function << " of " << in[0][i] << " differs between scalar and vector code";
    }
  }

  /// x^y for the constant \p y, in vectors on each target, and the same bits in scalars.
  template <typename T>
  void expect_constant(double y, double limit) {
    const Row row{"pow", limit, limit};
    std::vector<std::vector<T>> in{sample<T>(7)};
    for (int i = 0; i < count / 4; ++i)
      in[0][count - 1 - i] = static_cast<T>(std::exp2(i % 97 / 13.0 - 3) * (i % 2 ? 1 : -1));
    std::vector<Real> exact(count);
    for (int i = 0; i < count; ++i) exact[i] = std::pow(static_cast<Real>(in[0][i]), static_cast<Real>(y));
    const auto targets = next_targets();
    auto same = run(load_kernel(code<T>("pow", targets.back(), 1, y)), in);
    for (const auto& target : targets) {
      auto out = run(load_kernel(code<T>("pow", target, 64 / sizeof(T), y)), in);
      expect_close(row, in, exact, out, limit, target);
      for (int i = 0; i < count && target == targets.back(); ++i)
        ASSERT_TRUE(std::bit_cast<Bits<T>>(out[i]) == std::bit_cast<Bits<T>>(same[i]) ||
                    (std::isnan(out[i]) && std::isnan(same[i])))
            << in[0][i] << " differs between scalar and vector code";
    }
  }

  template <typename T>
  void expect_close(const Row& row, const std::vector<std::vector<T>>& in, const std::vector<Real>& exact,
                    const std::vector<T>& out, double limit, const std::string& target) {
    double worst = 0;
    int at = 0;
    for (int i = 0; i < count; ++i) {
      double error = ulps(out[i], exact[i], row.size ? row.size(in[0][i]) : 0);
      if (error > worst) worst = error, at = i;
      if (in[0][i] == 0 && exact[i] == 0) {
        EXPECT_EQ(std::signbit(out[i]), std::signbit(exact[i]))
            << row.function << " of " << in[0][i] << " on " << target;
      }
    }
    EXPECT_LE(worst, limit) << row.function << " of " << in[0][at] << ", " << in.back()[at] << " is " << exact[at]
                            << ", not " << out[at] << ", float" << 8 * sizeof(T) << " on " << target;
  }

 private:
  std::size_t turn_ = 0;
};

TEST_F(Errors, OfOneArgument) {
  for (const auto& row : unary_rows) {
    expect_limits<float>(row);
    expect_limits<double>(row);
  }
}

TEST_F(Errors, OfSeveralArguments) {
  for (const auto& row : other_rows) {
    expect_limits<float>(row);
    expect_limits<double>(row);
  }
}

/// Exponents that products and roots make powers of, and some that they do not.
TEST_F(Errors, OfPowersOfConstantExponents) {
  for (double y : {0.0, 1.0, 2.0, 0.5, -1.0}) {
    SCOPED_TRACE(y);
    expect_constant<float>(y, 0.5);
    expect_constant<double>(y, 0.5);
  }
  for (double y : {3.0, 4.0, 31.0, -2.0, -7.0, -32.0, -0.5, 1.5, -1.5, 7.5, -31.5, 0.75, -33.0}) {
    SCOPED_TRACE(y);
    expect_constant<float>(y, 0.6);
    expect_constant<double>(y, 2);
  }
}

/// Every TC_FLOAT32_STRIDE-th float32, all with 1: minutes for each function, so only where the variable asks for it.
TEST_F(Errors, OfEveryFloat32) {
  const char* stride_text = std::getenv("TC_FLOAT32_STRIDE");
  if (!stride_text) GTEST_SKIP() << "TC_FLOAT32_STRIDE is not set";
  const std::uint64_t stride = std::max(1l, std::atol(stride_text));
  const char* only = std::getenv("TC_FUNCTION");
  for (const auto& row : unary_rows) {
    if (only && std::string(only) != row.function) continue;
    Kernel kernel = load_kernel(code<float>(row.function, "native", 16));
    const auto& function = std::get<0>(lang::find_math_function(row.function)->f64);
    double worst = 0;
    float at = 0;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32);) {
      std::vector<std::vector<float>> in(1, std::vector<float>(count));
      for (int i = 0; i < count; ++i, bits += stride) in[0][i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      auto out = run(kernel, in);
      for (int i = 0; i < count; ++i) {
        double error = ulps(out[i], static_cast<Real>(function(in[0][i])), row.size ? row.size(in[0][i]) : 0);
        if (error > worst) worst = error, at = in[0][i];
      }
    }
    EXPECT_LE(worst, std::max(row.limit_f32, 0.5001)) << row.function << " of " << at;
    std::printf("%-9s %.4f at %a\n", row.function, worst, at);
  }
}

/// The functions for arguments whose result is 0 or denormal, or that the argument decides alone: an operation with an inexact denormal
/// result would raise the flag of an underflow, and take some hundred cycles.
TEST_F(VectorMathTest, SmallResultsTakeNoUnderflow) {
  const auto expect_none = [&]<typename T>(const char* function, std::vector<std::vector<T>> rows) {
    for (const std::string& target : runnable_targets()) {
      const Kernel kernel = load_kernel(code<T>(function, target, 64 / sizeof(T)));
      for (const auto& values : rows) {
        std::vector<std::vector<T>> in(1, std::vector<T>(count));
        for (int i = 0; i < count; ++i) in[0][i] = values[static_cast<std::size_t>(i) % values.size()];
        std::feclearexcept(FE_ALL_EXCEPT);
        run(kernel, in);
        EXPECT_FALSE(std::fetestexcept(FE_UNDERFLOW))
            << function << " of float" << 8 * sizeof(T) << " on " << target << ", " << values[0];
      }
    }
  };
  expect_none.operator()<float>("exp", {{-200, -1e9F, -INFINITY}, {-88, -95.5, -103.5, 1}});
  expect_none.operator()<double>("exp", {{-2000, -1e9, -INFINITY}, {-709, -725.5, -744.8, 1}});
  expect_none.operator()<float>("exp2", {{-200, -1e9F, -INFINITY}, {-126.5, -140.3, -148.7, 1}});
  expect_none.operator()<double>("exp2", {{-2000, -1e9, -INFINITY}, {-1022.5, -1050.3, -1073.6, 1}});
  expect_none.operator()<float>("exp10", {{-200, -1e9F, -INFINITY}, {-38.2, -41.3, -44.7, 1}});
  expect_none.operator()<double>("exp10", {{-2000, -1e9, -INFINITY}, {-308.1, -315.3, -323.1, 1}});
  for (const char* function : {"sigmoid", "softplus", "silu"}) {
    expect_none.operator()<float>(function,
                                  {{-200, -1e9F, -40, 60, 95, 200, INFINITY}, {-88, -95.5, -103.5, 1}, {-46, -70}});
    expect_none.operator()<double>(function, {{-2000, -1e9, 100, 730, 2000, INFINITY}, {-709, -725.5, -744.8, 1}});
  }
  for (const char* function : {"gelu", "erfc", "normcdf"}) {
    expect_none.operator()<float>(function, {{-20, 20, 200, INFINITY}});
    expect_none.operator()<double>(function, {{-50, 50, 200, INFINITY}});
  }
}

/// Vectors call no function but where an argument is too large for the reduction: then they call that function itself.
/// Each type on one of the targets, both where TC_ALL_INSTRUCTIONS=1.
TEST_F(VectorMathTest, LoopsCallNothing) {
  const std::vector<std::string> with_slow_path = {"sin", "cos", "tan", "fmod", "remainder"};
  auto expect_no_call = [&](const std::string& function, bool single, const std::string& assembly) {
    bool slow = std::find(with_slow_path.begin(), with_slow_path.end(), function) != with_slow_path.end();
    if (single && function.size() == 3) slow = false;
    for (std::size_t at = assembly.find("\tcall"); at != std::string::npos; at = assembly.find("\tcall", at + 1)) {
      auto line = assembly.substr(at, assembly.find('\n', at) - at);
      EXPECT_TRUE(slow && line.find("tc_" + function + "_f") != std::string::npos) << function << ": " << line;
    }
  };
  std::size_t turn = 0;
  for (const auto& rows : {std::span<const Row>(unary_rows), std::span<const Row>(other_rows)})
    for (const auto& row : rows) {
      for (std::size_t target = 0; target < 2; ++target) {
        const char* const name = target ? "avx512" : "avx2";
        if (all_instructions() || target == turn % 2)
          expect_no_call(row.function, true, disassemble(code<float>(row.function, name, 8)));
        if (all_instructions() || target != turn % 2)
          expect_no_call(row.function, false, disassemble(code<double>(row.function, name, 8)));
      }
      ++turn;
    }
}

/// The instructions of \p assembly that compare float16 values, one by one, or convert single ones.
int instructions_of_single_halves(const std::string& assembly) {
  int found = 0;
  for (const char* name : {"comiss", "cmpss", "pextrw", "vpinsrw"})
    for (std::size_t at = assembly.find(name); at != std::string::npos; at = assembly.find(name, at + 1)) ++found;
  return found;
}

TEST_F(VectorMathTest, Float16ValuesAreComparedInVectors) {
  for (const char* function : {"max", "min", "fmax", "fmin"})
    for (const char* target : {"avx2", "avx512"}) {
      polyhedral::ScopBuilder builder(context());
      builder.input("A", {count}).input("B", {count});
      auto scop =
          builder.output("C", {count}).statement(str("S[i] : 0 <= i < ", count), "C[i]", {"A[i]", "B[i]"}).scop();
      KernelCase halves(scop);
      for (const char* tensor : {"A", "B", "C"}) halves.type(tensor, DType::Float16);
      halves.vectorise("S", "i", 8);
      const auto type = Halide::Float(32);
      std::vector<Halide::Expr> args{element(type, "A", {iterator("i")}), element(type, "B", {iterator("i")})};
      halves.value("S", ir::Call::make(type, str("tc_", function, "_f32"), args, ir::Call::PureExtern));
      EXPECT_EQ(instructions_of_single_halves(disassemble(halves.compile(target))), 0) << function << " on " << target;
    }
}

}  // namespace
}  // namespace tc::cpu::vector_math_test
