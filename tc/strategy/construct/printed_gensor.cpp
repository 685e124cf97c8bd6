#include "tc/strategy/construct/printed_gensor.h"

#include <algorithm>
#include <numeric>

#include "tc/base/ceil_div.h"

namespace tc::strategy::printed {
namespace {

/// Steps of a chain at most ("about 100 iterations").
constexpr int most_steps = 100;

/// One of \p benefits, drawn in proportion to them.
std::size_t draw(const std::vector<double>& benefits, std::mt19937_64& random) {
  auto at = std::uniform_real_distribution<>(0, std::accumulate(benefits.begin(), benefits.end(), 0.0))(random);
  for (std::size_t i = 0; i < benefits.size(); ++i)
    if ((at -= benefits[i]) < 0) return i;
  return benefits.size() - 1;
}

std::vector<double> tiling_benefits(const PricedStatement& statement, const Sizes& from, const std::vector<Sizes>& to) {
  auto before = tile_traffic(statement, from);
  std::vector<double> result;
  for (const auto& sizes : to) result.push_back(tiling_benefit(before, tile_traffic(statement, sizes)));
  return result;
}

bool grows(const Sizes& from, const Sizes& to) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (to[i] > from[i]) return true;
  return false;
}

class ChainRunner {
 public:
  ChainRunner(const MappingSpace& space, bool gate, std::mt19937_64& random)
      : space_(space), statement_(space.priced()), gate_(gate), random_(random) {
    for (const auto& read : statement_.reads)
      element_ = std::max(element_, space.prices.tensors[static_cast<std::size_t>(read.tensor)].element);
  }

  Chain run() {
    const auto& rates = space_.prices.rates;
    const auto& target = space_.prices.target;
    auto vector = static_cast<double>(target.vector_bytes());
    const Level third{rates.l3_latency, rates.l3_bytes}, second{rates.l2_latency, rates.l2_bytes},
        first{rates.forward_latency, rates.loads * vector};
    Sizes ones(statement_.extent.size(), 1);
    auto capacity = static_cast<double>(target.l2_bytes) / element_;
    chain_.cache = walk(ones, capacity, third, second, true);
    chain_.cache_steps = steps_;
    chain_.filled = tile_traffic(statement_, chain_.cache).kept / capacity;
    chain_.registers = walk(ones, target.vector_registers() * vector / element_, second, first, false);
    return std::move(chain_);
  }

 private:
  /// Walks in one level until it goes on from there.
  Sizes walk(Sizes sizes, double capacity, const Level& slow, const Level& fast, bool in_cache) {
    for (steps_ = 0; steps_ < most_steps; ++steps_) {
      if (in_cache) chain_.in_caches.push_back(sizes);
      auto next = neighbours(statement_, sizes, capacity);
      auto benefits = tiling_benefits(statement_, sizes, next);
      bool saturated = std::none_of(next.begin(), next.end(), [&](const Sizes& to) { return grows(sizes, to); });
      auto bytes = tile_traffic(statement_, sizes).kept * element_;
      benefits.push_back(!gate_ || saturated ? caching_benefit(slow, fast, bytes) * caching_multiplier(steps_) : 0);
      benefits.push_back(in_cache ? 0 : thread_benefit(sizes));
      auto drawn = draw(benefits, random_);
      if (drawn == next.size()) return sizes;
      if (drawn == next.size() + 1)
        chain_.virtual_threads *= 2;
      else
        sizes = next[drawn];
    }
    return sizes;
  }

  double thread_benefit(const Sizes& sizes) const {
    if (space_.lane_candidates.empty()) return 0;
    auto along = static_cast<std::size_t>(space_.lane_candidates.front());
    auto lanes = std::int64_t{space_.lanes[along]};
    if (2 * chain_.virtual_threads * lanes > sizes[along]) return 0;
    return virtual_thread_benefit(sizes[along], lanes, 2 * chain_.virtual_threads);
  }

  const MappingSpace& space_;
  const PricedStatement& statement_;
  bool gate_;
  std::mt19937_64& random_;
  double element_ = 1;
  int steps_ = 0;
  Chain chain_;
};

}  // namespace

std::vector<Sizes> neighbours(const PricedStatement& statement, const Sizes& sizes, double capacity) {
  std::vector<Sizes> result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto extent = static_cast<std::int64_t>(statement.extent[i]);
    std::int64_t half = 1;
    while (2 * half < sizes[i]) half *= 2;
    for (auto size : {std::min(2 * sizes[i], extent), half}) {
      auto next = sizes;
      next[i] = size;
      if (next != sizes && tile_traffic(statement, next).kept <= capacity) result.push_back(std::move(next));
    }
  }
  return result;
}

Sizes step(const PricedStatement& statement, const Sizes& sizes, double capacity, bool lazy, std::mt19937_64& random) {
  if (lazy && random() % 2 == 0) return sizes;
  auto next = neighbours(statement, sizes, capacity);
  return next.empty() ? sizes : next[draw(tiling_benefits(statement, sizes, next), random)];
}

Chain run_chain(const MappingSpace& space, bool gate, std::mt19937_64& random) {
  return ChainRunner(space, gate, random).run();
}

MappingState state_of_chain(const MappingSpace& space, const Chain& chain) {
  auto state = plain_state(space);
  if (!space.lane_candidates.empty()) state.lanes = space.lane_candidates.front();
  state.unrolled = state.lanes >= 0;
  for (int member = 0; member < space.member_count() && space.interchangeable; ++member) {
    int iterator = space.facts.heaviest.outer[static_cast<std::size_t>(member)];
    if (iterator < 0) continue;
    auto lanes = member == space.lane_member(state) ? space.lanes_along(state.lanes) : 1;
    auto& tile = state.tile[static_cast<std::size_t>(member)];
    tile = std::max<std::int64_t>(chain.registers[static_cast<std::size_t>(iterator)] / lanes, 1);
    if (lanes > 1) tile = std::min(std::max(tile, chain.virtual_threads), space.units(state, member));
    auto block = round_up(chain.cache[static_cast<std::size_t>(iterator)], tile * lanes);
    if (block < space.facts.cluster.members[static_cast<std::size_t>(member)].extent())
      state.block[static_cast<std::size_t>(member)] = block;
  }
  while (!is_possible(space, state)) {
    auto largest = std::max_element(state.tile.begin(), state.tile.end());
    if (largest == state.tile.end() || *largest == 1) return plain_state(space);
    *largest /= 2;
    for (std::size_t i = 0; i < state.block.size(); ++i) {
      auto lanes = static_cast<int>(i) == space.lane_member(state) ? space.lanes_along(state.lanes) : 1;
      if (state.block[i] > 0) state.block[i] = round_up(state.block[i], state.tile[i] * lanes);
      if (state.block[i] >= space.facts.cluster.members[i].extent()) state.block[i] = 0;
    }
  }
  return state;
}

}  // namespace tc::strategy::printed
