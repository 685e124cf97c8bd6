#include "tc/strategy/grid_price/access_box.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tc/base/ceil_div.h"

namespace tc::strategy {
namespace {

/// The sides that iterator \p i of \p access adds.
void add_sides(const PricedAccess& access, std::size_t i, std::int64_t values, std::vector<BoxSide>& sides) {
  const auto& blocks = access.blocks[i];
  if (blocks.size > 0) {
    sides.push_back({std::abs(blocks.inside), std::min(values, blocks.size)});
    sides.push_back({std::abs(blocks.between), ceil_div(values, blocks.size)});
  } else {
    auto stride = access.strides[i];
    sides.push_back({stride == polyhedral::unknown_stride ? far_apart : std::abs(stride), values});
  }
}

}  // namespace

std::vector<BoxSide> access_box(const PricedAccess& access, const std::vector<std::int64_t>& values) {
  std::vector<BoxSide> sides, result;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (access.used[i]) add_sides(access, i, values[i], sides);
  std::erase_if(sides, [](const BoxSide& side) { return side.count <= 1 || side.stride == 0; });
  std::sort(sides.begin(), sides.end(), [](const BoxSide& a, const BoxSide& b) { return a.stride < b.stride; });
  for (const auto& side : sides) {
    auto* last = result.empty() ? nullptr : &result.back();
    if (last && side.stride % last->stride == 0 && side.stride / last->stride <= last->count)
      last->count += (side.count - 1) * (side.stride / last->stride);
    else
      result.push_back(side);
  }
  return result;
}

double elements(const std::vector<BoxSide>& box) {
  double result = 1;
  for (const auto& side : box) result *= static_cast<double>(side.count);
  return result;
}

double sectors(const std::vector<BoxSide>& box, double element, double sector) {
  double rows = elements(box), row = element;
  bool whole = true;
  std::size_t first = 0;
  if (!box.empty() && static_cast<double>(box[0].stride) * element < sector) {
    rows /= static_cast<double>(box[0].count);
    row = static_cast<double>((box[0].count - 1) * box[0].stride + 1) * element;
    first = 1;
  }
  for (auto i = first; i < box.size(); ++i)
    whole = whole && std::fmod(static_cast<double>(box[i].stride) * element, sector) == 0;
  return rows * (whole ? std::ceil(row / sector) : (row - element) / sector + 1);
}

}  // namespace tc::strategy
