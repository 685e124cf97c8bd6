#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tc::library {

/// A number times a name of a routine's def: "" for 1.
struct Factor {
  std::int64_t number = 0;
  std::string name;

  bool operator==(const Factor&) const = default;
};

/// A linear function of iterators: constant + sum of names + sum of factor * iterator. Iterators are known by ids; defs
/// of users have no names in it.
struct Affine {
  std::int64_t constant = 0;
  std::map<std::string, std::int64_t> names;  ///< the factor of each name that stands without an iterator
  std::map<int, Factor> terms;                ///< none of them is 0

  bool is_constant() const { return terms.empty() && names.empty(); }
  /// The factor of \p iterator, which has no name.
  std::int64_t factor(int iterator) const;
  bool operator==(const Affine&) const = default;
};

/// Sums, differences, multiples. multiply() gives false for a product that is not linear.
Affine operator+(const Affine& a, const Affine& b);
Affine operator-(const Affine& a, const Affine& b);
Affine operator*(const Affine& a, std::int64_t factor);
bool multiply(const Affine& a, const Affine& b, Affine& product);

/// \p function with each iterator that \p values has replaced by its value.
Affine substitute(const Affine& function, const std::map<int, Affine>& values);
/// \p function with the names replaced by \p numbers.
Affine with_numbers(const Affine& function, const std::map<std::string, std::int64_t>& numbers);

/// "3 + 2*i4": a term of isl's texts.
std::string to_string(const Affine& function);

/// A conjunction of `function >= 0`.
using Conditions = std::vector<Affine>;

}  // namespace tc::library
