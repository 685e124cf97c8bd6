#pragma once

#include <Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace tc::cpu {

/// Names for steps of a computation, to be bound around a statement.
class Steps {
 public:
  Halide::Expr operator()(const Halide::Expr& value);
  /// \p body with the values that were asked for defined around it.
  Halide::Internal::Stmt around(Halide::Internal::Stmt body) const;

 private:
  std::vector<std::pair<std::string, Halide::Expr>> steps_;
};

/// The columns of \p rows, one behind another in as many vectors: a power of two of them, no more than each has lanes. Each round of
/// \p steps interleaves the first half of the vectors with the second one, which rotates the bits of (row, lane) by one.
std::vector<Halide::Expr> transposed(Steps& steps, std::vector<Halide::Expr> rows);

}  // namespace tc::cpu
