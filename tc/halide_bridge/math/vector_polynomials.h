#pragma once

#include <vector>

namespace tc::halide_bridge::line {

/// How exact the steps on float64 values have to be: for a result that is rounded to float32, or for one that stays.
enum class Accuracy { Float32, Float64 };

/// Minimax polynomials of the relative error, from the highest power; r, s, t are the function's argument after
/// reduction.
enum class Polynomial {
  Exp,         ///< e^r, |r| <= 0.3467
  Log,         ///< (log((1+s)/(1-s)) - 2s)/s^3 of z = s^2 <= 0.0295
  LogDirect,   ///< (log(1+f) - f + f^2/2)/f^3, 1 + f from sqrt(1/2) to sqrt(2)
  LogTail,     ///< (that - 2/3)/z
  Sin,         ///< (sin(r) - r)/r^3 of z = r^2, |r| <= pi/4
  Cos,         ///< (cos(r) - 1 + z/2)/z^2 of z = r^2
  Sinh,        ///< (sinh(r) - r)/r^3 of z = r^2 <= 1
  Atan,        ///< (atan(t) - t)/t^3 of z = t^2 <= 1
  Asin,        ///< (asin(t) - t)/t^3 of z = t^2 <= 1/4
  Erf,         ///< erf(t)/t of z = t^2 <= 1
  Erfcx,       ///< (t + 4) exp(t^2) erfc(t) of u = (t - 4)/(t + 4), t >= 1/2
  Erfinv,      ///< erfinv(t)/t of z = t^2 <= 9/16
  ErfinvTail,  ///< erfinv(1 - c)/s of u = (s - 11/4)/(s + 11/4), s = sqrt(-log c), 2^-53 <= c <= 1/4 (float32: 2^-24)
  Gamma,       ///< lgamma(2+d)/(d (1+d)), -3/4 <= d <= 1/4
  Stirling,    ///< (lgamma(t) - (t - 1/2) log t + t - log(2 pi)/2) t of z = 1/t^2 <= 1/36
};

/// The coefficients of \p polynomial that reach \p accuracy, from the highest power down.
const std::vector<double>& coefficients(Polynomial polynomial, Accuracy accuracy);

}  // namespace tc::halide_bridge::line
