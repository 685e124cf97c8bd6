#include "tc/strategy/construct/kernel_moves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/kernel_nest.h"
#include "tc/strategy/construct/construct.h"

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestAdded;
using polyhedral::NestBranch;
using polyhedral::NestIndex;
using polyhedral::NestLoop;
using polyhedral::NestPlace;
using polyhedral::NestSeparate;
using polyhedral::NestSpace;
using polyhedral::NestStep;

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
    if (inner.place == NestPlace::Lanes && extent % chain.run != 0)
      inner.place = unrolled ? NestPlace::Unrolled : NestPlace::Serial;
    inner.lanes = inner.place == NestPlace::Lanes ? static_cast<int>(chain.run) : 0;
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
    for (const bool twice : {true, false}) {
      for (std::size_t m = 0; !has_unit && m < space_.members.size(); ++m) tiles({-1, static_cast<int>(m)}, twice);
      for (const auto& index : on_threads()) take(has_unit ? std::nullopt : with_run(nest_, index, twice));
      for (int d = 0; !has_unit && d < 3; ++d) take(with_threads(nest_, d, twice));
    }
    if (!has_unit) take(with_lanes());
    steps();
    return std::move(result_);
  }

 private:
  static std::int64_t changed(std::int64_t size, bool twice) { return twice ? 2 * size : size % 2 == 0 ? size / 2 : 0; }

  void take(const std::optional<Nest>& made) {
    if (made) result_.push_back(without_idle_loops(space_, fit_separate(*made)));
  }

  /// Full tiles have code of their own where some are not full and statements have loops of their own.
  Nest fit_separate(Nest nest) const {
    const auto is_separate = [](const NestStep& step) { return std::holds_alternative<NestSeparate>(step.what); };
    const bool has_loops = std::any_of(space_.statements.begin(), space_.statements.end(),
                                       [](const NestSpace::Statement& one) { return !one.entry.inner.empty(); });
    bool partial = false, ahead = false;
    for (const auto& step : nest.trunk)
      if (const auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->digit.index.statement < 0)
        partial = partial ||
                  !space_.members[static_cast<std::size_t>(loop->digit.index.number)].is_multiple_of(loop->digit.step);
    for (const auto& branch : nest.branches)
      for (const auto& loop : branch.loops) ahead = ahead || loop.slots > 1;
    const auto found = std::find_if(nest.trunk.begin(), nest.trunk.end(), is_separate);
    if (!partial && found != nest.trunk.end()) nest.trunk.erase(found);
    if (partial && found == nest.trunk.end() && has_loops && !ahead)
      nest.trunk.insert(std::find_if(nest.trunk.begin(), nest.trunk.end(),
                                     [](const NestStep& step) { return !std::holds_alternative<NestLoop>(step.what); }),
                        NestStep{NestSeparate{}});
    return nest;
  }

  /// Indices that threads run, members first.
  std::vector<NestIndex> on_threads(int dimension = -1) const {
    std::vector<NestIndex> result;
    for (const auto& branch : nest_.branches)
      for (const auto& loop : branch.loops)
        if (loop.place == NestPlace::Thread && (dimension < 0 || loop.dimension == dimension) &&
            std::find(result.begin(), result.end(), loop.digit.index) == result.end())
          result.push_back(loop.digit.index);
    return result;
  }

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

  /// The only loop of the trunk of \p nest over \p index; null where there are several or none.
  static NestLoop* tiles_of(Nest& nest, const NestIndex& index) {
    NestLoop* result = nullptr;
    for (auto& step : nest.trunk)
      if (auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->digit.index == index) {
        if (result) return nullptr;
        result = loop;
      }
    return result && result->blocks == 0 ? result : nullptr;
  }

  /// What a tile has more goes to rounds of its threads, to their runs, or to more threads.
  void tiles(const NestIndex& index, bool twice) {
    const auto tiled = with_tile(index, twice);
    take(tiled ? tiled : with_members_on_threads(index, twice));
    if (!tiled) return;
    take(with_run(*tiled, index, twice));
    for (int d = 0; d < 3; ++d)
      if (const auto on = on_threads(d); std::find(on.begin(), on.end(), index) != on.end())
        take(with_threads(*tiled, d, twice));
  }

  std::optional<Nest> with_tile(const NestIndex& index, bool twice) const {
    auto made = nest_;
    auto* tiles = tiles_of(made, index);
    if (!tiles) return std::nullopt;
    const auto size = changed(tiles->digit.step, twice);
    if (size < 1 || size > space_.extent(index)) return std::nullopt;
    tiles->digit.step = size;
    int dimension = -1;
    const auto take_tile = [&](ThreadChain& chain) {
      chain.mod = size;
      dimension = chain.dimension;
    };
    if (!change_chains(made, index, take_tile) || size == 1) return std::nullopt;
    fit_block(made, dimension);
    return made;
  }

  /// Is \p loop, of \p branch, one around several statements?
  bool is_shared(const NestBranch& branch, const NestLoop& loop) const {
    if (loop.digit.index.statement < 0) return false;
    return std::any_of(space_.bands.begin(), space_.bands.end(), [&](const polyhedral::SharedBand& band) {
      return std::any_of(band.members.begin(), band.members.end(), [&](const polyhedral::SharedBand::Member& member) {
        return contains(band.statements, branch.statement) &&
               member.iterator_of(band, branch.statement) == loop.digit.index.number;
      });
    });
  }

  /// A tile of two of a member that no threads run, along a dimension of the block that no loop uses; or one of these again.
  std::optional<Nest> with_members_on_threads(const NestIndex& index, bool twice) const {
    auto made = nest_;
    auto* tiles = tiles_of(made, index);
    if (!tiles || tiles->digit.step != (twice ? 1 : 2) || space_.extent(index) < 2) return std::nullopt;
    tiles->digit.step = twice ? 2 : 1;
    int dimension = 1;
    while (twice && dimension < 3 && !on_threads(dimension).empty()) ++dimension;
    if (dimension == 3) return std::nullopt;
    for (auto& branch : made.branches) {
      auto& loops = branch.loops;
      if (!twice) {
        std::erase_if(loops, [&](const NestLoop& loop) { return loop.digit.index == index; });
        continue;
      }
      auto loop = loop_over(index, 2, 1);
      loop.place = NestPlace::Thread;
      loop.dimension = dimension;
      loops.insert(std::find_if(loops.begin(), loops.end(),
                                [&](const NestLoop& other) { return other.slots == 0 && !is_shared(branch, other); }),
                   loop);
    }
    for (int d = 1; d < 3; ++d)
      if (!twice || d == dimension) fit_block(made, d);
    return made;
  }

  std::optional<Nest> with_run(const Nest& nest, const NestIndex& index, bool twice) const {
    auto made = nest;
    bool possible = true;
    int dimension = -1;
    const auto take_run = [&](ThreadChain& chain) {
      chain.run = changed(chain.run, twice);
      dimension = chain.dimension;
      possible = possible && chain.run >= 1 && (chain.mod == 0 || chain.mod % chain.run == 0);
      chain.run = std::max<std::int64_t>(chain.run, 1);
    };
    if (!change_chains(made, index, take_run) || !possible) return std::nullopt;
    if (index.statement < 0) fit_block(made, dimension);
    return made;
  }

  std::optional<Nest> with_threads(const Nest& nest, int dimension, bool twice) const {
    auto made = nest;
    auto& count = made.launch->block[static_cast<std::size_t>(dimension)];
    count = changed(count, twice);
    if (count < 1) return std::nullopt;
    const auto indices = on_threads(dimension);
    for (const auto& index : indices)
      if (!change_chains(made, index, [](ThreadChain&) {})) return std::nullopt;
    return indices.empty() ? std::nullopt : std::optional(std::move(made));
  }

  /// The innermost runs of threads along x as vectors, or no vectors.
  std::optional<Nest> with_lanes() const {
    auto made = nest_;
    bool any = false, are_lanes = false;
    for (auto& branch : made.branches) {
      if (branch.loops.size() < 2) continue;
      auto& last = branch.loops.back();
      const auto is_thread = [&](const NestLoop& loop) {
        return loop.place == NestPlace::Thread && loop.dimension == 0 && loop.digit.index == last.digit.index;
      };
      if (last.place == NestPlace::Thread || last.digit.step != 1 || last.digit.mod < 2 ||
          space_.extent(last.digit.index) % last.digit.mod != 0 ||
          std::none_of(branch.loops.begin(), branch.loops.end(), is_thread))
        continue;
      are_lanes = last.place == NestPlace::Lanes;
      last.place = are_lanes ? NestPlace::Serial : NestPlace::Lanes;
      if (are_lanes && branch.loops.size() > 1 && branch.loops[branch.loops.size() - 2].place == NestPlace::Unrolled)
        last.place = NestPlace::Unrolled;
      last.lanes = are_lanes ? 0 : static_cast<int>(last.digit.mod);
      any = true;
    }
    for (auto& step : made.trunk)
      if (auto* added = std::get_if<NestAdded>(&step.what)) added->in_lanes = !are_lanes;
    return any ? std::optional(std::move(made)) : std::nullopt;
  }

  void steps() {
    for (std::size_t b = 0; b < nest_.branches.size(); ++b)
      for (std::size_t i = 0; i < nest_.branches[b].loops.size(); ++i) {
        const auto& loop = nest_.branches[b].loops[i];
        if (loop.slots == 0) continue;
        for (const bool twice : {true, false}) take(with_blocks(b, i, changed(loop.digit.step, twice)));
        for (const int slots : {loop.slots - 1, loop.slots + 1})
          if (slots >= 1 && slots <= most_slots) {
            auto made = nest_;
            made.branches[b].loops[i].slots = slots;
            take(std::move(made));
          }
      }
  }

  /// Blocks of \p size of the reduction that loop number \p i of branch number \p b counts.
  std::optional<Nest> with_blocks(std::size_t b, std::size_t i, std::int64_t size) const {
    auto made = nest_;
    auto& loops = made.branches[b].loops;
    const auto index = loops[i].digit.index;
    if (size < 1 || size >= space_.extent(index)) return std::nullopt;
    const auto below = std::find_if(loops.begin() + static_cast<std::ptrdiff_t>(i) + 1, loops.end(),
                                    [&](const NestLoop& loop) { return loop.digit.index == index; });
    if (below == loops.end() || below->digit.step != 1) return std::nullopt;
    loops[i].digit.step = below->digit.mod = size;
    return made;
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
