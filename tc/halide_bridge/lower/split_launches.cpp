#include "tc/halide_bridge/lower/split_launches.h"

#include <algorithm>
#include <set>

#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

/// Equal for two checks that compute the same flag from the same values.
std::string key_of(const CheckStep& check) {
  TextStream out;
  for (std::size_t i = 0; i < check.update.iterators.size(); ++i) {
    const auto& interval = check.update.domain[i];
    out << check.update.iterators[i] << ' ' << interval.min << ' ' << interval.extent << ' ';
  }
  out << check.update.value;
  return out.str();
}

class LaunchSplitter {
 public:
  LaunchSplitter(std::map<std::string, ProgramTensor>& tensors, std::vector<std::string>& names)
      : tensors_(tensors), names_(names) {}

  std::vector<Launch> run(std::vector<Step> steps) {
    hoist_input_checks(steps);
    for (auto& step : steps) {
      check_in_place(std::move(step.checks));
      for (auto& statement : step.statements) {
        note_write(statement);
        current_.statements.push_back(std::move(statement));
      }
    }
    close();
    number_statements();
    return std::move(launches_);
  }

 private:
  bool reads_inputs_only(const CheckStep& check) const {
    return std::all_of(check.reads.begin(), check.reads.end(),
                       [&](const std::string& name) { return tensors_.at(name).role == lang::Role::Input; });
  }

  void hoist_input_checks(std::vector<Step>& steps) {
    std::vector<CheckStep> hoisted;
    for (auto& step : steps) {
      const auto first = std::stable_partition(step.checks.begin(), step.checks.end(),
                                               [&](const CheckStep& check) { return !reads_inputs_only(check); });
      std::move(first, step.checks.end(), std::back_inserter(hoisted));
      step.checks.erase(first, step.checks.end());
    }
    check_in_place(std::move(hoisted));
  }

  /// Runs \p checks, lower levels first, and lets the host look at the flags of each level.
  void check_in_place(std::vector<CheckStep> checks) {
    std::map<int, std::vector<CheckStep>> levels;
    for (auto& check : checks) levels[check.level].push_back(std::move(check));
    for (auto& [level, same] : levels) {
      for (auto& check : same) {
        if (passed_.emplace(key_of(check), check.reads).second) add(std::move(check));
      }
      if (!current_.checks.empty()) close();
    }
  }

  void add(CheckStep check) {
    const std::string flag = str("check", flag_count_++, "'");
    tensors_.emplace(flag, ProgramTensor{flag, DType::Bool, lang::Role::Temporary, {}});
    names_.push_back(flag);
    check.initialise.target = check.update.target = flag;
    current_.statements.push_back(std::move(check.initialise));
    current_.statements.push_back(std::move(check.update));
    if (wrote_observable_) check.message += "; the outputs are unspecified";
    current_.checks.push_back({flag, std::move(check.message), !wrote_observable_});
  }

  void note_write(const ProgramStatement& statement) {
    const lang::Role role = tensors_.at(statement.target).role;
    wrote_observable_ = wrote_observable_ || role == lang::Role::Output || role == lang::Role::InOut;
    std::erase_if(passed_, [&](const auto& check) { return check.second.count(statement.target) > 0; });
  }

  void close() {
    if (!current_.statements.empty()) launches_.push_back(std::move(current_));
    current_ = {};
  }

  void number_statements() {
    int count = 0;
    for (auto& launch : launches_) {
      for (auto& statement : launch.statements) statement.id = str('S', count++);
    }
  }

  std::map<std::string, ProgramTensor>& tensors_;
  std::vector<std::string>& names_;
  std::vector<Launch> launches_;
  Launch current_;
  std::map<std::string, std::set<std::string>>
      passed_;  ///< checks whose values have not changed since, and their reads
  int flag_count_ = 0;
  bool wrote_observable_ = false;
};

}  // namespace

std::vector<Launch> split_launches(std::vector<Step> steps, std::map<std::string, ProgramTensor>& tensors,
                                   std::vector<std::string>& names) {
  return LaunchSplitter(tensors, names).run(std::move(steps));
}

}  // namespace tc::halide_bridge
