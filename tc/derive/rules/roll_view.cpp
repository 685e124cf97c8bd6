#include "tc/derive/rules/roll_view.h"

#include <algorithm>
#include <optional>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/proof/comparison.h"
#include "tc/derive/rules/moved_temporaries.h"
#include "tc/derive/rules/recompute.h"
#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

using lang::ExprPtr;

namespace {

bool reads_any(const ExprPtr& expr, const Case& part, const std::vector<std::string>& tensors) {
  const auto used = reads_in(expr);
  return std::any_of(used.begin(), used.end(), [&](auto k) { return contains(tensors, part.reads[k].tensor); });
}

bool is_box(const Program& program, const Scope& scope) {
  return scope.cases.size() == 1 && box_set(*program.context, iterator_box(scope)).is_equal(scope.cases.front().domain);
}

/// A reduction over one iterator, of all instances of a box.
bool is_over_one(const Program& program, const Scope& scope) {
  return scope.op && scope.keeps_values() && is_float(scope.type) && !scope.loop &&
         scope.dimensions() == scope.left() + 1 && is_box(program, scope);
}

/// Is \p expr `m == -inf ? 0 : m`, or a like, of read 0?
bool is_guarded(const ExprPtr& expr, DType type, double infinite) {
  const auto* select = std::get_if<lang::Select>(&expr->node);
  if (!select) return false;
  const auto* condition = std::get_if<lang::Binary>(&select->condition->node);
  if (!condition) return false;
  const bool turned = read_number(condition->right).has_value();
  const auto &read = turned ? condition->right : condition->left, &bound = turned ? condition->left : condition->right;
  if (!read_number(read) || literal_value(bound, type) != infinite) return false;
  using Op = lang::BinaryOp;
  if (condition->op != Op::Eq && condition->op != Op::Ne) return false;
  const auto &zero = condition->op == Op::Eq ? select->then_value : select->else_value,
             &same = condition->op == Op::Eq ? select->else_value : select->then_value;
  return literal_value(zero, type) == 0.0 && read_number(same).has_value();
}

/// Looks at one maximum.
class RollViewer {
 public:
  /// \p takes_all: readers that do not roll are refused; otherwise they are passed over.
  RollViewer(const Program& program, const std::string& maximum, bool takes_all)
      : program_(program),
        maximum_(*program.find(maximum)),
        takes_all_(takes_all),
        part_(maximum_.cases.front()),
        references_(references_to(program, maximum)) {}

  RollView run() {
    view_.maximum = maximum_.tensor;
    find_dependent();
    MovedTemporaries moved(program_, summed_range(maximum_), view_);
    for (const auto& read : part_.reads) moved.add(read, maximum_, maximum_.left());
    for (const auto& scope : program_.scopes)
      if (scope.get() != &maximum_ && reads_reference(*scope) && !contains(references_, scope->tensor)) look_at(*scope);
    if (view_.sums.empty())
      throw Refusal{!why_.empty() ? why_ : str("nothing sums exp(c * (s - ", maximum_.tensor, "))")};
    for (const auto& sum : view_.sums) {
      const auto scope = program_.find(sum.tensor);
      for (const auto& read : scope->cases.front().reads)
        if (!contains(references_, read.tensor)) moved.add(read, *scope, scope->left());
    }
    if (takes_all_) moved.check_readers();
    moved.sort();
    return std::move(view_);
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) { throw Refusal{why}; }

  bool reads_reference(const Scope& scope) const {
    return std::any_of(scope.cases.begin(), scope.cases.end(), [&](const Case& part) {
      return std::any_of(part.reads.begin(), part.reads.end(),
                         [&](const Read& read) { return contains(references_, read.tensor); });
    });
  }

  void find_dependent() {
    for (const auto& scope : program_.scopes)
      for (const auto& part : scope->cases)
        for (const auto& read : part.reads)
          if (read.tensor == maximum_.tensor || contains(references_, read.tensor) || contains(dependent_, read.tensor))
            if (!contains(references_, scope->tensor)) dependent_.push_back(scope->tensor);
  }

  /// A reader of the maximum: a sum that rolls, or a statement of rows alone.
  void look_at(const Scope& scope) {
    std::string why;
    try {
      return view_.sums.push_back(sum_of(scope));
    } catch (const Refusal& refusal) {
      why = refusal.why;
    }
    if (why_.empty()) why_ = why;
    if (!takes_all_) return;
    for (const auto& part : scope.cases)
      for (const auto& read : part.reads)
        for (const auto& own : part_.reads)
          if (read.tensor == own.tensor && !read.tensor.empty()) refuse(why);
  }

  RolledSum sum_of(const Scope& scope) {
    const auto& name = scope.tensor;
    if (scope.op != ReductionOp::Sum) refuse(str("'", name, "' reads '", maximum_.tensor, "' and is no sum"));
    if (!is_over_one(program_, scope)) refuse(str("'", name, "' is no sum over one iterator, of all of its values"));
    if (scope.type != maximum_.type) refuse(str("'", name, "' has another type than '", maximum_.tensor, "'"));
    if (!(summed_range(scope) == summed_range(maximum_)))
      refuse(str("'", name, "' sums over another range than '", maximum_.tensor, "'"));
    const auto& part = scope.cases.front();
    RolledSum sum{.tensor = name, .row = part.reads.front().at};
    const auto body = quotient_of(part.body);
    const ExprPtr* exponential = nullptr;
    for (const auto& factor : body.factors) {
      if (!reads_any(factor, part, references_)) continue;
      const auto rounding = rounded_value(factor);
      const auto& value = rounding ? rounding->value : factor;
      const auto* call = std::get_if<lang::Call>(&value->node);
      if (!call || call->function != "exp" || exponential)
        refuse(str("'", name, "' reads '", maximum_.tensor, "' otherwise than as one factor exp(c * (s - ",
                   maximum_.tensor, "))"));
      exponential = &factor;
      if (rounding) sum.rounding = rounding->type;
    }
    for (const auto& divisor : body.divisors)
      if (reads_any(divisor, part, references_)) refuse(str("'", name, "' is divided by '", maximum_.tensor, "'"));
    if (!exponential) refuse(str("'", name, "' has no factor exp(c * (s - ", maximum_.tensor, "))"));
    const auto rounding = rounded_value(*exponential);
    look_at_exponent(scope, lang::children(rounding ? rounding->value : *exponential)[0], sum);
    for (const auto& factor : body.factors)
      if (&factor != exponential) (depends_on_j(factor, scope) ? sum.inside : sum.outside).push_back(factor);
    for (const auto& divisor : body.divisors)
      (depends_on_j(divisor, scope) ? sum.inside_divisors : sum.outside_divisors).push_back(divisor);
    for (const auto* all : {&sum.inside, &sum.inside_divisors})
      for (const auto& each : *all)
        if (reads_any(each, part, dependent_))
          refuse(str("the terms of '", name, "' need sums that are known behind the loop only"));
    return sum;
  }

  static bool depends_on_j(const ExprPtr& expr, const Scope& scope) {
    const auto used = reads_in(expr);
    return std::any_of(used.begin(), used.end(),
                       [&](auto k) { return depends(scope.cases.front().reads[k].at, scope.left()); });
  }

  /// The exponent of \p scope is c * (s - m): fills in the reference, its rows and c.
  void look_at_exponent(const Scope& scope, const ExprPtr& exponent, RolledSum& sum) {
    const auto& part = scope.cases.front();
    std::optional<std::size_t> reference;
    double factor = 0;
    for (const auto& term : linear_terms(exponent)) {
      const bool holds = std::any_of(term.factors.begin(), term.factors.end(),
                                     [&](const auto& each) { return reads_any(each, part, references_); });
      if (!holds) continue;
      const auto read = term.factors.size() == 1 ? read_number(term.factors[0]) : std::nullopt;
      if (!read || (reference && !same_element(part.reads[*reference], part.reads[*read])))
        refuse(str("'", maximum_.tensor, "' is no term with a number as its factor in the exponent of '", scope.tensor,
                   "'"));
      reference = read;
      factor -= term.coefficient;
    }
    const auto& read = part.reads[*reference];
    if (depends(read.at, scope.left()))
      refuse(str("'", scope.tensor, "' sums over an index of '", maximum_.tensor,
                 "', not over the iterator of the maximum"));
    const auto link = read.at.flat_range_product(projection(*program_.context, scope.dimensions(), {scope.left()}));
    const FlatCase own{part.domain, read.at, part.body, part.reads, {}},
        other{part_.domain, read.at, part_.body, part_.reads, {}};
    const Side here{&own, part.domain.identity()}, there{&other, link.as_map().intersect_domain(part.domain)};
    const auto name = lang::make_expr(lang::Name{read_name(*reference)});
    if (!same_sums(here, {{1, exponent}, {factor, name}}, there, {{factor, part_.body}}))
      refuse(str("the exponent of '", scope.tensor, "' is not c * (s - ", maximum_.tensor, "), where s is what '",
                 maximum_.tensor, "' is the ", maximum_.op == ReductionOp::Max ? "maximum" : "minimum", " of"));
    if (!(maximum_.op == ReductionOp::Max ? factor > 0 : factor < 0))
      refuse(str("the exponent of '", scope.tensor, "' has no bound, because its factor has the wrong sign"));
    if (!view_.sums.empty() && view_.factor != factor)
      refuse(str("'", scope.tensor, "' has another factor in its exponent than '", view_.sums.front().tensor, "'"));
    view_.factor = factor;
    sum.reference = read.tensor;
    sum.row = read.at;
  }

  static bool same_element(const Read& a, const Read& b) {
    return a.tensor == b.tensor && a.at.as_map().is_equal(b.at.as_map());
  }

  const Program& program_;
  const Scope& maximum_;
  bool takes_all_;
  const Case& part_;
  std::vector<std::string> references_;
  std::vector<std::string> dependent_;  ///< tensors that depend on the maximum, references aside
  RollView view_;
  std::string why_;  ///< why the first reader is no sum that rolls
};

}  // namespace

lang::IntegerRange RollView::range(const Program& program) const {
  return summed_range(*program.find(has_maximum() ? maximum : sums.front().tensor));
}

int RollView::position(const std::string& tensor) const {
  const auto found = std::find(moved.begin(), moved.end(), tensor);
  return found == moved.end() ? -1 : positions[static_cast<std::size_t>(found - moved.begin())];
}

Quotient quotient_of(const ExprPtr& expr) {
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary || (binary->op != lang::BinaryOp::Mul && binary->op != lang::BinaryOp::Div)) return {{expr}, {}};
  auto result = quotient_of(binary->left);
  auto right = quotient_of(binary->right);
  if (binary->op == lang::BinaryOp::Div) std::swap(right.factors, right.divisors);
  result.factors.insert(result.factors.end(), right.factors.begin(), right.factors.end());
  result.divisors.insert(result.divisors.end(), right.divisors.begin(), right.divisors.end());
  return result;
}

std::vector<std::string> row_maxima(const Program& program) {
  std::vector<std::string> result;
  for (const auto& scope : program.scopes)
    if ((scope->op == ReductionOp::Max || scope->op == ReductionOp::Min) && is_over_one(program, *scope))
      result.push_back(scope->tensor);
  return result;
}

std::vector<std::string> references_to(const Program& program, const std::string& maximum) {
  std::vector<std::string> result{maximum};
  const double infinite = neutral(*program.find(maximum)->op);
  for (const auto& scope : program.scopes) {
    if (scope->op || !scope->keeps_values() || scope->cases.size() != 1 || program.is_output(scope->tensor)) continue;
    const auto& part = scope->cases.front();
    const auto identity = projection(*program.context, scope->dimensions(), run_of(0, scope->left()));
    const bool of_maximum = std::all_of(part.reads.begin(), part.reads.end(), [&](const Read& read) {
      return read.tensor == maximum && read.at.as_map().is_equal(identity.as_map());
    });
    if (of_maximum && is_guarded(part.body, scope->type, infinite) && is_box(program, *scope))
      result.push_back(scope->tensor);
  }
  return result;
}

RollView roll_view(const Program& program) {
  std::string why = "there is no maximum over an iterator";
  bool first = true;
  for (const auto& maximum : row_maxima(program)) try {
      return RollViewer(program, maximum, true).run();
    } catch (const Refusal& refusal) {
      if (first) why = refusal.why;
      first = false;
    }
  throw Refusal{why};
}

RollView view_of_sums(const Program& program, const std::vector<std::string>& sums) {
  RollView result;
  for (const auto& sum : sums) result.sums.push_back({.tensor = sum});
  MovedTemporaries moved(program, result.range(program), result, wide_temporaries(program));
  for (const auto& sum : sums) {
    const auto scope = program.find(sum);
    for (const auto& part : scope->cases)
      for (const auto& read : part.reads) moved.add(read, *scope, scope->left());
  }
  moved.check_readers();
  moved.sort();
  return result;
}

bool is_sum_over_one(const Program& program, const Scope& scope) {
  return scope.op == ReductionOp::Sum && is_over_one(program, scope);
}

std::vector<std::string> rolled_with_maximum(const Program& program) {
  for (const auto& maximum : row_maxima(program)) try {
      const auto view = RollViewer(program, maximum, false).run();
      std::vector<std::string> result{maximum};
      for (const auto& sum : view.sums) result.push_back(sum.tensor);
      return result;
    } catch (const Refusal&) {
      continue;
    }
  return {};
}

}  // namespace tc::derive
