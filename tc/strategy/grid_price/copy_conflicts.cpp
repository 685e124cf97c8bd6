#include "tc/strategy/grid_price/copy_conflicts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tc/base/ceil_div.h"
#include "tc/base/shared_banks.h"
#include "tc/strategy/grid_price/thread_places.h"

namespace tc::strategy {
namespace {

/// The dimensions of a copy as it lies in memory, densely.
class CopyShape {
 public:
  explicit CopyShape(const CopyUse& use) : use_(use) {
    const auto& dimensions = use.read.dimensions;
    for (const auto& dimension : dimensions)
      extents_.push_back(
          dimension.extent([&](int iterator) { return use.values[static_cast<std::size_t>(iterator)]; }));
    contiguous_ = dimension_of(use.choice.contiguous);
    strides_.assign(extents_.size(), 1);
    const auto last = contiguous_ < 0 ? static_cast<int>(extents_.size()) - 1 : contiguous_;
    auto size = extents_[static_cast<std::size_t>(last)];
    for (auto d = static_cast<int>(extents_.size()) - 1; d >= 0; --d) {
      if (d == last) continue;
      strides_[static_cast<std::size_t>(d)] = size;
      size *= extents_[static_cast<std::size_t>(d)];
    }
  }

  SharedLayout layout() const {
    SharedLayout result{1, 1, 0, {}};
    for (std::size_t d = 0; d < extents_.size(); ++d)
      if (extents_[d] > 1 && strides_[d] > 1)
        result.pitch = result.pitch > 0 ? std::min(result.pitch, strides_[d]) : strides_[d];
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      if (extents_[d] <= 1) continue;
      if (strides_[d] == 1)
        result.columns = extents_[d];
      else
        result.rows += (extents_[d] - 1) * (strides_[d] / result.pitch);
    }
    result.rows *= use_.slots;
    result.pitch = std::max(result.pitch, result.columns);
    return result;
  }

  /// Elements from value 0 of iterator \p i of the reader to \p value.
  std::int64_t place(std::size_t i, std::int64_t value) const {
    std::int64_t result = 0;
    for (std::size_t d = 0; d < extents_.size(); ++d)
      for (const auto& [iterator, factor] : use_.read.dimensions[d].terms)
        if (iterator == static_cast<int>(i)) result += strides_[d] * std::abs(factor) * value;
    return result;
  }

  /// What the first threads, up to \p warp of them, write first: as the copy's loops are numbered (copy_reads.h).
  WarpAccess written(std::int64_t warp) const {
    const auto run = use_.choice.vector > 1 ? dimension_of(use_.choice.run_along) : -1;
    const bool at_once = run >= 0 && run == contiguous_;
    WarpAccess result{"", true, static_cast<int>(use_.element), at_once ? static_cast<int>(use_.choice.vector) : 1,
                      1,  {}};
    const auto order = loops(run);
    for (std::int64_t t = 0; t < warp; ++t) {
      auto rest = t;
      std::int64_t place = 0, beside = 0;
      if (run >= 0) beside = rest % use_.choice.beside, rest /= use_.choice.beside;
      for (auto at = order.rbegin(); at != order.rend(); ++at) {
        const auto d = static_cast<std::size_t>(*at);
        const bool runs = *at == run;
        const auto each = runs ? use_.choice.vector * use_.choice.beside : 1;
        const auto count = ceil_div(extents_[d], each);
        place += strides_[d] * (rest % count * each + (runs ? beside * use_.choice.vector : 0));
        rest /= count;
      }
      if (rest == 0) result.places.push_back(place);
    }
    return result;
  }
  /// Instructions of all threads that write one copy, for each one that counts.
  double writes() const {
    double elements = 1;
    for (const auto extent : extents_) elements *= static_cast<double>(extent);
    const auto run = use_.choice.vector > 1 ? dimension_of(use_.choice.run_along) : -1;
    return elements / (run >= 0 && run == contiguous_ ? static_cast<double>(use_.choice.vector) : 1);
  }

 private:
  int dimension_of(int iterator) const {
    for (std::size_t d = 0; d < use_.read.dimensions.size(); ++d)
      for (const auto& term : use_.read.dimensions[d].terms)
        if (iterator >= 0 && term.first == iterator) return static_cast<int>(d);
    return -1;
  }

  /// The loops that copy, outermost first: with vectors the contiguous one last, else as they lie in memory.
  std::vector<int> loops(int run) const {
    std::vector<int> result(extents_.size());
    std::iota(result.begin(), result.end(), 0);
    const auto far = [&](int d) {
      std::int64_t least = 0;
      for (const auto& [iterator, factor] : use_.read.dimensions[static_cast<std::size_t>(d)].terms)
        least = std::max(least, use_.read.strides[static_cast<std::size_t>(iterator)] / std::abs(factor));
      return least;
    };
    std::stable_sort(result.begin(), result.end(),
                     [&](int a, int b) { return run >= 0 ? a != contiguous_ && b == contiguous_ : far(a) > far(b); });
    return result;
  }

  const CopyUse& use_;
  std::vector<std::int64_t> extents_, strides_;
  int contiguous_ = -1;
};

}  // namespace

double bank_conflicts(const CopyUse& use, const ThreadSpread& spread, const KernelShape& shape,
                      const GridLimits& limits) {
  if (use.read.dimensions.empty()) return 1;
  const CopyShape copy(use);
  const ThreadPlaces places(
      spread, shape, [&](std::size_t i, std::int64_t value) { return copy.place(i, value); },
      [&](int dimension) { return spread.uses(dimension); });
  const auto threads = shape.threads();
  std::vector<WarpAccess> accesses;
  for (const std::int64_t first : {std::int64_t{0}, (threads - 1) / limits.warp_size * limits.warp_size}) {
    WarpAccess warp{"", false, static_cast<int>(use.element), static_cast<int>(use.at_once), 1, {}};
    for (auto t = first; t < std::min(first + limits.warp_size, threads); ++t)
      if (places.runs(t)) warp.places.push_back(places(t));
    warp.times = std::max<std::int64_t>(1, std::llround(use.times));
    if (!warp.places.empty() && (accesses.empty() || accesses.back().places != warp.places)) accesses.push_back(warp);
  }
  accesses.push_back(copy.written(std::min(threads, limits.warp_size)));
  accesses.back().times = std::max<std::int64_t>(1, std::llround(copy.writes() / static_cast<double>(threads)));
  const auto now = copy.layout();
  const auto best = best_layout(accesses, now, limits.shared_banks, now.elements() + use.room);
  const auto count = count_bank_conflicts(accesses, now, best, limits.shared_banks);
  return static_cast<double>(count.rounds) / static_cast<double>(std::max<std::int64_t>(count.fewest, 1));
}

}  // namespace tc::strategy
