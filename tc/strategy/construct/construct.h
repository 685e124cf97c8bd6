#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/construct/mapping_state.h"
#include "tc/strategy/price/price.h"

namespace tc::strategy {

/// How the mappings of a cluster are searched, by prices alone.
enum class ConstructionPolicy : std::uint8_t {
  BestFirst,      ///< from the cheapest state on, all moves, until no move of the best is cheaper
  Descent,        ///< from the cheapest starts, the cheapest move until none is cheaper
  Roller,         ///< tiles and blocks grow along what saves most bytes for the room it takes, then threads
  Gensor,         ///< chains of moves drawn by their benefit, ever more greedily; the best that any visited
  GensorPrinted,  ///< one chain by the formulas as the paper prints them (printed_gensor.h): to show how it fails
};

/// The share by which prices have to differ to tell mappings apart: of pairs of mappings that `price_model` measured, each
/// at most half as slow again as the fastest, those less than 1 % apart by price are in order in 51 of 100.
constexpr double least_difference = 0.01;

struct Construction {
  polyhedral::ClusterMapping mapping;
  Price price;
  int states = 0;  ///< that were priced
};

/// The cheapest mapping that \p policy finds in \p space, the same for the same \p seed. Nothing is compiled, run or
/// measured. No single move from a mapping of BestFirst and Gensor is cheaper by more
/// than prices tell; of mappings that they do not tell apart, one with little code is taken. All policies but GensorPrinted
/// begin at \p starts, possible states, too, so that what they find is no dearer than these.
Construction construct(const MappingSpace& space, ConstructionPolicy policy, std::int64_t buffer_bytes,
                       std::uint64_t seed = 1, const std::vector<MappingState>& starts = {});

/// The same for \p cluster of \p scop, with what its \p bodies compute. The search begins at what rules choose
/// (choose_mapping.h) and at what they make of \p nearest, too, where these are states, and what rules choose stays unless the
/// price of what is found is least_gain() of its own (machine_rates.h). It stays where it is a product in registers for
/// matrices or of dot products, of which states have none, and for Descent where a cluster has fewer than 65536 instances.
/// GensorPrinted asks no rule.
polyhedral::ClusterMapping construct_cluster_mapping(const polyhedral::Scop& scop,
                                                     const polyhedral::ClusterView& cluster, const Target& target,
                                                     const polyhedral::MappingOptions& options,
                                                     ConstructionPolicy policy, const OperationsOfBodies& bodies = {},
                                                     const std::optional<polyhedral::MappingOptions>& nearest = {});

}  // namespace tc::strategy
