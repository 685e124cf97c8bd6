#include <algorithm>
#include <cstdlib>

#include "tc/autodiff/simplify/simplify_steps.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/autodiff/terms/unify.h"

namespace tc::autodiff {

using namespace lang;

namespace {

bool is_function(const ExprPtr& expr) { return std::holds_alternative<Call>(expr->node); }

std::set<std::string> left_names(const std::vector<IteratorRange>& left) {
  std::set<std::string> names;
  for (const auto& range : left) names.insert(range.name);
  return names;
}

Term renamed(const Term& term, const Renaming& names) {
  return map_factors({term}, [&](const ExprPtr& factor) { return normalised(replace_names(factor, names)); }).front();
}

int power_in(const Term& term, const ExprPtr& expr) {
  const auto found = std::find_if(term.factors.begin(), term.factors.end(),
                                  [&](const Factor& factor) { return equal(factor.expr, expr); });
  return found == term.factors.end() ? 0 : found->power;
}

/// Does \p made divide by what \p term does not divide by, which may be 0?
bool has_new_divisor(const Term& made, const Term& term) {
  return std::any_of(made.factors.begin(), made.factors.end(), [&](const Factor& factor) {
    return factor.power < 0 && factor.power < power_in(term, factor.expr);
  });
}

const Factor& first_function(const Term& term) {
  return *std::find_if(term.factors.begin(), term.factors.end(), [](const Factor& f) { return is_function(f.expr); });
}

/// \p term with the function \p factor replaced by the definition's name; nothing if that is no use.
std::optional<Term> with_name(const Term& term, const Factor& factor, const Definition& definition,
                              const std::vector<IteratorRange>& ranges, const std::vector<ExprPtr>& known,
                              GuardProver& prover) {
  const Factor& trigger = first_function(definition.product);
  const auto element = unify(trigger.expr, factor.expr, left_names(definition.left));
  if (!element || element->size() != definition.left.size() || (factor.power > 0) != (trigger.power > 0))
    return std::nullopt;
  std::vector<ExprPtr> subscripts;
  for (const auto& range : definition.left) subscripts.push_back(element->at(range.name));
  Term made = multiplied(term, renamed(definition.product, *element), -1);
  made = times(std::move(made), access(definition.tensor, subscripts, definition.type));
  if (cost(Sum{made}) >= cost(Sum{term}) || has_new_divisor(made, term) ||
      !prover.inside(definition.left, *element, ranges, known))
    return std::nullopt;
  std::rotate(made.factors.begin(), made.factors.end() - 1, made.factors.end());
  return made;
}

/// The definitions that may name a function of \p term, each with the place of its factor, in order.
std::set<std::pair<std::size_t, std::size_t>> candidates(const Term& term, const Definitions& definitions) {
  std::set<std::pair<std::size_t, std::size_t>> result;
  for (std::size_t i = 0; i < term.factors.size(); ++i) {
    if (!is_function(term.factors[i].expr)) continue;
    const auto found = definitions.by_function.find(outline(term.factors[i].expr));
    if (found == definitions.by_function.end()) continue;
    for (const std::size_t d : found->second) result.emplace(d, i);
  }
  return result;
}

Term named(Term term, const Definitions& definitions, const std::vector<IteratorRange>& ranges,
           const std::vector<ExprPtr>& known, GuardProver& prover) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [d, i] : candidates(term, definitions)) {
      const auto made = with_name(term, term.factors[i], definitions.all[d], ranges, known, prover);
      if (!made) continue;
      term = *made;
      changed = true;
      break;
    }
  }
  return term;
}

}  // namespace

Definitions product_definitions(const Forward& forward) {
  Definitions result;
  for (const auto& statement : forward.statements) {
    const DType type = forward.versions.at(statement.target).type;
    const ExprPtr value = written(statement.value);
    const bool plain = !statement.op && statement.whole && value->type == type && !is_half(type);
    if (!plain || !is_float(type)) continue;
    const Sum sum = to_sum(value);
    const bool product = sum.size() == 1 && std::any_of(sum[0].factors.begin(), sum[0].factors.end(),
                                                        [](const Factor& f) { return is_function(f.expr); });
    if (!product) continue;
    result.by_function[outline(first_function(sum[0]).expr)].push_back(result.all.size());
    result.all.push_back({statement.target, type, statement.left, sum[0]});
  }
  return result;
}

std::vector<Step> use_names(std::vector<Step> steps, const Definitions& definitions, GuardProver& prover) {
  for (Step& step : steps) {
    std::vector<IteratorRange> ranges = step.left;
    ranges.insert(ranges.end(), step.reduction.begin(), step.reduction.end());
    for (Guarded& piece : step.pieces) {
      GrowingSum made;
      for (const Term& term : piece.value) made.add(named(term, definitions, ranges, piece.conditions, prover));
      piece.value = std::move(made).take();
    }
  }
  return steps;
}

}  // namespace tc::autodiff
