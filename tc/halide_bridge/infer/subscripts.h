#pragma once

#include <string>
#include <vector>

#include "tc/halide_bridge/infer/convert_expr.h"

namespace tc::halide_bridge {

/// One dimension of one access of a statement's right-hand side or `exists` clauses.
struct Subscript {
  const lang::Expr* access = nullptr;  ///< in the tree
  std::string tensor;
  int dimension = 0;
  lang::ExprPtr source;
  Halide::Expr value;
  std::vector<Halide::Expr> guards;    ///< conditions that hold where the access is evaluated
  std::vector<std::string> iterators;  ///< that the value depends on
  bool bare = false;                   ///< the subscript is an iterator alone
  bool opaque = false;                 ///< data take part in the value
  bool in_exists = false;
};

/// The subscripts of \p assignment in order of the text, inner accesses before the ones they index.
///
///   (h >= 1 && M(h)) ? I(n, h - 1) : 0     gives    M: h if h >= 1     I: n, h - 1 if h >= 1 && #0
///
/// A condition guards the then-arm, its negation the else-arm; the right side of && and || is guarded by the left one.
std::vector<Subscript> collect_subscripts(const lang::Assignment& assignment, const std::vector<std::string>& iterators,
                                          IndexConverter& convert);

}  // namespace tc::halide_bridge
