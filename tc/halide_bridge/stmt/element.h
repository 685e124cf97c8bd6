#pragma once

#include <Halide.h>

#include <vector>

#include "tc/halide_bridge/stmt/bounded.h"
#include "tc/polyhedral/core/scop.h"

/// Elements of tensors as Halide loads and stores of flat buffers.
namespace tc::halide_bridge {

/// The lanes that run at a place of the loop nest.
struct Lanes {
  int count = 1;       ///< lanes of the vector loop around, 1 outside of one
  Halide::Expr tail;   ///< Bool(count): lanes of a partial vector that run, always with lane 0; undefined: all
  Halide::Expr guard;  ///< Bool(count): of these, lanes whose condition holds; undefined: all

  /// With \p condition, Bool(count), in the guard.
  Lanes guarded(const Halide::Expr& condition) const;
  /// The lanes that run; undefined: all.
  Halide::Expr running() const;
};

/// The type of an element in memory: bool is UInt(8), halves are UInt(16).
Halide::Type storage_type(DType type);

/// Elements of \p tensor in memory from one index of \p dimension to the next, or the variable that a run gives.
Bounded stride(const polyhedral::Tensor& tensor, std::size_t dimension);

/// The address of an element, in elements from the one with all indices at their min.
///
///   before  A(i, j) of min (1, 0), strides (8, 1)      after  (i - 1)*8 + j
/// A stride that a run tells is its variable.
Bounded address(const polyhedral::Tensor& tensor, const std::vector<Bounded>& subscripts);

/// The element as a value of the compute type (bool is Bool()), with the lanes of \p address. Lanes that do not run
/// read nothing and have any value; a padded or combined tensor exists in all lanes of the tail. One element for all lanes, which
/// \p inside says is there, is read whether they run or not: that takes no branch.
Halide::Expr load(const polyhedral::Tensor& tensor, const Bounded& address, const Lanes& lanes, bool inside = false);

/// Stores \p value, of the compute type, in the lanes that run, wrapped in strict_float. Where the others exist too, they
/// may select what their elements hold: strict_float(select(runs, strict_float(value), load)).
Halide::Internal::Stmt store(const polyhedral::Tensor& tensor, const Bounded& address, Halide::Expr value,
                             const Lanes& lanes);

}  // namespace tc::halide_bridge
