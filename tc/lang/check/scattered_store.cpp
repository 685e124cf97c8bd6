#include "tc/lang/check/scattered_store.h"

#include <algorithm>
#include <map>
#include <string>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/lang/check/scatter_target.h"
#include "tc/lang/syntax/names_in.h"
#include "tc/lang/syntax/scatter.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::lang {
namespace {

/// What no instance has as the value of its iterator.
ExprPtr lowest() { return identity_value(ReductionOp::Max, DType::Int64); }

class StoreWriter {
 public:
  StoreWriter(const Statement& statement, const std::vector<ScatteredDimension>& scattered, const Scope& scope,
              std::set<std::string>& taken)
      : statement_(statement), in_(std::get<Assignment>(statement.node)), scope_(scope), taken_(taken) {
    for (const auto& each : scattered) index_of_[each.dimension] = each.index;
    for (std::size_t d = 0; d < in_.subscripts.size(); ++d)
      if (!index_of_.count(d)) left_.push_back(std::get<Name>(in_.subscripts[d]->node).id);
    for (const auto& each : scattered) find_iterators(each.subscript);
  }

  /// \p keeps: the target takes the values of the caller's tensor first.
  std::vector<Statement> run(bool keeps) {
    if (keeps) keep_elements();
    std::vector<ExprPtr> winners;
    const auto elements = places(false), targets = places(true);
    if (iterators_.empty()) winners.push_back(find_winner(make_expr(IntLiteral{0}), elements, targets));
    ExprPtr before;
    for (const auto& iterator : iterators_) {
      ExprPtr value = make_expr(Name{iterator}, in_.target_range);
      if (before) value = make_expr(Select{before, value, lowest()}, in_.target_range);
      winners.push_back(find_winner(value, elements, targets));
      const ExprPtr won = make_expr(Access{names_.back(), targets}, in_.target_range);
      const ExprPtr is_this =
          make_expr(Binary{BinaryOp::Eq, won, make_expr(Name{iterator}, in_.target_range)}, in_.target_range);
      before = before ? make_expr(Binary{BinaryOp::And, before, is_this}, in_.target_range) : is_this;
    }
    store(winners);
    return std::move(result_);
  }

 private:
  bool is_let(const std::string& id) const {
    return std::any_of(in_.clauses.begin(), in_.clauses.end(), [&](const Clause& clause) {
      const auto* let = std::get_if<LetClause>(&clause.node);
      return let && let->name == id;
    });
  }

  /// Adds the iterators of \p subscript that are not on the left by themselves, and notes which of these it has.
  void find_iterators(const ExprPtr& subscript) {
    for_each_expr(subscript, [&](const ExprPtr& expr) {
      const auto* name = std::get_if<Name>(&expr->node);
      if (!name || scope_.is_size(name->id) || scope_.tensors.count(name->id)) return;
      if (is_let(name->id)) return find_iterators(value_of(name->id));
      if (contains(left_, name->id))
        deciding_.insert(name->id);
      else if (!contains(iterators_, name->id))
        iterators_.push_back(name->id);
    });
  }

  const ExprPtr& value_of(const std::string& let) const {
    for (const auto& clause : in_.clauses)
      if (const auto* found = std::get_if<LetClause>(&clause.node); found && found->name == let) return found->value;
    return in_.rhs;
  }

  /// The subscripts of the tensors of winners: those that are expressions, or the indices in their places, and iterators in these.
  std::vector<ExprPtr> places(bool written) const {
    std::vector<ExprPtr> result;
    for (std::size_t d = 0; d < in_.subscripts.size(); ++d) {
      const auto index = index_of_.find(d);
      if (index != index_of_.end())
        result.push_back(written ? in_.subscripts[d] : make_expr(Name{index->second}, in_.subscripts[d]->range));
      else if (deciding_.count(std::get<Name>(in_.subscripts[d]->node).id))
        result.push_back(in_.subscripts[d]);
    }
    return result;
  }

  /// All subscripts of the target, with indices in the places of expressions.
  std::vector<ExprPtr> element() const {
    auto result = in_.subscripts;
    for (const auto& [d, index] : index_of_) result[d] = make_expr(Name{index}, in_.subscripts[d]->range);
    return result;
  }

  ExprPtr target_at(const std::vector<ExprPtr>& subscripts) const {
    return make_expr(Access{in_.target, subscripts}, in_.target_range);
  }

  void add(Assignment assignment) {
    assignment.target_range = in_.target_range;
    SourceRange range = statement_.range;  // another one for each: graphs tell statements of a def by them
    range.end = std::min(range.end, range.begin + static_cast<int>(result_.size()) + 1);
    result_.push_back({std::move(assignment), range, {}});
  }

  /// Adds Y(q,d) = Y(q,d) where q in 0:E, d in 0:D.
  void keep_elements() {
    Assignment kept;
    kept.target = in_.target;
    kept.subscripts = element();
    kept.rhs = target_at(kept.subscripts);
    const auto& dims = *scope_.tensors.at(in_.target).dims;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const RangeClause range{std::get<Name>(kept.subscripts[d]->node).id, make_expr(IntLiteral{0}), dims[d]};
      kept.clauses.push_back({range, in_.target_range});
    }
    add(std::move(kept));
  }

  std::string new_name() {
    std::string name = str(in_.target, "_at");
    for (int k = 1; !taken_.insert(name).second; ++k) name = str(in_.target, "_at_", k);
    return names_.emplace_back(name);
  }

  /// Adds statements that make a tensor of the largest \p value of the instances that name an element; gives its element at \p elements.
  ExprPtr find_winner(const ExprPtr& value, const std::vector<ExprPtr>& elements, const std::vector<ExprPtr>& targets) {
    const auto exists = [&](const ExprPtr& expr) { return Clause{ExistsClause{expr}, in_.target_range}; };
    Assignment none, last;
    none.target = last.target = new_name();
    none.reduction = last.reduction = ReductionOp::Max;
    none.initialise = true;
    none.subscripts = elements;
    none.rhs = lowest();
    none.clauses = {exists(target_at(element()))};
    add(none);
    last.subscripts = targets;
    last.rhs = make_expr(Cast{DType::Int64, value, false}, in_.target_range);
    last.clauses = in_.clauses;
    last.clauses.push_back(exists(target_at(in_.subscripts)));
    last.clauses.push_back(exists(in_.rhs));
    add(last);
    return make_expr(Access{none.target, elements}, in_.target_range);
  }

  /// Adds the statement that stores the value of the instance of \p winners.
  void store(const std::vector<ExprPtr>& winners) {
    Substitution at_winner;
    for (std::size_t i = 0; i < iterators_.size(); ++i) at_winner.values[iterators_[i]] = winners[i];
    Assignment made = in_;
    made.subscripts = element();
    made.clauses.clear();
    std::set<std::string> used = names_in(in_.rhs);
    for (auto clause = in_.clauses.rbegin(); clause != in_.clauses.rend(); ++clause) {
      const auto* range = std::get_if<RangeClause>(&clause->node);
      if (range && contains(left_, range->index)) made.clauses.insert(made.clauses.begin(), *clause);
      const auto* let = std::get_if<LetClause>(&clause->node);
      if (!let || !used.count(let->name)) continue;
      used.merge(names_in(let->value));
      const LetClause at{let->name, substitute(let->value, at_winner)};
      made.clauses.insert(made.clauses.begin(), {at, clause->range});
    }
    const ExprPtr is_named = make_expr(Binary{BinaryOp::Ne, winners.front(), lowest()}, in_.target_range);
    made.rhs = make_expr(Select{is_named, substitute(in_.rhs, at_winner), target_at(made.subscripts)}, in_.rhs->range);
    result_.push_back({std::move(made), statement_.range, {}});
  }

  const Statement& statement_;
  const Assignment& in_;
  const Scope& scope_;
  std::set<std::string>& taken_;
  std::map<std::size_t, std::string> index_of_;
  std::vector<std::string> left_, iterators_, names_;
  std::set<std::string> deciding_;  ///< iterators of the left that occur in expressions on it
  std::vector<Statement> result_;
};

}  // namespace

std::vector<Statement> without_scattered_store(const Statement& statement, const Scope& scope,
                                               std::set<std::string>& taken) {
  const auto* assignment = std::get_if<Assignment>(&statement.node);
  if (!assignment || assignment->reduction || assignment->subscripts.empty() || !statement.loops.empty())
    return {statement};
  const auto target = scope.tensors.find(assignment->target);
  if (target == scope.tensors.end()) return {statement};
  const TensorState& known = target->second;
  const bool keeps = !known.assigned;
  const bool has_sizes =
      known.kind == TensorState::Kind::Return && known.dims && known.dims->size() == assignment->subscripts.size();
  if (keeps && !has_sizes) return {statement};
  Assignment reduction = *assignment;
  reduction.reduction = ReductionOp::Max;
  const auto scattered = scattered_dimensions(reduction, scope);
  return scattered.empty() ? std::vector<Statement>{statement}
                           : StoreWriter(statement, scattered, scope, taken).run(keeps);
}

}  // namespace tc::lang
