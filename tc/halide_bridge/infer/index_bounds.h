#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/halide_bridge/infer/convert_expr.h"

/// Interval arithmetic over index expressions, and its inverse. Included by .cpp files of tc/halide_bridge only.
namespace tc::halide_bridge {

/// Thrown for index expressions that are too large to be reasoned about.
struct TooComplicated {};

/// Throws TooComplicated if \p expr, as a tree, is beyond what the simplifier takes in its stride: parts that are shared
/// count at every place. An undefined one is not.
void check_moderate(const Halide::Expr& expr);

/// What is known of the sizes of a def: they are not negative. All functions throw TooComplicated.
class SizeFacts {
 public:
  explicit SizeFacts(const std::vector<std::string>& sizes);
  /// \p expr, simplified by Halide with what is known of the sizes.
  Halide::Expr simplify(const Halide::Expr& expr) const;
  /// Is the condition over sizes true for all sizes, as far as the simplifier sees?
  bool proves(const Halide::Expr& condition) const;
  /// Is a <= b after products are multiplied out?
  bool proves_less_equal(const Halide::Expr& a, const Halide::Expr& b) const;

 private:
  std::set<std::string> sizes_;
  Halide::Internal::Scope<Halide::Internal::Interval> scope_;
};

/// The ranges of iterators and opaque values. Other variables are constants.
using Environment = std::map<std::string, IndexBounds>;

/// The values \p expr takes while every variable of \p environment takes all of its values: exact where every one of
/// them stands in one linear term, else as near as interval arithmetic comes. Ends are undefined where there is no
/// bound. Variables that are not in the environment stay symbols in the result.
IndexBounds bounds_over(const Halide::Expr& expr, const Environment& environment, const SizeFacts& facts);

/// A range of an unknown index, and what must hold of sizes for it to be right (a stride that is a size is not 0).
struct Solution {
  IndexBounds bounds;  ///< undefined ends: no constraint on that side
  std::vector<Halide::Expr> assumptions;
  bool complete = false;  ///< the expression stays inside for every unknown in bounds, nothing left to check
};

/// The largest range of \p unknown for which \p expr stays in \p allowed for all values of \p environment. Empty when
/// nothing is known about it.
///
///   unknown h, 2*h + kh in [0, H-1], kh in [0, KH-1]    gives    h in [0, (H - KH)/2]
std::optional<Solution> solve_for(const std::string& unknown, const Halide::Expr& expr, const IndexBounds& allowed,
                                  const Environment& environment, const SizeFacts& facts);

}  // namespace tc::halide_bridge
