#include "tc/autodiff/access/solve_accesses.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "tc/autodiff/terms/affine.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// x with a * x = 1 modulo \p modulus, which are coprime; 0 modulo 1.
std::int64_t inverse_modulo(std::int64_t a, std::int64_t modulus) {
  for (std::int64_t x = 1; x < modulus; ++x)
    if ((((a % modulus) + modulus) % modulus) * x % modulus == 1) return x;
  return 0;
}

Affine substituted(const Affine& form, const std::string& name, const Affine& value) {
  return read_affine(replace_names(to_expr(form), {{name, to_expr(value)}}));
}

/// a == b as a comparison of what is positive in a - b with what is negative.
ExprPtr equality(const Affine& form) {
  Affine left, right;
  for (const auto* part : form.in_order())
    (part->coefficient > 0 ? left : right).add(part->expr, std::abs(part->coefficient));
  (form.constant > 0 ? left : right).constant = std::abs(form.constant);
  return binary(BinaryOp::Eq, to_expr(left), to_expr(right));
}

class Solver {
 public:
  Solver(const std::vector<IteratorRange>& iterators, const std::vector<ExprPtr>& subscripts);
  Solved run();

 private:
  struct Unknown {
    std::string name;
    std::int64_t coefficient = 0;
  };
  using Equation = Affine;  ///< is 0

  std::optional<Affine> without_divisions(const ExprPtr& subscript);
  std::optional<Affine> of_division(const Binary& division);
  std::vector<Unknown> unknowns(const Equation& equation) const;
  bool elsewhere(const Equation& equation, const std::string& name) const;
  std::size_t place(const std::string& name) const;

  bool step();
  bool solve_decided();
  bool solve_shared();
  bool solve_alone();
  void divide(Equation& equation, const std::vector<Unknown>& all);
  void solve(std::size_t at, const Unknown& unknown);
  void solve_residues(std::size_t at, const Unknown& strided, const Unknown& offset);
  void define(const std::string& name, const Affine& value);
  void leave_to_reduction(const std::string& name);
  IteratorRange range_of(const std::string& name) const;

  std::vector<std::string> order_;  ///< of all unknowns, those of the left first
  std::map<std::string, IteratorRange> ranges_;
  std::map<std::string, Affine> dividends_;  ///< of made quotients: the range is theirs, divided
  std::map<std::string, std::int64_t> divisors_;
  std::map<std::string, std::pair<std::string, std::string>> divisions_;
  std::set<std::string> open_;
  std::vector<Equation> equations_;
  std::map<std::string, Affine> values_;
  Solved solved_;
};

Solver::Solver(const std::vector<IteratorRange>& iterators, const std::vector<ExprPtr>& subscripts) {
  for (const IteratorRange& range : iterators) {
    order_.push_back(range.name);
    ranges_.emplace(range.name, range);
    open_.insert(range.name);
  }
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    auto form = without_divisions(subscripts[d]);
    if (!form) {
      solved_.by_guard.insert(d);
      continue;
    }
    form->add(index_name(coordinate_name(d)), -1);
    equations_.push_back(*form);
  }
}

/// \p subscript with quotients and remainders by constants as unknowns of their own; nothing if it is not affine then.
std::optional<Affine> Solver::without_divisions(const ExprPtr& subscript) {
  const Affine form = read_affine(subscript);
  Affine result;
  result.constant = form.constant;
  for (const auto* part : form.in_order()) {
    const bool name = std::holds_alternative<Name>(part->expr->node);
    if (name || !mentions_any(part->expr, open_)) {
      if (!tensors_in(part->expr).empty()) return std::nullopt;
      result.add(part->expr, part->coefficient);
      continue;
    }
    const auto* division = std::get_if<Binary>(&part->expr->node);
    const auto inner = division ? of_division(*division) : std::nullopt;
    if (!inner) return std::nullopt;
    result.add(*inner, part->coefficient);
  }
  return result;
}

/// e / c and e % c as q and m of e = c * q + m, m in 0:c.
std::optional<Affine> Solver::of_division(const Binary& division) {
  const auto divisor = constant_value(division.right);
  if (!divisor || *divisor < 1 || (division.op != BinaryOp::Div && division.op != BinaryOp::Mod)) return std::nullopt;
  const auto dividend = without_divisions(division.left);
  if (!dividend) return std::nullopt;
  const auto c = static_cast<std::int64_t>(*divisor);
  auto [known, added] = divisions_.try_emplace(str(print(to_expr(*dividend)), " / ", c));
  if (added) {
    known->second = {str("#", order_.size()), str("#", order_.size() + 1)};
    const auto& [q, m] = known->second;
    for (const auto& name : {q, m}) {
      order_.push_back(name);
      open_.insert(name);
    }
    ranges_.emplace(m, IteratorRange{m, integer(0), integer(c)});
    dividends_.emplace(q, *dividend);
    divisors_.emplace(q, c);
    Equation equation = *dividend;
    equation.add(index_name(q), -c);
    equation.add(index_name(m), -1);
    equations_.push_back(equation);
  }
  Affine result;
  result.add(index_name(division.op == BinaryOp::Div ? known->second.first : known->second.second), 1);
  return result;
}

std::vector<Solver::Unknown> Solver::unknowns(const Equation& equation) const {
  std::vector<Unknown> all;
  for (const auto& name : order_)
    if (const std::int64_t c = equation.coefficient(name); c != 0 && open_.count(name)) all.push_back({name, c});
  return all;
}

bool Solver::elsewhere(const Equation& equation, const std::string& name) const {
  return std::any_of(equations_.begin(), equations_.end(),
                     [&](const Equation& other) { return &other != &equation && other.coefficient(name) != 0; });
}

std::size_t Solver::place(const std::string& name) const {
  return std::find(order_.begin(), order_.end(), name) - order_.begin();
}

/// The range an unknown has, that of a quotient from its dividend's; without bounds where there are none.
IteratorRange Solver::range_of(const std::string& name) const {
  if (auto found = ranges_.find(name); found != ranges_.end()) return found->second;
  const Affine& dividend = dividends_.at(name);
  Affine low, high;
  low.constant = high.constant = dividend.constant;
  for (const auto& [text, part] : dividend.parts) {
    const bool bounded = std::find(order_.begin(), order_.end(), text) != order_.end();
    if (!bounded) {
      low.add(part.expr, part.coefficient);
      high.add(part.expr, part.coefficient);
      continue;
    }
    const IteratorRange range = range_of(text);
    Affine first = read_affine(range.low), last = read_affine(range.high);
    last.constant -= 1;
    low.add(part.coefficient > 0 ? first : last, part.coefficient);
    high.add(part.coefficient > 0 ? last : first, part.coefficient);
  }
  Affine end = read_affine(quotient(high, divisors_.at(name)));
  end.constant += 1;
  return {name, quotient(low, divisors_.at(name)), to_expr(end)};
}

void Solver::define(const std::string& name, const Affine& value) {
  for (Equation& equation : equations_) equation = substituted(equation, name, value);
  for (auto& [solved, known] : values_) known = substituted(known, name, value);
  values_[name] = value;
  open_.erase(name);
}

void Solver::leave_to_reduction(const std::string& name) { open_.erase(name); }

/// Solves equation \p at for \p unknown, whose coefficient is 1 or -1.
void Solver::solve(std::size_t at, const Unknown& unknown) {
  Affine rest = equations_[at];
  rest.add(index_name(unknown.name), -unknown.coefficient);
  Affine value;
  value.add(rest, -unknown.coefficient);
  equations_.erase(equations_.begin() + static_cast<std::ptrdiff_t>(at));
  define(unknown.name, value);
}

/// s*h + d*k = x, s and d coprime: k := s*q + (d^-1 * x) % s, h := (x - d * ((d^-1 * x) % s)) / s - d*q.
void Solver::solve_residues(std::size_t at, const Unknown& strided, const Unknown& offset) {
  const std::int64_t sign = strided.coefficient > 0 ? 1 : -1;
  const std::int64_t s = std::abs(strided.coefficient), d = sign * offset.coefficient;
  Affine rest = equations_[at], x;
  rest.add(index_name(strided.name), -strided.coefficient);
  rest.add(index_name(offset.name), -offset.coefficient);
  x.add(rest, -sign);
  const std::string q = str("#", order_.size());
  const IteratorRange range = range_of(offset.name);
  Affine end = read_affine(range.high);
  end.constant += s - 1;
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(place(offset.name)), q);
  ranges_.emplace(q, IteratorRange{q, quotient(read_affine(range.low), s), quotient(end, s)});
  Affine scaled, k, h = x;
  scaled.add(x, d == 1 ? 1 : inverse_modulo(d, s));
  const Affine residue = read_affine(remainder(scaled, s));
  if (d != 1) h.add(residue, -d);
  h = read_affine(quotient(h, s));
  h.add(index_name(q), -d);
  k = residue;
  k.add(index_name(q), s);
  equations_.erase(equations_.begin() + static_cast<std::ptrdiff_t>(at));
  define(offset.name, k);
  define(strided.name, h);
}

/// The common factor of all coefficients goes out: x % g == 0 is a guard.
void Solver::divide(Equation& equation, const std::vector<Unknown>& all) {
  std::int64_t g = 0;
  Affine rest = equation;
  for (const Unknown& unknown : all) {
    g = std::gcd(g, unknown.coefficient);
    rest.add(index_name(unknown.name), -unknown.coefficient);
  }
  if (g == 1) return;
  Affine turned;
  turned.add(rest, -1);
  solved_.guards.push_back(binary(BinaryOp::Eq, remainder(turned, g), integer(0)));
  Affine divided;
  divided.add(read_affine(quotient(turned, g)), -1);
  for (const Unknown& unknown : all) divided.add(index_name(unknown.name), unknown.coefficient / g);
  equation = divided;
}

/// Equations without unknowns become guards, those with one are solved for it.
bool Solver::solve_decided() {
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    const auto all = unknowns(equations_[i]);
    if (all.empty()) {
      if (!equations_[i].parts.empty() || equations_[i].constant != 0)
        solved_.guards.push_back(equality(equations_[i]));
      equations_.erase(equations_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    divide(equations_[i], all);
    if (all.size() == 1) {
      solve(i, unknowns(equations_[i]).front());
      return true;
    }
  }
  return false;
}

/// An equation whose unknowns stand in others too: for one of them with coefficient 1, that the others hold.
bool Solver::solve_shared() {
  for (std::size_t i = 0; i < equations_.size(); ++i)
    for (const Unknown& unknown : unknowns(equations_[i]))
      if (std::abs(unknown.coefficient) == 1 && elsewhere(equations_[i], unknown.name)) {
        solve(i, unknown);
        return true;
      }
  return false;
}

/// The first equation, whose unknowns are in no other one or have other factors there.
bool Solver::solve_alone() {
  if (equations_.empty()) return false;
  const auto all = unknowns(equations_.front());
  const auto strided = std::max_element(all.begin(), all.end(), [](const Unknown& a, const Unknown& b) {
    return std::abs(a.coefficient) < std::abs(b.coefficient);
  });
  const auto unit = std::find_if(all.begin(), all.end(), [](const Unknown& u) { return std::abs(u.coefficient) == 1; });
  const bool unit_first = unit != all.end() && place(unit->name) < place(strided->name);
  if (unit != all.end() && (std::abs(strided->coefficient) == 1 || unit_first)) {
    solve(0, *unit);
    return true;
  }
  const auto offset = std::find_if(all.rbegin(), all.rend(), [&](const Unknown& u) {
    return u.name != strided->name && std::gcd(u.coefficient, strided->coefficient) == 1;
  });
  if (offset == all.rend()) {
    leave_to_reduction(all.back().name);
  } else {
    solve_residues(0, *strided, *offset);
  }
  return true;
}

bool Solver::step() { return solve_decided() || solve_shared() || solve_alone(); }

Solved Solver::run() {
  while (step()) continue;
  for (const auto& name : order_) {
    const auto value = values_.find(name);
    if (value == values_.end()) {
      solved_.reduction.push_back(range_of(name));
      continue;
    }
    const ExprPtr expr = to_expr(value->second);
    if (!is_made_name(name)) solved_.values[name] = expr;
    if (auto range = ranges_.find(name); range != ranges_.end()) {
      solved_.guards.push_back(binary(BinaryOp::Ge, expr, range->second.low));
      solved_.guards.push_back(binary(BinaryOp::Lt, expr, range->second.high));
    }
  }
  std::map<std::string, ExprPtr> made;
  for (const auto& [name, value] : values_) made[name] = to_expr(value);
  for (ExprPtr& guard : solved_.guards) guard = normalised(replace_names(guard, made));
  return solved_;
}

}  // namespace

std::string coordinate_name(std::size_t d) { return str("@", d); }

bool is_made_name(const std::string& name) { return name.starts_with('#'); }

Solved solve_accesses(const std::vector<IteratorRange>& iterators, const std::vector<ExprPtr>& subscripts) {
  return Solver(iterators, subscripts).run();
}

}  // namespace tc::autodiff
