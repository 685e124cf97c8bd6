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

/// The position of the copy of a read of the heaviest statement.
enum class CopyPlace : std::uint8_t { None, AboveBlocks, BelowBlocks, Once };

/// The free part of the mapping of a cluster; mapping_of() determines the rest. Sizes are by member of the outer
/// band.
struct MappingState {
  int lanes = -1;                   ///< the iterator of the heaviest statement that runs along lanes; -1: none
  std::vector<std::int64_t> tile;   ///< points; for the vectorised member: vectors
  std::vector<std::int64_t> block;  ///< iterations, whole tiles; 0: all
  bool unrolled = false;            ///< the points are a register tile
  std::int64_t vectors = 1;         ///< in flight, for lanes along a reduction's own loop
  std::int64_t reduction = 0;       ///< iterations of a block of the heaviest statement's outermost own loop; 0: all
  std::vector<CopyPlace> copies;    ///< of each read of the heaviest statement
  std::vector<int> above;           ///< members with loops above the copies, ascending
  int outermost = -1;
  bool parallel = false;

  bool operator==(const MappingState&) const = default;
};

/// A cluster with a search for its mappings: its facts, and the facts for prices. Refers to its arguments.
struct MappingSpace {
  MappingSpace(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const Target& target,
               const polyhedral::MappingOptions& options, const OperationsOfBodies& bodies = {})
      : MappingSpace(ClusterFacts(scop, cluster, target, options), bodies) {}
  explicit MappingSpace(const ClusterFacts& known, const OperationsOfBodies& bodies = {});

  ClusterFacts facts;
  PricedCluster prices;
  std::vector<int> lanes;            ///< of a vector along each iterator of the heaviest statement
  std::vector<int> lane_candidates;  ///< iterators of the heaviest statement along which lanes may run
  std::optional<FixedOrder> order;   ///< in which the heaviest statement accumulates, if the options fix it
  bool reduces = false;              ///< the heaviest statement is a reduction, in loops of its own
  bool interchangeable = false;      ///< members may be tiled and reordered
  bool virtual_threads =
      true;  ///< several vectors along lanes may be in flight (can be disabled to measure their gain)

  int member_count() const { return facts.member_count(); }
  const polyhedral::Statement& heaviest() const { return facts.statement(facts.heaviest); }
  /// The member that \p state has lanes along; -1: none.
  int lane_member(const MappingState& state) const { return member_of(facts.heaviest, state.lanes); }
  /// Lanes of a vector along \p iterator of the heaviest statement; 1 for -1.
  int lanes_along(int iterator) const { return iterator < 0 ? 1 : lanes[static_cast<std::size_t>(iterator)]; }
  /// The facts of the heaviest statement for prices.
  const PricedStatement& priced() const { return prices.statements[static_cast<std::size_t>(heaviest_)]; }
  /// Iterations of \p member, in vectors if \p state has lanes along it.
  std::int64_t units(const MappingState& state, int member) const;

  /// The cheapest lanes of statement number \p index along a loop of its own or a member with \p points.
  VectorChoice other_lanes(std::size_t index, const std::vector<bool>& points) const;
  /// A copy of read number \p read of the heaviest statement, in panels of \p size iterations of \p member, above the
  /// blocks; nothing if no copy is possible.
  std::optional<polyhedral::PackMapping> copy_of(int read, int member, bool along_lanes, std::int64_t size) const;

 private:
  int heaviest_ = 0;
  mutable std::map<std::pair<std::size_t, std::vector<bool>>, VectorChoice> other_lanes_;  ///< found already
  mutable std::map<std::tuple<int, int, bool, std::int64_t>, std::optional<polyhedral::PackMapping>> copies_;
};

/// Loops as scheduled: without tiles, and without lanes except in an order that the options fix.
MappingState plain_state(const MappingSpace& space);

/// The code that \p state adds to plain loops: loops, copies, and doublings of unrolled code.
double added_code(const MappingState& state);

/// Is \p state in \p space? Sizes are between 1 and the extents, the accumulators of a register tile fit into
/// registers, copies fit into the last cache, and no dependence forbids it.
bool is_possible(const MappingSpace& space, const MappingState& state);

/// The mapping of \p state, which must be possible. Other statements use the lanes of the heaviest statement if they
/// depend on its member, otherwise their own cheapest lanes. Accumulators of tiles are staged, and panels of copies
/// are as large as the tiles that read them.
polyhedral::ClusterMapping mapping_of(const MappingSpace& space, const MappingState& state);

/// The state with the mapping nearest to \p mapping.
MappingState state_of(const MappingSpace& space, const polyhedral::ClusterMapping& mapping);

}  // namespace tc::strategy
