#include "tc/library/match/affine.h"

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::library {
namespace {

void add(Affine& sum, const Affine& other, std::int64_t times) {
  sum.constant += other.constant * times;
  for (const auto& [name, number] : other.names)
    if ((sum.names[name] += number * times) == 0) sum.names.erase(name);
  for (const auto& [iterator, factor] : other.terms) {
    auto& own = sum.terms.try_emplace(iterator, Factor{0, factor.name}).first->second;
    if (own.name != factor.name) throw InternalError("an iterator stands with two names in one subscript of a routine");
    own.number += factor.number * times;
    if (own.number == 0) sum.terms.erase(iterator);
  }
}

}  // namespace

std::int64_t Affine::factor(int iterator) const {
  const auto found = terms.find(iterator);
  return found == terms.end() ? 0 : found->second.number;
}

Affine operator+(const Affine& a, const Affine& b) {
  auto sum = a;
  add(sum, b, 1);
  return sum;
}

Affine operator-(const Affine& a, const Affine& b) {
  auto difference = a;
  add(difference, b, -1);
  return difference;
}

Affine operator*(const Affine& a, std::int64_t factor) {
  Affine product;
  if (factor != 0) add(product, a, factor);
  return product;
}

bool multiply(const Affine& a, const Affine& b, Affine& product) {
  if (a.is_constant()) {
    product = b * a.constant;
    return true;
  }
  if (b.is_constant()) {
    product = a * b.constant;
    return true;
  }
  const auto& named = a.terms.empty() ? a : b;
  const auto& other = a.terms.empty() ? b : a;
  if (!named.terms.empty() || named.constant != 0 || named.names.size() != 1 || !other.names.empty() ||
      other.constant != 0)
    return false;
  product = other * named.names.begin()->second;
  for (auto& [iterator, factor] : product.terms) {
    if (!factor.name.empty()) return false;
    factor.name = named.names.begin()->first;
  }
  return true;
}

Affine substitute(const Affine& function, const std::map<int, Affine>& values) {
  Affine result;
  result.constant = function.constant;
  result.names = function.names;
  for (const auto& [iterator, factor] : function.terms) {
    const auto value = values.find(iterator);
    if (value != values.end() && factor.name.empty()) {
      result = result + value->second * factor.number;
    } else {
      Affine own;
      own.terms[value != values.end() ? value->second.terms.begin()->first : iterator] = factor;
      result = result + own;
    }
  }
  return result;
}

Affine with_numbers(const Affine& function, const std::map<std::string, std::int64_t>& numbers) {
  Affine result;
  result.constant = function.constant;
  for (const auto& [name, number] : function.names) result.constant += number * numbers.at(name);
  for (const auto& [iterator, factor] : function.terms) {
    const auto number = factor.number * (factor.name.empty() ? 1 : numbers.at(factor.name));
    if (number != 0) result.terms[iterator] = {number, ""};
  }
  return result;
}

std::string to_string(const Affine& function) {
  TextStream out;
  out << function.constant;
  for (const auto& [name, number] : function.names) out << " + " << number << "*" << name;
  for (const auto& [iterator, factor] : function.terms) {
    out << " + " << factor.number << "*" << factor.name << (factor.name.empty() ? "" : "*") << "i" << iterator;
  }
  return out.str();
}

}  // namespace tc::library
