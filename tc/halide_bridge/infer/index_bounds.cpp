#include "tc/halide_bridge/infer/index_bounds.h"

#include <algorithm>

namespace tc::halide_bridge {

using Halide::Expr;
namespace ir = Halide::Internal;

namespace {

/// A term of a sum: coefficient * atom, the coefficient free of the environment's variables and of the unknown.
struct Term {
  Expr atom, coefficient;
};

/// terms + offset.
struct LinearForm {
  std::vector<Term> terms;
  Expr offset = constant(0);
};

IndexBounds negate(const IndexBounds& b) {
  return {b.max.defined() ? 0 - b.max : Expr(), b.min.defined() ? 0 - b.min : Expr()};
}

Expr add(const Expr& a, const Expr& b) { return a.defined() && b.defined() ? a + b : Expr(); }
Expr min_of(const Expr& a, const Expr& b) { return a.defined() && b.defined() ? Halide::min(a, b) : Expr(); }
Expr max_of(const Expr& a, const Expr& b) { return a.defined() && b.defined() ? Halide::max(a, b) : Expr(); }

class Evaluator {
 public:
  Evaluator(const Environment& environment, const std::string& unknown, const SizeFacts& facts)
      : environment_(environment), unknown_(unknown), facts_(facts) {}

  /// \p expr with equal atoms brought together.
  LinearForm linear(const Expr& expr) const {
    LinearForm form;
    collect(expr, constant(1), form);
    form.offset = facts_.simplify(form.offset);
    for (Term& term : form.terms) term.coefficient = facts_.simplify(term.coefficient);
    std::erase_if(form.terms, [](const Term& term) { return ir::is_const_zero(term.coefficient); });
    return form;
  }

  IndexBounds of(const Expr& expr) const {
    const LinearForm form = linear(expr);
    IndexBounds result{form.offset, form.offset};
    for (const Term& term : form.terms) {
      const IndexBounds b = scale(atom(term.atom), term.coefficient);
      result = {add(result.min, b.min), add(result.max, b.max)};
    }
    check_moderate(result.min);
    check_moderate(result.max);
    return result;
  }

  bool at_least(const Expr& expr, std::int64_t value) const {
    return expr.defined() && facts_.proves_less_equal(constant(value), expr);
  }

  bool varies(const Expr& expr) const {
    const auto names = variables(expr);
    return std::any_of(names.begin(), names.end(),
                       [&](const auto& n) { return n == unknown_ || environment_.count(n); });
  }

  /// All values of \p b times \p factor.
  IndexBounds scale(const IndexBounds& b, const Expr& factor) const {
    if (ir::is_const_one(factor)) return b;
    if (at_least(factor, 0)) return times(b, factor);
    if (at_least(facts_.simplify(0 - factor), 0)) return negate(times(b, facts_.simplify(0 - factor)));
    const IndexBounds t = times(b, factor);
    return {min_of(t.min, t.max), max_of(t.min, t.max)};
  }

 private:
  static IndexBounds times(const IndexBounds& b, const Expr& factor) {
    return {b.min.defined() ? b.min * factor : Expr(), b.max.defined() ? b.max * factor : Expr()};
  }

  void collect(const Expr& expr, const Expr& factor, LinearForm& form) const {
    if (!varies(expr)) {
      form.offset = form.offset + factor * expr;
    } else if (const auto* op = expr.as<ir::Add>()) {
      collect(op->a, factor, form);
      collect(op->b, factor, form);
    } else if (const auto* op = expr.as<ir::Sub>()) {
      collect(op->a, factor, form);
      collect(op->b, 0 - factor, form);
    } else if (const auto* op = expr.as<ir::Mul>(); op && !varies(op->a)) {
      collect(op->b, factor * op->a, form);
    } else if (const auto* op = expr.as<ir::Mul>(); op && !varies(op->b)) {
      collect(op->a, factor * op->b, form);
    } else {
      auto same =
          std::find_if(form.terms.begin(), form.terms.end(), [&](const Term& t) { return ir::equal(t.atom, expr); });
      if (same == form.terms.end())
        form.terms.push_back({expr, factor});
      else
        same->coefficient = same->coefficient + factor;
    }
  }

  IndexBounds atom(const Expr& expr) const {
    if (const auto* op = expr.as<ir::Variable>()) {
      auto known = environment_.find(op->name);
      return known == environment_.end() ? IndexBounds{expr, expr} : known->second;
    }
    if (const auto* op = expr.as<ir::Mul>()) return product(of(op->a), of(op->b));
    if (const auto* op = expr.as<ir::Div>()) return quotient(of(op->a), of(op->b));
    if (const auto* op = expr.as<ir::Mod>()) return remainder(op->a, of(op->b));
    if (const auto* op = expr.as<ir::Select>()) return hull(of(op->true_value), of(op->false_value));
    if (const auto* op = expr.as<ir::Min>()) {
      const IndexBounds a = of(op->a), b = of(op->b);
      return {min_of(a.min, b.min), !a.max.defined() ? b.max : !b.max.defined() ? a.max : Halide::min(a.max, b.max)};
    }
    if (const auto* op = expr.as<ir::Max>()) {
      const IndexBounds a = of(op->a), b = of(op->b);
      return {!a.min.defined() ? b.min : !b.min.defined() ? a.min : Halide::max(a.min, b.min), max_of(a.max, b.max)};
    }
    return {};
  }

  static IndexBounds hull(const IndexBounds& a, const IndexBounds& b) {
    return {min_of(a.min, b.min), max_of(a.max, b.max)};
  }

  IndexBounds product(const IndexBounds& a, const IndexBounds& b) const {
    if (!a.min.defined() || !a.max.defined() || !b.min.defined() || !b.max.defined()) return {};
    if (at_least(a.min, 0) && at_least(b.min, 0)) return {a.min * b.min, a.max * b.max};
    return hull(scale(b, a.min), scale(b, a.max));
  }

  /// The quotient of the greatest value: (n * divisor - 1) / divisor is n - 1.
  Expr last_quotient(const IndexBounds& a, const Expr& divisor) const {
    const Expr count = facts_.simplify(a.max + 1);
    const auto* product = count.as<ir::Mul>();
    if (product && at_least(a.min, 0) && ir::equal(product->a, divisor)) return product->b - 1;
    if (product && at_least(a.min, 0) && ir::equal(product->b, divisor)) return product->a - 1;
    return a.max / divisor;
  }

  /// Floor division; x/0 = 0, so a divisor that may be 0 adds the value 0.
  IndexBounds quotient(const IndexBounds& a, const IndexBounds& b) const {
    if (!at_least(b.min, 0) || !a.min.defined() || !a.max.defined()) return {};
    if (ir::equal(b.min, b.max)) return {a.min / b.min, last_quotient(a, b.min)};
    const bool positive = at_least(b.min, 1);
    const Expr least = positive ? b.min : constant(1);
    const Expr most = b.max.defined() ? b.max : constant(1);
    IndexBounds result = hull({a.min / least, a.max / least}, {a.min / most, a.max / most});
    if (!b.max.defined() || !positive) result = hull(result, {constant(0), constant(0)});
    return result;
  }

  IndexBounds remainder(const Expr& value, const IndexBounds& b) const {
    if (!at_least(b.min, 0)) return {};
    const bool positive = at_least(b.min, 1);
    const Expr most = !b.max.defined() ? Expr() : positive ? b.max - 1 : Halide::max(b.max - 1, 0);
    const IndexBounds a = of(value);
    const auto names = variables(value);
    const bool known = std::find(names.begin(), names.end(), unknown_) == names.end();
    if (!known || !a.max.defined() || !at_least(a.min, 0)) return {constant(0), most};
    return {constant(0), most.defined() ? Halide::min(a.max, most) : a.max};
  }

  const Environment& environment_;
  const std::string& unknown_;
  const SizeFacts& facts_;
};

/// The conjuncts of \p condition, min and max comparisons taken apart.
void split_conjuncts(const Expr& condition, std::vector<Expr>& conjuncts) {
  if (const auto* op = condition.as<ir::And>()) {
    split_conjuncts(op->a, conjuncts);
    split_conjuncts(op->b, conjuncts);
    return;
  }
  const auto* le = condition.as<ir::LE>();
  if (const auto* op = le ? le->b.as<ir::Min>() : nullptr) {
    split_conjuncts(le->a <= op->a, conjuncts);
    split_conjuncts(le->a <= op->b, conjuncts);
    return;
  }
  if (const auto* op = le ? le->a.as<ir::Max>() : nullptr) {
    split_conjuncts(op->a <= le->b, conjuncts);
    split_conjuncts(op->b <= le->b, conjuncts);
    return;
  }
  conjuncts.push_back(condition);
}

/// Does \p expr hold an infinity of Halide's interval arithmetic?
bool holds_no_infinity(const Expr& expr) {
  for (const std::string& name : variables(expr))
    if (name == "pos_inf" || name == "neg_inf") return false;
  return true;
}

void narrow(IndexBounds& bounds, const Expr& min, const Expr& max) {
  if (min.defined()) bounds.min = bounds.min.defined() ? Halide::max(bounds.min, min) : min;
  if (max.defined()) bounds.max = bounds.max.defined() ? Halide::min(bounds.max, max) : max;
}

/// Narrows \p bounds to values of \p unknown for which \p condition holds; false if a part of it is left over.
bool narrow_by(const Expr& condition, const std::string& unknown, const SizeFacts& facts, IndexBounds& bounds) {
  std::vector<Expr> conjuncts;
  split_conjuncts(facts.simplify(condition), conjuncts);
  bool complete = true;
  for (const Expr& part : conjuncts) {
    const Expr conjunct = facts.simplify(part);
    const bool depends = ir::expr_uses_var(conjunct, unknown);
    const ir::Interval found = depends ? ir::solve_for_inner_interval(conjunct, unknown) : ir::Interval::nothing();
    if (found.is_empty()) {
      complete = complete && ir::is_const_one(conjunct);
      continue;
    }
    const bool low = found.has_lower_bound(), high = found.has_upper_bound();
    if ((low && !holds_no_infinity(found.min)) || (high && !holds_no_infinity(found.max))) {
      complete = false;
      continue;
    }
    narrow(bounds, low ? facts.simplify(found.min) : Expr(), high ? facts.simplify(found.max) : Expr());
  }
  return complete;
}

Expr ceil_div(const Expr& a, const Expr& b, const SizeFacts& facts) {
  const Expr value = facts.simplify(a);
  return ir::is_const_zero(value) ? value : (value + b - 1) / b;
}

/// stride * unknown + rest in allowed, the stride a size expression that is not negative.
Solution solve_symbolic_stride(const Expr& stride, const IndexBounds& rest, const IndexBounds& allowed,
                               const SizeFacts& facts) {
  Solution solution;
  if (rest.min.defined()) solution.bounds.min = ceil_div(allowed.min - rest.min, stride, facts);
  if (rest.max.defined()) solution.bounds.max = facts.simplify((allowed.max - rest.max) / stride);
  solution.complete = rest.min.defined() && rest.max.defined();
  if (!facts.proves(stride >= 1)) solution.assumptions.push_back(stride >= 1);
  return solution;
}

/// The first choice in \p expr whose condition tells values of \p unknown apart; null if there is none.
class FirstChoice : public ir::IRVisitor {
 public:
  static const ir::Select* in(const Expr& expr, const std::string& unknown) {
    FirstChoice visitor(unknown);
    expr.accept(&visitor);
    return visitor.found_;
  }

 private:
  explicit FirstChoice(const std::string& unknown) : unknown_(unknown) {}
  using ir::IRVisitor::visit;
  void visit(const ir::Select* op) override {
    if (!found_ && ir::expr_uses_var(op->condition, unknown_)) found_ = op;
    ir::IRVisitor::visit(op);
  }

  const std::string& unknown_;
  const ir::Select* found_ = nullptr;
};

/// The arms of a choice by the side of a threshold on which they hold: below while unknown < threshold, above from there on.
struct Threshold {
  Expr below, above, value;
};

/// \p choice as a threshold of \p unknown; nothing if its condition is no comparison of the unknown with sizes.
std::optional<Threshold> threshold_of(const ir::Select& choice, const std::string& unknown, const Evaluator& evaluator,
                                      const SizeFacts& facts) {
  const ir::Interval yes = ir::solve_for_inner_interval(facts.simplify(choice.condition), unknown);
  const ir::Interval no = ir::solve_for_inner_interval(facts.simplify(!choice.condition), unknown);
  const bool true_below =
      !yes.has_lower_bound() && yes.has_upper_bound() && no.has_lower_bound() && !no.has_upper_bound();
  const bool false_below =
      !no.has_lower_bound() && no.has_upper_bound() && yes.has_lower_bound() && !yes.has_upper_bound();
  if (!true_below && !false_below) return std::nullopt;
  const Expr last = true_below ? yes.max : no.max, first = true_below ? no.min : yes.min;
  if (evaluator.varies(first) || !facts.proves(last + 1 == first)) return std::nullopt;
  if (true_below) return Threshold{choice.true_value, choice.false_value, facts.simplify(first)};
  return Threshold{choice.false_value, choice.true_value, facts.simplify(first)};
}

/// \p below up to the threshold and \p above from there on, where they meet there; nothing where they need not.
std::optional<Solution> joined(const Solution& below, const Solution& above, const Expr& threshold,
                               const SizeFacts& facts) {
  const bool reaches = !below.bounds.max.defined() || facts.proves(threshold - 1 <= below.bounds.max);
  const bool begins = !above.bounds.min.defined() || facts.proves(above.bounds.min <= threshold);
  if (!reaches || !begins) return std::nullopt;
  Solution result;
  if (below.bounds.min.defined()) result.bounds.min = facts.simplify(Halide::min(below.bounds.min, threshold));
  if (above.bounds.max.defined()) result.bounds.max = facts.simplify(Halide::max(above.bounds.max, threshold - 1));
  result.assumptions = below.assumptions;
  result.assumptions.insert(result.assumptions.end(), above.assumptions.begin(), above.assumptions.end());
  result.complete = below.complete && above.complete;
  return result;
}

/// solve_for() of an expression in which \p choice tells values of the unknown apart: each arm on its side.
///
///   unknown i, i < 0 ? i + 3 : i in [0, 2]    gives    i in [-3, 2]
std::optional<Solution> solve_choice(const ir::Select& choice, const std::string& unknown, const Expr& expr,
                                     const IndexBounds& allowed, const Environment& environment,
                                     const SizeFacts& facts) {
  const auto sides = threshold_of(choice, unknown, Evaluator(environment, unknown, facts), facts);
  if (!sides) return std::nullopt;
  auto on_side = [&](const Expr& arm) {
    const Expr value = facts.simplify(ir::substitute(Expr(&choice), arm, expr));
    return solve_for(unknown, value, allowed, environment, facts).value_or(Solution{});
  };
  return joined(on_side(sides->below), on_side(sides->above), sides->value, facts);
}

}  // namespace

IndexBounds bounds_over(const Expr& expr, const Environment& environment, const SizeFacts& facts) {
  const IndexBounds b = Evaluator(environment, "", facts).of(expr);
  return {b.min.defined() ? facts.simplify(b.min) : Expr(), b.max.defined() ? facts.simplify(b.max) : Expr()};
}

std::optional<Solution> solve_for(const std::string& unknown, const Expr& expr, const IndexBounds& allowed,
                                  const Environment& environment, const SizeFacts& facts) {
  const auto* variable = expr.as<ir::Variable>();
  if (variable && variable->name == unknown) return Solution{allowed, {}, true};
  if (const ir::Select* choice = FirstChoice::in(expr, unknown))
    return solve_choice(*choice, unknown, expr, allowed, environment, facts);
  const Evaluator evaluator(environment, unknown, facts);
  const LinearForm form = evaluator.linear(expr);
  const Expr* stride = nullptr;
  int uses = 0;
  IndexBounds rest{form.offset, form.offset};
  for (const Term& term : form.terms) {
    if (!ir::expr_uses_var(term.atom, unknown)) {
      const IndexBounds b = evaluator.scale(evaluator.of(term.atom), term.coefficient);
      rest = {add(rest.min, b.min), add(rest.max, b.max)};
      continue;
    }
    ++uses;
    if (term.atom.as<ir::Variable>() && !ir::is_const(term.coefficient)) stride = &term.coefficient;
  }
  if (uses == 0) return std::nullopt;
  if (uses == 1 && stride && evaluator.at_least(*stride, 0))
    return solve_symbolic_stride(*stride, rest, allowed, facts);
  const IndexBounds values = evaluator.of(expr);
  Solution solution;
  const bool low = values.min.defined() && narrow_by(allowed.min <= values.min, unknown, facts, solution.bounds);
  const bool high = values.max.defined() && narrow_by(values.max <= allowed.max, unknown, facts, solution.bounds);
  solution.complete = low && high;
  if (!solution.bounds.min.defined() && !solution.bounds.max.defined()) return std::nullopt;
  return solution;
}

}  // namespace tc::halide_bridge
