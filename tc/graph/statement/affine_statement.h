#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

/// What statements do to one tensor: expressions of checked defs.
namespace tc::graph {

/// An operation on a value: value op operand, or operand op value; without an operand it is -value.
struct AffineStep {
  lang::BinaryOp op = lang::BinaryOp::Add;  ///< Add, Sub, Mul, Div
  lang::ExprPtr operand;                    ///< null: -value
  bool value_is_right = false;              ///< never of Div

  /// Is it more than a shift?
  bool scales() const {
    if (!operand || op == lang::BinaryOp::Mul || op == lang::BinaryOp::Div) return true;
    return op == lang::BinaryOp::Sub && value_is_right;
  }
};

/// The operations that make \p expr of the element that it reads of \p tensor, the inner first; none of them reads \p tensor.
/// Nothing where it is no such chain, or converts between types.
///
///   expr (Y(i,j) - m(j)) * s(j) + 1, tensor Y        - m(j), * s(j), + 1
std::optional<std::vector<AffineStep>> affine_steps(const lang::ExprPtr& expr, const std::string& tensor);

/// \p steps applied to \p value, without what they add.
lang::ExprPtr scaled(lang::ExprPtr value, const std::vector<AffineStep>& steps);
/// What \p steps make of 0; null where they add nothing.
lang::ExprPtr shift_of(const std::vector<AffineStep>& steps);

/// The accesses in \p product of which it is a multiple: scaling one of them scales \p product.
///
///   product c ? A(i) * -B(j) : 0        A(i), B(j)
std::vector<lang::ExprPtr> factors_of(const lang::ExprPtr& product);

/// \p expr with each part for which \p change gives something replaced by that, outer ones first.
lang::ExprPtr replaced(const lang::ExprPtr& expr, const std::function<lang::ExprPtr(const lang::ExprPtr&)>& change);

/// The tensors that \p expr reads.
std::vector<std::string> tensors_in(const lang::ExprPtr& expr);

}  // namespace tc::graph
