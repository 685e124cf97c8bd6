#pragma once

#include <string_view>
#include <variant>
#include <vector>

namespace tc::lang {

/// A built-in float function: its float64 and float32 versions, both with the C calling convention, so that compiled
/// code can call them through their addresses. Errors of the functions that libm lacks: below 1e-13 relative (float64).
struct MathFunction {
  using F64 = std::variant<double (*)(double), double (*)(double, double), double (*)(double, double, double),
                           double (*)(double, double, double, double)>;
  using F32 = std::variant<float (*)(float), float (*)(float, float), float (*)(float, float, float),
                           float (*)(float, float, float, float)>;
  std::string_view name;
  F64 f64;
  F32 f32;

  /// Number of arguments, and the functions as kernels call them.
  int arity() const { return static_cast<int>(f64.index()) + 1; }
  const void* address_f64() const;
  const void* address_f32() const;
};

/// Every built-in of BuiltinKind::Float.
const std::vector<MathFunction>& math_functions();
/// The function of that name, or null.
const MathFunction* find_math_function(std::string_view name);

/// Functions that the C library lacks.
namespace math {
/// Of x half turns; modified Bessel functions of the first kind.
double cospi(double x);
double sinpi(double x);
double cyl_bessel_i0(double x);
double cyl_bessel_i1(double x);
/// exp(x^2) erfc(x)
double erfcx(double x);
/// The inverse of erf on [-1, 1], of erfc on [0, 2], of normcdf on [0, 1]; NaN outside.
double erfinv(double x);
double erfcinv(double x);
double normcdfinv(double x);
/// The distribution function of the standard normal distribution.
double normcdf(double x);
double lgamma(double x);
double sigmoid(double x);
/// x normcdf(x)
double gelu(double x);
double silu(double x);
/// log(1 + exp(x))
double softplus(double x);
}  // namespace math

}  // namespace tc::lang
