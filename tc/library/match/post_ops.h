#pragma once

#include <vector>

#include "tc/library/description/call.h"
#include "tc/library/match/computation.h"

namespace tc::library {

/// A post-op of an expression, and what it reads.
struct PeeledOp {
  PostOp::Kind kind = PostOp::Kind::Relu;
  std::optional<Read> read = {};
  bool drops_nan = false;  ///< is relu of a NaN 0?
  double limit = 0;        ///< as PostOp::limit
};

/// An expression without its last operations, and these, the first one first.
struct Peeled {
  NodePtr core;
  std::vector<PeeledOp> ops;
};

/// \p value cut before its last operations: none cut off first, then one, and so on, while they are post-ops on what
/// holds a reduction.
///
///   fmax(sum(...) + B(i), 0)      fmax(sum(...) + B(i), 0); sum(...) + B(i), Relu; sum(...), Add B(i), Relu
std::vector<Peeled> peel(const NodePtr& value);

}  // namespace tc::library
