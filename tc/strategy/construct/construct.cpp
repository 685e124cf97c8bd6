#include "tc/strategy/construct/construct.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <random>
#include <set>

#include "tc/base/contains.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/strategy/construct/mapping_moves.h"
#include "tc/strategy/construct/printed_gensor.h"
#include "tc/strategy/cost/parallel_work.h"
#include "tc/strategy/cpu/choose_mapping.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;

/// Of plain loops, Descent begins at so many of the cheapest. From all, searches for 236 programs took 2.6 times as long, and what
/// they found was cheaper by 0.4 %.
constexpr std::size_t plain_descents = 3;

/// Instances of a cluster from which on Descent searches: below, a run takes microseconds, and a search milliseconds.
constexpr std::int64_t least_searched = parallel_cluster;

/// States that BestFirst prices at most, and how many that are no better than the best end it.
constexpr int most_states = 3000, most_idle = 15;

/// Of Gensor: chains, moves of a chain, and by how much a move of half the price is likelier than one that changes
/// nothing, at the beginning and at the end.
constexpr int chains = 6, chain_moves = 60;
constexpr double first_power = 1, last_power = 8;

/// A state as a number sequence, to find it again.
std::vector<std::int64_t> key_of(const MappingState& state) {
  std::vector<std::int64_t> key{state.lanes,     state.unrolled,  state.vectors,
                                state.reduction, state.outermost, state.parallel};
  key.insert(key.end(), state.tile.begin(), state.tile.end());
  key.insert(key.end(), state.block.begin(), state.block.end());
  for (auto place : state.copies) key.push_back(static_cast<std::int64_t>(place));
  key.push_back(-1);
  key.insert(key.end(), state.above.begin(), state.above.end());
  return key;
}

/// Prices states, each once, as far as it is asked for.
class Search {
 public:
  Search(const MappingSpace& space, std::int64_t buffer_bytes) : space_(space), buffer_bytes_(buffer_bytes) {}

  /// The price of \p state where it is less than \p limit; else no more than it, and no less than \p limit.
  double seconds(const MappingState& state, double limit = std::numeric_limits<double>::infinity()) {
    const auto [found, is_new] = known_.try_emplace(key_of(state));
    auto& known = found->second;
    if (is_new) known.state = state;
    if (known.exact || known.seconds >= limit) return known.seconds;
    known.seconds = price_up_to(limit, space_.prices, mapping_of(space_, state), buffer_bytes_);
    known.exact = known.seconds < limit;
    if (known.exact && known.seconds < best_seconds_) {
      best_seconds_ = known.seconds;
      best_ = state;
    }
    return known.seconds;
  }
  int states() const { return static_cast<int>(known_.size()); }
  const MappingState& best() const { return best_; }
  double best_seconds() const { return best_seconds_; }

  /// Takes the cheapest move from \p state until none is cheaper.
  MappingState descend(MappingState state) {
    for (bool better = true; better;) {
      better = false;
      auto here = seconds(state);
      auto next = state;
      for (const auto& move : moves(space_, state))
        if (auto there = seconds(move, here); there < here) {
          here = there;
          next = move;
          better = true;
        }
      state = std::move(next);
    }
    return state;
  }

  /// Of the states that prices do not tell from the best one, that which adds least code, the cheapest of these.
  Construction result() {
    auto limit = best_seconds_ / (1 - least_difference);
    for (auto& [key, known] : known_)
      if (!known.exact && known.seconds <= limit) seconds(known.state);
    auto rank = [](const Known& known) { return std::pair(added_code(known.state), known.seconds); };
    const Known* chosen = nullptr;
    for (const auto& [key, known] : known_)
      if (known.seconds <= limit && (!chosen || rank(known) < rank(*chosen))) chosen = &known;
    return result(chosen->state);
  }

  /// The \p count cheapest states with different nests, the cheapest first.
  std::vector<Construction> cheapest(std::size_t count) {
    std::vector<std::pair<double, const MappingState*>> order;
    for (const auto& [key, known] : known_) order.emplace_back(known.seconds, &known.state);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Construction> result;
    std::vector<polyhedral::Nest> nests;
    for (const auto& [seconds, state] : order) {
      if (result.size() == count) break;
      auto made = this->result(*state);
      auto nest = nest_of(space_.prices.nests, made.mapping);
      if (contains(nests, nest)) continue;
      nests.push_back(std::move(nest));
      result.push_back(std::move(made));
    }
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.price.seconds < b.price.seconds; });
    return result;
  }

  Construction result(const MappingState& state) const {
    Construction made;
    made.mapping = mapping_of(space_, state);
    made.price = price(space_.prices, made.mapping, buffer_bytes_);
    made.states = states();
    return made;
  }

 private:
  const MappingSpace& space_;
  std::int64_t buffer_bytes_;
  struct Known {
    double seconds = 0;  ///< its price if `exact`, else no more than that
    bool exact = false;
    MappingState state;
  };
  std::map<std::vector<std::int64_t>, Known> known_;
  MappingState best_;
  double best_seconds_ = std::numeric_limits<double>::infinity();
};

/// A plain state for each way to run along lanes, the squares of lanes that are transposed in registers, and those \p given.
std::vector<MappingState> starts(const MappingSpace& space, const std::vector<MappingState>& given) {
  std::vector<MappingState> result{plain_state(space)};
  for (int iterator : space.lane_candidates) {
    result.push_back(plain_state(space));
    result.back().lanes = iterator;
    auto unrolled = result.back();
    unrolled.unrolled = true;
    if (is_possible(space, unrolled)) result.push_back(unrolled);
    for (int member = 0; member < space.member_count(); ++member) {
      auto square = unrolled;
      square.tile[static_cast<std::size_t>(member)] = space.lanes_along(iterator);
      if (member != space.lane_member(square) && is_possible(space, square)) result.push_back(square);
    }
  }
  result.insert(result.end(), given.begin(), given.end());
  return result;
}

/// The \p count cheapest of \p states, the cheapest first.
std::vector<MappingState> cheapest(const std::vector<MappingState>& states, std::size_t count, Search& search) {
  std::vector<std::pair<double, std::size_t>> order;
  for (const auto& state : states) order.emplace_back(search.seconds(state), order.size());
  std::sort(order.begin(), order.end());
  std::vector<MappingState> result;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) result.push_back(states[order[i].second]);
  return result;
}

void best_first(const MappingSpace& space, const std::vector<MappingState>& begins, Search& search) {
  using Entry = std::pair<double, MappingState>;
  auto later = [](const Entry& a, const Entry& b) { return a.first > b.first; };
  std::priority_queue<Entry, std::vector<Entry>, decltype(later)> open(later);
  for (const auto& start : begins) {
    auto least = search.descend(start);
    open.emplace(search.seconds(least), std::move(least));
  }
  std::set<std::vector<std::int64_t>> seen;
  int idle = 0;
  while (!open.empty() && search.states() < most_states && idle < most_idle) {
    auto state = open.top().second;
    open.pop();
    auto before = search.best_seconds();
    for (auto& next : moves(space, state)) {
      if (!seen.insert(key_of(next)).second) continue;
      auto seconds = search.seconds(next);
      open.emplace(seconds, std::move(next));
    }
    idle = search.best_seconds() < before ? 0 : idle + 1;
  }
  search.descend(search.best());
}

/// Only sizes that grow, and only along the ways that make the price less; aligned: powers of two.
void roller(const MappingSpace& space, const std::vector<MappingState>& begins, Search& search) {
  auto is_aligned = [](std::int64_t size) { return (size & (size - 1)) == 0; };
  auto grows = [&](const MappingState& from, const MappingState& to) {
    if (to.lanes != from.lanes) return false;
    for (std::size_t i = 0; i < from.tile.size(); ++i)
      if (to.tile[i] < from.tile[i] || (to.tile[i] > from.tile[i] && !is_aligned(to.tile[i]))) return false;
    return true;
  };
  for (const auto& start : begins) {
    auto state = start;
    for (bool better = true; better;) {
      better = false;
      auto here = search.seconds(state);
      for (const auto& next : moves(space, state))
        if (grows(state, next) && search.seconds(next) < here) {
          state = next;
          better = true;
          break;
        }
    }
  }
}

/// One of \p next, drawn by the benefit of each: the price before over the price after, to the power of \p sharpness.
std::size_t draw(const std::vector<double>& benefits, double sharpness, std::mt19937_64& random) {
  double sum = 0;
  for (auto benefit : benefits) sum += std::pow(benefit, sharpness);
  auto at = static_cast<double>(random() >> 11) / 9007199254740992.0 * sum;
  for (std::size_t i = 0; i < benefits.size(); ++i)
    if ((at -= std::pow(benefits[i], sharpness)) < 0) return i;
  return benefits.size() - 1;
}

void gensor(const MappingSpace& space, const std::vector<MappingState>& from, Search& search, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const auto& start : from) search.seconds(start);
  for (int chain = 0; chain < chains; ++chain) {
    auto state = chain % 2 == 0 ? search.best() : from[random() % from.size()];
    for (int step = 0; step < chain_moves; ++step) {
      auto next = moves(space, state);
      if (next.empty()) break;
      auto here = search.seconds(state);
      std::vector<double> benefits;
      for (const auto& one : next) benefits.push_back(here / search.seconds(one));
      auto sharpness = first_power * std::pow(last_power / first_power, static_cast<double>(step) / chain_moves);
      state = next[draw(benefits, sharpness, random)];
    }
    search.descend(state);
  }
  search.descend(search.best());
}

Target machine_of(const Target& target, const polyhedral::MappingOptions& options) {
  auto result = target;
  if (options.vector_bytes > 0) result.widest_vector = static_cast<int>(options.vector_bytes);
  return result;
}

/// Is the price of \p found clearly less than that of \p other, with and without what lines cost that share a set of a
/// cache? That term is right about which programs suffer, but not about which order of loops suffers less.
bool is_clearly_cheaper(const PricedCluster& cluster, const ClusterMapping& found, const ClusterMapping& other,
                        std::int64_t bytes) {
  auto is_cheaper = [&](const PricedCluster& on) {
    return price(on, found, bytes).seconds < least_gain * price(on, other, bytes).seconds;
  };
  auto without_collisions = cluster;
  without_collisions.rates.read_collision = without_collisions.rates.write_collision = 0;
  return is_cheaper(cluster) && is_cheaper(without_collisions);
}

}  // namespace

Construction construct(const MappingSpace& space, ConstructionPolicy policy, std::int64_t buffer_bytes,
                       std::uint64_t seed, const std::vector<MappingState>& given) {
  Search search(space, buffer_bytes);
  const auto begins = starts(space, given);
  switch (policy) {
    case ConstructionPolicy::BestFirst:
      best_first(space, begins, search);
      break;
    case ConstructionPolicy::Descent:
      for (const auto& start : cheapest(begins, given.size() + plain_descents, search)) search.descend(start);
      break;
    case ConstructionPolicy::Roller:
      roller(space, begins, search);
      break;
    case ConstructionPolicy::Gensor:
      gensor(space, begins, search, seed);
      break;
    case ConstructionPolicy::GensorPrinted:
      std::mt19937_64 random(seed);
      return search.result(state_of_chain(space, printed::run_chain(space, false, random)));
  }
  return search.result();
}

std::vector<Construction> cheapest_mappings(const MappingSpace& space, std::int64_t buffer_bytes,
                                            const std::vector<MappingState>& given, std::size_t count) {
  Search search(space, buffer_bytes);
  best_first(space, starts(space, given), search);
  return search.cheapest(count);
}

polyhedral::ClusterMapping construct_cluster_mapping(const polyhedral::Scop& scop,
                                                     const polyhedral::ClusterView& cluster, const Target& target,
                                                     const polyhedral::MappingOptions& options,
                                                     const ConstructionSearch& search, const OperationsOfBodies& bodies,
                                                     const std::optional<polyhedral::MappingOptions>& nearest) {
  if (cluster.statements.empty()) return {};
  const auto machine = machine_of(target, options);
  const ClusterFacts facts(scop, cluster, machine, options);
  if (search.policy == ConstructionPolicy::Descent && facts.work < least_searched)
    return choose_cluster_mapping(scop, cluster, target, options, bodies);
  constexpr std::uint64_t seed = 1;
  const auto bytes = buffer_bytes(target, options);
  MappingSpace space(facts, bodies);
  if (search.alone) return construct(space, search.policy, bytes, seed).mapping;
  const auto rules = choose_cluster_mapping(facts, [&](const ClusterMapping& mapping, double limit) {
    return price_up_to(limit, space.prices, mapping, bytes);
  });
  if (rules.dot.iterator >= 0) return rules;
  std::vector<MappingState> starts{state_of(space, rules)};
  if (nearest) starts.push_back(state_of(space, choose_cluster_mapping(scop, cluster, target, *nearest, bodies)));
  std::erase_if(starts, [&](const MappingState& state) { return !is_possible(space, state); });
  auto found = construct(space, search.policy, bytes, seed, starts).mapping;
  return is_clearly_cheaper(space.prices, found, rules, bytes) ? found : rules;
}

}  // namespace tc::strategy
