#include "tc/halide_bridge/vector_math.h"

#include <functional>
#include <limits>
#include <map>

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Int;
namespace ir = Halide::Internal;

const double infinity = std::numeric_limits<double>::infinity();

/// A straight line of float32 operations on a number of lanes; each step is computed once.
class Line {
 public:
  explicit Line(int lanes) : lanes_(lanes) {}

  Expr operator()(const Expr& value) {
    auto name = ir::unique_name("m");
    steps_.emplace_back(name, value);
    return ir::Variable::make(value.type(), name);
  }
  Expr number(double value) const { return ir::make_const(Halide::Float(32, lanes_), value); }
  Expr integer(std::int64_t value) const { return ir::make_const(Int(32, lanes_), value); }
  Expr bits(const Expr& x) const { return reinterpret(x, Int(32, lanes_)); }
  Expr from_bits(const Expr& x) const { return reinterpret(x, Halide::Float(32, lanes_)); }
  Expr magnitude(const Expr& x) { return (*this)(from_bits(bits(x) & integer(0x7fffffff))); }
  Expr with_sign_of(const Expr& magnitude, const Expr& x) {
    return (*this)(from_bits((bits(magnitude) & integer(0x7fffffff)) | (bits(x) & integer(std::numeric_limits<std::int32_t>::min()))));
  }
  Expr choose(const Expr& condition, const Expr& a, const Expr& b) { return (*this)(ir::Select::make(condition, a, b)); }
  /// c[0] x^n + ... + c[n]
  Expr polynomial(const std::vector<double>& c, const Expr& x) {
    Expr sum = number(c[0]);
    for (std::size_t i = 1; i < c.size(); ++i) sum = (*this)(sum * x + number(c[i]));
    return sum;
  }
  Expr finish(Expr result) const {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) result = ir::Let::make(step->first, step->second, result);
    return result;
  }

 private:
  int lanes_;
  std::vector<std::pair<std::string, Expr>> steps_;

  static Expr reinterpret(const Expr& x, const Halide::Type& type) {
    return ir::Call::make(type, ir::Call::reinterpret, {x}, ir::Call::PureIntrinsic);
  }
};

/// 2^n for -126 <= n <= 127.
Expr power_of_two(Line& line, const Expr& n) { return line.from_bits((n + line.integer(127)) << line.integer(23)); }

/// 2^n e^r with x = n log 2 + r. Scaling in two steps rounds a denormal result once and overflows to infinity. The number
/// added to find n moves its integer part to the low bits.
Expr exponential(Line& line, const Expr& x) {
  Expr low = line.choose(x < line.number(-104), line.number(-104), x);
  Expr clamped = line.choose(low > line.number(89), line.number(89), low);
  Expr shift = line.number(12582912);
  Expr shifted = line(clamped * line.number(1.4426950408889634) + shift);
  Expr n = line(line.bits(shifted) - line.bits(shift));
  Expr whole = line(shifted - shift);
  Expr r = line(line(clamped - whole * line.number(0.693359375)) + whole * line.number(2.12194440054690583e-4));
  Expr p = line.polynomial({1.9891124586e-04, 1.3933770447e-03, 8.3333108048e-03, 4.1666463839e-02, 1.6666666682e-01, 5.0000000136e-01}, r);
  Expr y = line(line(p * (r * r) + r) + line.number(1));
  Expr half = line(n >> line.integer(1));
  return line(line(y * power_of_two(line, half)) * power_of_two(line, line(n - half)));
}

/// log(1 + m) + e log 2 with x = 2^e (1 + m), 1 + m in [sqrt(1/2), sqrt(2)).
Expr logarithm(Line& line, const Expr& x) {
  Expr tiny = line(x < line.number(1.17549435e-38));
  Expr normal = line.choose(tiny, x * line.number(8388608), x);
  Expr bits = line(line.bits(normal));
  Expr shifted = line(bits - line.integer(0x3f3504f3));
  Expr whole = line((shifted >> line.integer(23)) - ir::Select::make(tiny, line.integer(23), line.integer(0)));
  Expr mantissa = line.from_bits((shifted & line.integer(0x007fffff)) + line.integer(0x3f3504f3));
  Expr m = line(mantissa - line.number(1));
  Expr e = line(ir::Cast::make(m.type(), whole));
  Expr p = line.polynomial({6.9725186339e-02, -1.1481212059e-01, 1.1685784721e-01, -1.2425523360e-01, 1.4249007241e-01,
                            -1.6667807133e-01, 2.0000717213e-01, -2.4999996925e-01, 3.3333331174e-01},
                           m);
  Expr square = line(m * m);
  Expr tail = line(line(p * (square * m)) - e * line.number(2.12194440054690583e-4));
  Expr result = line(line(m + line(tail - line.number(0.5) * square)) + e * line.number(0.693359375));
  Expr finite = line.choose(x < line.number(infinity), result, x);
  Expr positive = line.choose(x > line.number(0), finite, line.number(std::numeric_limits<double>::quiet_NaN()));
  Expr at_zero = line.choose(ir::EQ::make(x, line.number(0)), line.number(-infinity), positive);
  return line.choose(ir::EQ::make(x, x), at_zero, x);
}

Expr hyperbolic_tangent(Line& line, const Expr& x) {
  Expr a = line.magnitude(x);
  Expr z = line(a * a);
  Expr p = line.polynomial({2.2927448162e-03, -8.3439455158e-03, 2.1768918651e-02, -5.3959259577e-02, 1.3333303557e-01, -3.3333333172e-01}, z);
  Expr small = line(p * (z * a) + a);
  Expr large = line(line.number(1) - line.number(2) / (exponential(line, line(a + a)) + line.number(1)));
  return line.with_sign_of(line.choose(a < line.number(0.625), small, large), x);
}

/// 1/(1 + e^-x), from e^-|x|, which does not overflow.
Expr sigmoid(Line& line, const Expr& x) {
  Expr e = exponential(line, line(-line.magnitude(x)));
  Expr numerator = line.choose(x < line.number(0), e, line.number(1));
  return line(numerator / line(line.number(1) + e));
}

/// log(1 + e) for 0 <= e <= 1, where 1 + e has lost low bits of e.
Expr logarithm_of_one_plus(Line& line, const Expr& e) {
  Expr u = line(line.number(1) + e);
  Expr lost = line(u - line.number(1));
  Expr scaled = line(logarithm(line, u) * (e / lost));
  return line.choose(ir::EQ::make(u, line.number(1)), e, scaled);
}

Expr softplus(Line& line, const Expr& x) {
  Expr e = exponential(line, line(-line.magnitude(x)));
  Expr positive = line.choose(x < line.number(0), line.number(0), x);
  return line(positive + logarithm_of_one_plus(line, e));
}

const double small_error_function = 0.9375;

/// erf(a)/a - 1 for 0 <= a <= small_error_function, z = a^2.
Expr error_function_ratio(Line& line, const Expr& z) {
  return line.polynomial({8.2858265487e-05, -8.1229608878e-04, 5.1993181981e-03, -2.6858722695e-02, 1.1283683699e-01, -3.7612633003e-01, 1.2837916657e-01}, z);
}

Expr error_function(Line& line, const Expr& x) {
  Expr a = line.magnitude(x);
  Expr t = line.choose(a > line.number(4), line.number(4), a);
  Expr small = line(error_function_ratio(line, line(t * t)) * t + t);
  Expr w = line.polynomial({-1.0745723048e-06, 3.4909500127e-05, -5.0279886315e-04, 4.3201412357e-03, -2.5178633629e-02, 1.0790973747e-01, 6.3410819064e-01, 1.1289149530e+00}, t);
  Expr large = line(line.number(1) - exponential(line, line(-(t * w))));
  Expr result = line.choose(t > line.number(small_error_function), large, small);
  return line.with_sign_of(line.choose(ir::EQ::make(x, x), result, x), x);
}

/// x times the normal distribution function: erfc(t)/2 or 1 - erfc(t)/2 with t = |x|/sqrt(2).
Expr gelu(Line& line, const Expr& x) {
  Expr scaled = line(line.magnitude(x) * line.number(0.70710678118654752));
  Expr t = line.choose(scaled > line.number(10.3), line.number(10.3), scaled);
  Expr erf = line(error_function_ratio(line, line(t * t)) * t + t);
  Expr v = line.polynomial({1.3550708843e-10, -9.7374492380e-09, 3.1636299037e-07, -6.1611327111e-06, 8.0471337824e-05, -7.4831719173e-04,
                            5.1448641102e-03, -2.6907212079e-02, 1.1008897171e-01, -3.6738910244e-01, 1.1293414478e+00},
                           t);
  Expr tail = exponential(line, line(-(t * line(t + v))));
  Expr complement = line.choose(t > line.number(small_error_function), tail, line(line.number(1) - erf));
  Expr half = line(complement * line.number(0.5));
  Expr below = line.choose(x < line.number(0), half, line(line.number(1) - half));
  return line(x * below);
}

Expr silu(Line& line, const Expr& x) { return line(x * sigmoid(line, x)); }

}  // namespace

std::optional<Expr> expand_math(const std::string& function, const std::vector<Expr>& args) {
  static const std::map<std::string, std::function<Expr(Line&, const Expr&)>> table = {
      {"tc_exp_f32", exponential}, {"tc_log_f32", logarithm},     {"tc_tanh_f32", hyperbolic_tangent}, {"tc_sigmoid_f32", sigmoid},
      {"tc_silu_f32", silu},       {"tc_softplus_f32", softplus}, {"tc_erf_f32", error_function},      {"tc_gelu_f32", gelu},
  };
  auto found = table.find(function);
  if (found == table.end() || args.size() != 1) return std::nullopt;
  Line line(args[0].type().lanes());
  Expr x = line(args[0]);
  return line.finish(found->second(line, x));
}

}  // namespace tc::halide_bridge
