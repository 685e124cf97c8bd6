#include "tc/graph/resolve/branch_and_bound.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "tc/base/cancellation.h"
#include "tc/base/error.h"

namespace tc::graph {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

using Numbers = std::vector<std::size_t>;

/// The variables of \p problem, those with few neighbours first; neighbours of an eliminated variable become neighbours of each other.
Numbers elimination_order(const ChoiceProblem& problem) {
  std::vector<std::set<std::size_t>> neighbours(problem.values.size());
  for (const auto& table : problem.tables)
    for (const auto a : table.variables)
      for (const auto b : table.variables)
        if (a != b) neighbours[a].insert(b);
  std::set<std::pair<std::size_t, std::size_t>> queue;
  for (std::size_t v = 0; v < neighbours.size(); ++v) queue.emplace(neighbours[v].size(), v);
  Numbers order;
  while (!queue.empty()) {
    const auto v = queue.begin()->second;
    queue.erase(queue.begin());
    order.push_back(v);
    for (const auto a : neighbours[v]) {
      queue.erase({neighbours[a].size(), a});
      neighbours[a].erase(v);
      neighbours[a].insert(neighbours[v].begin(), neighbours[v].end());
      neighbours[a].erase(a);
      queue.emplace(neighbours[a].size(), a);
    }
  }
  return order;
}

class BranchAndBound {
 public:
  BranchAndBound(const ChoiceProblem& problem, const SearchLimits& limits)
      : values_(problem.values),
        limits_(limits),
        tables_(problem.tables),
        order_(elimination_order(problem)),
        place_(problem.values.size()),
        in_(problem.values.size()),
        from_(problem.values.size()),
        chosen_(problem.values.size(), 0) {
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
    for (std::size_t t = 0; t < tables_.size(); ++t) put(t);
    for (std::size_t i = 0; i < order_.size(); ++i) make_bounds(i);
  }

  Choice run() {
    if (order_.empty()) return {{}, constant_, constant_};
    std::vector<Level> stack{level(order_.size() - 1, constant_)};
    std::size_t steps = 0;
    while (!stack.empty() && !is_over(++steps)) {
      if (steps % 1024 == 0) check_cancelled("a choice of layouts");
      auto& top = stack.back();
      if (top.next == top.values.size() || !(top.values[top.next].first < best_.cost)) {
        stack.pop_back();
        continue;
      }
      const auto [bound, value] = top.values[top.next++];
      chosen_[order_[top.place]] = value;
      if (top.place > 0)
        stack.push_back(level(top.place - 1, bound));
      else
        best_ = {chosen_, bound, 0};
    }
    if (best_.values.empty()) throw ResourceError("no choice of layouts was found within the steps of the search");
    best_.bound = best_.cost;
    for (const auto& left : stack)
      if (left.next < left.values.size()) best_.bound = std::min(best_.bound, left.values[left.next].first);
    return best_;
  }

 private:
  /// The values of a variable that are tried, each behind the bound of a choice with it, the least first.
  struct Level {
    std::size_t place = 0;
    std::vector<std::pair<double, std::size_t>> values;
    std::size_t next = 0;
  };

  bool is_over(std::size_t steps) const {
    return steps > limits_.most_steps * (best_.values.empty() ? std::size_t{10} : std::size_t{1});
  }

  /// Puts table \p t into the bucket of its variable that is eliminated first.
  void put(std::size_t t) {
    std::size_t first = nowhere;
    for (const auto variable : tables_[t].variables) first = std::min(first, place_[variable]);
    if (first == nowhere)
      constant_ += tables_[t].cost[0];
    else
      in_[first].push_back(t);
  }

  double size_of(const Numbers& variables) const {
    double size = 1;
    for (const auto variable : variables) size *= static_cast<double>(values_[variable]);
    return size;
  }
  double cost(std::size_t t) const {
    std::size_t at = 0;
    for (const auto variable : tables_[t].variables) at = at * values_[variable] + chosen_[variable];
    return tables_[t].cost[at];
  }

  /// The tables of bucket \p place in groups, and the least cost of each group over its variable as a table without it.
  void make_bounds(std::size_t place) {
    struct Group {
      Numbers variables, tables;
    };
    std::vector<Group> groups;
    for (const auto t : in_[place]) {
      bool joined = false;
      for (auto& group : groups) {
        Numbers both = group.variables;
        for (const auto variable : tables_[t].variables)
          if (std::find(both.begin(), both.end(), variable) == both.end()) both.push_back(variable);
        if (size_of(both) > static_cast<double>(limits_.bound_entries)) continue;
        group.variables = std::move(both);
        group.tables.push_back(t);
        joined = true;
        break;
      }
      if (!joined) groups.push_back({tables_[t].variables, {t}});
    }
    for (auto& group : groups) {
      std::erase(group.variables, order_[place]);
      from_[place].push_back(tables_.size());
      tables_.push_back(least_over(order_[place], group.variables, group.tables));
      put(tables_.size() - 1);
    }
  }

  CostTable least_over(std::size_t variable, const Numbers& others, const Numbers& tables) {
    CostTable result{others, std::vector<double>(static_cast<std::size_t>(size_of(others)), infinite)};
    for (std::size_t entry = 0; entry < result.cost.size(); ++entry) {
      auto rest = entry;
      for (std::size_t i = others.size(); i-- > 0; rest /= values_[others[i]])
        chosen_[others[i]] = rest % values_[others[i]];
      for (std::size_t value = 0; value < values_[variable]; ++value) {
        chosen_[variable] = value;
        double sum = 0;
        for (const auto t : tables) sum += cost(t);
        result.cost[entry] = std::min(result.cost[entry], sum);
      }
    }
    return result;
  }

  /// The values of the variable of \p place, where \p bound is that of the choice of all that are eliminated behind it: the bounds of its
  /// bucket are replaced by its tables.
  Level level(std::size_t place, double bound) {
    Level result{place, {}};
    for (const auto t : from_[place]) bound -= cost(t);
    const auto variable = order_[place];
    for (std::size_t value = 0; value < values_[variable]; ++value) {
      chosen_[variable] = value;
      double sum = bound;
      for (const auto t : in_[place]) sum += cost(t);
      if (sum < infinite) result.values.emplace_back(sum, value);
    }
    std::sort(result.values.begin(), result.values.end());
    return result;
  }

  const Numbers& values_;
  SearchLimits limits_;
  std::vector<CostTable> tables_;  ///< those of the problem, then those of bounds
  Numbers order_, place_;
  std::vector<Numbers> in_;    ///< by place: tables whose first variable stands there
  std::vector<Numbers> from_;  ///< by place: tables of bounds that were made there
  Numbers chosen_;
  double constant_ = 0;
  Choice best_{{}, infinite, 0};
};

}  // namespace

Choice minimise_within(const ChoiceProblem& problem, const SearchLimits& limits) {
  try {
    return minimise(problem, limits.most_entries);
  } catch (const ResourceError&) {
    check_cancelled("a choice of layouts");
    return BranchAndBound(problem, limits).run();
  }
}

}  // namespace tc::graph
