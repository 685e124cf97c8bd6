#include "test/cuda_emulator/happens_before.h"

#include <algorithm>
#include <unordered_set>

namespace tc::emulator {

/// What a thread knew when it fenced, and what the location it published this at held before.
struct HappensBefore::Release {
  std::uint32_t block, epoch;
  int thread;
  bool device;
  std::uint32_t local;
  Row lanes;
  std::vector<ReleasePtr> before;

  bool covers(const Stamp& past) const {
    if (past.block != block || past.local == Stamp::in_flight) return false;
    if (past.epoch != epoch) return past.epoch < epoch;
    if (static_cast<int>(past.thread) == thread) return past.local <= local;
    return past.thread / warp == static_cast<unsigned>(thread) / warp && past.local <= lanes[past.thread % warp];
  }
};

namespace {

template <typename T>
void merge(std::vector<T>& into, const std::vector<T>& from) {
  for (const auto& item : from)
    if (std::find(into.begin(), into.end(), item) == into.end()) into.push_back(item);
}

}  // namespace

void HappensBefore::begin_launch() {
  first_block_ = block_ + 1;
  published_.clear();
}

void HappensBefore::begin_block(int threads) {
  ++block_;
  epoch_ = 0;
  clocks_.assign(static_cast<std::size_t>(threads), Clock{});
  for (auto& clock : clocks_) clock.local = 1;
  block_acquired_.clear();
  proxy_fences_.assign(static_cast<std::size_t>(threads), {});
}

void HappensBefore::proxy_fence(int thread) {
  auto& clock = clocks_[static_cast<std::size_t>(thread)];
  auto& fences = proxy_fences_[static_cast<std::size_t>(thread)];
  advance(clock);
  if (fences.epoch != epoch_) {
    fences.earlier_epoch = fences.epoch;
    fences.earlier_local = fences.local;
  }
  fences.epoch = epoch_;
  fences.local = clock.local;
}

bool HappensBefore::fenced(const Stamp& past, int thread) const {
  if (past.block != block_) return true;
  const auto& fences = proxy_fences_[past.thread];
  const auto comes_before = [&](std::uint32_t epoch, std::uint32_t local) {
    return past.epoch < epoch || (past.epoch == epoch && past.local < local);
  };
  const bool last_counts = fences.epoch < epoch_ || static_cast<int>(past.thread) == thread;
  return (last_counts && comes_before(fences.epoch, fences.local)) ||
         comes_before(fences.earlier_epoch, fences.earlier_local);
}

bool HappensBefore::reached(const std::vector<ReleasePtr>& releases, const Stamp& past) const {
  std::unordered_set<const Release*> seen;
  std::vector<const Release*> open;
  for (const auto& release : releases) open.push_back(release.get());
  while (!open.empty()) {
    const Release* release = open.back();
    open.pop_back();
    if (!seen.insert(release).second || (!release->device && release->block != block_)) continue;
    if (release->covers(past)) return true;
    for (const auto& earlier : release->before) open.push_back(earlier.get());
  }
  return false;
}

bool HappensBefore::ordered_by_warp_or_atomics(const Stamp& past, int thread) const {
  if (past.local == Stamp::in_flight) return false;
  const auto& clock = clocks_[static_cast<std::size_t>(thread)];
  if (past.block == block_ && static_cast<int>(past.thread) / warp == thread / warp &&
      past.local <= clock.lanes[past.thread % warp])
    return true;
  if (clock.acquired.empty() && block_acquired_.empty()) return false;
  return reached(clock.acquired, past) || reached(block_acquired_, past);
}

void HappensBefore::advance(Clock& clock) {
  if (clock.local + 1 < Stamp::in_flight) ++clock.local;
}

void HappensBefore::barrier() {
  ++epoch_;
  for (auto& clock : clocks_) {
    merge(block_acquired_, clock.acquired);
    clock.acquired.clear();
    clock.lanes.fill(0);
    clock.local = 1;
  }
}

void HappensBefore::warp_barrier(int first, std::uint32_t mask) {
  Row joined{};
  std::vector<ReleasePtr> acquired;
  auto each = [&](auto&& work) {
    for (int lane = 0; lane < warp && first + lane < static_cast<int>(clocks_.size()); ++lane)
      if (mask >> lane & 1) work(lane, clocks_[static_cast<std::size_t>(first + lane)]);
  };
  each([&](int lane, Clock& clock) {
    for (std::size_t i = 0; i < warp; ++i) joined[i] = std::max(joined[i], clock.lanes[i]);
    joined[static_cast<std::size_t>(lane)] = clock.local;
    if (!clock.acquired.empty()) merge(acquired, clock.acquired);
  });
  each([&](int, Clock& clock) {
    clock.lanes = joined;
    if (!acquired.empty()) clock.acquired = acquired;
    advance(clock);
  });
}

void HappensBefore::fence(int thread, bool device) {
  auto& clock = clocks_[static_cast<std::size_t>(thread)];
  merge(clock.acquired, clock.observed);
  clock.observed.clear();
  auto before = block_acquired_;
  merge(before, clock.acquired);
  clock.fenced =
      std::make_shared<Release>(Release{block_, epoch_, thread, device, clock.local, clock.lanes, std::move(before)});
  advance(clock);
}

void HappensBefore::atomic(int thread, std::uintptr_t address) {
  auto& clock = clocks_[static_cast<std::size_t>(thread)];
  auto& published = published_[address];
  auto earlier = published;
  if (earlier) clock.observed.push_back(earlier);
  if (!clock.fenced) return;
  Release release = *clock.fenced;
  if (earlier && std::find(release.before.begin(), release.before.end(), earlier) == release.before.end())
    release.before.push_back(earlier);
  published = std::make_shared<Release>(std::move(release));
}

}  // namespace tc::emulator
