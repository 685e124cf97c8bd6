#include "tc/derive/derive.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/proof/check.h"
#include "tc/derive/rules/change_layout.h"
#include "tc/derive/rules/factor_sum.h"
#include "tc/derive/rules/fuse.h"
#include "tc/derive/rules/join_sums.h"
#include "tc/derive/rules/merge_expressions.h"
#include "tc/derive/rules/merge_sums.h"
#include "tc/derive/rules/merge_traversals.h"
#include "tc/derive/rules/move_bounds.h"
#include "tc/derive/rules/reassociate.h"
#include "tc/derive/rules/split_expression.h"
#include "tc/derive/rules/split_summation.h"
#include "tc/derive/rules/substitute_variables.h"
#include "tc/derive/search/canonical.h"
#include "tc/derive/search/converge.h"
#include "tc/derive/search/window_view.h"

namespace tc::derive {

namespace {

/// A rule, and how often it may stand in one derivation by all rules, and by Rules::Between; by Rules::Copies it is none.
struct Rule {
  std::function<std::vector<Step>(const Program&)> steps;
  int most_of_all;
  int most_between = 0;

  int most(Rules rules) const { return rules == Rules::All ? most_of_all : rules == Rules::Between ? most_between : 0; }
};

const std::vector<Rule>& rules() {
  static const auto& all = *new std::vector<Rule>{
      {summation_splits, 1},     {substitutions, 2},       {iterator_splits, 2},   {relaxed_bounds, 2},
      {tightened_bounds, 2},     {traversal_merges, 1, 2}, {reassociations, 2, 2}, {expression_splits, 1},
      {expression_merges, 2, 2}, {sum_merges, 2, 2},       {sum_factorings, 2, 2}, {sum_joins, 2, 2}};
  return all;
}

struct State {
  Program program;
  std::vector<Step> steps;
  std::vector<int> used;  ///< of each rule
  int depth = 0;
  Price price;
  std::string path;
};

/// Positions of \p keys: the first with each key before the second with any.
template <typename Key>
std::vector<std::size_t> first_of_each(const std::vector<Key>& keys) {
  std::map<Key, std::size_t> ranks;
  std::vector<std::pair<std::size_t, std::size_t>> ranked;
  for (const auto& key : keys) ranked.emplace_back(ranks[key]++, ranked.size());
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> result;
  for (const auto& [rank, position] : ranked) result.push_back(position);
  return result;
}

/// Of the search for a program of many sums of products.
constexpr std::size_t least_width = 12;

/// Checks of steps, each once for all derivations that begin with it.
class Proofs {
 public:
  std::string broken_step(const Program& program, const std::vector<Step>& steps) {
    const auto once = [&](const Program& before, const Program& after, auto&& check) -> const std::string& {
      const auto [known, is_new] = known_.try_emplace({before.scopes, after.scopes});
      if (is_new) known->second = check();
      return known->second;
    };
    if (const auto& why = once(program, program, [&] { return check(program).why; }); !why.empty()) return why;
    const Program* before = &program;
    for (const auto& step : steps) {
      const auto& why = once(*before, step.after, [&] {
        const auto verdict = check_step(*before, step.after, step.certificate);
        return verdict.equal ? std::string() : str(step.rule, " ", step.what, ": ", verdict.why);
      });
      if (!why.empty()) return why;
      before = &step.after;
    }
    return "";
  }

 private:
  std::map<std::pair<std::vector<ScopePtr>, std::vector<ScopePtr>>, std::string> known_;
};

class Search {
 public:
  explicit Search(const Options& options) : options_(options), price_(options.rates, options.constants) {}

  Derivation run(const Program& program) {
    const auto start = std::chrono::steady_clock::now();
    width_ = width_for(program);
    State first{program, {}, std::vector<int>(rules().size(), 0), 0, price_.of(program), ""};
    result_.candidates.push_back({program, {}, first.price.microseconds});
    first = with_steps(first, fuse_copies(program));
    is_new(first.program);
    if (options_.rules == Rules::Copies) first = with_steps(first, follow_orders(first.program));
    if (!first.steps.empty()) keep(first);
    std::vector<State> level{std::move(first)};
    for (int depth = 0; depth < options_.depth && !level.empty(); ++depth) {
      for (const auto& state : level) finish(state);
      level = next(level);
    }
    for (const auto& state : level) finish(state);
    drop_unproved(program);
    result_.statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  /// All programs one rule further, each once, the cheapest first.
  std::vector<State> next(const std::vector<State>& level) {
    std::vector<State> made;
    std::vector<std::size_t> order(rules().size());
    for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
    if (options_.shuffle) std::shuffle(order.begin(), order.end(), std::mt19937(options_.shuffle));
    for (const auto& state : level)
      for (const auto r : order) {
        options_.cancellation.check("derive");
        if (state.used[r] >= rules()[r].most(options_.rules)) continue;
        for (auto& step : rules()[r].steps(state.program)) {
          made.push_back(after(state, std::move(step)));
          ++made.back().used[r];
        }
      }
    std::sort(made.begin(), made.end(), [](const State& a, const State& b) {
      return std::tie(a.price.laid_out, a.path) < std::tie(b.price.laid_out, b.path);
    });
    return widest(std::move(made));
  }

  /// As many of \p made, the cheapest first, as the width allows: the best of each set of rules before the second best.
  std::vector<State> widest(std::vector<State> made) {
    std::vector<State> fresh;
    std::vector<std::vector<int>> used;
    for (auto& state : made) {
      if (options_.fingerprints && !is_new(state.program)) {
        ++result_.statistics.pruned;
        continue;
      }
      keep(state);
      used.push_back(state.used);
      fresh.push_back(std::move(state));
    }
    std::vector<State> result;
    for (const auto position : first_of_each(used))
      if (result.size() < width_) result.push_back(std::move(fresh[position]));
    result_.statistics.cut += fresh.size() - result.size();
    return result;
  }

  /// Of a program of several sums of products a share of the width: each step changes one of them, and the steps of all stand beside each
  /// other in a level.
  std::size_t width_for(const Program& program) const {
    const auto products = std::count_if(program.scopes.begin(), program.scopes.end(), [](const ScopePtr& scope) {
      return scope->op && std::any_of(scope->cases.begin(), scope->cases.end(),
                                      [](const Case& part) { return reads_in(part.body).size() > 1; });
    });
    const auto share = options_.width / static_cast<std::size_t>(std::max<std::ptrdiff_t>(products, 1));
    return std::max(share, std::min(options_.width, least_width));
  }

  bool is_new(const Program& program) {
    auto made = forms_.of(program);
    auto& known = known_[made.fingerprint];
    for (const auto& other : known)
      if (is_same(other, made)) return false;
    known.push_back(std::move(made));
    return true;
  }

  /// \p state one step further, with what the step copied fused.
  State after(const State& state, Step step) {
    ++result_.statistics.states;
    auto copies = step.copies;
    std::vector<Step> steps;
    steps.push_back(std::move(step));
    for (const auto& copy : copies) {
      try {
        if (!steps.back().after.is_output(copy)) steps.push_back(fuse(steps.back().after, copy));
      } catch (const Refusal&) {
      }
    }
    auto result = with_steps(state, std::move(steps));
    ++result.depth;
    return result;
  }

  State with_steps(const State& state, std::vector<Step> steps) {
    State result = state;
    for (auto& step : steps) {
      result.program = step.after;
      result.path += str(step.rule, " ", step.what, "; ");
      result.steps.push_back(std::move(step));
    }
    result.price = price_.of(result.program);
    return result;
  }

  /// The layouts that make products of matrices of the scopes of \p state, as far as the depth allows.
  void finish(const State& state) {
    if (options_.converge && options_.rules != Rules::Copies) converge_from(state, false);
  }

  /// All ways on from \p state, the scopes in order; \p any: it is one itself. One that has a convolution is a candidate, too, whatever
  /// products of matrices it leads to.
  void converge_from(const State& state, bool any) {
    options_.cancellation.check("derive");
    if (any && !convolutions_of(state.program).empty()) {
      keep(state);
      any = false;
    }
    for (const auto& scope : state.program.scopes) {
      if (state.depth >= options_.depth) break;
      auto steps = converge(state.program, scope->tensor, has_convolutions());
      if (steps.empty()) continue;
      for (auto& step : steps) {
        const auto next = after(state, std::move(step));
        if (!options_.fingerprints || is_new(next.program)) converge_from(next, true);
      }
      return;
    }
    if (any) keep(state);
  }

  void keep(const State& state) {
    if (state.steps.empty()) return;
    result_.candidates.push_back({state.program, state.steps, state.price.microseconds, kind_of(state)});
    if (result_.candidates.size() > 16 * options_.candidates) sort_candidates(2 * options_.candidates);
  }

  /// Candidates are proved when the search is over, as many as are given.
  void drop_unproved(const Program& program) {
    sort_candidates(2 * options_.candidates);
    auto& all = result_.candidates;
    std::size_t given = 0;
    std::vector<bool> left(all.size(), false);
    Proofs proofs;
    for (const auto c : by_rank()) {
      if (given == options_.candidates) break;
      const auto why = all[c].steps.empty() ? std::string() : proofs.broken_step(program, all[c].steps);
      left[c] = why.empty();
      if (result_.statistics.refusal.empty()) result_.statistics.refusal = why;
      given += left[c];
      result_.statistics.refused += !left[c];
    }
    keep_only(left);
  }

  /// Leaves \p most candidates, the given program among them, the cheapest first.
  void sort_candidates(std::size_t most) {
    auto& all = result_.candidates;
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.microseconds < b.microseconds; });
    const auto ranked = by_rank();
    std::vector<bool> left(all.size(), true);
    for (std::size_t i = most; i < ranked.size(); ++i) left[ranked[i]] = false;
    keep_only(left);
  }

  void keep_only(const std::vector<bool>& left) {
    std::size_t position = 0;
    std::erase_if(result_.candidates, [&](const Candidate&) { return !left[position++]; });
  }

  /// Positions of the candidates, which are the cheapest first: the given program, then the best by each set of rules before the
  /// second best, as those that other rules lead to are priced apart, by a finer model.
  std::vector<std::size_t> by_rank() const {
    std::vector<std::multiset<std::string>> rules;
    for (const auto& candidate : result_.candidates) rules.push_back(candidate.kind);
    auto result = first_of_each(rules);
    std::stable_partition(result.begin(), result.end(),
                          [&](std::size_t c) { return result_.candidates[c].steps.empty(); });
    return result;
  }

  /// The rules, and the convolutions: other ones are other programs.
  std::multiset<std::string> kind_of(const State& state) {
    auto result = convolutions_of(state.program);
    for (const auto& step : state.steps) result.insert(step.rule);
    return result;
  }

  /// The convolutions of \p program as they are, if routines may compute them: of each the windows and dilations, "3*1 3*1".
  std::multiset<std::string> convolutions_of(const Program& program) {
    std::multiset<std::string> result;
    if (!has_convolutions()) return result;
    for (const auto& scope : program.scopes) {
      const auto [known, is_new] = convolutions_.try_emplace(scope);
      if (is_new) known->second = windows_of(program, *scope);
      if (!known->second.empty()) result.insert(known->second);
    }
    return result;
  }

  bool has_convolutions() const { return options_.rates.windows > options_.rates.loops; }

  static std::string windows_of(const Program& program, const Scope& scope) {
    const auto view = view_windows(program, scope);
    if (!view || view->distance() > 0) return "";
    const auto ranges = iterator_box(scope);
    const auto& at = scope.cases[0].reads[view->image].at;
    std::string result;
    for (int d : view->windows)
      for (int o = 0; o < static_cast<int>(at.size()); ++o)
        if (depends(at, o, d)) result += str(ranges[static_cast<std::size_t>(d)].extent, "*", factor(at, o, d), " ");
    return result;
  }

  const Options& options_;
  PriceModel price_;
  std::size_t width_ = 0;
  Derivation result_;
  std::map<std::string, std::vector<Canonical>> known_;
  std::map<ScopePtr, std::string> convolutions_;
  CanonicalForms forms_;
};

}  // namespace

Derivation derive(const Program& program, const Options& options) { return Search(options).run(program); }

std::string broken_step(const Program& program, const std::vector<Step>& steps) {
  return Proofs().broken_step(program, steps);
}

}  // namespace tc::derive
