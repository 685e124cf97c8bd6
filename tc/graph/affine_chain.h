#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/graph/graph.h"
#include "tc/graph/statement/affine_statement.h"

namespace tc::graph {

/// A sum of products with a constant factor, and what is done to each of its elements by constants. Operands are written over the
/// subscripts of the sum, sum_iterator(0), ..., and read tensors by tensor_name(); sizes are numbers.
///
///   S(n,k) +=! X(n,r) * W(k,r)   Y(i,j) = S(0,i*4+j) * s(i*4+j) + 2        steps * s(i1), + 2;  at S(0, u0*4+u1)
struct AffineChain {
  std::vector<std::size_t> nodes;  ///< the sum first; each of one statement, each the only reader of the one before
  lang::ExprPtr factor;            ///< an access in the sum
  std::vector<lang::ExprPtr> factor_at;    ///< its subscripts, over those of the sum
  std::vector<std::int64_t> factor_shape;  ///< of the tensor it is an element of
  std::vector<AffineStep> steps;           ///< the first done first
  std::vector<lang::ExprPtr> at;           ///< the subscripts of the sum, over result_iterator(0), ... of the last node
};

/// "i2", "u2" and "w2": subscript number \p dimension of a sum, of what it becomes, and of a factor.
std::string sum_iterator(std::size_t dimension);
std::string result_iterator(std::size_t dimension);
std::string factor_iterator(std::size_t dimension);
/// "X7"
std::string tensor_name(std::size_t tensor);

/// \p expr over the subscripts of a sum as an expression over those of the factor whose subscripts are \p factor_at; null where
/// these do not decide it.
///
///   expr s(i1*8 + i2), factor_at i1*8 + i2, 0        s(w0)
lang::ExprPtr over_factor(const lang::ExprPtr& expr, const std::vector<lang::ExprPtr>& factor_at);

/// The longest chain of \p graph whose sum is node \p first and in which every scale can be moved into the factor; none of tensors but
/// \p held are constants. Nothing where no scale can be.
std::optional<AffineChain> affine_chain(const Graph& graph, std::size_t first, const std::set<std::size_t>& held);

/// Is a statement of \p node, of which \p held are constants, a sum of products with a constant factor, or an affine function of one
/// element by constants, or does such a function stand in its value (split_affine())?
bool has_affine_statement(const Node& node, const std::set<std::size_t>& held);

/// The parameters of the def of \p node that are among \p held.
std::set<std::string> constant_names(const Node& node, const std::set<std::size_t>& held);

}  // namespace tc::graph
