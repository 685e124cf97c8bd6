#pragma once

#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tc/base/str.h"

/// Random single statements with affine subscripts, guards and `where` ranges, as values a test can evaluate.
namespace tc::halide_bridge::affine_programs {
constexpr int iterator_count = 3;
constexpr int size_count = 2;
constexpr int largest_size = 12;

using Sizes = std::array<int, size_count>;

/// A size name plus an offset, or a constant.
struct SizeValue {
  int name = -1;
  int offset = 0;
  int at(const Sizes& sizes) const { return (name < 0 ? 0 : sizes[name]) + offset; }
  std::string text() const {
    return name < 0 ? str(offset) : offset == 0 ? str("N", name) : str("(N", name, "+(", offset, "))");
  }
};

using Point = std::array<int, iterator_count>;

/// (sum of coefficient * iterator + offset) / divisor.
struct Affine {
  std::array<int, iterator_count> coefficients{};
  SizeValue offset;
  int divisor = 1;

  int at(const Point& p, const Sizes& sizes) const {
    int sum = offset.at(sizes);
    for (int i = 0; i < iterator_count; ++i) sum += coefficients[i] * p[i];
    return sum >= 0 ? sum / divisor : -((-sum + divisor - 1) / divisor);
  }
  bool uses(int i) const { return coefficients[i] != 0; }
  int only() const {
    int found = -1;
    for (int i = 0; i < iterator_count; ++i)
      if (uses(i)) found = found == -1 ? i : -2;
    return found;
  }
  bool bare() const {
    return only() >= 0 && coefficients[only()] == 1 && offset.name < 0 && offset.offset == 0 && divisor == 1;
  }
  std::string text() const {
    std::string out;
    for (int i = 0; i < iterator_count; ++i)
      if (uses(i))
        out += str(out.empty() ? "" : " + ", coefficients[i] == 1 ? "" : str("(", coefficients[i], ")*"), "ijk"[i]);
    if (offset.name >= 0 || offset.offset != 0) out += str(" + (", offset.text(), ")");
    return divisor == 1 ? out : str("(", out, ")/", divisor);
  }
};

struct Condition {
  Affine left;
  bool less = true;  ///< left <= right, else left >= right
  SizeValue right;
  bool at(const Point& p, const Sizes& s) const {
    return less ? left.at(p, s) <= right.at(s) : left.at(p, s) >= right.at(s);
  }
  std::string text() const { return str("(", left.text(), less ? " <= " : " >= ", right.text(), ")"); }
};

struct Guard {
  std::vector<Condition> conditions;
  bool all = true, else_arm = false;
  bool at(const Point& p, const Sizes& s) const {
    bool value = all;
    for (const auto& c : conditions) value = all ? value && c.at(p, s) : value || c.at(p, s);
    return else_arm ? !value : value;
  }
};

struct Access {
  int tensor = 0;
  std::vector<Affine> subscripts;
  std::optional<Guard> guard;
};

struct Program {
  std::vector<std::vector<SizeValue>> tensors;
  std::vector<Access> accesses;
  std::map<int, std::pair<SizeValue, SizeValue>> where;
  std::set<int> iterators;

  std::string text() const {
    std::vector<std::string> params, left, terms, clauses;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      std::vector<std::string> dims;
      for (const auto& d : tensors[t]) dims.push_back(d.text());
      params.push_back(str("float(", join(dims), ") T", t));
    }
    for (int i : iterators) left.push_back(std::string(1, "ijk"[i]));
    for (const Access& a : accesses) {
      std::vector<std::string> subscripts, conditions;
      for (const auto& s : a.subscripts) subscripts.push_back(s.text());
      const std::string read = str("T", a.tensor, "(", join(subscripts), ")");
      if (!a.guard) {
        terms.push_back(read);
        continue;
      }
      for (const auto& c : a.guard->conditions) conditions.push_back(c.text());
      const std::string condition = join(conditions, a.guard->all ? " && " : " || ");
      terms.push_back(a.guard->else_arm ? str("((", condition, ") ? 0.0 : ", read, ")")
                                        : str("((", condition, ") ? ", read, " : 0.0)"));
    }
    for (const auto& [i, range] : where)
      clauses.push_back(str("ijk"[i], " in ", range.first.text(), ":", range.second.text()));
    return str("def f(float(N0,N1) S, ", join(params), ") -> (O) { O(", join(left), ") = ", join(terms, " + "),
               clauses.empty() ? "" : " where ", join(clauses), " }");
  }
};

class Generator {
 public:
  Generator(unsigned seed, bool symbolic) : random_(seed), symbolic_(symbolic) {}

  Program program() {
    Program p;
    const int tensors = 1 + below(2);
    for (int t = 0; t < tensors; ++t) {
      p.tensors.emplace_back();
      for (int d = 1 + below(2); d > 0; --d) p.tensors.back().push_back(size(1));
    }
    for (int n = 1 + below(3); n > 0; --n) p.accesses.push_back(access(p));
    for (int i = 0; i < iterator_count; ++i) {
      if (chance(25)) p.where[i] = {{-1, below(4) - 1}, size(0)};
      for (const Access& a : p.accesses)
        for (const auto& s : a.subscripts)
          if (s.uses(i)) p.iterators.insert(i);
      if (p.where.count(i)) p.iterators.insert(i);
    }
    for (Access& a : p.accesses)
      if (chance(45)) a.guard = guard(p);
    return p;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  SizeValue size(int least) {
    if (symbolic_ && chance(75)) return {below(size_count), least ? 0 : below(3) - 1};
    return {-1, least + below(6)};
  }
  Affine affine(int most, int spread) {
    Affine a;
    for (int n = 1 + (chance(35) && most > 1); n > 0; --n)
      a.coefficients[below(iterator_count)] = chance(60) ? 1 : chance(50) ? -1 : 2 + below(2);
    if (chance(50)) a.offset.offset = below(2 * spread + 1) - spread;
    return a;
  }
  Access access(const Program& p) {
    Access a;
    a.tensor = below(static_cast<int>(p.tensors.size()));
    for (std::size_t d = 0; d < p.tensors[a.tensor].size(); ++d) {
      Affine s;
      if (chance(45)) {
        s.coefficients[below(iterator_count)] = 1;
      } else {
        s = affine(2, 2);
        if (symbolic_ && chance(15)) s.offset.name = below(size_count);
        if (chance(15)) s.divisor = 2 + below(2);
      }
      a.subscripts.push_back(s);
    }
    return a;
  }
  Guard guard(const Program& p) {
    Guard g;
    g.all = chance(75);
    g.else_arm = chance(30);
    std::vector<int> used(p.iterators.begin(), p.iterators.end());
    for (int n = 1 + below(3); n > 0; --n) {
      Condition c;
      c.left.coefficients[used[below(static_cast<int>(used.size()))]] = 1;
      if (chance(20)) c.left.coefficients[used[below(static_cast<int>(used.size()))]] = chance(50) ? -1 : 2;
      if (c.left.only() == -1) c.left.coefficients[used[0]] = 1;
      c.less = chance(50);
      c.right = c.less ? size(0) : SizeValue{-1, below(4)};
      if (c.less && c.right.name >= 0) c.right.offset = below(3) - 2;
      g.conditions.push_back(c);
    }
    return g;
  }

  std::mt19937 random_;
  bool symbolic_;
};

}  // namespace tc::halide_bridge::affine_programs
