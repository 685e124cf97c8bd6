#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/construct/mapping_state.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {

/// The policy of a search for the mapping of a cluster by prices alone.
enum class ConstructionPolicy : std::uint8_t {
  BestFirst,      ///< from the cheapest state on, all moves, until no move of the best is cheaper
  Descent,        ///< from the cheapest starts, the cheapest move until none is cheaper
  Roller,         ///< tiles and blocks grow in the direction that saves most bytes for its size, then threads
  Gensor,         ///< chains of moves drawn by their benefit, increasingly greedy; the best visited state
  GensorPrinted,  ///< one chain by the printed formulas of the paper (printed_gensor.h), to show their result
};

/// A search that decides beside rules, or alone.
struct ConstructionSearch {
  ConstructionPolicy policy = ConstructionPolicy::Descent;
  /// Begins at plain loops alone, and what it finds is used whatever rules would choose.
  bool alone = false;
};

/// The relative difference of prices below which mappings are not distinguished: among pairs of mappings that
/// `price_model` measured, at most 1.5 times as slow as the fastest, pairs with prices less than 1 % apart are in the
/// right order in 51 of 100 cases.
constexpr double least_difference = 0.01;

/// A mapping of the search replaces the mapping of the rules if its price is at most this fraction of the other price.
/// On a Zen 4, whose rates were measured, mappings with prices below 0.85 ran 1.5 times as fast, six of 53 of them slower.
/// On a Xeon with generic rates, 15 mappings with prices of 0.75 to 0.82 took 0.87 of the time, the slowest 1.09, and
/// 31 mappings from 0.82 to 0.9 took 1.23 of the time, the slowest 7 times as long.
constexpr double least_gain = 0.82;

struct Construction {
  polyhedral::ClusterMapping mapping;
  Price price;
  int states = 0;  ///< that were priced
};

/// The cheapest mapping that \p policy finds in \p space, deterministic for a given \p seed. Nothing is compiled, run
/// or measured. No single move from a result of BestFirst or Gensor is significantly cheaper; among mappings that
/// prices do not distinguish, one with little code is chosen. All policies except GensorPrinted also begin at \p
/// starts, which are possible states, so their result is not more expensive than these.
Construction construct(const MappingSpace& space, ConstructionPolicy policy, std::int64_t buffer_bytes,
                       std::uint64_t seed = 1, const std::vector<MappingState>& starts = {});

/// Of the mappings that BestFirst meets from plain loops and \p starts, the \p count cheapest, the cheapest first. Those
/// with the same nest are one.
std::vector<Construction> cheapest_mappings(const MappingSpace& space, std::int64_t buffer_bytes,
                                            const std::vector<MappingState>& starts, std::size_t count);

/// What construct() finds for \p cluster of \p scop with \p bodies. The search also begins at the choice of the rules
/// (choose_mapping.h), without options and with \p nearest, if these are states. The choice of the rules stays unless
/// the price of the result is at most `least_gain` of its price. It also stays if it uses matrix
/// registers or dot products, which states cannot represent, and for Descent if the cluster has fewer than 65536
/// instances. A search that decides alone does not use the rules.
polyhedral::ClusterMapping construct_cluster_mapping(const polyhedral::Scop& scop,
                                                     const polyhedral::ClusterView& cluster, const Target& target,
                                                     const polyhedral::MappingOptions& options,
                                                     const ConstructionSearch& search,
                                                     const OperationsOfBodies& bodies = {},
                                                     const std::optional<polyhedral::MappingOptions>& nearest = {});

}  // namespace tc::strategy
