#pragma once

#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

/// Index expressions and conditions between the tree and Halide's IR. Sizes and iterators are Variable(Int(64), name).
/// Included by .cpp files of tc/halide_bridge only.
namespace tc::halide_bridge {

/// The integers [min, max]; an undefined end is unbounded.
struct IndexBounds {
  Halide::Expr min, max;
};

/// A value that only the data decide (an element of a tensor, a float comparison): the variable that stands for it.
struct OpaqueValue {
  std::string name;  ///< "#0", "#1", ...
  lang::ExprPtr source;
  IndexBounds bounds;  ///< what its type allows, constants
};

/// Converts checked expressions. Parts of a value that data decide become variables, the same part the same variable.
///
///   min(Idx(i) + j, N - 1) > 0    becomes    (min(#0 + j, N - 1) > 0)
class IndexConverter {
 public:
  /// \p size_of gives T.d.
  explicit IndexConverter(std::function<Halide::Expr(const lang::SizeOf&)> size_of) : size_of_(std::move(size_of)) {}

  /// Int(64) for an integer expression, Bool() for a bool one.
  Halide::Expr operator()(const lang::ExprPtr& expr);

  const std::vector<OpaqueValue>& opaque() const { return opaque_; }

 private:
  Halide::Expr convert_call(const lang::ExprPtr& expr, const lang::Call& call);
  Halide::Expr convert_cast(const lang::ExprPtr& expr, const lang::Cast& cast);
  Halide::Expr convert_binary(const lang::ExprPtr& expr, const lang::Binary& binary);
  Halide::Expr exact_or_opaque(const lang::ExprPtr& expr, Halide::Expr value);
  Halide::Expr make_opaque(const lang::ExprPtr& expr);

  std::function<Halide::Expr(const lang::SizeOf&)> size_of_;
  std::vector<OpaqueValue> opaque_;
};

/// The Int(64) constant.
Halide::Expr constant(std::int64_t value);

/// The variables of \p expr by name, in order of appearance, each once.
std::vector<std::string> variables(const Halide::Expr& expr);

/// An Int(64) or Bool() expression over sizes as a typed tree.
lang::ExprPtr to_lang(const Halide::Expr& expr);

/// A comparison the way a person writes it: constants on one side, no negative ones where that can be helped.
///
///   (N + M) < (NM + 2)  becomes  N + M <= NM + 1        0 <= (H - 1)  becomes  H >= 1
Halide::Expr tidy_condition(const Halide::Expr& condition);

}  // namespace tc::halide_bridge
