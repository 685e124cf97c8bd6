#include "tc/polyhedral/nest/branch_points.h"

#include <algorithm>

#include "tc/base/ceil_div.h"

namespace tc::polyhedral {

bool is_point(const NestBranch& branch, std::size_t number) {
  const auto& loop = branch.loops.at(number);
  if (loop.digit.index.statement < 0 || loop.place != NestPlace::Serial || loop.slides_along) return true;
  const auto end = branch.loops.begin() + static_cast<std::ptrdiff_t>(number);
  return std::any_of(branch.loops.begin(), end,
                     [&](const NestLoop& above) { return above.digit.index == loop.digit.index; });
}

std::vector<NestLoop> points_of(const NestBranch& branch) {
  std::vector<NestLoop> result;
  for (std::size_t i = 0; i < branch.loops.size(); ++i)
    if (is_point(branch, i)) result.push_back(branch.loops[i]);
  return result;
}

std::int64_t points_along(const NestBranch& branch, const NestIndex& index, std::int64_t extent) {
  for (std::size_t i = 0; i < branch.loops.size(); ++i) {
    const auto& digit = branch.loops[i].digit;
    if (digit.index == index) return is_point(branch, i) ? digit.mod > 0 ? digit.mod : extent : digit.step;
  }
  return 1;
}

int vectors_in_flight(const NestSpace& space, const NestBranch& branch, const NestLoop& lanes) {
  if (lanes.digit.index.statement < 0) return 1;
  for (const auto& loop : branch.loops) {
    const auto& digit = loop.digit;
    if (!(digit.index == lanes.digit.index) || digit.step != lanes.lanes || loop.place != NestPlace::Unrolled) continue;
    const auto values = digit.mod > 0 ? digit.mod : space.extent(digit.index);
    return static_cast<int>(ceil_div(values, std::int64_t{lanes.lanes}));
  }
  return 1;
}

bool has_place(const NestBranch& branch, NestPlace place) {
  return std::any_of(branch.loops.begin(), branch.loops.end(),
                     [&](const NestLoop& loop) { return loop.place == place; });
}

bool is_unrolled(const NestBranch& branch) { return has_place(branch, NestPlace::Unrolled); }

bool is_on_cores(const Nest& nest) {
  return std::any_of(nest.trunk.begin(), nest.trunk.end(), [](const NestStep& step) {
    const auto* loop = std::get_if<NestLoop>(&step.what);
    return loop && loop->place == NestPlace::Cores;
  });
}

}  // namespace tc::polyhedral
