#include "tc/polyhedral/nest/idle_loops.h"

#include <algorithm>

#include "tc/base/ceil_div.h"

namespace tc::polyhedral {
namespace {

/// A loop that is left out, of which the next one over its index takes the mod.
struct Dropped {
  NestIndex index;
  std::int64_t mod = 0, step = 1;
};

/// Leaves out loops on the way to a statement.
class Dropper {
 public:
  explicit Dropper(const NestSpace& space) : space_(&space) {}

  /// Whether \p loop, which gets the mod of what was left out above it, is left out itself.
  bool drop(NestLoop& loop) {
    auto& digit = loop.digit;
    for (const auto& above : dropped_)
      if (above.index == digit.index && above.step == digit.mod) {
        digit.mod = above.mod;
        break;
      }
    if (!is_idle(loop)) return false;
    dropped_.insert(dropped_.begin(), {digit.index, digit.mod, digit.step});
    return true;
  }

 private:
  bool is_idle(const NestLoop& loop) const {
    const bool means_something = loop.place == NestPlace::Lanes || loop.place == NestPlace::Threads ||
                                 loop.with_private_sums || loop.slides_along || loop.slots > 0 ||
                                 (loop.place == NestPlace::Thread && loop.digit.step > 1);
    return !means_something && values_of(loop.digit, space_->extent(loop.digit.index)) <= 1;
  }

  const NestSpace* space_;
  std::vector<Dropped> dropped_;  ///< the last one first
};

}  // namespace

std::int64_t values_of(const Digit& digit, std::int64_t extent) {
  return ceil_div(digit.mod > 0 ? std::min(digit.mod, extent) : extent, digit.step);
}

Nest without_idle_loops(const NestSpace& space, const Nest& nest) {
  Dropper of_trunk(space);
  Nest result{.launch = nest.launch};
  for (auto step : nest.trunk)
    if (auto* loop = std::get_if<NestLoop>(&step.what); !loop || !of_trunk.drop(*loop)) result.trunk.push_back(step);
  for (const auto& branch : nest.branches) {
    auto of_branch = of_trunk;
    result.branches.push_back({.statement = branch.statement, .line = branch.line, .unit = branch.unit});
    for (auto loop : branch.loops)
      if (!of_branch.drop(loop)) result.branches.back().loops.push_back(loop);
  }
  return result;
}

}  // namespace tc::polyhedral
