#pragma once

#include "tc/lang/check/scope.h"

/// Types expressions for check. Private to the checker.
namespace tc::lang {

/// An expression with its type, or a weak one without: of its parts, names of lets have types, and in weak floats integers and
/// bools that are no literals. A null expr stands for one that had an error.
struct Typed {
  ExprPtr expr;
  Weak weak = Weak::No;
  explicit operator bool() const { return expr != nullptr; }
};

/// Value: types as written. Index: exact int64 arithmetic, every integer read is widened first.
enum class Mode : std::uint8_t { Value, Index };

/// \p expr with names resolved, types and implicit casts. Reports errors to the scope's diagnostics.
Typed type_expr(const ExprPtr& expr, Scope& scope, Mode mode);

/// \p expr (typed), in an implicit Cast if it is not of \p type.
ExprPtr cast_to(const ExprPtr& expr, DType type);
/// \p expr, which literals may leave without a type, with every literal of \p type. Integers among floats keep integer arithmetic and are
/// converted.
ExprPtr give_type(const ExprPtr& expr, DType type);

/// \p typed as an expression of exactly \p type: a literal adapts, another value gets an implicit Cast.
/// Reports a literal that does not fit; null then.
ExprPtr settle(const Typed& typed, DType type, Scope& scope);
/// The type \p typed has without a context: int32 (int64, uint64 if needed) and float32 for weak ones.
DType natural_type(const Typed& typed);

/// A subscript, bound or size: \p expr as int64, null after an error. \p what names the place: "a subscript of 'A'".
ExprPtr type_index(const ExprPtr& expr, Scope& scope, const std::string& what);

/// \p expr, of a range, a size or a stride, with the integer scalar parameters that it reads as sizes, which their values are
/// for each call; the scope notes them.
ExprPtr with_parameter_values(const ExprPtr& expr, Scope& scope);

/// Reports what in \p expr (typed) is not allowed in \p what, a size expression; true if there is nothing.
bool check_size_expr(const ExprPtr& expr, Scope& scope, const std::string& what);
/// Is \p expr (typed) a size expression?
bool is_size_expr(const ExprPtr& expr, const Scope& scope);

}  // namespace tc::lang
