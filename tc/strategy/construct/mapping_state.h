#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/cpu/cluster_facts.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// Where a read of the heaviest statement is copied.
enum class CopyPlace : std::uint8_t { None, AboveBlocks, BelowBlocks, Once };

/// What is free in the mapping of a cluster; the rest follows (mapping_of). Sizes are by member of the outer band.
struct MappingState {
  int lanes = -1;                   ///< the iterator of the heaviest statement that runs along lanes; -1: none
  std::vector<std::int64_t> tile;   ///< points; of the member that lanes run along: vectors
  std::vector<std::int64_t> block;  ///< iterations, whole tiles; 0: all
  bool unrolled = false;            ///< the points are a register tile
  std::int64_t vectors = 1;         ///< in flight, of lanes along a reduction's own loop
  std::int64_t reduction = 0;       ///< iterations of a block of the heaviest statement's outermost own loop; 0: all
  std::vector<CopyPlace> copies;    ///< of each read of the heaviest statement
  std::vector<int> above;           ///< members whose loops stand above the copies, ascending
  int outermost = -1;
  bool parallel = false;

  bool operator==(const MappingState&) const = default;
};

/// A cluster whose mappings are searched: what is known of it, and of the prices of its mappings. Refers to its arguments.
struct MappingSpace {
  MappingSpace(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const Target& target,
               const polyhedral::MappingOptions& options, const OperationsOfBodies& bodies = {})
      : MappingSpace(ClusterFacts(scop, cluster, target, options), bodies) {}
  explicit MappingSpace(const ClusterFacts& known, const OperationsOfBodies& bodies = {});

  ClusterFacts facts;
  PricedCluster prices;
  std::vector<int> lanes;            ///< of a vector along each iterator of the heaviest statement
  std::vector<int> lane_candidates;  ///< iterators of the heaviest statement along which lanes may run
  std::optional<FixedOrder> order;   ///< in which the heaviest statement accumulates, where the options fix it
  bool reduces = false;              ///< the heaviest statement does, in loops of its own
  bool interchangeable = false;      ///< members may be tiled and reordered
  bool virtual_threads = true;       ///< several vectors along lanes may be in flight (to see what they gain)

  int member_count() const { return facts.member_count(); }
  const polyhedral::Statement& heaviest() const { return facts.statement(facts.heaviest); }
  /// The member that \p state has lanes along; -1: none.
  int lane_member(const MappingState& state) const { return member_of(facts.heaviest, state.lanes); }
  /// Lanes of a vector along \p iterator of the heaviest statement; 1 for -1.
  int lanes_along(int iterator) const { return iterator < 0 ? 1 : lanes[static_cast<std::size_t>(iterator)]; }
  /// What is known of the heaviest statement for prices.
  const PricedStatement& priced() const { return prices.statements[static_cast<std::size_t>(heaviest_)]; }
  /// Iterations of \p member, in vectors where \p state has lanes along it.
  std::int64_t units(const MappingState& state, int member) const;

  /// The cheapest lanes of statement number \p index along a loop of its own or a member with points, as \p points says.
  VectorChoice other_lanes(std::size_t index, const std::vector<bool>& points) const;
  /// A copy of read number \p read of the heaviest statement, in panels of \p size iterations of \p member, above the
  /// blocks; nothing where none can be made.
  std::optional<polyhedral::PackMapping> copy_of(int read, int member, bool along_lanes, std::int64_t size) const;

 private:
  int heaviest_ = 0;
  mutable std::map<std::pair<std::size_t, std::vector<bool>>, VectorChoice> other_lanes_;  ///< found already
  mutable std::map<std::tuple<int, int, bool, std::int64_t>, std::optional<polyhedral::PackMapping>> copies_;
};

/// Loops as they are scheduled: no tile, no lanes, but those of an order that the options fix.
MappingState plain_state(const MappingSpace& space);

/// What \p state adds to plain loops: loops, copies, and doublings of what is unrolled.
double added_code(const MappingState& state);

/// Is \p state one of \p space? Sizes are at least 1 and not beyond the extents, registers hold the accumulators of a
/// register tile, copies fit the last cache, and what isl's facts forbid is not asked for.
bool is_possible(const MappingSpace& space, const MappingState& state);

/// The mapping that \p state, a possible one, says. Other statements have the lanes of the heaviest where they move along
/// its member, else those that are cheapest for them; accumulators of tiles are staged; panels of copies are as large as
/// the tiles that read them.
polyhedral::ClusterMapping mapping_of(const MappingSpace& space, const MappingState& state);

/// The state whose mapping is the nearest to \p mapping.
MappingState state_of(const MappingSpace& space, const polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
