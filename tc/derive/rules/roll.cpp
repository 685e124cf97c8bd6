#include "tc/derive/rules/roll.h"

#include <algorithm>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/moved_temporaries.h"
#include "tc/derive/rules/recompute.h"
#include "tc/derive/rules/roll_padding.h"
#include "tc/derive/rules/roll_parts.h"

namespace tc::derive {

namespace {

/// Which sums of a program roll together.
struct RollPlan {
  std::vector<std::string> with_maximum;         ///< the maximum and its sums
  std::vector<std::vector<std::string>> groups;  ///< other sums of wide temporaries, each group in a loop of its own
};

/// Groups the sums that read wide temporaries by the iterator of these that they go over.
class Grouper {
 public:
  explicit Grouper(const Program& program) : program_(program), wide_(wide_temporaries(program)) {}

  /// Throws Refusal if something else than a sum over one iterator reads a wide temporary, unless it is among \p rolled.
  std::vector<std::vector<std::string>> groups(const std::vector<std::string>& rolled) {
    for (const auto& scope : program_.scopes)
      if (!contains(wide_, scope->tensor) && !contains(rolled, scope->tensor))
        if (const auto* read = first_wide(*scope)) add(*scope, *read);
    std::vector<std::vector<std::string>> result;
    for (auto& group : groups_) result.push_back(std::move(group.sums));
    return result;
  }

 private:
  struct Group {
    int position;
    lang::IntegerRange range;
    std::vector<std::string> sums;
  };

  const Read* first_wide(const Scope& scope) const {
    for (const auto& part : scope.cases)
      for (const auto& read : part.reads)
        if (contains(wide_, read.tensor)) return &read;
    return nullptr;
  }

  void add(const Scope& scope, const Read& read) {
    if (!is_sum_over_one(program_, scope))
      throw Refusal{str("'", read.tensor, "' is read by '", scope.tensor, "', too, and so needed as a whole")};
    const auto range = summed_range(scope);
    const int position = position_of(program_, scope, read, scope.left());
    for (auto& group : groups_)
      if (group.position == position && group.range == range && !depends_on(scope, group.sums))
        return group.sums.push_back(scope.tensor);
    groups_.push_back({position, range, {scope.tensor}});
  }

  /// Is \p scope made of one of \p tensors?
  bool depends_on(const Scope& scope, const std::vector<std::string>& tensors) const {
    std::set<std::string> sources{scope.tensor};
    for (auto place = program_.scopes.rbegin(); place != program_.scopes.rend(); ++place)
      if (sources.count((*place)->tensor))
        for (const auto& part : (*place)->cases)
          for (const auto& read : part.reads) sources.insert(read.tensor);
    return std::any_of(tensors.begin(), tensors.end(), [&](const auto& tensor) { return sources.count(tensor) > 0; });
  }

  const Program& program_;
  std::vector<std::string> wide_;
  std::vector<Group> groups_;
};

RollPlan plan_of(const Program& program) try {
  RollPlan result;
  if (const auto bare = without_exponentials(program)) result.with_maximum = rolled_with_maximum(*bare);
  result.groups = Grouper(program).groups(result.with_maximum);
  return result;
} catch (const Refusal&) {
  return {};
}

class Roller {
 public:
  Roller(const Program& program, const BlockSize& size) : now_(program), size_(size) {}

  std::vector<Step> run() {
    const auto plan = plan_of(now_);
    take(recomputed(now_, plan.groups));
    if (plan.groups.empty() || !plan.with_maximum.empty()) {
      take(written_out_exponentials(now_, plan.with_maximum));
      roll(roll_view(now_));
    }
    for (const auto& group : plan.groups) roll(view_of_sums(now_, group));
    return std::move(steps_);
  }

 private:
  void take(const std::vector<Step>& made) {
    if (!made.empty()) now_ = made.back().after;
    steps_.insert(steps_.end(), made.begin(), made.end());
  }

  void roll(RollView view) {
    Blocks blocks(now_, view, size_);
    take(in_blocks(now_, view, blocks));
    if (size_.padded) take(padded_blocks(now_, view, blocks));
    RollParts parts(now_, view, blocks);
    take(running_values(parts));
    take({rolled_loop(parts)});
  }

  Program now_;
  BlockSize size_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> roll(const Program& program, const BlockSize& size) {
  if (program.has_loops()) throw Refusal{"the program has a loop"};
  if (size.most < 1) throw Refusal{"a block has at least one iteration"};
  return Roller(program, size).run();
}

}  // namespace tc::derive
