#include "tc/layout/rewrite/rewrite_statement.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::layout {

using namespace lang;

namespace {

class StatementRewriter {
 public:
  StatementRewriter(const SizedStatement& statement, const Reindexing& reindexing, const PlacedTensors& tensors)
      : old_(statement.assignment), reindexing_(reindexing), tensors_(tensors), target_(tensors.at(old_.target)) {}

  Statement run();

 private:
  ExprPtr rewritten(const ExprPtr& expr);
  ExprPtr rewritten(const Access& access);
  Index read(const ExprPtr& subscript) {
    return read_index(
        subscript, {reindexing_.values, reindexing_.ranges, [this](const ExprPtr& part) { return rewritten(part); }});
  }
  void check_data(const Access& access, const Index& index, const PlacedTensor& tensor, std::size_t dim);
  void look_at_bounds(const Access& access, const std::vector<Index>& places, const PlacedTensor& tensor);

  bool zero_beyond(const ExprPtr& expr, const Condition& condition);
  bool zero_factors() {
    return std::all_of(reindexing_.beyond.begin(), reindexing_.beyond.end(),
                       [&](const auto& condition) { return zero_beyond(old_.rhs, condition); });
  }
  ExprPtr self() const;
  ExprPtr number(std::int64_t value) const;
  ExprPtr neutral() const;
  ExprPtr guarded(const ExprPtr& value);
  bool leaves_identity() const;

  const Assignment& old_;
  const Reindexing& reindexing_;
  const PlacedTensors& tensors_;
  const PlacedTensor& target_;
  bool inside_ = true;  ///< does each read stay inside of its tensor for all values of the iterators?
};

/// \p expr with old iterators by new ones and reads at their places.
ExprPtr StatementRewriter::rewritten(const ExprPtr& expr) {
  if (const auto* access = std::get_if<Access>(&expr->node)) return rewritten(*access);
  if (const auto* name = std::get_if<Name>(&expr->node)) {
    const auto value = reindexing_.values.find(name->id);
    return value == reindexing_.values.end() ? expr : value_of(value->second);
  }
  auto parts = children(expr);
  for (auto& part : parts) part = rewritten(part);
  return parts.empty() ? expr : with_children(expr, parts);
}

ExprPtr StatementRewriter::rewritten(const Access& access) {
  const auto& tensor = tensors_.at(access.tensor);
  std::vector<Index> places;
  for (std::size_t d = 0; d < access.subscripts.size(); ++d) {
    places.push_back(read(access.subscripts[d]));
    if (!tensor.map) continue;
    places.back().constant -= tensor.box[d].min;
    check_data(access, places.back(), tensor, d);
  }
  if (tensor.map) places = tensor.map->place(std::move(places), reindexing_.ranges);
  look_at_bounds(access, places, tensor);
  Access result{tensor.stored_as, {}, access.bare};
  for (const auto& place : places) result.subscripts.push_back(to_expr(place));
  return make_expr(result);
}

void StatementRewriter::look_at_bounds(const Access& access, const std::vector<Index>& places,
                                       const PlacedTensor& tensor) {
  for (std::size_t d = 0; d < places.size(); ++d) {
    const auto range = bounds(places[d], reindexing_.ranges);
    const std::int64_t low = tensor.map ? 0 : tensor.box[d].min;
    const std::int64_t high = tensor.map ? tensor.map->physical()[d] : low + tensor.box[d].extent;
    inside_ = inside_ && range && range->low >= low && range->high < high;
  }
}

/// A subscript that data decide is checked against the tensor of places when the def runs: holes would pass for elements.
void StatementRewriter::check_data(const Access& access, const Index& index, const PlacedTensor& tensor,
                                   std::size_t dim) {
  bool data = false;
  for (const auto& term : index.terms)
    for_each_expr(term.part, [&](const ExprPtr& part) { data = data || std::holds_alternative<Access>(part->node); });
  const auto range = bounds(index, reindexing_.ranges);
  if (!data || (range && range->low >= 0 && range->high < tensor.box[dim].extent) || tensor.map->facts().dense) return;
  throw OptionsError(str("'", access.tensor,
                         "' is read at a subscript that data decide, which cannot be checked in the layout '",
                         to_string(tensor.map->layout()), "', as it has holes"));
}

/// Is every factor of \p expr, an old value, read from a hole that is 0 where \p condition does not hold?
bool StatementRewriter::zero_beyond(const ExprPtr& expr, const Condition& condition) {
  if (old_.reduction != ReductionOp::Sum) return false;
  if (const auto* pair = std::get_if<Binary>(&expr->node))
    return pair->op == BinaryOp::Mul && zero_beyond(pair->left, condition) && zero_beyond(pair->right, condition);
  const auto* access = std::get_if<Access>(&expr->node);
  const auto* tensor = access ? &tensors_.at(access->tensor) : nullptr;
  if (!tensor || !tensor->map || tensor->map->fill() != Fill::Zero) return false;
  for (std::size_t d = 0; d < access->subscripts.size(); ++d)
    if (tensor->box[d].min == condition.low && tensor->box[d].min + tensor->box[d].extent == condition.high &&
        read(access->subscripts[d]) == condition.index)
      return true;
  return false;
}

/// The element that the statement writes.
ExprPtr StatementRewriter::self() const {
  Access access{target_.stored_as, {}, false};
  for (const auto& name : reindexing_.left) access.subscripts.push_back(make_expr(Name{name}));
  return make_expr(access);
}

/// A literal of the type of the target.
ExprPtr StatementRewriter::number(std::int64_t value) const {
  return target_.type == DType::Bool ? make_expr(BoolLiteral{value != 0}) : literal(value);
}

/// What changes nothing.
ExprPtr StatementRewriter::neutral() const {
  if (!old_.reduction || old_.reduction == ReductionOp::Min || old_.reduction == ReductionOp::Max) return self();
  return number(old_.reduction == ReductionOp::Product || old_.reduction == ReductionOp::And ? 1 : 0);
}

ExprPtr all_of(const std::vector<Condition>& conditions, const IteratorRanges& ranges) {
  ExprPtr all;
  const auto add = [&](BinaryOp op, const Index& index, std::int64_t bound) {
    const ExprPtr one = make_expr(Binary{op, to_expr(index), literal(bound)});
    all = all ? make_expr(Binary{BinaryOp::And, all, one}) : one;
  };
  for (const auto& condition : conditions) {
    const auto range = bounds(condition.index, ranges);
    if (!range || range->low < condition.low) add(BinaryOp::Ge, condition.index, condition.low);
    if (!range || range->high >= condition.high) add(BinaryOp::Lt, condition.index, condition.high);
  }
  return all;
}

ExprPtr choice(const ExprPtr& condition, const ExprPtr& value, const ExprPtr& otherwise) {
  return condition ? make_expr(Select{condition, value, otherwise}) : value;
}

ExprPtr StatementRewriter::guarded(const ExprPtr& value) {
  const bool zero = inside_ && zero_factors();
  auto beyond = zero ? std::vector<Condition>() : reindexing_.beyond;
  const bool free_holes = !target_.map || target_.map->fill() == Fill::None;
  const bool free = reindexing_.whole && free_holes && inside_ && beyond.empty();
  auto outside = free ? std::vector<Condition>() : reindexing_.outside;
  const bool one = old_.reduction == ReductionOp::Product || old_.reduction == ReductionOp::And;
  const ExprPtr otherwise = reindexing_.whole ? number(0) : neutral();
  if (print(number(one ? 1 : 0)) == print(otherwise)) {
    outside.insert(outside.end(), beyond.begin(), beyond.end());
    beyond.clear();
  }
  const ExprPtr inner = choice(all_of(beyond, reindexing_.ranges), value, number(one ? 1 : 0));
  return choice(all_of(outside, reindexing_.ranges), inner, otherwise);
}

/// Does the statement leave the identity of its reduction, which is not 0, in holes that are to be 0, as it reduces nothing?
bool StatementRewriter::leaves_identity() const {
  const bool zero_identity = old_.reduction == ReductionOp::Sum || old_.reduction == ReductionOp::Or;
  const bool nothing = std::any_of(reindexing_.reduced.begin(), reindexing_.reduced.end(),
                                   [&](const auto& name) { return reindexing_.ranges.at(name).extent <= 0; });
  return target_.map && target_.map->fill() == Fill::Zero && old_.initialise && !zero_identity && nothing;
}

Statement StatementRewriter::run() {
  if (leaves_identity())
    throw OptionsError(str("'", old_.target,
                           "' reduces nothing, which leaves the identity of its operator in holes that its layout '",
                           to_string(target_.map->layout()), "' says are 0"));
  if (target_.map && !reindexing_.whole && old_.initialise)
    throw OptionsError(
        str("'", print(Statement{old_, {}}), "' initialises a part of '", old_.target,
            "' and leaves the rest, which no statement over the blocks of its layout does; write it to a tensor of its "
            "own first"));
  Assignment result = old_;
  result.target = target_.stored_as;
  result.subscripts.clear();
  result.clauses.clear();
  result.reduction_iterators.clear();
  for (const auto& name : reindexing_.left) result.subscripts.push_back(make_expr(Name{name}));
  result.bare = old_.bare;
  result.rhs = guarded(rewritten(old_.rhs));
  for (const auto* list : {&reindexing_.left, &reindexing_.reduced})
    for (const auto& name : *list) {
      const auto& range = reindexing_.ranges.at(name);
      result.clauses.push_back({RangeClause{name, literal(range.min), literal(range.min + range.extent)}, {}});
    }
  return {result, {}};
}

}  // namespace

Statement rewrite_statement(const SizedStatement& statement, const Reindexing& reindexing,
                            const PlacedTensors& tensors) {
  return StatementRewriter(statement, reindexing, tensors).run();
}

}  // namespace tc::layout
