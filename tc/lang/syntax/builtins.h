#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// What a built-in function accepts. Float functions take integers, which are
/// converted to the float type of the expression (docs/language.md).
enum class BuiltinKind {
  Float,       ///< float arguments, float result: exp, pow, fma, fmin, ...
  Arithmetic,  ///< integers or floats, result of the joined type: min, max, abs, clamp, relu
  Predicate,   ///< float argument, bool result: isnan, isinf
  Integer,     ///< integer argument, result of the same type: popcount
  Choice,      ///< select(condition, a, b)
};

struct Builtin {
  std::string_view name;
  int arity;
  BuiltinKind kind;
};

/// The function of that name, or null. The list: PREDECESSOR.md 1.5, plus
/// min max abs sigmoid relu gelu silu softplus isnan isinf select clamp popcount.
const Builtin* find_builtin(std::string_view name);
const std::vector<Builtin>& builtins();
/// The function of that name, or of which C has that name for float: fmax for "fmaxf"; null for other names.
const Builtin* find_function(std::string_view name);
/// The call that `name(arguments)` is, if \p name is that of a function.
std::optional<Call> call_of_builtin(const std::string& name, const std::vector<ExprPtr>& arguments);

}  // namespace tc::lang
