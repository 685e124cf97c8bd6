#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "tc/base/dtype.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/interpret/storage.h"
#include "tc/lang/syntax/tree.h"

/// Expressions of the checked tree as closures; the interpreter's inner part.
namespace tc::lang {

/// Values of the iterators, by slot.
using Slots = const std::int64_t*;

/// A compiled expression of a type: `floating` is set for float types, `integer` for integers and bool.
struct Value {
  DType type = DType::Float32;
  std::function<std::int64_t(Slots)> integer;
  std::function<double(Slots)> floating;
};

/// What names in an expression mean.
struct Environment {
  std::map<std::string, int> slots;  ///< iterators
  SizeMap sizes;
  std::map<std::string, const Storage*> tensors;  ///< outlive the closures
  std::set<const Expr*> data_dependent;           ///< see Ranges
};

/// \p expr, checked, as a closure. Float arithmetic is done in double and rounded where the text has a cast, at
/// conversions from integers and in literals; integers wrap to their type at every operation. `?:`, `&&` and `||`
/// evaluate what they need only. The closure throws ArgumentError for a data-dependent subscript outside its tensor,
/// InternalError for another one.
Value compile(const ExprPtr& expr, const Environment& environment);

}  // namespace tc::lang
