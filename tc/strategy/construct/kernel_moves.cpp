#include "tc/strategy/construct/kernel_moves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/kernel_nest.h"
#include "tc/strategy/construct/construct.h"

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestBranch;
using polyhedral::NestIndex;
using polyhedral::NestLoop;
using polyhedral::NestPlace;
using polyhedral::NestSpace;

/// Slots of copies, at most: each takes the memory of a block of the reduction.
constexpr int most_slots = 6;

/// The digits of one index in a branch, which threads along one dimension run.
struct ThreadChain {
  std::int64_t mod = 0;  ///< of the first digit
  std::int64_t threads = 1, run = 1;
  int dimension = 0;
};

/// The chain of \p index in \p branch; nothing without threads, or with warps or other digits.
std::optional<ThreadChain> chain_of(const NestBranch& branch, const NestIndex& index) {
  std::optional<ThreadChain> result;
  std::size_t digits = 0;
  for (const auto& loop : branch.loops) {
    if (!(loop.digit.index == index) || loop.slots > 0) continue;
    if (digits++ == 0) result.emplace().mod = loop.digit.mod;
    if (loop.place == NestPlace::Thread) {
      result->run = loop.digit.step;
      result->dimension = loop.dimension;
    }
  }
  if (digits == 0 || digits > 3 || thread_loops(branch, index).size() != 1) return std::nullopt;
  return result;
}

/// \p branch with the digits of \p index, of \p extent values, as \p chain says: rounds right above the threads.
void respread(NestBranch& branch, const NestIndex& index, std::int64_t extent, const ThreadChain& chain) {
  std::vector<NestLoop> loops;
  std::optional<NestLoop> rounds, run;
  bool unrolled = false;
  std::size_t at = 0;
  bool above = true;
  for (const auto& loop : branch.loops) {
    unrolled = unrolled || loop.place == NestPlace::Unrolled;
    if (!(loop.digit.index == index) || loop.slots > 0) {
      loops.push_back(loop);
      continue;
    }
    if (loop.place == NestPlace::Thread)
      at = loops.size(), above = false;
    else
      (above ? rounds : run) = loop;
  }
  const auto values = chain.mod > 0 ? std::min(chain.mod, extent) : extent;
  const auto round = chain.threads * chain.run;
  std::vector<NestLoop> made;
  auto mod = chain.mod;
  if (values > round) {
    made.push_back(loop_over(index, mod, round));
    made.back().place = rounds ? rounds->place : unrolled ? NestPlace::Unrolled : NestPlace::Serial;
    mod = round;
  }
  made.push_back(loop_over(index, mod, chain.run));
  made.back().place = NestPlace::Thread;
  made.back().dimension = chain.dimension;
  loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(at), made.begin(), made.end());
  if (chain.run > 1) {
    auto inner = run.value_or(loop_over(index, 0, 1));
    inner.digit = {index, chain.run, 1};
    if (inner.place == NestPlace::Lanes) inner.lanes = static_cast<int>(chain.run);
    if (!run && unrolled) inner.place = NestPlace::Unrolled;
    const bool has_lanes = !loops.empty() && loops.back().place == NestPlace::Lanes;
    loops.insert(loops.end() - (has_lanes ? 1 : 0), inner);
  }
  branch.loops = std::move(loops);
}

class KernelMoves {
 public:
  KernelMoves(const NestSpace& space, const Nest& nest) : space_(space), nest_(nest) {}

  std::vector<Nest> all() && {
    const bool has_unit = std::any_of(nest_.branches.begin(), nest_.branches.end(),
                                      [](const NestBranch& branch) { return !branch.unit.empty(); });
    for (std::size_t m = 0; !has_unit && m < space_.members.size(); ++m)
      for (const bool twice : {true, false}) {
        tile({-1, static_cast<int>(m)}, twice);
        run({-1, static_cast<int>(m)}, twice);
      }
    for (int d = 0; !has_unit && d < 3; ++d)
      for (const bool twice : {true, false}) threads(d, twice);
    steps();
    return std::move(result_);
  }

 private:
  static std::int64_t changed(std::int64_t size, bool twice) { return twice ? 2 * size : size % 2 == 0 ? size / 2 : 0; }

  void take(Nest made) { result_.push_back(without_idle_loops(space_, made)); }

  /// The threads of \p chain in the block of \p nest, as many as its values need.
  std::int64_t threads_of(const Nest& nest, const ThreadChain& chain, std::int64_t extent) const {
    const auto values = chain.mod > 0 ? std::min(chain.mod, extent) : extent;
    return std::min(nest.launch->block[static_cast<std::size_t>(chain.dimension)], ceil_div(values, chain.run));
  }

  /// Lets all branches have \p index as \p change makes their chains; false where one has another form.
  template <typename Change>
  bool change_chains(Nest& nest, const NestIndex& index, const Change& change) const {
    bool any = false;
    for (auto& branch : nest.branches) {
      const bool has_loops = std::any_of(branch.loops.begin(), branch.loops.end(),
                                         [&](const NestLoop& loop) { return loop.digit.index == index; });
      if (!has_loops) continue;
      auto chain = chain_of(branch, index);
      if (!chain) return false;
      change(*chain);
      chain->threads = threads_of(nest, *chain, space_.extent(index));
      respread(branch, index, space_.extent(index), *chain);
      any = true;
    }
    return any;
  }

  /// A block has the threads that its branches use along \p dimension.
  void fit_block(Nest& nest, int dimension) const {
    std::int64_t used = 1;
    for (const auto& branch : nest.branches)
      for (const auto& loop : branch.loops)
        if (loop.place == NestPlace::Thread && loop.dimension == dimension)
          used = std::max(used, values_of(loop.digit, space_.extent(loop.digit.index)));
    nest.launch->block[static_cast<std::size_t>(dimension)] = used;
  }

  void tile(const NestIndex& index, bool twice) {
    auto made = nest_;
    NestLoop* tiles = nullptr;
    for (auto& step : made.trunk)
      if (auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->digit.index == index) {
        if (tiles) return;
        tiles = loop;
      }
    if (!tiles || tiles->blocks > 0) return;
    const auto size = changed(tiles->digit.step, twice);
    if (size < 1 || size > space_.extent(index)) return;
    tiles->digit.step = size;
    int dimension = -1;
    const auto take_tile = [&](ThreadChain& chain) {
      chain.mod = size;
      dimension = chain.dimension;
    };
    const bool spread = change_chains(made, index, take_tile);
    if (!spread || size == 1) return;
    fit_block(made, dimension);
    take(std::move(made));
  }

  void run(const NestIndex& index, bool twice) {
    auto made = nest_;
    bool possible = true;
    int dimension = -1;
    const auto take_run = [&](ThreadChain& chain) {
      chain.run = changed(chain.run, twice);
      dimension = chain.dimension;
      possible = possible && chain.run >= 1 && (chain.mod == 0 || chain.mod % chain.run == 0);
      chain.run = std::max<std::int64_t>(chain.run, 1);
    };
    if (!change_chains(made, index, take_run) || !possible) return;
    fit_block(made, dimension);
    take(std::move(made));
  }

  void threads(int dimension, bool twice) {
    auto made = nest_;
    auto& count = made.launch->block[static_cast<std::size_t>(dimension)];
    count = changed(count, twice);
    if (count < 1) return;
    bool any = false;
    std::vector<NestIndex> indices;
    for (const auto& branch : nest_.branches)
      for (const auto& loop : branch.loops)
        if (loop.place == NestPlace::Thread && loop.dimension == dimension &&
            std::find(indices.begin(), indices.end(), loop.digit.index) == indices.end())
          indices.push_back(loop.digit.index);
    for (const auto& index : indices) {
      if (!change_chains(made, index, [](ThreadChain&) {})) return;
      any = true;
    }
    if (any) take(std::move(made));
  }

  void steps() {
    for (std::size_t b = 0; b < nest_.branches.size(); ++b)
      for (std::size_t i = 0; i < nest_.branches[b].loops.size(); ++i) {
        const auto& loop = nest_.branches[b].loops[i];
        if (loop.slots == 0) continue;
        for (const bool twice : {true, false}) cut(b, i, changed(loop.digit.step, twice));
        for (const int slots : {loop.slots - 1, loop.slots + 1})
          if (slots >= 1 && slots <= most_slots) {
            auto made = nest_;
            made.branches[b].loops[i].slots = slots;
            take(std::move(made));
          }
      }
  }

  /// Blocks of \p size of the reduction that loop number \p i of branch number \p b counts.
  void cut(std::size_t b, std::size_t i, std::int64_t size) {
    auto made = nest_;
    auto& loops = made.branches[b].loops;
    const auto index = loops[i].digit.index;
    if (size < 1 || size >= space_.extent(index)) return;
    const auto below = std::find_if(loops.begin() + static_cast<std::ptrdiff_t>(i) + 1, loops.end(),
                                    [&](const NestLoop& loop) { return loop.digit.index == index; });
    if (below == loops.end() || below->digit.step != 1) return;
    loops[i].digit.step = below->digit.mod = size;
    take(std::move(made));
  }

  const NestSpace& space_;
  const Nest& nest_;
  std::vector<Nest> result_;
};

}  // namespace

std::vector<Nest> kernels_beside(const NestSpace& space, const Nest& nest) { return KernelMoves(space, nest).all(); }

PricedKernel descend_kernel(const PricedCluster& cluster, Nest nest,
                            const std::function<bool(const Nest&)>& is_allowed) {
  PricedKernel best{std::move(nest), {}};
  best.price = grid_price(cluster, best.nest);
  for (;;) {
    std::vector<PricedKernel> found;
    for (auto& beside : kernels_beside(cluster.nests, best.nest))
      if (const auto price = grid_price(cluster, beside);
          price.seconds < best.price.seconds * (1 - least_difference) && std::isfinite(price.seconds))
        found.push_back({std::move(beside), price});
    std::sort(found.begin(), found.end(),
              [](const PricedKernel& a, const PricedKernel& b) { return a.price.seconds < b.price.seconds; });
    const auto next =
        std::find_if(found.begin(), found.end(), [&](const PricedKernel& one) { return is_allowed(one.nest); });
    if (next == found.end()) return best;
    best = std::move(*next);
  }
}

}  // namespace tc::strategy
