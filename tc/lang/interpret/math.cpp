#include "tc/lang/interpret/math.h"

#include <math.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>

namespace tc::lang {
namespace math {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The sum of (x^2/4)^k / (k! (k + order)!), times (x/2)^order: the Bessel function I_order for moderate x >= 0.
double bessel_series(double x, int order) {
  const double square = x * x / 4;
  double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= square / (static_cast<double>(k) * (k + order));
    sum += term;
  }
  return sum;
}

/// I_order by its expansion at infinity, for x >= 40.
double bessel_asymptotic(double x, int order) {
  const double mu = 4.0 * order * order;
  double term = 1, sum = 1;
  for (int k = 1; std::fabs(term) > 1e-17 && k < 40; ++k) {
    term *= -(mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8 * x * k);
    sum += term;
  }
  const double root = std::exp(x / 2);
  return root * (root / std::sqrt(2 * std::numbers::pi * x)) * sum;
}

double bessel(double x, int order) {
  if (std::isnan(x)) return x;
  const double magnitude = std::fabs(x);
  if (magnitude == infinity) return order == 1 ? x : infinity;
  const double value = magnitude < 40 ? bessel_series(magnitude, order) : bessel_asymptotic(magnitude, order);
  return order == 1 && x < 0 ? -value : value;
}

/// erfcinv on (0, 1]: a rational start of error 5e-4, then Halley's iteration.
double erfcinv_upper(double x) {
  const double t = std::sqrt(-2 * std::log(x / 2));
  double y = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  y /= std::numbers::sqrt2;
  for (int step = 0; step < 3; ++step) {
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-y * y);
    if (slope == 0) break;
    const double newton = (std::erfc(y) - x) / slope;
    y += newton / (1 - newton * y);
  }
  return y;
}

/// erfinv near 0, where erf itself is accurate; -0 stays.
double erfinv_centre(double x) {
  if (x == 0) return x;
  double y = x * (std::sqrt(std::numbers::pi) / 2);
  for (int step = 0; step < 4; ++step) {
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-y * y);
    const double newton = (x - std::erf(y)) / slope;
    y += newton / (1 - newton * y);
  }
  return y;
}

}  // namespace

double sinpi(double x) {
  if (!std::isfinite(x)) return nan;
  const double r = std::remainder(x, 2.0), magnitude = std::fabs(r);
  double value;
  if (magnitude <= 0.25)
    value = std::sin(std::numbers::pi * magnitude);
  else if (magnitude <= 0.75)
    value = std::cos(std::numbers::pi * (0.5 - magnitude));
  else
    value = std::sin(std::numbers::pi * (1 - magnitude));
  return std::copysign(value, r);
}

double cospi(double x) {
  if (!std::isfinite(x)) return nan;
  const double magnitude = std::fabs(std::remainder(x, 2.0));
  if (magnitude <= 0.25) return std::cos(std::numbers::pi * magnitude);
  if (magnitude <= 0.75) return std::sin(std::numbers::pi * (0.5 - magnitude));
  return -std::cos(std::numbers::pi * (1 - magnitude));
}

double cyl_bessel_i0(double x) { return bessel(x, 0); }
double cyl_bessel_i1(double x) { return bessel(x, 1); }

double erfcx(double x) {
  if (x < -27) return infinity;
  if (x < 10) {
    const double square = x * x, rest = std::fma(x, x, -square);
    return std::exp(square) * std::erfc(x) * (1 + rest);
  }
  const double inverse = 1 / (2 * x * x);
  double term = 1, sum = 1;
  for (int k = 1; std::fabs(term) > 1e-17 && k < 40; ++k) {
    term *= -(2.0 * k - 1) * inverse;
    sum += term;
  }
  return sum * std::numbers::inv_sqrtpi / x;
}

double erfcinv(double x) {
  if (std::isnan(x) || x < 0 || x > 2) return nan;
  if (x == 0) return infinity;
  if (x == 2) return -infinity;
  if (x > 0.5 && x < 1.5) return erfinv_centre(1 - x);
  return x <= 1 ? erfcinv_upper(x) : -erfcinv_upper(2 - x);
}

double erfinv(double x) {
  if (std::fabs(x) < 0.5) return erfinv_centre(x);
  return x < 0 ? -erfcinv(1 + x) : erfcinv(1 - x);
}

double normcdf(double x) {
  constexpr double root_low = -9.667293313452913e-17;  // the part of sqrt(2) below a double
  const double y = -x / std::numbers::sqrt2;
  const double rest = (std::fma(-y, std::numbers::sqrt2, -x) - y * root_low) / std::numbers::sqrt2;
  const double correction = std::isfinite(rest) ? 2 * std::numbers::inv_sqrtpi * std::exp(-y * y) * rest : 0;
  return (std::erfc(y) - correction) / 2;
}
double normcdfinv(double x) { return -std::numbers::sqrt2 * erfcinv(2 * x); }

double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return x * normcdf(x); }
double silu(double x) { return x / (1 + std::exp(-x)); }
double softplus(double x) { return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

}  // namespace math

namespace {

/// The float32 version of a float64 function: the same, rounded once.
template <auto F, typename... Args>
float narrow(Args... args) {
  return static_cast<float>(F(static_cast<double>(args)...));
}

template <double (*F)(double)>
MathFunction unary(std::string_view name) {
  return {name, F, static_cast<float (*)(float)>(narrow<F, float>)};
}
template <double (*F)(double, double)>
MathFunction binary(std::string_view name) {
  return {name, F, static_cast<float (*)(float, float)>(narrow<F, float, float>)};
}

double rcbrt(double x) { return 1 / std::cbrt(x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double fdivide(double x, double y) { return x / y; }
/// The length of a vector, beyond the range of float64 too: infinite where one of \p x is, then NaN where one is.
long double length(std::initializer_list<double> x) {
  long double sum = 0;
  for (const double value : x) {
    if (std::isinf(value)) return std::numeric_limits<long double>::infinity();
    sum += static_cast<long double>(value) * value;
  }
  return std::sqrt(sum);
}
double rhypot(double x, double y) { return static_cast<double>(1 / length({x, y})); }
double norm3d(double x, double y, double z) { return static_cast<double>(length({x, y, z})); }
double rnorm3d(double x, double y, double z) { return static_cast<double>(1 / length({x, y, z})); }
double norm4d(double x, double y, double z, double w) { return static_cast<double>(length({x, y, z, w})); }
double rnorm4d(double x, double y, double z, double w) { return static_cast<double>(1 / length({x, y, z, w})); }
float narrow_norm3d(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
float narrow_rnorm3d(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
float narrow_norm4d(float x, float y, float z, float w) { return static_cast<float>(norm4d(x, y, z, w)); }
float narrow_rnorm4d(float x, float y, float z, float w) { return static_cast<float>(rnorm4d(x, y, z, w)); }

double (*pick64(double (*f)(double)))(double) { return f; }
double (*pick64(double (*f)(double, double)))(double, double) { return f; }
double (*pick64(double (*f)(double, double, double)))(double, double, double) { return f; }

/// The row of a function that the C library has for both types.
#define TC_LIBM(fn) {#fn, pick64(::fn), ::fn##f}

std::vector<MathFunction> make_table() {
  return {
      TC_LIBM(acos),
      TC_LIBM(acosh),
      TC_LIBM(asin),
      TC_LIBM(asinh),
      TC_LIBM(atan),
      TC_LIBM(atanh),
      TC_LIBM(cbrt),
      TC_LIBM(ceil),
      TC_LIBM(cos),
      TC_LIBM(cosh),
      TC_LIBM(erf),
      TC_LIBM(erfc),
      TC_LIBM(exp),
      TC_LIBM(exp2),
      TC_LIBM(exp10),
      TC_LIBM(expm1),
      TC_LIBM(fabs),
      TC_LIBM(floor),
      TC_LIBM(log),
      TC_LIBM(log10),
      TC_LIBM(log1p),
      TC_LIBM(log2),
      TC_LIBM(logb),
      {"round", pick64(::nearbyint), ::nearbyintf},
      TC_LIBM(sin),
      TC_LIBM(sinh),
      TC_LIBM(sqrt),
      TC_LIBM(tan),
      TC_LIBM(tanh),
      TC_LIBM(tgamma),
      TC_LIBM(trunc),
      TC_LIBM(j0),
      TC_LIBM(j1),
      TC_LIBM(y0),
      TC_LIBM(y1),
      TC_LIBM(atan2),
      TC_LIBM(copysign),
      TC_LIBM(fdim),
      TC_LIBM(fmax),
      TC_LIBM(fmin),
      TC_LIBM(fmod),
      {"hypot", static_cast<double (*)(double, double)>(::hypot), ::hypotf},
      TC_LIBM(nextafter),
      TC_LIBM(pow),
      TC_LIBM(remainder),
      TC_LIBM(fma),
      unary<math::cospi>("cospi"),
      unary<math::sinpi>("sinpi"),
      unary<math::cyl_bessel_i0>("cyl_bessel_i0"),
      unary<math::cyl_bessel_i1>("cyl_bessel_i1"),
      unary<math::erfcx>("erfcx"),
      unary<math::erfinv>("erfinv"),
      unary<math::erfcinv>("erfcinv"),
      unary<math::normcdf>("normcdf"),
      unary<math::normcdfinv>("normcdfinv"),
      unary<math::lgamma>("lgamma"),
      unary<rcbrt>("rcbrt"),
      unary<rsqrt>("rsqrt"),
      unary<math::sigmoid>("sigmoid"),
      unary<math::gelu>("gelu"),
      unary<math::silu>("silu"),
      unary<math::softplus>("softplus"),
      binary<fdivide>("fdivide"),
      binary<rhypot>("rhypot"),
      {"norm3d", norm3d, narrow_norm3d},
      {"rnorm3d", rnorm3d, narrow_rnorm3d},
      {"norm4d", norm4d, narrow_norm4d},
      {"rnorm4d", rnorm4d, narrow_rnorm4d},
  };
}
#undef TC_LIBM

}  // namespace

const void* MathFunction::address_f64() const {
  return std::visit([](auto f) { return reinterpret_cast<const void*>(f); }, f64);
}
const void* MathFunction::address_f32() const {
  return std::visit([](auto f) { return reinterpret_cast<const void*>(f); }, f32);
}

const std::vector<MathFunction>& math_functions() {
  static const auto& table = *new std::vector<MathFunction>(make_table());
  return table;
}

const MathFunction* find_math_function(std::string_view name) {
  for (const auto& function : math_functions())
    if (function.name == name) return &function;
  return nullptr;
}

}  // namespace tc::lang
