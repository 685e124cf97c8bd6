#include "tc/halide_bridge/math/vector_math.h"

#include <functional>
#include <map>

#include "tc/halide_bridge/math/constant_power.h"
#include "tc/halide_bridge/math/vector_functions.h"
#include "tc/halide_bridge/math/vector_rounding.h"
#include "tc/halide_bridge/math/vector_wide.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using line::Accuracy;
using Arguments = std::vector<Vec>;
using Function = std::function<Vec(const Arguments&)>;
using Table = std::map<std::string, Function>;

Function unary(Vec (*function)(const Vec&)) {
  return [function](const Arguments& x) { return function(x[0]); };
}
Function binary(Vec (*function)(const Vec&, const Vec&)) {
  return [function](const Arguments& x) { return function(x[0], x[1]); };
}

/// The functions on float64 values, for both accuracies.
const std::map<std::string, std::function<Vec(const Arguments&, Accuracy)>>& wide_functions() {
  using namespace line::wide;
  using One = Vec (*)(const Vec&, Accuracy);
  using Two = Vec (*)(const Vec&, const Vec&, Accuracy);
  static const auto& table = *new auto([] {
    std::map<std::string, std::function<Vec(const Arguments&, Accuracy)>> result;
    const std::map<std::string, One> unary = {
        {"exp", exp},         {"exp2", exp2},   {"exp10", exp10},     {"expm1", expm1},   {"sinh", sinh},
        {"cosh", cosh},       {"tanh", tanh},   {"sigmoid", sigmoid}, {"silu", silu},     {"softplus", softplus},
        {"log", log},         {"log2", log2},   {"log10", log10},     {"log1p", log1p},   {"asinh", asinh},
        {"acosh", acosh},     {"atanh", atanh}, {"cbrt", cbrt},       {"rcbrt", rcbrt},   {"sin", sin},
        {"cos", cos},         {"tan", tan},     {"sinpi", sinpi},     {"cospi", cospi},   {"asin", asin},
        {"acos", acos},       {"atan", atan},   {"erf", erf},         {"erfc", erfc},     {"erfcx", erfcx},
        {"normcdf", normcdf}, {"gelu", gelu},   {"erfinv", erfinv},   {"lgamma", lgamma},
    };
    for (const auto& [name, function] : unary)
      result[name] = [f = function](const Arguments& x, Accuracy a) { return f(x[0], a); };
    const std::map<std::string, Two> binary = {{"pow", pow}, {"atan2", atan2}};
    for (const auto& [name, function] : binary)
      result[name] = [f = function](const Arguments& x, Accuracy a) { return f(x[0], x[1], a); };
    return result;
  }());
  return table;
}

/// Exact functions, of both types.
const Table& exact_functions() {
  static const auto& table = *new Table{
      {"floor", unary(line::floor)},
      {"ceil", unary(line::ceil)},
      {"trunc", unary(line::trunc)},
      {"round", unary(nearest)},
      {"logb", unary(line::logb)},
      {"fdim", binary(line::fdim)},
      {"fmod", binary(line::fmod)},
      {"remainder", binary(line::remainder)},
      {"hypot", line::norm},
      {"norm3d", line::norm},
      {"norm4d", line::norm},
      {"rhypot", line::inverse_norm},
      {"rnorm3d", line::inverse_norm},
      {"rnorm4d", line::inverse_norm},
      {"nextafter", binary(line::nextafter)},
      {"copysign", binary(copysign)},
      {"sqrt", unary(square_root)},
  };
  return table;
}

/// Functions with operations on float32 values only.
const Table& narrow_functions() {
  static const auto& table = *new Table{
      {"exp2", unary(line::exp2)},         {"exp10", unary(line::exp10)},     {"log2", unary(line::log2)},
      {"log10", unary(line::log10)},       {"exp", unary(line::exp)},         {"log", unary(line::log)},
      {"tanh", unary(line::tanh)},         {"sigmoid", unary(line::sigmoid)}, {"silu", unary(line::silu)},
      {"softplus", unary(line::softplus)}, {"erf", unary(line::erf)},         {"gelu", unary(line::gelu)},
  };
  return table;
}

/// \p function of float32 values by float64 ones.
Vec widened(const std::function<Vec(const Arguments&, Accuracy)>& function, const Arguments& args) {
  Arguments wide;
  for (const Vec& arg : args) wide.push_back(arg.as_float(64));
  return function(wide, Accuracy::Float32).as_float(32);
}

/// Does \p expr compute with numbers alone?
bool is_of_numbers(const Expr& expr) {
  struct Finder : Halide::Internal::IRGraphVisitor {
    using IRGraphVisitor::visit;
    bool found = false;
    void visit(const Halide::Internal::Variable*) override { found = true; }
    void visit(const Halide::Internal::Load*) override { found = true; }
    void visit(const Halide::Internal::Call*) override { found = true; }
  } others;
  expr.accept(&others);
  return !others.found;
}

/// A power by a number, such as 3 or -0.5, where products and roots make it; \p exponent is that of \p x.
std::optional<Vec> constant_power(const Vec& x, const Expr& exponent) {
  if (!is_of_numbers(exponent)) return std::nullopt;
  const Expr folded = Halide::Internal::simplify(exponent);
  const double* number = Halide::Internal::as_const_float(folded);
  return number ? line::constant_power(x, *number) : std::nullopt;
}

std::optional<Vec> expand(const std::string& name, const Arguments& args) {
  if (auto found = exact_functions().find(name); found != exact_functions().end()) return found->second(args);
  bool wide = args[0].is_double();
  if (auto found = narrow_functions().find(name); !wide && found != narrow_functions().end())
    return found->second(args);
  auto found = wide_functions().find(name);
  if (found == wide_functions().end()) return std::nullopt;
  return wide ? found->second(args, Accuracy::Float64) : widened(found->second, args);
}

}  // namespace

std::optional<Expr> expand_math(const std::string& function, const std::vector<Expr>& args) {
  if (function.rfind("tc_", 0) != 0 || args.empty() || !args[0].type().is_float()) return std::nullopt;
  Steps steps;
  Arguments values;
  for (const Expr& arg : args) values.emplace_back(steps, arg);
  const auto name = function.substr(3, function.rfind('_') - 3);
  auto result = name == "pow" ? constant_power(values[0], args[1]) : std::nullopt;
  if (!result) result = expand(name, values);
  if (!result) return std::nullopt;
  return Vec::finish(steps, *result);
}

}  // namespace tc::halide_bridge
