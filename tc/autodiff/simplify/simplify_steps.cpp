#include "tc/autodiff/simplify/simplify_steps.h"

#include <algorithm>
#include <map>

#include "tc/autodiff/terms/affine.h"
#include "tc/autodiff/terms/unify.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_in.h"
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

/// How many of \p steps write each tensor.
std::map<std::string, int> writers(const std::vector<Step>& steps) {
  std::map<std::string, int> result;
  for (const Step& step : steps) ++result[step.target];
  return result;
}

/// The places of the steps that read each tensor, kept while steps change.
class Readers {
 public:
  explicit Readers(const std::vector<Step>& steps) : read_(steps.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i) update(i, reads_of(steps[i]));
  }

  const std::set<std::size_t>& of(const std::string& tensor) { return readers_[tensor]; }
  /// Step \p place reads \p tensors.
  void update(std::size_t place, std::set<std::string> tensors) {
    for (const auto& tensor : read_[place]) readers_[tensor].erase(place);
    read_[place] = std::move(tensors);
    for (const auto& tensor : read_[place]) readers_[tensor].insert(place);
  }

 private:
  std::vector<std::set<std::string>> read_;
  std::map<std::string, std::set<std::size_t>> readers_;
};

/// \p step with the elements of \p definition, a pointwise step, written out.
Step with_values(const Step& step, const Step& definition) {
  Step made = step;
  for (Guarded& piece : made.pieces) {
    GrowingSum sum;
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
      sum.add(product);
    }
    piece.value = std::move(sum).take();
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

/// The steps at \p places, which read \p definition, which is pointwise, with its values written out; nothing if a read stays
/// or they do not get cheaper.
std::optional<std::vector<Step>> with_values_inlined(const std::vector<Step>& steps,
                                                     const std::set<std::size_t>& places, const Step& definition,
                                                     const Definitions& definitions, GuardProver& prover) {
  std::vector<Step> before, after;
  for (const std::size_t place : places) {
    before.push_back(steps[place]);
    after.push_back(with_values(steps[place], definition));
    const auto& pieces = after.back().pieces;
    const bool good = std::all_of(pieces.begin(), pieces.end(), [](const Guarded& p) { return is_short(p.value); });
    if (!good || reads_of(after.back()).count(definition.target)) return std::nullopt;
  }
  after = use_names(std::move(after), definitions, prover);
  if (before.empty() || cost_of(after) >= cost_of(before) + cost(definition)) return std::nullopt;
  return after;
}

}  // namespace

std::vector<Step> inline_pointwise(std::vector<Step> steps, const Definitions& definitions, GuardProver& prover) {
  const auto writers_of = writers(steps);
  Readers readers(steps);
  std::vector<bool> inlined(steps.size(), false);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step candidate = steps[i];
    const auto places = readers.of(candidate.target);
    const bool possible = is_pointwise(candidate) && writers_of.at(candidate.target) == 1 && !is_half(candidate.type);
    const auto changed = possible ? with_values_inlined(steps, places, candidate, definitions, prover) : std::nullopt;
    if (!changed) continue;
    auto step = changed->begin();
    for (const std::size_t place : places) {
      steps[place] = *step++;
      readers.update(place, reads_of(steps[place]));
    }
    readers.update(i, {});
    inlined[i] = true;
  }
  std::size_t place = 0;
  std::erase_if(steps, [&](const Step&) { return inlined[place++]; });
  return steps;
}

namespace {

/// Are these the same iterators?
bool same_ranges(const std::vector<IteratorRange>& a, const std::vector<IteratorRange>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const IteratorRange& x, const IteratorRange& y) {
    return x.name == y.name && equal(x.low, y.low) && equal(x.high, y.high);
  });
}

}  // namespace

std::vector<Step> join_sums(std::vector<Step> steps) {
  const auto one_value = [](const Step& step) {
    return step.reduction.empty() && step.pieces.size() == 1 && step.pieces.front().conditions.empty();
  };
  std::vector<Step> result;
  for (Step& step : steps) {
    const bool adds = !result.empty() && result.back().target == step.target && step.op == ReductionOp::Sum &&
                      one_value(step) && one_value(result.back()) && same_ranges(step.left, result.back().left);
    Sum sum = adds ? plus(result.back().pieces.front().value, step.pieces.front().value) : Sum();
    if (adds && is_short(sum)) {
      result.back().pieces.front().value = std::move(sum);
    } else {
      result.push_back(std::move(step));
    }
  }
  return result;
}

std::vector<Step> share_values(std::vector<Step> steps, GuardProver& prover) {
  const auto writers_of = writers(steps);
  std::map<std::string, std::set<std::size_t>> alike;
  for (std::size_t j = 0; j < steps.size(); ++j)
    if (!steps[j].value && !steps[j].pieces.empty()) alike[outline(value_of(steps[j]))].insert(j);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& known = steps[i];
    if (known.op || known.pieces.empty() || writers_of.at(known.target) != 1) continue;
    const ExprPtr pattern = value_of(known);
    if (cost(pattern) < 1 && known.pieces.front().conditions.empty()) continue;
    auto& places = alike[outline(pattern)];
    for (auto next = places.upper_bound(i); next != places.end();) {
      const std::size_t j = *next++;
      const auto names = unify(pattern, value_of(steps[j]), iterators_of(known.left));
      if (!names || names->size() != known.left.size()) continue;
      if (!prover.inside(known.left, *names, all_ranges(steps[j]), {})) continue;
      std::vector<ExprPtr> subscripts;
      for (const auto& range : known.left) subscripts.push_back(names->at(range.name));
      steps[j].pieces = {{{}, {times(Term{}, access(known.target, subscripts, known.type))}}};
      places.erase(j);
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

namespace {

/// The steps that hold each function, by its outline, kept while steps are inserted.
class Functions {
 public:
  explicit Functions(const std::vector<Step>& steps) {
    for (const Step& step : steps) insert(ids_.size(), step);
  }

  /// The places of the steps that hold a function like \p function, in order.
  std::vector<std::size_t> places_of(const ExprPtr& function) {
    std::vector<std::size_t> result;
    for (const std::size_t id : holders_[outline(function)]) result.push_back(place_[id]);
    std::sort(result.begin(), result.end());
    return result;
  }

  /// \p step stands at \p place from now.
  void insert(std::size_t place, const Step& step) {
    const std::size_t id = place_.size();
    place_.push_back(place);
    ids_.insert(ids_.begin() + static_cast<std::ptrdiff_t>(place), id);
    for (std::size_t p = place + 1; p < ids_.size(); ++p) place_[ids_[p]] = p;
    for (const Guarded& piece : step.pieces)
      for (const ExprPtr& expr : expressions_of(piece))
        for_each_expr(expr, [&](const ExprPtr& part) {
          if (std::holds_alternative<Call>(part->node)) holders_[outline(part)].insert(id);
        });
  }

 private:
  static std::vector<ExprPtr> expressions_of(const Guarded& piece) {
    std::vector<ExprPtr> result = piece.conditions;
    for (const Term& term : piece.value)
      for (const Factor& factor : term.factors) result.push_back(factor.expr);
    return result;
  }

  std::vector<std::size_t> ids_, place_;  ///< of the steps, by place; where each is
  std::map<std::string, std::set<std::size_t>> holders_;
};

}  // namespace

std::vector<Step> name_invariants(std::vector<Step> steps, FreshNames& names, GuardProver& prover) {
  Functions functions(steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ExprPtr function = invariant_function(steps[i]);
    if (!function) continue;
    const Step named = naming(steps[i], function, names.take("f"));
    std::size_t first = i;
    for (const std::size_t j : functions.places_of(function)) {
      if (steps[j].value || steps[j].pieces.empty()) continue;
      Step made = with_named(steps[j], named, function, prover);
      if (reads_of(made).count(named.target)) first = std::min(first, j);
      steps[j] = std::move(made);
    }
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(first), named);
    functions.insert(first, named);
  }
  return steps;
}

std::vector<Step> without_dead(const std::vector<Step>& steps, const std::vector<std::string>& results) {
  std::set<std::string> live(results.begin(), results.end());
  for (std::size_t known = 0; known != live.size();) {
    known = live.size();
    for (auto step = steps.rbegin(); step != steps.rend(); ++step)
      if (live.count(step->target)) live.merge(reads_of(*step));
  }
  std::vector<Step> kept;
  for (const Step& step : steps)
    if (live.count(step.target)) kept.push_back(step);
  return kept;
}

}  // namespace tc::autodiff
