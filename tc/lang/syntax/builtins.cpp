#include "tc/lang/syntax/builtins.h"

#include <algorithm>
#include <unordered_map>

namespace tc::lang {
namespace {

std::vector<Builtin> make_builtins() {
  std::vector<Builtin> all;
  const auto add = [&](int arity, BuiltinKind kind, std::initializer_list<std::string_view> names) {
    for (auto name : names) all.push_back({name, arity, kind});
  };
  add(1, BuiltinKind::Float,
      {"acos",    "acosh", "asin", "asinh", "atan",          "atanh",        "cbrt",   "ceil",   "cos",
       "cosh",    "cospi", "erf",  "erfc",  "erfcinv",       "erfcx",        "erfinv", "exp",    "exp10",
       "exp2",    "expm1", "fabs", "floor", "gelu",          "j0",           "j1",     "lgamma", "log",
       "log10",   "log1p", "log2", "logb",  "normcdf",       "normcdfinv",   "rcbrt",  "round",  "rsqrt",
       "sigmoid", "silu",  "sin",  "sinh",  "sinpi",         "softplus",     "sqrt",   "tan",    "tanh",
       "tgamma",  "trunc", "y0",   "y1",    "cyl_bessel_i0", "cyl_bessel_i1"});
  add(2, BuiltinKind::Float,
      {"atan2", "copysign", "fdim", "fdivide", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder",
       "rhypot"});
  add(3, BuiltinKind::Float, {"fma", "norm3d", "rnorm3d"});
  add(4, BuiltinKind::Float, {"norm4d", "rnorm4d"});
  add(1, BuiltinKind::Arithmetic, {"abs", "relu"});
  add(2, BuiltinKind::Arithmetic, {"max", "min"});
  add(3, BuiltinKind::Arithmetic, {"clamp"});
  add(1, BuiltinKind::Predicate, {"isinf", "isnan"});
  add(1, BuiltinKind::Integer, {"popcount"});
  add(3, BuiltinKind::Choice, {"select"});
  std::sort(all.begin(), all.end(), [](const Builtin& a, const Builtin& b) { return a.name < b.name; });
  return all;
}

}  // namespace

const std::vector<Builtin>& builtins() {
  static const auto& all = *new std::vector<Builtin>(make_builtins());
  return all;
}

const Builtin* find_builtin(std::string_view name) {
  static const auto* index = [] {
    auto* map = new std::unordered_map<std::string_view, const Builtin*>;
    for (const auto& builtin : builtins()) map->emplace(builtin.name, &builtin);
    return map;
  }();
  const auto found = index->find(name);
  return found == index->end() ? nullptr : found->second;
}

const Builtin* find_function(std::string_view name) {
  if (const Builtin* function = find_builtin(name)) return function;
  if (name.empty() || name.back() != 'f') return nullptr;
  const Builtin* function = find_builtin(name.substr(0, name.size() - 1));
  return function && function->kind == BuiltinKind::Float ? function : nullptr;
}

std::optional<Call> call_of_builtin(const std::string& name, const std::vector<ExprPtr>& arguments) {
  const Builtin* function = find_function(name);
  if (!function) return std::nullopt;
  return Call{std::string(function->name), arguments, function->name == name ? "" : name};
}

}  // namespace tc::lang
