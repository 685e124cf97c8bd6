#include "tc/autodiff/simplify/simplify_steps.h"

#include <algorithm>
#include <map>

#include "tc/autodiff/terms/affine.h"
#include "tc/autodiff/terms/unify.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_of.h"

namespace tc::autodiff {

using namespace lang;

namespace {

std::set<std::string> iterators_of(const std::vector<IteratorRange>& ranges) {
  std::set<std::string> names;
  for (const auto& range : ranges) names.insert(range.name);
  return names;
}

std::vector<IteratorRange> all_ranges(const Step& step) {
  std::vector<IteratorRange> ranges = step.left;
  ranges.insert(ranges.end(), step.reduction.begin(), step.reduction.end());
  return ranges;
}

bool reads_data(const ExprPtr& expr) { return !tensors_in(expr).empty() || std::holds_alternative<Call>(expr->node); }

/// The part of what all terms of \p sum share that no iterator of \p reduction is in; 1 if there are only numbers in it.
Term invariant_factor(const Sum& sum, const std::set<std::string>& reduction) {
  Term factor = common_factor(sum);
  std::erase_if(factor.factors, [&](const Factor& f) { return mentions_any(f.expr, reduction); });
  const bool data =
      std::any_of(factor.factors.begin(), factor.factors.end(), [](const Factor& f) { return reads_data(f.expr); });
  return data ? factor : Term{};
}

}  // namespace

std::vector<Step> hoist_factors(std::vector<Step> steps, FreshNames& names) {
  std::vector<Step> result;
  for (Step& step : steps) {
    const bool sum = step.op == ReductionOp::Sum && !step.reduction.empty() && step.pieces.size() == 1 &&
                     step.pieces[0].conditions.empty() && !is_half(step.type);
    const Term factor = sum ? invariant_factor(step.pieces[0].value, iterators_of(step.reduction)) : Term{};
    if (factor.factors.empty()) {
      result.push_back(std::move(step));
      continue;
    }
    Step inner = step, outer = step;
    const std::string base = step.target.starts_with("d_") ? step.target.substr(2) : step.target;
    inner.target = names.take(str("s_", base));
    inner.initialise = true;
    inner.pieces[0].value = divided(step.pieces[0].value, factor);
    outer.reduction.clear();
    if (outer.initialise) outer.op.reset();
    outer.initialise = false;
    Term scaled_sum = times(Term{}, access_at(inner.target, names_of(step.left), step.type));
    outer.pieces[0].value = {multiplied(scaled_sum, factor)};
    result.push_back(std::move(inner));
    result.push_back(std::move(outer));
  }
  return result;
}

namespace {

std::size_t writers(const std::vector<Step>& steps, const std::string& tensor) {
  return std::count_if(steps.begin(), steps.end(), [&](const Step& step) { return step.target == tensor; });
}

/// \p step with the elements of \p definition, a pointwise step, written out.
Step with_values(const Step& step, const Step& definition) {
  Step made = step;
  for (Guarded& piece : made.pieces) {
    Sum sum;
    for (const Term& term : piece.value) {
      Sum product = {Term{term.coefficient}};
      for (const Factor& factor : term.factors) {
        const auto* read = std::get_if<Access>(&factor.expr->node);
        if (!read || read->tensor != definition.target || factor.power != 1) {
          product = times(product, Sum{Term{1, {factor}}});
          continue;
        }
        Renaming names;
        for (std::size_t d = 0; d < read->subscripts.size(); ++d) names[definition.left[d].name] = read->subscripts[d];
        product = times(product, map_factors(definition.pieces[0].value, [&](const ExprPtr& expr) {
                          return normalised(replace_names(expr, names));
                        }));
      }
      sum = plus(std::move(sum), product);
    }
    piece.value = std::move(sum);
  }
  return made;
}

double cost_of(const std::vector<Step>& steps) {
  double all = 0;
  for (const Step& step : steps) all += cost(step);
  return all;
}

}  // namespace

namespace {

/// The steps that read \p definition, which is pointwise, with its values written out; nothing if a read stays or they do
/// not get cheaper.
std::optional<std::map<std::size_t, Step>> with_values_inlined(const std::vector<Step>& steps, const Step& definition,
                                                               const std::vector<Definition>& definitions,
                                                               GuardProver& prover) {
  std::vector<Step> before, after;
  std::vector<std::size_t> places;
  for (std::size_t j = 0; j < steps.size(); ++j) {
    if (!reads_of(steps[j]).count(definition.target)) continue;
    places.push_back(j);
    before.push_back(steps[j]);
    after.push_back(with_values(steps[j], definition));
    if (reads_of(after.back()).count(definition.target)) return std::nullopt;
  }
  after = use_names(std::move(after), definitions, prover);
  if (before.empty() || cost_of(after) >= cost_of(before) + cost(definition)) return std::nullopt;
  std::map<std::size_t, Step> changed;
  for (std::size_t k = 0; k < places.size(); ++k) changed.emplace(places[k], after[k]);
  return changed;
}

}  // namespace

std::vector<Step> inline_pointwise(std::vector<Step> steps, const std::vector<Definition>& definitions,
                                   GuardProver& prover) {
  for (std::size_t i = 0; i < steps.size();) {
    const Step candidate = steps[i];
    const bool possible = is_pointwise(candidate) && writers(steps, candidate.target) == 1 && !is_half(candidate.type);
    const auto changed = possible ? with_values_inlined(steps, candidate, definitions, prover) : std::nullopt;
    if (!changed) {
      ++i;
      continue;
    }
    for (const auto& [place, step] : *changed) steps[place] = step;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return steps;
}

std::vector<Step> share_values(std::vector<Step> steps, GuardProver& prover) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& known = steps[i];
    if (known.op || known.pieces.empty() || writers(steps, known.target) != 1) continue;
    const ExprPtr pattern = value_of(known);
    if (cost(pattern) < 1 && known.pieces.front().conditions.empty()) continue;
    for (std::size_t j = i + 1; j < steps.size(); ++j) {
      if (steps[j].value || steps[j].pieces.empty()) continue;
      const auto names = unify(pattern, value_of(steps[j]), iterators_of(known.left));
      if (!names || names->size() != known.left.size()) continue;
      if (!prover.inside(known.left, *names, all_ranges(steps[j]), {})) continue;
      std::vector<ExprPtr> subscripts;
      for (const auto& range : known.left) subscripts.push_back(names->at(range.name));
      steps[j].pieces = {{{}, {times(Term{}, access(known.target, subscripts, known.type))}}};
    }
  }
  return steps;
}

namespace {

/// A function in an unguarded value of \p step that leaves out some of its iterators, outermost first; null if there is
/// none.
ExprPtr invariant_function(const Step& step) {
  const std::size_t all = step.left.size() + step.reduction.size();
  std::set<std::string> iterators = iterators_of(step.left);
  for (const auto& range : step.reduction) iterators.insert(range.name);
  for (const Guarded& piece : step.pieces)
    for (const Term& term : piece.value)
      for (const Factor& factor : term.factors) {
        if (!piece.conditions.empty() || !std::holds_alternative<Call>(factor.expr->node)) continue;
        std::size_t used = 0;
        for (const auto& name : names_in(factor.expr)) used += iterators.count(name);
        if (used < all && used > 0) return factor.expr;
      }
  return nullptr;
}

/// The statement that names \p function of \p step.
Step naming(const Step& step, const ExprPtr& function, const std::string& name) {
  Step made;
  made.target = name;
  made.type = *function->type;
  made.place = step.place;
  const auto used = names_in(function);
  for (const auto* ranges : {&step.left, &step.reduction})
    for (const auto& range : *ranges)
      if (used.count(range.name)) made.left.push_back(range);
  made.pieces = {{{}, {times(Term{}, function)}}};
  return made;
}

}  // namespace

namespace {

/// \p step with the function that \p naming names by its name, where that is inside the named box.
Step with_named(const Step& step, const Step& naming, const ExprPtr& function, GuardProver& prover) {
  return map_expressions(step, [&](const ExprPtr& expr) {
    return rebuild(expr, [&](const ExprPtr& part) -> ExprPtr {
      const auto at = unify(function, part, iterators_of(naming.left));
      if (!at || at->size() != naming.left.size()) return part;
      if (!prover.inside(naming.left, *at, all_ranges(step), {})) return part;
      std::vector<ExprPtr> subscripts;
      for (const auto& range : naming.left) subscripts.push_back(at->at(range.name));
      return access(naming.target, subscripts, naming.type);
    });
  });
}

}  // namespace

std::vector<Step> name_invariants(std::vector<Step> steps, FreshNames& names, GuardProver& prover) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ExprPtr function = invariant_function(steps[i]);
    if (!function) continue;
    const Step named = naming(steps[i], function, names.take("f"));
    std::size_t first = i;
    for (std::size_t j = 0; j < steps.size(); ++j) {
      if (steps[j].value || steps[j].pieces.empty()) continue;
      Step made = with_named(steps[j], named, function, prover);
      if (reads_of(made).count(named.target)) first = std::min(first, j);
      steps[j] = std::move(made);
    }
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(first), named);
  }
  return steps;
}

std::vector<Step> without_dead(const std::vector<Step>& steps, const std::vector<std::string>& results) {
  std::set<std::string> live(results.begin(), results.end());
  std::vector<Step> kept;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!live.count(step->target)) continue;
    for (const auto& read : reads_of(*step)) live.insert(read);
    kept.push_back(*step);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace tc::autodiff
