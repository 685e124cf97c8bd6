#pragma once

#include <functional>
#include <map>
#include <string>

#include "tc/lang/syntax/tree.h"
#include "tc/library/match/computation.h"

namespace tc::library {

/// Thrown inside of match: a def is nothing that could be a routine's.
struct NotUnderstood {};

/// What names stand for in an expression.
struct Names {
  std::map<std::string, Affine> values;  ///< iterators and sizes
  std::function<Affine(const lang::SizeOf&)> size_of;
  std::function<NodePtr(const lang::Access&, std::vector<Affine> subscripts)> read;
  bool finite = false;  ///< is every value taken to be finite?
};

/// \p expr as a linear function. Throws NotUnderstood.
Affine affine_of(const lang::ExprPtr& expr, const Names& names);

/// \p expr as a tree; guards are gathered and, where all values are finite, drawn out of products. Throws NotUnderstood.
NodePtr node_of(const lang::ExprPtr& expr, const Names& names);

/// Does each number of type \p from stay the same as one of type \p to?
bool converts_exactly(DType from, DType to);
/// A new node.
NodePtr make_node(decltype(Node::value) value);
/// The value of \p node, if it is a constant; and does it equal \p value?
bool is_constant(const NodePtr& node, double value);
/// `op` over \p iterators of \p body: a guard that leaves the neutral element becomes conditions of the reduction.
NodePtr make_reduce(ReductionOp op, std::vector<int> iterators, NodePtr body);
/// Do two nodes compute the same in the same words, but for the ids of the iterators of reductions?
bool is_same(const NodePtr& a, const NodePtr& b);
/// The neutral element of \p op, if it is a number.
std::optional<double> neutral(ReductionOp op);

}  // namespace tc::library
