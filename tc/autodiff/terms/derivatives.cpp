#include "tc/autodiff/terms/derivatives.h"

#include <functional>
#include <map>
#include <numbers>

namespace tc::autodiff {

using namespace lang;

namespace {

using std::numbers::pi;

/// Short forms for the rows of the table.
ExprPtr lit(double value, const ExprPtr& like) { return number(value, *like->type); }
ExprPtr add(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::Add, a, b); }
ExprPtr sub(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::Sub, a, b); }
ExprPtr mul(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::Mul, a, b); }
ExprPtr div(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::Div, a, b); }
ExprPtr square(const ExprPtr& a) { return mul(a, a); }
ExprPtr one(const ExprPtr& like) { return lit(1, like); }
ExprPtr compare(BinaryOp op, const ExprPtr& a, const ExprPtr& b) { return binary(op, a, b); }
ExprPtr either(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::Or, a, b); }
ExprPtr is_zero(const ExprPtr& a) { return compare(BinaryOp::Eq, a, lit(0, a)); }
ExprPtr not_zero(const ExprPtr& a) { return compare(BinaryOp::Ne, a, lit(0, a)); }
Sum value(const ExprPtr& expr) { return to_sum(expr); }
Sum constant(double number) { return {Term{number}}; }

/// isnan(x), left out of \p condition where x is a literal.
ExprPtr or_nan(const ExprPtr& condition, const ExprPtr& x) {
  if (constant_value(x)) return condition;
  return either(condition, make_expr(Call{"isnan", {x}}, {}, DType::Bool));
}

using Unary1 = std::function<ExprPtr(const ExprPtr& x, const ExprPtr& result)>;

/// The functions of one argument whose derivative is one expression.
const std::map<std::string, Unary1>& smooth_functions() {
  static const auto* table = new std::map<std::string, Unary1>{
      {"exp", [](auto&, auto& r) { return r; }},
      {"exp2", [](auto&, auto& r) { return mul(lit(std::numbers::ln2, r), r); }},
      {"exp10", [](auto&, auto& r) { return mul(lit(std::numbers::ln10, r), r); }},
      {"expm1", [](auto&, auto& r) { return add(r, one(r)); }},
      {"log", [](auto& x, auto&) { return div(one(x), x); }},
      {"log2", [](auto& x, auto&) { return div(lit(std::numbers::log2e, x), x); }},
      {"log10", [](auto& x, auto&) { return div(lit(std::numbers::log10e, x), x); }},
      {"log1p", [](auto& x, auto&) { return div(one(x), add(one(x), x)); }},
      {"sqrt", [](auto&, auto& r) { return div(lit(0.5, r), r); }},
      {"rsqrt", [](auto&, auto& r) { return mul(lit(-0.5, r), mul(r, square(r))); }},
      {"cbrt", [](auto&, auto& r) { return div(one(r), mul(lit(3, r), square(r))); }},
      {"rcbrt", [](auto&, auto& r) { return mul(lit(-1.0 / 3, r), square(square(r))); }},
      {"sin", [](auto& x, auto&) { return call("cos", {x}); }},
      {"cos", [](auto& x, auto&) { return negation(call("sin", {x})); }},
      {"tan", [](auto&, auto& r) { return add(one(r), square(r)); }},
      {"asin", [](auto& x, auto&) { return call("rsqrt", {sub(one(x), square(x))}); }},
      {"acos", [](auto& x, auto&) { return negation(call("rsqrt", {sub(one(x), square(x))})); }},
      {"atan", [](auto& x, auto&) { return div(one(x), add(one(x), square(x))); }},
      {"sinh", [](auto& x, auto&) { return call("cosh", {x}); }},
      {"cosh", [](auto& x, auto&) { return call("sinh", {x}); }},
      {"tanh", [](auto&, auto& r) { return sub(one(r), square(r)); }},
      {"asinh", [](auto& x, auto&) { return call("rsqrt", {add(square(x), one(x))}); }},
      {"acosh", [](auto& x, auto&) { return call("rsqrt", {sub(square(x), one(x))}); }},
      {"atanh", [](auto& x, auto&) { return div(one(x), sub(one(x), square(x))); }},
      {"sinpi", [](auto& x, auto&) { return mul(lit(pi, x), call("cospi", {x})); }},
      {"cospi", [](auto& x, auto&) { return mul(lit(-pi, x), call("sinpi", {x})); }},
      {"sigmoid", [](auto&, auto& r) { return mul(r, sub(one(r), r)); }},
      {"softplus", [](auto& x, auto&) { return call("sigmoid", {x}); }},
      {"silu",
       [](auto& x, auto&) {
         const ExprPtr s = call("sigmoid", {x});
         return mul(s, add(one(x), mul(x, sub(one(x), s))));
       }},
      {"gelu",
       [](auto& x, auto&) {
         const ExprPtr density = call("exp", {mul(lit(-0.5, x), square(x))});
         return add(call("normcdf", {x}), mul(lit(0.3989422804014327, x), mul(x, density)));
       }},
      {"erf",
       [](auto& x, auto&) { return mul(lit(2 * std::numbers::inv_sqrtpi, x), call("exp", {negation(square(x))})); }},
      {"erfc",
       [](auto& x, auto&) { return mul(lit(-2 * std::numbers::inv_sqrtpi, x), call("exp", {negation(square(x))})); }},
      {"erfcx", [](auto& x, auto& r) { return sub(mul(lit(2, x), mul(x, r)), lit(2 * std::numbers::inv_sqrtpi, x)); }},
      {"erfinv",
       [](auto& x, auto& r) { return mul(lit(0.5 / std::numbers::inv_sqrtpi, x), call("exp", {square(r)})); }},
      {"erfcinv",
       [](auto& x, auto& r) { return mul(lit(-0.5 / std::numbers::inv_sqrtpi, x), call("exp", {square(r)})); }},
      {"normcdf",
       [](auto& x, auto&) { return mul(lit(0.3989422804014327, x), call("exp", {mul(lit(-0.5, x), square(x))})); }},
      {"normcdfinv",
       [](auto& x, auto& r) { return mul(lit(2.5066282746310002, x), call("exp", {mul(lit(0.5, x), square(r))})); }},
      {"j0", [](auto& x, auto&) { return negation(call("j1", {x})); }},
      {"y0", [](auto& x, auto&) { return negation(call("y1", {x})); }},
      {"y1", [](auto& x, auto& r) { return sub(call("y0", {x}), div(r, x)); }},
      {"cyl_bessel_i0", [](auto& x, auto&) { return call("cyl_bessel_i1", {x}); }},
  };
  return *table;
}

using Arguments = std::vector<ExprPtr>;
using Row = std::function<std::vector<Partial>(const Arguments& a, const ExprPtr& result)>;

/// Of a bessel function of order 1: the derivative at 0 is 1/2.
Row order_one(const char* order_zero) {
  return [order_zero](const Arguments& a, const ExprPtr& r) -> std::vector<Partial> {
    return {{0, {not_zero(a[0])}, value(sub(call(order_zero, {a[0]}), div(r, a[0])))},
            {0, {is_zero(a[0])}, constant(0.5)}};
  };
}

/// sqrt(Σ a²), and its inverse: argument / result, 0 at the origin.
std::vector<Partial> norm(const Arguments& a, const ExprPtr& r) {
  std::vector<Partial> all;
  for (std::size_t i = 0; i < a.size(); ++i) all.push_back({i, {not_zero(r)}, value(div(a[i], r))});
  return all;
}
std::vector<Partial> inverse_norm(const Arguments& a, const ExprPtr& r) {
  std::vector<Partial> all;
  for (std::size_t i = 0; i < a.size(); ++i)
    all.push_back({i, {not_zero(a[i])}, scaled(value(mul(a[i], mul(r, square(r)))), -1)});
  return all;
}

/// The extreme of two: a tie is shared.
Row extreme(BinaryOp wins) {
  return [wins](const Arguments& a, const ExprPtr&) -> std::vector<Partial> {
    const ExprPtr tie = compare(BinaryOp::Eq, a[0], a[1]);
    return {{0, {compare(wins, a[0], a[1])}, constant(1)},
            {0, {tie}, constant(0.5)},
            {1, {compare(wins, a[1], a[0])}, constant(1)},
            {1, {tie}, constant(0.5)}};
  };
}
/// The extreme of two that ignores NaN: a tie is the first one's.
Row number_extreme(BinaryOp wins, BinaryOp wins_or_ties) {
  return [=](const Arguments& a, const ExprPtr&) -> std::vector<Partial> {
    return {{0, {or_nan(compare(wins_or_ties, a[0], a[1]), a[1])}, constant(1)},
            {1, {or_nan(compare(wins, a[1], a[0]), a[0])}, constant(1)}};
  };
}

std::vector<Partial> absolute(const Arguments& a, const ExprPtr&) {
  const ExprPtr zero = lit(0, a[0]);
  return {{0, {compare(BinaryOp::Gt, a[0], zero)}, constant(1)},
          {0, {compare(BinaryOp::Lt, a[0], zero)}, constant(-1)}};
}

std::vector<Partial> power(const Arguments& a, const ExprPtr& r) {
  std::vector<Partial> all;
  const auto exponent = constant_value(a[1]);
  if (exponent == 2) {
    all.push_back({0, {}, value(mul(lit(2, a[0]), a[0]))});
  } else if (exponent != 0) {
    const ExprPtr lower = exponent ? lit(*exponent - 1, a[1]) : sub(a[1], one(a[1]));
    std::vector<ExprPtr> conditions;
    if (!exponent) conditions.push_back(not_zero(a[1]));
    all.push_back({0, conditions, value(mul(a[1], call("pow", {a[0], lower})))});
  }
  const ExprPtr positive = compare(BinaryOp::Ge, a[1], lit(0, a[1]));
  all.push_back({1, {opposite(binary(BinaryOp::And, is_zero(a[0]), positive))}, value(mul(r, call("log", {a[0]})))});
  return all;
}

std::vector<Partial> angle(const Arguments& a, const ExprPtr&) {
  const ExprPtr radius = add(square(a[0]), square(a[1]));
  return {{0, {not_zero(radius)}, value(div(a[1], radius))},
          {1, {not_zero(radius)}, scaled(value(div(a[0], radius)), -1)}};
}

std::vector<Partial> clamped(const Arguments& a, const ExprPtr&) {
  const ExprPtr low = compare(BinaryOp::Ge, a[0], a[1]), high = compare(BinaryOp::Le, a[0], a[2]);
  return {{0, {low, high}, constant(1)},
          {1, {compare(BinaryOp::Lt, a[0], a[1])}, constant(1)},
          {2, {compare(BinaryOp::Gt, a[0], a[2])}, constant(1)}};
}

const std::map<std::string, Row>& other_functions() {
  const auto rest = [](const Arguments& a, const ExprPtr& r) -> std::vector<Partial> {
    return {{0, {}, constant(1)}, {1, {not_zero(a[1])}, value(div(sub(r, a[0]), a[1]))}};
  };
  const auto difference = [](const Arguments& a, const ExprPtr&) -> std::vector<Partial> {
    const ExprPtr more = compare(BinaryOp::Gt, a[0], a[1]);
    return {{0, {more}, constant(1)}, {1, {more}, constant(-1)}};
  };
  static const auto* table = new std::map<std::string, Row>{
      {"abs", absolute},
      {"fabs", absolute},
      {"relu",
       [](const Arguments&, const ExprPtr& r) -> std::vector<Partial> {
         return {{0, {compare(BinaryOp::Gt, r, lit(0, r))}, constant(1)}};
       }},
      {"max", extreme(BinaryOp::Gt)},
      {"min", extreme(BinaryOp::Lt)},
      {"fmax", number_extreme(BinaryOp::Gt, BinaryOp::Ge)},
      {"fmin", number_extreme(BinaryOp::Lt, BinaryOp::Le)},
      {"clamp", clamped},
      {"pow", power},
      {"fmod", rest},
      {"remainder", rest},
      {"fdim", difference},
      {"copysign",
       [](const Arguments& a, const ExprPtr& r) -> std::vector<Partial> {
         return {{0, {not_zero(a[0])}, value(div(r, a[0]))}};
       }},
      {"nextafter", [](const Arguments&, const ExprPtr&) -> std::vector<Partial> { return {{0, {}, constant(1)}}; }},
      {"hypot", norm},
      {"norm3d", norm},
      {"norm4d", norm},
      {"rhypot", inverse_norm},
      {"rnorm3d", inverse_norm},
      {"rnorm4d", inverse_norm},
      {"atan2", angle},
      {"j1", order_one("j0")},
      {"cyl_bessel_i1", order_one("cyl_bessel_i0")},
      {"fma",
       [](const Arguments& a, const ExprPtr&) -> std::vector<Partial> {
         return {{0, {}, value(a[1])}, {1, {}, value(a[0])}, {2, {}, constant(1)}};
       }},
      {"fdivide",
       [](const Arguments& a, const ExprPtr& r) -> std::vector<Partial> {
         return {{0, {}, value(div(one(a[1]), a[1]))}, {1, {}, scaled(value(div(r, a[1])), -1)}};
       }},
  };
  return *table;
}

const std::set<std::string>& flat_functions() {
  static const auto* names =
      new std::set<std::string>{"ceil", "floor", "round", "trunc", "logb", "isnan", "isinf", "popcount"};
  return *names;
}

}  // namespace

std::optional<std::vector<Partial>> partials(const std::string& function, const std::vector<ExprPtr>& arguments,
                                             const ExprPtr& result) {
  if (flat_functions().count(function)) return std::vector<Partial>{};
  if (auto found = smooth_functions().find(function); found != smooth_functions().end())
    return std::vector<Partial>{{0, {}, value(found->second(arguments[0], result))}};
  if (auto found = other_functions().find(function); found != other_functions().end())
    return found->second(arguments, result);
  return std::nullopt;
}

}  // namespace tc::autodiff
