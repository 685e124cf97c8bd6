#include "tc/strategy/construct/walk_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tc/polyhedral/nest/idle_loops.h"

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestAdded;
using polyhedral::NestBranch;
using polyhedral::NestKeep;
using polyhedral::NestLoop;
using polyhedral::NestPlace;
using polyhedral::NestSharedCopy;
using polyhedral::NestStep;
using Key = std::vector<std::int64_t>;

/// Kernels that a walk prices at most: a tenth of a millisecond each.
constexpr std::size_t most_kernels = 6000;
/// Kernels of BestFirst whose moves bring nothing, one after the other, at the end.
constexpr int most_idle = 8;
/// Of Gensor: chains, moves of each, and the power of benefits at their beginning and end.
constexpr int chains = 16, chain_moves = 20;
constexpr double first_power = 1, last_power = 8;
/// Instances of a thread between two barriers, for each of which there is code (tile_plane.h).
constexpr std::int64_t most_code = 640;

void add(Key& key, const NestLoop& loop) {
  const auto& digit = loop.digit;
  key.insert(key.end(), {digit.index.statement, digit.index.number, digit.mod, digit.step,
                         static_cast<std::int64_t>(loop.place), loop.dimension, loop.blocks, loop.slots});
}

void add(Key& key, const NestStep& step) {
  key.push_back(-1 - static_cast<std::int64_t>(step.what.index()));
  if (const auto* loop = std::get_if<NestLoop>(&step.what)) add(key, *loop);
  if (const auto* added = std::get_if<NestAdded>(&step.what))
    key.insert(key.end(), {added->points_innermost, added->in_lanes, added->unrolled});
  if (const auto* copy = std::get_if<NestSharedCopy>(&step.what))
    key.insert(key.end(), {copy->statement, copy->read, copy->contiguous, copy->run_along, copy->vector, copy->beside,
                           copy->asynchronous});
  if (const auto* keep = std::get_if<NestKeep>(&step.what))
    key.insert(key.end(), keep->tensor.begin(), keep->tensor.end());
}

/// A nest as a number sequence, to find it again.
Key key_of(const Nest& nest) {
  Key key(nest.launch->block.begin(), nest.launch->block.end());
  for (const auto& step : nest.trunk) add(key, step);
  for (const auto& branch : nest.branches) {
    key.push_back(-1);
    for (const auto& loop : branch.loops) add(key, loop);
  }
  return key;
}

/// Instances of the longest branch of \p nest that are straight code.
std::int64_t code_of(const polyhedral::NestSpace& space, const Nest& nest) {
  std::int64_t most = 1;
  for (const auto& branch : nest.branches) {
    std::int64_t here = 1;
    for (const auto& loop : branch.loops)
      if (loop.place == NestPlace::Unrolled || loop.place == NestPlace::Lanes)
        here *= values_of(loop.digit, space.extent(loop.digit.index));
    most = std::max(most, here);
  }
  return most;
}

/// Loops of \p branch that count rounds: above the threads of the same index.
int rounds_of(const NestBranch& branch) {
  int result = 0;
  for (std::size_t i = 0; i < branch.loops.size(); ++i)
    for (std::size_t j = i + 1; j < branch.loops.size(); ++j)
      result += branch.loops[i].place != NestPlace::Thread && branch.loops[i].slots == 0 &&
                branch.loops[j].place == NestPlace::Thread &&
                branch.loops[i].digit.index == branch.loops[j].digit.index;
  return result;
}

std::vector<int> rounds_of(const Nest& nest) {
  std::vector<int> result;
  for (const auto& branch : nest.branches) result.push_back(rounds_of(branch));
  return result;
}

class KernelSearch {
 public:
  KernelSearch(const PricedCluster& cluster, const std::vector<Nest>& starts, const KernelWalk& walk,
               const std::function<bool(const Nest&)>& is_allowed)
      : cluster_(cluster), walk_(walk), allows_(is_allowed) {
    for (const auto& start : starts) {
      code_ = std::max(code_, code_of(cluster.nests, start));
      const auto rounds = rounds_of(start);
      rounds_.resize(rounds.size());
      for (std::size_t b = 0; b < rounds.size(); ++b) rounds_[b] = std::max(rounds_[b], rounds[b]);
      auto& first = known_[key_of(start)];
      first.kernel = {start, grid_price(cluster, start)};
      first.allowed = true;
      starts_.push_back(&first);
      if (!best_ || first.seconds() < best_->seconds()) best_ = &first;
    }
  }

  WalkedKernel run() {
    if (walk_.policy == ConstructionPolicy::BestFirst)
      best_first();
    else if (walk_.policy == ConstructionPolicy::Roller)
      roller();
    else if (walk_.policy == ConstructionPolicy::Gensor)
      gensor();
    else
      for (auto* start : starts_) descend(start);
    WalkedKernel result{best_->kernel, {}, known_.size()};
    for (const auto* at = best_; at; at = at->from) result.path.push_back(at->kernel.nest);
    std::reverse(result.path.begin(), result.path.end());
    return result;
  }

 private:
  struct Known {
    PricedKernel kernel;
    std::size_t number = 0;       ///< in the order of pricing, between kernels of one price
    const Known* from = nullptr;  ///< the kernel one move away from which it was met; null: none, it is a start
    std::optional<bool> allowed;
    bool has_rounds = false;                    ///< more virtual threads than a start
    std::optional<std::vector<Known*>> beside;  ///< that are priced, of a finite price
    double seconds() const { return kernel.price.seconds; }
  };

  bool is_full() const { return known_.size() >= most_kernels; }

  bool is_allowed(Known& one) {
    if (!one.allowed) one.allowed = allows_(one.kernel.nest);
    if (*one.allowed && one.seconds() < best_->seconds()) best_ = &one;
    return *one.allowed;
  }

  /// \p nest where its blocks have the registers that its launch promises to several of them.
  void fit_launch(Nest& nest, const GridPrice& price) const {
    const auto registers = price.counts.registers * static_cast<double>(price.shape.threads());
    auto& blocks = nest.launch->blocks_per_multiprocessor;
    while (blocks > 1 && registers * blocks > static_cast<double>(cluster_.target.grid->multiprocessor_registers))
      --blocks;
  }

  bool has_more_rounds(const Nest& nest) const {
    const auto rounds = rounds_of(nest);
    for (std::size_t b = 0; b < rounds.size(); ++b)
      if (rounds[b] > rounds_[b]) return true;
    return false;
  }

  bool is_possible(const Known& one) const {
    const auto& price = one.kernel.price;
    return std::isfinite(price.seconds) &&
           price.counts.registers <= static_cast<double>(cluster_.target.grid->thread_registers) &&
           price.shape.threads() <= cluster_.target.grid->block_threads;
  }

  const std::vector<Known*>& beside(Known& one) {
    if (one.beside) return *one.beside;
    std::vector<Known*> result;
    for (auto& nest : kernels_beside(cluster_.nests, one.kernel.nest)) {
      if (is_full()) break;
      const bool has_rounds = has_more_rounds(nest);
      if (code_of(cluster_.nests, nest) > code_ || (!walk_.virtual_threads && has_rounds)) continue;
      const auto [found, is_new] = known_.try_emplace(key_of(nest));
      auto& next = found->second;
      if (is_new) {
        const auto price = grid_price(cluster_, nest);
        fit_launch(nest, price);
        next.kernel = {std::move(nest), price};
        next.number = known_.size();
        next.has_rounds = has_rounds;
        next.from = &one;
      }
      if (is_possible(next)) result.push_back(&next);
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const Known* a, const Known* b) { return a->seconds() < b->seconds(); });
    return one.beside.emplace(std::move(result));
  }

  Known* descend(Known* at, bool with_rounds = true) {
    for (;;) {
      Known* next = nullptr;
      for (auto* one : beside(*at)) {
        if (!with_rounds && one->has_rounds) continue;
        if (one->seconds() >= at->seconds() * (1 - least_difference)) break;
        if (is_allowed(*one)) {
          next = one;
          break;
        }
      }
      if (!next) return at;
      at = next;
    }
  }

  void best_first() {
    const auto later = [](const Known* a, const Known* b) {
      return std::pair(a->seconds(), a->number) < std::pair(b->seconds(), b->number);
    };
    std::set<Known*, decltype(later)> open(later);
    std::set<const Known*> seen;
    for (auto* start : starts_) open.insert(descend(start));
    for (int idle = 0; !open.empty() && !is_full() && idle < most_idle;) {
      auto* at = *open.begin();
      open.erase(open.begin());
      if (!seen.insert(at).second || !is_allowed(*at)) continue;
      const auto before = best_->seconds();
      for (auto* one : beside(*at)) {
        if (one->seconds() < best_->seconds()) is_allowed(*one);
        if (seen.count(one) == 0) open.insert(one);
      }
      idle = best_->seconds() < before ? 0 : idle + 1;
    }
    descend(best_);
  }

  /// Is no size of \p to less than in \p from: threads, tiles, steps and runs?
  static bool grows(const Nest& from, const Nest& to) {
    for (std::size_t d = 0; d < 3; ++d)
      if (to.launch->block[d] < from.launch->block[d]) return false;
    const auto steps = [](const Nest& nest) {
      std::map<std::vector<std::int64_t>, std::int64_t> result;
      const auto note = [&](const NestLoop& loop, std::int64_t branch) {
        if (loop.place != NestPlace::Grid && loop.place != NestPlace::Thread && loop.slots == 0) return;
        result[{branch, loop.digit.index.statement, loop.digit.index.number, loop.slots > 0}] = loop.digit.step;
      };
      for (const auto& step : nest.trunk)
        if (const auto* loop = std::get_if<NestLoop>(&step.what)) note(*loop, -1);
      for (std::size_t b = 0; b < nest.branches.size(); ++b)
        for (const auto& loop : nest.branches[b].loops) note(loop, static_cast<std::int64_t>(b));
      return result;
    };
    const auto before = steps(from);
    for (const auto& [key, size] : steps(to))
      if (const auto found = before.find(key); found != before.end() && size < found->second) return false;
    return true;
  }

  Known* next_of_roller(Known& at) {
    for (auto* one : beside(at))
      if (one->seconds() < at.seconds() && grows(at.kernel.nest, one->kernel.nest) && is_allowed(*one)) return one;
    return nullptr;
  }

  void roller() {
    for (auto* start : starts_)
      for (auto* at = start; at; at = next_of_roller(*at)) is_allowed(*at);
  }

  /// One of \p next, drawn by the price of \p at over its own, to the power of \p sharpness, that is allowed; null: none is.
  Known* draw(const Known& at, std::vector<Known*> next, double sharpness, std::mt19937_64& random) {
    while (!next.empty()) {
      std::vector<double> weights;
      double sum = 0;
      for (const auto* one : next) {
        weights.push_back(std::pow(at.seconds() / one->seconds(), sharpness));
        sum += weights.back();
      }
      auto left = static_cast<double>(random() >> 11) / 9007199254740992.0 * sum;
      std::size_t i = 0;
      while (i + 1 < next.size() && (left -= weights[i]) >= 0) ++i;
      if (is_allowed(*next[i])) return next[i];
      next.erase(next.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return nullptr;
  }

  void gensor() {
    std::mt19937_64 random(walk_.seed);
    for (auto* start : starts_) descend(start);
    for (int chain = 0; chain < chains && !is_full(); ++chain) {
      const bool with_rounds = chain / 2 % 2 == 0;
      auto* at = chain % 2 == 0 ? starts_[static_cast<std::size_t>(chain / 2) % starts_.size()] : best_;
      for (int step = 0; step < chain_moves && !is_full(); ++step) {
        const auto sharpness =
            first_power * std::pow(last_power / first_power, static_cast<double>(step) / chain_moves);
        auto beside_it = beside(*at);
        if (!with_rounds) std::erase_if(beside_it, [](const Known* one) { return one->has_rounds; });
        auto* next = draw(*at, std::move(beside_it), sharpness, random);
        if (!next) break;
        at = next;
      }
      descend(at, with_rounds);
    }
    descend(best_);
  }

  const PricedCluster& cluster_;
  const KernelWalk& walk_;
  const std::function<bool(const Nest&)>& allows_;
  std::int64_t code_ = most_code;
  std::vector<int> rounds_;
  std::map<Key, Known> known_;
  std::vector<Known*> starts_;
  Known* best_ = nullptr;
};

}  // namespace

WalkedKernel walk_kernels(const PricedCluster& cluster, const std::vector<Nest>& starts, const KernelWalk& walk,
                          const std::function<bool(const Nest&)>& is_allowed) {
  return KernelSearch(cluster, starts, walk, is_allowed).run();
}

}  // namespace tc::strategy
