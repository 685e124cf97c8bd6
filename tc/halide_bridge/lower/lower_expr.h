#pragma once

#include <map>
#include <string>

#include "tc/halide_bridge/lower/integer_arithmetic.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/lang/interpret/ranges.h"

namespace tc::halide_bridge {

/// What the names in an expression mean. The parts outlive the scope.
struct ExprScope {
  const std::map<std::string, ProgramTensor>& tensors;
  const std::map<std::string, lang::IntegerRange>& iterators;
  const lang::SizeMap& sizes;  ///< of the symbolic ones the largest values
  const lang::SizeRanges& symbolic;
  /// The ends of the iterators whose ranges symbolic sizes decide; others end as `iterators` says.
  const std::map<std::string, Halide::Expr>& ends;
};

/// A value as Halide IR, see ProgramStatement::value.
struct LoweredExpr {
  Halide::Expr expr;
  Bounds bounds = {};  ///< of integers; of other types meaningless
  bool total =
      true;  ///< every access in it is inside its tensor whatever the iterators are: it can be evaluated anywhere
};

/// \p expr, checked, as Halide IR.
///
///   before  i < N ? A(i) * 2 : 0      after  if_then_else(i < 10, A(i) * 2.0, 0.0)    A(i) may lie outside A
///                                            select(i < 10, A(i) * 2.0, 0.0)          else
///
/// Sizes are constants, symbolic ones and iterators Int(64) variables. No node is simplified beyond arithmetic on integer constants, so
/// floats keep their rounding, NaNs and signed zeros.
LoweredExpr lower_expr(const lang::ExprPtr& expr, const ExprScope& scope);

/// The subscript \p expr as Int(64).
LoweredExpr lower_index(const lang::ExprPtr& expr, const ExprScope& scope);

/// Does every value of \p index, of \p scope, lie inside dimension \p dimension of \p tensor, whatever symbolic sizes are? Where
/// these decide its extent, nothing but an iterator that ends with it is known to.
bool stays_inside(const LoweredExpr& index, const ProgramTensor& tensor, std::size_t dimension, const ExprScope& scope);

/// condition ? then_value : else_value, where an arm that is not total is not evaluated in vain.
Halide::Expr guarded_select(const Halide::Expr& condition, const LoweredExpr& then_value,
                            const LoweredExpr& else_value);

}  // namespace tc::halide_bridge
