#include <algorithm>
#include <functional>

#include "tc/base/str.h"
#include "tc/lang/check/check_measure.h"
#include "tc/lang/check/check_statement.h"
#include "tc/lang/check/scatter_target.h"
#include "tc/lang/check/short_forms.h"
#include "tc/lang/check/stored_value.h"
#include "tc/lang/check/surprises.h"
#include "tc/lang/check/type_expr.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/range_check.h"

namespace tc::lang {
namespace {

/// Calls \p visit for every expression of \p assignment but the target, in the order of the text.
template <typename F>
void for_each_value(const Assignment& assignment, F&& visit) {
  visit(assignment.rhs);
  for (const auto& clause : assignment.clauses)
    std::visit(overloaded{
                   [&](const RangeClause& x) {
                     visit(x.low);
                     visit(x.high);
                   },
                   [&](const LetClause& x) { visit(x.value); },
                   [&](const ExistsClause& x) { visit(x.value); },
               },
               clause.node);
}

class AssignmentChecker {
 public:
  AssignmentChecker(const Assignment& assignment, const StatementContext& context)
      : in_(assignment), context_(context), scope_(context.scope) {}

  Assignment run() {
    out_ = in_;
    out_.reduction_iterators.clear();
    scope_.iterators.clear();
    scope_.lets.clear();
    scope_.updated.clear();
    if (!check_measure(in_, scope_)) {
      if (const auto found = scope_.tensors.find(in_.target); found != scope_.tensors.end())
        found->second.assigned = true;
      return std::move(out_);
    }
    const bool target_ok = check_target();
    collect_iterators();
    const bool in_place = target_ok && find_update_in_place();
    if (target_ok) take_carried_type();
    const auto errors = scope_.diagnostics.errors().size();
    for (std::size_t i = 0; i < out_.clauses.size(); ++i) check_clause(out_.clauses[i]);
    const bool clauses_good = scope_.diagnostics.errors().size() == errors;
    Typed value = type_expr(in_.rhs, scope_, Mode::Value);
    if (in_place && value) report_update_in_place();
    find_reductions(static_cast<bool>(value));
    if (!scattered_.empty() && scope_.tensors.count(in_.target)) value = clauses_good ? scatter(value) : Typed{};
    if (target_ok) {
      if (const ExprPtr stored = stored_value(in_, value, context_)) {
        out_.rhs = stored;
        warn_of_surprises(out_, scope_);
      }
    } else if (const auto found = scope_.tensors.find(in_.target); found != scope_.tensors.end()) {
      found->second.assigned = true;
    }
    return std::move(out_);
  }

 private:
  void report(Report report) { scope_.diagnostics.add(report); }

  // The target.
  bool check_target() {
    const bool good = check_subscripts();
    indices_known_ = good;
    const auto found = scope_.tensors.find(in_.target);
    if (found == scope_.tensors.end()) return false;
    TensorState& tensor = found->second;
    if (tensor.kind == TensorState::Kind::Param) {
      report({.code = "TC104",
              .range = in_.target_range,
              .message = str("the parameter '", in_.target, "' cannot be assigned"),
              .also = {{tensor.range, "a parameter: parameters are immutable"}},
              .help = str("assign to another tensor and return it, for example ", in_.target,
                          "_out; a tensor of the caller that is updated in place is a return with type and sizes")});
      return false;
    }
    const int rank = static_cast<int>(in_.subscripts.size());
    if (tensor.rank && *tensor.rank != rank) {
      report({.code = "TC106",
              .range = in_.target_range,
              .message = str("'", in_.target, "' has ", counted(static_cast<std::size_t>(*tensor.rank), "dimension"),
                             " but is assigned with ", counted(in_.subscripts.size(), "subscript")),
              .also = {{tensor.first_assigned.value_or(tensor.range),
                        tensor.first_assigned ? "first assigned here" : "declared here"}}});
      return false;
    }
    tensor.rank = rank;
    if (!tensor.first_assigned) tensor.first_assigned = in_.target_range;
    return good;
  }

  bool check_subscripts() {
    bool good = true;
    std::map<std::string, SourceRange> seen;
    scattered_ = scattered_dimensions(in_, scope_);
    for (const auto& [dimension, subscript, index] : scattered_)
      out_.subscripts[dimension] = make_expr(Name{index}, subscript->range);
    for (auto& subscript : out_.subscripts) {
      const auto* name = std::get_if<Name>(&subscript->node);
      if (!name) {
        report(
            {.code = "TC115",
             .range = subscript->range,
             .message = str("a subscript on the left must be an index but '", print(subscript), "' is an expression"),
             .help =
                 scope_.loop_indices.empty()
                     ? str("to store into elements, declare the sizes of '", in_.target, "' as a return, -> (float(N) ",
                           in_.target, "), or assign to all of it before; to add the values up, write ", in_.target,
                           "(...) += ...")
                     : str("elements of a loop are stored at its index; to store them elsewhere, assign to '",
                           in_.target, "' behind the loop")});
        good = false;
        continue;
      }
      const std::string taken = taken_as(scope_, name->id);
      const auto [first, is_new] = seen.emplace(name->id, subscript->range);
      if (!taken.empty())
        report({.code = "TC115",
                .range = subscript->range,
                .message = str("a subscript on the left must be an index but ", taken)});
      else if (!is_new)
        report({.code = "TC115",
                .range = subscript->range,
                .message = str("the index '", name->id, "' is used twice on the left"),
                .also = {{first->second, "first used here"}},
                .help = "write two indices and a condition, for example (i == j) ? x : 0"});
      good = good && taken.empty() && is_new;
      scope_.iterators.insert(name->id);
      subscript = make_expr(Name{name->id, Name::Kind::Iterator}, subscript->range, DType::Int64);
    }
    return good;
  }

  /// Is this `C(i) = b * C(i)` for a return C without a value, which the caller's buffer gives? Its type, where none is
  /// declared, is that of the value without it.
  bool find_update_in_place() {
    TensorState& tensor = scope_.tensors.at(in_.target);
    if (tensor.kind != TensorState::Kind::Return || tensor.assigned || in_.reduction) return false;
    const auto is_own = [&](const ExprPtr& e) {
      const auto* access = std::get_if<Access>(&e->node);
      const auto* name = std::get_if<Name>(&e->node);
      return access ? access->tensor == in_.target && equal(access->subscripts, in_.subscripts)
                    : name && in_.bare && name->id == in_.target;
    };
    if (!take_type_of_others(tensor, is_own)) return false;
    scope_.updated = in_.target;
    scope_.updated_at = out_.subscripts;
    return true;
  }

  /// Gives \p tensor, the target, where it has no type that of the value without the reads for which \p is_own holds: 1 stands
  /// in their place. False where there are none, or the others have no type of their own.
  bool take_type_of_others(TensorState& tensor, const std::function<bool(const ExprPtr&)>& is_own) {
    bool reads = false;
    const std::function<ExprPtr(const ExprPtr&)> without_own = [&](const ExprPtr& e) {
      if (is_own(e)) {
        reads = true;
        return make_expr(IntLiteral{1}, e->range);
      }
      auto parts = children(e);
      for (auto& part : parts) part = without_own(part);
      return with_children(e, parts);
    };
    const ExprPtr others = without_own(in_.rhs);
    if (!reads || tensor.type) return reads;
    Diagnostics silent = scope_.diagnostics;
    Scope alone{silent, scope_.defs, scope_.tensors, scope_.sizes, {}, {}, scope_.iterators, scope_.lets};
    const Typed rest = type_expr(others, alone, Mode::Value);
    if (!rest || rest.weak != Weak::No) return false;
    tensor.type = natural_type(rest);
    return true;
  }

  /// In a loop, a tensor has the type of its first value without the reads of earlier iterations.
  void take_carried_type() {
    TensorState& tensor = scope_.tensors.at(in_.target);
    if (tensor.assigned || tensor.type || !scope_.carried.count(in_.target)) return;
    take_type_of_others(tensor, [&](const ExprPtr& e) {
      const auto* access = std::get_if<Access>(&e->node);
      return access && access->tensor == in_.target;
    });
  }

  void report_update_in_place() {
    scope_.tensors.at(in_.target).accumulates_into_caller = true;
    report({.code = "TC130",
            .range = in_.target_range,
            .message = str("'", in_.target, "' is read before it is assigned"),
            .note = "the caller's tensor is read and updated in place",
            .help = str("assign it first, or make what is read a parameter of another name"),
            .is_error = false});
  }

  // Indices and clauses.
  bool can_be_iterator(const std::string& id) const {
    return !scope_.is_size(id) && !scope_.tensors.count(id) && !let_names_.count(id);
  }

  /// The scatter of \p value as a reduction over the elements: the target's subscripts are given their types and stand in
  /// `exists`, so that they are checked.
  Typed scatter(const Typed& value) {
    std::vector<ExprPtr> subscripts = out_.subscripts;
    bool good = static_cast<bool>(value);
    for (const auto& [dimension, subscript, index] : scattered_) {
      subscripts[dimension] = type_index(subscript, scope_, str("a subscript of '", in_.target, "'"));
      good = good && subscripts[dimension];
    }
    if (!good) return {};
    const ExprPtr element = make_expr(Access{in_.target, subscripts, false}, in_.target_range, DType::Float32);
    out_.clauses.push_back({ExistsClause{element}, in_.target_range});
    return value_where_scattered(in_, value, subscripts, out_.subscripts, context_);
  }

  /// Indices are the names in subscripts and those bound by ranges.
  void collect_iterators() {
    for (const auto& clause : in_.clauses)
      if (const auto* let = std::get_if<LetClause>(&clause.node)) let_names_.insert(let->name);
    for (const auto& scattered : scattered_)
      for_each_expr(scattered.subscript, [&](const ExprPtr& e) {
        if (const auto* name = std::get_if<Name>(&e->node)) add_iterator(name->id);
      });
    for (const auto& clause : in_.clauses)
      if (const auto* range = std::get_if<RangeClause>(&clause.node)) add_iterator(range->index);
    for_each_value(in_, [&](const ExprPtr& value) {
      for_each_expr(value, [&](const ExprPtr& expr) {
        const auto* access = std::get_if<Access>(&expr->node);
        if (!access || !scope_.tensors.count(access->tensor)) return;
        for (const auto& subscript : access->subscripts)
          for_each_expr(subscript, [&](const ExprPtr& e) {
            if (const auto* name = std::get_if<Name>(&e->node)) add_iterator(name->id);
          });
      });
    });
  }

  void add_iterator(const std::string& id) {
    if (can_be_iterator(id)) scope_.iterators.insert(id);
  }

  void check_clause(Clause& clause) {
    std::visit(overloaded{
                   [&](RangeClause& x) { check_range(x, clause.range); },
                   [&](LetClause& x) { check_let(x, clause.range); },
                   [&](ExistsClause& x) { check_exists(x); },
               },
               clause.node);
  }

  void check_exists(ExistsClause& clause) {
    if (auto range = as_range_check(clause.value)) {
      const std::string what = str("a bound of '", range->index, "'");
      if (!type_index(make_expr(Name{range->index}, clause.value->range), scope_, what)) return;
      for (ExprPtr* bound : {&range->low, &range->high})
        if (const ExprPtr typed = type_index(*bound, scope_, what)) *bound = typed;
      clause.value = make_range_check(*range, clause.value->range);
      return;
    }
    if (const auto* own = std::get_if<Access>(&clause.value->node);
        own && own->tensor == in_.target && in_.reduction && own->subscripts.size() == in_.subscripts.size()) {
      Access access = *own;
      for (auto& subscript : access.subscripts)
        if (const auto typed = type_index(subscript, scope_, str("a subscript of '", in_.target, "'")))
          subscript = typed;
      clause.value = make_expr(access, clause.value->range, DType::Float32);
      return;
    }
    const Typed value = type_expr(clause.value, scope_, Mode::Value);
    if (const ExprPtr settled = value ? settle(value, natural_type(value), scope_) : nullptr) clause.value = settled;
  }

  void check_range(RangeClause& clause, SourceRange range) {
    const SourceRange name{range.begin, range.begin + static_cast<int>(clause.index.size())};
    if (scope_.is_size(clause.index) || scope_.tensors.count(clause.index))
      report({.code = "TC102",
              .range = name,
              .message = str(taken_as(scope_, clause.index), " and cannot be used as an index"),
              .help = "choose another name for the index"});
    else if (let_names_.count(clause.index) || !ranged_.insert(clause.index).second)
      report({.code = "TC102", .range = name, .message = str("'", clause.index, "' is bound twice in one 'where'")});
    const std::string what = str("a bound of '", clause.index, "'");
    for (ExprPtr* bound : {&clause.low, &clause.high})
      if (const ExprPtr typed = type_index(with_parameter_values(*bound, scope_), scope_, what)) *bound = typed;
    if (in_.reduction && differs_by_instance(clause)) return;
    for (ExprPtr* bound : {&clause.low, &clause.high})
      if ((*bound)->type && check_size_expr(*bound, scope_, what)) *bound = without_short_forms(*bound);
  }

  void check_let(LetClause& clause, SourceRange range) {
    const SourceRange name{range.begin, range.begin + static_cast<int>(clause.name.size())};
    const bool duplicate = scope_.lets.count(clause.name) > 0;
    const std::string taken = taken_as(scope_, clause.name);
    if (!taken.empty())
      report({.code = "TC102",
              .range = name,
              .message = taken + " and cannot be bound by 'where'",
              .help = "choose another name"});
    else if (duplicate || scope_.iterators.count(clause.name))
      report({.code = "TC102",
              .range = name,
              .message = duplicate ? str("'", clause.name, "' is bound twice in one 'where'")
                                   : str("'", clause.name, "' is an index and cannot be bound to a value")});
    const Typed value = type_expr(clause.value, scope_, Mode::Value);
    LetState state;
    if (value) {
      state.weak = value.weak;
      state.value = value.expr;
      const DType type = value.weak == Weak::Float ? DType::Float64 : natural_type(value);
      if (const ExprPtr settled = settle(value, type, scope_)) {
        clause.value = settled;
        state.type = type;
        state.over_sizes = is_integer(type) && is_size_expr(settled, scope_);
      }
    }
    if (taken.empty()) scope_.lets[clause.name] = state;
  }

  /// The indices that are not on the left; they need a reduction.
  /// \p complains: report those of a statement without an operator. An error in the value may be their cause.
  void find_reductions(bool complains) {
    const auto left = left_iterators(out_);
    std::map<std::string, SourceRange> places;
    const auto add = [&](const std::string& id, SourceRange range) {
      if (!scope_.iterators.count(id) || std::find(left.begin(), left.end(), id) != left.end()) return;
      if (places.emplace(id, range).second) out_.reduction_iterators.push_back(id);
    };
    const auto add_names = [&](const ExprPtr& value) {
      for_each_expr(value, [&](const ExprPtr& expr) {
        if (const auto* name = std::get_if<Name>(&expr->node)) add(name->id, expr->range);
      });
    };
    for (const auto& scattered : scattered_) add_names(scattered.subscript);
    add_names(in_.rhs);
    for (const auto& clause : in_.clauses) {
      if (const auto* range = std::get_if<RangeClause>(&clause.node)) {
        add(range->index, clause.range);
        for (const ExprPtr& bound : {range->low, range->high}) add_names(bound);
      }
      if (const auto* let = std::get_if<LetClause>(&clause.node)) add_names(let->value);
      if (const auto* exists = std::get_if<ExistsClause>(&clause.node)) add_names(exists->value);
    }
    if (in_.reduction || !indices_known_ || !complains) return;
    for (const auto& id : out_.reduction_iterators)
      if (!scope_.loop_indices.count(id)) report_reduction(id, places.at(id));
  }

  void report_reduction(const std::string& id, SourceRange range) {
    auto names = left_iterators(in_);
    names.insert(names.end(), scope_.sizes.begin(), scope_.sizes.end());
    const auto readable = scope_.readable_tensors();
    names.insert(names.end(), readable.begin(), readable.end());
    const std::string near = id.size() > 1 ? closest(id, names) : "";
    std::string spelled = in_.target + (in_.bare ? "" : "(");
    for (std::size_t i = 0; i < in_.subscripts.size(); ++i) spelled += (i ? "," : "") + print(in_.subscripts[i]);
    report({.code = "TC105",
            .range = range,
            .message = str("the index '", id, "' is not on the left, and '=' does not reduce over it"),
            .also = {{in_.target_range, str("'", in_.target, "' is assigned with '='")}},
            .help = near.empty() ? str("write a reduction: ", spelled, in_.bare ? "" : ")", " +=! ...")
                                 : str("did you mean '", near, "'?")});
  }

  const Assignment& in_;
  const StatementContext& context_;
  Scope& scope_;
  Assignment out_;
  std::vector<ScatteredDimension> scattered_;
  std::set<std::string> let_names_, ranged_;
  bool indices_known_ = false;  ///< the left-hand subscripts are all good
};

}  // namespace

Assignment check_assignment(const Assignment& assignment, const StatementContext& context) {
  return AssignmentChecker(assignment, context).run();
}

}  // namespace tc::lang
