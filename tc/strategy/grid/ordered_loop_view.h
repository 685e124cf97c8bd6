#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::strategy {

/// An operand of a product.
struct LoopOperand {
  DType type = DType::Float32;
  bool is_copied = false;     ///< from memory to shared memory
  bool is_kept = false;       ///< a temporary of the cluster
  bool reads_always = false;  ///< each instance reads, for all sizes
  int neighbours = -1;        ///< the iterator along which neighbours in memory are read; -1: none
};

/// A statement that adds up terms of two operands along columns of its own, in a loop that runs in order.
struct LoopProduct {
  int steps = -1;  ///< the iterator that it sums over
  std::array<LoopOperand, 2> operands;
  std::vector<polyhedral::Interval> ranges;  ///< of its iterators

  bool has_copies() const { return operands[0].is_copied || operands[1].is_copied; }
};

/// A statement of a cluster with an ordered loop.
struct LoopStatement {
  std::vector<int> ordered;  ///< its iterators that loops around several statements run in order, outermost first
  std::vector<int> own;      ///< its others, outermost first
  int columns = -1;          ///< the last of these, but for what it sums over as a product; -1: none
  std::optional<LoopProduct> product;
};

/// A cluster whose statements share a loop that runs in order, and add up products in it.
struct OrderedLoopView {
  int rows = -1;  ///< the member with the most values
  std::vector<LoopStatement> statements;
  std::vector<std::string> temporaries;
};

/// The view of \p cluster; nothing where it is of another kind.
///
///   for b { S(n,w) +=! Q(n,k) K(b,w,k)   m(n) = ... }      rows n; S: ordered b, columns w, a product over k; m: ordered b
std::optional<OrderedLoopView> find_ordered_loop(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                                                 const polyhedral::NestSpace& space);

}  // namespace tc::strategy
