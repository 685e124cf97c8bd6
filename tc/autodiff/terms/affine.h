#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tc/autodiff/terms/expressions.h"

namespace tc::autodiff {

/// The sum of coefficient * part and a constant: the normal form of subscripts, bounds and sides of guards.
///
///   (2*h + k) - (h + 1)      gives    h + k - 1
///   (4*q + m) / 4            gives    q + m / 4        4*(q/4) + q%4   gives   q
///
/// A part is an iterator, a size, or an expression that is not affine (a product of sizes, a quotient, an element of an
/// index tensor), by its text.
struct Affine {
  struct Part {
    ExprPtr expr;
    std::int64_t coefficient = 0;
    std::size_t order = 0;  ///< of appearance, which texts keep
  };
  std::map<std::string, Part> parts;
  std::int64_t constant = 0;

  void add(const ExprPtr& part, std::int64_t coefficient);
  void add(const Affine& other, std::int64_t factor = 1);
  std::vector<const Part*> in_order() const;
  std::int64_t coefficient(const std::string& name) const;
  bool is_constant() const { return parts.empty(); }
  bool operator==(const Affine& other) const;
};

/// \p expr (int64) in normal form.
Affine read_affine(const ExprPtr& expr);
/// The shortest text of a form, what is positive first.
ExprPtr to_expr(const Affine& form);
/// The quotient, rounded down, and the rest of \p form by \p divisor > 0, multiples of it taken out.
ExprPtr quotient(const Affine& form, std::int64_t divisor);
ExprPtr remainder(const Affine& form, std::int64_t divisor);
/// Is every part a name?
bool is_plain(const Affine& form);
/// The names in the parts that are no names, from \p names.
bool hidden_names(const Affine& form, const std::set<std::string>& names);

/// \p expr with every subscript and every side of a comparison of integers in normal form.
ExprPtr normalised(const ExprPtr& expr);

}  // namespace tc::autodiff
