#include "tc/graph/resolve/minimise.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::graph {
namespace {

class Elimination {
 public:
  Elimination(const ChoiceProblem& problem, std::size_t most_entries)
      : values_(problem.values), tables_(problem.tables), most_entries_(most_entries), of_(problem.values.size()) {
    for (std::size_t t = 0; t < tables_.size(); ++t) attach(t);
    for (std::size_t v = 0; v < values_.size(); ++v) {
      sizes_.push_back(table_size(neighbours(v)));
      left_.insert(v);
    }
  }

  Choice run() {
    while (!left_.empty()) {
      const auto smallest =
          std::min_element(left_.begin(), left_.end(), [&](auto a, auto b) { return sizes_[a] < sizes_[b]; });
      const std::size_t variable = *smallest;
      left_.erase(smallest);
      eliminate(variable);
    }
    Choice choice{std::vector<std::size_t>(values_.size(), 0), constant_, constant_};
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
      choice.values[step->variable] = step->best[entry(step->others, choice.values)];
    return choice;
  }

 private:
  /// The best value of a variable for each choice of the others in its tables.
  struct Step {
    std::size_t variable = 0;
    std::vector<std::size_t> others, best;
  };

  void attach(std::size_t table) {
    if (tables_[table].variables.empty()) {
      constant_ += tables_[table].cost[0];
      return;
    }
    for (const auto variable : tables_[table].variables) of_[variable].insert(table);
  }

  /// The variables that stand in a table with \p variable, which is the last of them.
  std::vector<std::size_t> neighbours(std::size_t variable) const {
    std::set<std::size_t> found;
    for (const auto table : of_[variable])
      found.insert(tables_[table].variables.begin(), tables_[table].variables.end());
    found.erase(variable);
    std::vector<std::size_t> result(found.begin(), found.end());
    result.push_back(variable);
    return result;
  }
  double table_size(const std::vector<std::size_t>& variables) const {
    double size = 1;
    for (const auto variable : variables) size *= static_cast<double>(values_[variable]);
    return size;
  }
  std::size_t entry(const std::vector<std::size_t>& variables, const std::vector<std::size_t>& chosen) const {
    std::size_t at = 0;
    for (const auto variable : variables) at = at * values_[variable] + chosen[variable];
    return at;
  }

  /// Puts one table without \p variable in the place of all that have it.
  void eliminate(std::size_t variable) {
    auto scope = neighbours(variable);
    if (table_size(scope) > static_cast<double>(most_entries_))
      throw ResourceError(str("a choice of ", scope.size(), " variables at once has too many cases"));
    scope.pop_back();
    const auto entries = static_cast<std::size_t>(table_size(scope));
    CostTable made{scope, std::vector<double>(entries)};
    Step step{variable, scope, std::vector<std::size_t>(entries)};
    std::vector<std::size_t> chosen(values_.size(), 0);
    for (std::size_t e = 0; e < entries; ++e) {
      set(scope, e, chosen);
      std::tie(made.cost[e], step.best[e]) = best_value(variable, chosen);
    }
    for (const auto table : std::set<std::size_t>(of_[variable]))
      for (const auto other : tables_[table].variables) of_[other].erase(table);
    tables_.push_back(std::move(made));
    attach(tables_.size() - 1);
    for (const auto other : scope) sizes_[other] = table_size(neighbours(other));
    steps_.push_back(std::move(step));
  }

  void set(const std::vector<std::size_t>& scope, std::size_t entry, std::vector<std::size_t>& chosen) const {
    for (std::size_t i = scope.size(); i-- > 0; entry /= values_[scope[i]])
      chosen[scope[i]] = entry % values_[scope[i]];
  }
  std::pair<double, std::size_t> best_value(std::size_t variable, std::vector<std::size_t>& chosen) const {
    std::pair<double, std::size_t> best{std::numeric_limits<double>::infinity(), 0};
    for (std::size_t value = 0; value < values_[variable]; ++value) {
      chosen[variable] = value;
      double cost = 0;
      for (const auto table : of_[variable]) cost += tables_[table].cost[entry(tables_[table].variables, chosen)];
      if (cost < best.first) best = {cost, value};
    }
    return best;
  }

  const std::vector<std::size_t>& values_;
  std::vector<CostTable> tables_;
  std::size_t most_entries_;
  std::vector<std::set<std::size_t>> of_;  ///< the tables that have a variable
  std::vector<double> sizes_;              ///< of the table that eliminating a variable makes, itself included
  std::set<std::size_t> left_;
  std::vector<Step> steps_;
  double constant_ = 0;
};

}  // namespace

Choice minimise(const ChoiceProblem& problem, std::size_t most_entries) {
  return Elimination(problem, most_entries).run();
}

}  // namespace tc::graph
