#pragma once

#include <cstdint>
#include <string>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

namespace tc::strategy {

/// Operations on elements, as the text of a def says them: once for each point of a statement's box, whatever is later
/// hoisted, recomputed or masked. Arithmetic of subscripts is none.
struct Work {
  std::int64_t adds = 0;        ///< of floats: additions, subtractions, and those of sums
  std::int64_t multiplies = 0;  ///< of floats, and those of products
  std::int64_t fused = 0;       ///< calls of fma
  std::int64_t divisions = 0;   ///< of floats; 1/sqrt is one, and a square root
  std::int64_t square_roots = 0;
  std::int64_t functions = 0;    ///< exp, tanh, floor, ... one each
  std::int64_t comparisons = 0;  ///< of floats: <, ==, min, max, relu, and those of minima and maxima; no FLOPs
  std::int64_t integers = 0;     ///< operations of integers and bools; no FLOPs
  bool exact = true;             ///< false: arms of conditionals differ, the dearer one is counted of each kind

  /// adds + multiplies + 2 * fused + divisions + square_roots + functions
  std::int64_t flops() const;
  bool operator==(const Work&) const = default;
};

Work operator+(const Work& a, const Work& b);

/// The operations of one evaluation of \p expr, a checked expression.
Work count_work(const lang::ExprPtr& expr);

/// The operations of \p def, checked, without calls and lets, for \p sizes. Boxes are counted exactly.
///
///   C(m,n) +=! A(m,k) * B(k,n)    multiplies M*N*K, adds M*N*K
Work count_work(const lang::Def& def, const lang::Ranges& ranges, const lang::SizeMap& sizes);

/// For example "adds 64, multiplies 64": the kinds that occur.
std::string to_string(const Work& work);

}  // namespace tc::strategy
