#include <algorithm>
#include <map>

#include "tc/autodiff/simplify/simplify_steps.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/autodiff/terms/unify.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// The mean of value over one iterator: tensor(left) = Σ value / extent.
struct Mean {
  std::string tensor;
  std::vector<IteratorRange> left;
  IteratorRange over;
  ExprPtr value;
};

ExprPtr extent(const IteratorRange& range) {
  return to_expr(read_affine(binary(BinaryOp::Sub, range.high, range.low)));
}

/// Is \p term 1 over the extent of \p range, other than its \p rest?
bool divides_by_extent(Term term, const ExprPtr& rest, const IteratorRange& range) {
  term = multiplied(std::move(term), times(Term{}, rest), -1);
  const Affine size = read_affine(extent(range));
  if (size.is_constant()) return term.factors.empty() && term.coefficient * static_cast<double>(size.constant) == 1;
  if (term.coefficient != 1 || term.factors.size() != 1 || term.factors[0].power != -1) return false;
  const auto* conversion = std::get_if<Cast>(&term.factors[0].expr->node);
  return conversion && conversion->value->type == DType::Int64 && read_affine(conversion->value) == size;
}

/// The statement that writes each version.
using Writers = std::map<std::string, const ForwardStatement*>;

bool is_sum(const ForwardStatement& statement) {
  return statement.op == ReductionOp::Sum && statement.initialise && statement.whole && statement.reduction.size() == 1;
}

/// The mean that \p statement writes, as a sum of quotients or as the quotient of a sum.
std::optional<Mean> mean_of(const Writers& writers, const ForwardStatement& statement) {
  const Sum value = to_sum(statement.value);
  if (value.size() != 1) return std::nullopt;
  for (const Factor& factor : value[0].factors) {
    if (factor.power != 1) continue;
    if (is_sum(statement) && divides_by_extent(value[0], factor.expr, statement.reduction[0]))
      return Mean{statement.target, statement.left, statement.reduction[0], factor.expr};
    const auto* read = std::get_if<Access>(&factor.expr->node);
    const auto known = read && !statement.op && statement.whole ? writers.find(read->tensor) : writers.end();
    const ForwardStatement* sum = known == writers.end() ? nullptr : known->second;
    if (!sum || !is_sum(*sum) || !divides_by_extent(value[0], factor.expr, sum->reduction[0])) continue;
    Renaming names;
    for (std::size_t d = 0; d < sum->left.size(); ++d) names[sum->left[d].name] = read->subscripts[d];
    return Mean{statement.target, statement.left, sum->reduction[0], replace_names(written(sum->value), names)};
  }
  return std::nullopt;
}

/// By the tensors that hold them.
using Means = std::map<std::string, Mean>;

/// Is \p factor, summed over \p range, value - mean summed over all of the range of one of \p means?
bool is_centred(const ExprPtr& factor, const IteratorRange& range, const Means& means) {
  const auto* difference = std::get_if<Binary>(&factor->node);
  if (!difference || difference->op != BinaryOp::Sub) return false;
  const auto* element = std::get_if<Access>(&written(difference->right)->node);
  const auto known = element ? means.find(element->tensor) : means.end();
  if (known == means.end()) return false;
  const Mean& mean = known->second;
  std::set<std::string> variables{mean.over.name};
  std::vector<ExprPtr> left;
  for (const auto& name : mean.left) {
    variables.insert(name.name);
    left.push_back(index_name(name.name));
  }
  const ExprPtr read = access(mean.tensor, left, *written(difference->right)->type);
  auto at = unify(read, difference->right, variables);
  if (at) at = unify(mean.value, difference->left, variables, *at);
  const auto over = at ? at->find(mean.over.name) : Renaming::iterator{};
  if (!at || over == at->end()) return false;
  const auto* iterator = std::get_if<Name>(&over->second->node);
  return iterator && iterator->id == range.name && read_affine(range.low) == read_affine(mean.over.low) &&
         read_affine(range.high) == read_affine(mean.over.high);
}

bool is_zero(const Step& step, const Means& means) {
  const bool sum = step.op == ReductionOp::Sum && step.initialise && step.reduction.size() == 1 &&
                   step.pieces.size() == 1 && step.pieces[0].conditions.empty() && step.pieces[0].value.size() == 1;
  if (!sum) return false;
  const auto& factors = step.pieces[0].value[0].factors;
  const IteratorRange& range = step.reduction[0];
  const auto over = std::count_if(factors.begin(), factors.end(),
                                  [&](const Factor& f) { return mentions_any(f.expr, {range.name}); });
  return over == 1 && std::any_of(factors.begin(), factors.end(),
                                  [&](const Factor& f) { return f.power == 1 && is_centred(f.expr, range, means); });
}

bool has_factor(const Term& term, const std::set<std::string>& tensors) {
  return std::any_of(term.factors.begin(), term.factors.end(), [&](const Factor& factor) {
    const auto* read = std::get_if<Access>(&factor.expr->node);
    return read && factor.power > 0 && tensors.count(read->tensor);
  });
}

}  // namespace

std::vector<Step> drop_centred_sums(std::vector<Step> steps, const Forward& forward) {
  Writers writers;
  for (const auto& statement : forward.statements) writers[statement.target] = &statement;
  Means means;
  for (const auto& statement : forward.statements)
    if (const auto mean = mean_of(writers, statement)) means.emplace(mean->tensor, *mean);
  std::map<std::string, int> written;
  for (const Step& step : steps) ++written[step.target];
  std::set<std::string> zeros;
  for (const Step& step : steps)
    if (written.at(step.target) == 1 && is_zero(step, means)) zeros.insert(step.target);
  for (Step& step : steps)
    for (Guarded& piece : step.pieces)
      std::erase_if(piece.value, [&](const Term& term) { return has_factor(term, zeros); });
  std::erase_if(steps, [](const Step& step) {
    return step.op == ReductionOp::Sum && !step.initialise &&
           std::all_of(step.pieces.begin(), step.pieces.end(), [](const Guarded& p) { return p.value.empty(); });
  });
  return steps;
}

}  // namespace tc::autodiff
