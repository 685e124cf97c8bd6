#include "tc/autodiff/reverse/step.h"

#include <cmath>

namespace tc::autodiff {

using namespace lang;

namespace {

/// \p sum with its first factors converted, so that it is computed in \p type.
Sum widened(Sum sum, DType type) {
  for (Term& term : sum)
    for (Factor& factor : term.factors) {
      const auto own = written(factor.expr)->type;
      if (!own || !is_float(*own)) continue;
      if (own != type) factor.expr = cast(type, factor.expr);
      break;
    }
  return sum;
}

/// \p value as an expression that has \p type without a context.
ExprPtr typed(const Sum& value, DType type) {
  const auto natural = natural_type(value);
  if (natural == type) return to_expr(value, type);
  if (natural && is_half(*natural)) return to_expr(widened(value, type), type);
  return cast(type, to_expr(value, type));
}

ExprPtr guarded(const Guarded& piece, DType type) {
  const ExprPtr value = typed(piece.value, type);
  if (piece.conditions.empty()) return value;
  return make_expr(Select{conjunction(piece.conditions), value, number(0, type)}, {}, type);
}

/// c ? a : b of the pieces (c: a) and (!c: b); null for others.
ExprPtr complementary(const std::vector<Guarded>& pieces, DType type) {
  if (pieces.size() != 2 || pieces[0].conditions.empty() || pieces[1].conditions.size() != 1) return nullptr;
  const ExprPtr condition = conjunction(pieces[0].conditions);
  if (!equal(opposite(condition), pieces[1].conditions.front())) return nullptr;
  return make_expr(Select{condition, typed(pieces[0].value, type), typed(pieces[1].value, type)}, {}, type);
}

Clause clause_of(const IteratorRange& range) { return {RangeClause{range.name, range.low, range.high}, {}}; }

}  // namespace

ExprPtr value_of(const Step& step) {
  if (step.value) return step.value;
  if (ExprPtr choice = complementary(step.pieces, step.type)) return choice;
  ExprPtr sum;
  for (const Guarded& piece : step.pieces) {
    const ExprPtr value = guarded(piece, step.type);
    sum = sum ? binary(BinaryOp::Add, sum, value) : value;
  }
  return sum ? sum : cast(step.type, number(0, step.type));
}

Assignment assignment_of(const Step& step) {
  Assignment made;
  made.target = step.target;
  made.bare = step.left.empty();
  for (const auto& range : step.left) made.subscripts.push_back(index_name(range.name));
  made.reduction = step.op;
  made.initialise = step.initialise;
  made.rhs = value_of(step);
  for (const auto& range : step.left) made.clauses.push_back(clause_of(range));
  for (const auto& range : step.reduction) {
    made.clauses.push_back(clause_of(range));
    made.reduction_iterators.push_back(range.name);
  }
  return made;
}

bool is_pointwise(const Step& step) {
  return !step.op && step.pieces.size() == 1 && step.pieces.front().conditions.empty();
}

std::set<std::string> reads_of(const Step& step) {
  std::set<std::string> reads = tensors_in(value_of(step));
  if (step.op && !step.initialise) reads.insert(step.target);
  return reads;
}

double cost(const Step& step) {
  const double instances = std::pow(32.0, static_cast<double>(step.left.size() + step.reduction.size()));
  double operations = 1;
  if (step.value) operations += cost(step.value);
  for (const Guarded& piece : step.pieces)
    operations += cost(piece.value) + static_cast<double>(piece.conditions.size());
  return instances * operations;
}

}  // namespace tc::autodiff
