#include "tc/strategy/cpu/choose_lanes.h"

#include <algorithm>

#include "tc/polyhedral/core/instances.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterMapping;
using polyhedral::ClusterStatement;
using polyhedral::StatementMapping;

/// Lanes that run along a member of the outer band.
struct MemberLanes {
  int member = -1;
  int count = 0;
};

/// Does \p entry touch what the register tile of the heaviest statement accumulates? Registers hold vectors along one
/// member only.
bool shares_accumulators(const ClusterFacts& facts, const ClusterStatement& entry, const ClusterMapping& mapping) {
  if (!mapping.register_tile || mapping.reduction.iterator >= 0) return false;
  auto all = polyhedral::accesses(facts.statement(entry));
  return std::any_of(all.begin(), all.end(), [&](const Access* access) {
    return polyhedral::touches(*access, facts.target_of(facts.heaviest));
  });
}

/// The lanes of \p entry in the tiles of \p mapping, which are for \p tile lanes of the heaviest statement.
VectorChoice choice_for(const ClusterFacts& facts, const ClusterStatement& entry, const VectorChoice& tile,
                        const ClusterMapping& mapping) {
  const auto& heaviest = facts.heaviest;
  if (entry.id == heaviest.id) return tile;
  if (auto order = facts.fixed(entry); order && order->along_lanes()) return order->lanes;
  int member = member_of(heaviest, tile.iterator);
  if (member >= 0 && entry.outer[member] >= 0 && shares_accumulators(facts, entry, mapping))
    return {entry.outer[member],
            vector_lanes(facts.scop, facts.statement(heaviest), facts.target, heaviest.outer[member]), 0};
  auto candidates = facts.inner_candidates(entry);
  for (int i = 0; i < facts.member_count(); ++i)
    if (mapping.members[i].points > 1 && entry.outer[i] >= 0) candidates.push_back(entry.outer[i]);
  return facts.best_lanes(entry, candidates);
}

/// Vectors in flight of a sum whose \p lanes run along its own loop.
int vectors_in_flight(const ClusterFacts& facts, const ClusterStatement& entry, const VectorChoice& lanes) {
  auto extent = polyhedral::box(facts.statement(entry).domain)[lanes.iterator].extent();
  auto most = facts.options.unroll > 0 ? facts.options.unroll : 4;
  int result = 1;
  while (result < most && extent >= 2 * std::int64_t{lanes.lanes} * result) result *= 2;
  return result;
}

/// Vectors side by side in a register tile, along \p lanes of a loop of the result that is not a member: accumulators of all rows, a vector
/// of each and one that passes are as many as there are registers.
int vectors_beside(const ClusterFacts& facts, const ClusterStatement& entry, const VectorChoice& lanes,
                   const ClusterMapping& mapping) {
  std::int64_t rows = 1;
  for (int i = 0; i < facts.member_count(); ++i)
    if (entry.outer[i] >= 0) rows *= mapping.members[i].points;
  const auto extent = polyhedral::box(facts.statement(entry).domain)[lanes.iterator].extent();
  int result = 1;
  while (result < 4 && 2 * result * (rows + 1) < facts.target.vector_registers() &&
         extent >= 2 * std::int64_t{lanes.lanes} * result)
    result *= 2;
  return result;
}

/// The lanes of \p entry in the tiles of \p mapping.
StatementMapping lanes_of(const ClusterFacts& facts, const ClusterStatement& entry, const VectorChoice& tile,
                          const ClusterMapping& mapping) {
  auto choice = choice_for(facts, entry, tile, mapping);
  StatementMapping result{entry.id, choice.iterator, choice.lanes};
  if (choice.iterator < 0) return result;
  if (int own = member_of(entry, choice.iterator); own >= 0)
    result.lanes = lanes_within(choice.lanes, mapping.members[own].points);
  else if (auto order = facts.fixed(entry))
    result.unroll = order->vectors;
  else if (!mapping.register_tile && facts.is_reduction(entry))
    result.unroll = vectors_in_flight(facts, entry, choice);
  else if (facts.is_reduction(entry) && facts.is_kept(entry, choice.iterator))
    result.unroll = vectors_beside(facts, entry, choice, mapping);
  return result;
}

/// Lanes for copies of what the heaviest statement writes, where no statement runs along an outer member.
MemberLanes lanes_of_result(const ClusterFacts& facts, const ClusterMapping& mapping) {
  MemberLanes result;
  const auto& heaviest = facts.heaviest;
  for (int i = 0; i < facts.member_count(); ++i) {
    int iterator = heaviest.outer[i];
    if (mapping.members[i].points == 1 || iterator < 0) continue;
    if (polyhedral::stride(facts.scop, facts.statement(heaviest).write, iterator) != 1) continue;
    auto lanes = vector_lanes(facts.scop, facts.statement(heaviest), facts.target, iterator);
    result = {i, lanes_within(lanes, mapping.members[i].points)};
  }
  return result;
}

}  // namespace

ClusterMapping choose_lanes(const ClusterFacts& facts, const VectorChoice& tile, const ClusterMapping& mapping) {
  auto result = mapping;
  const int member = member_of(facts.heaviest, tile.iterator);
  bool matrices = mapping.dot.of_matrices();
  MemberLanes along;
  if (matrices) along = {member, vector_lanes(facts.scop, facts.statement(facts.heaviest), facts.target)};
  for (const auto& entry : facts.cluster.statements) {
    if (matrices && entry.id == facts.heaviest.id) continue;
    auto lanes = lanes_of(facts, entry, tile, mapping);
    if (lanes.iterator < 0) continue;
    int own = member_of(entry, lanes.iterator);
    if (own >= 0 && (own == member || along.member < 0)) along = {own, lanes.lanes};
    if (lanes.lanes > 1) result.statements.push_back(lanes);
  }
  if (along.member < 0 && mapping.register_tile) along = lanes_of_result(facts, mapping);
  if (along.member >= 0 && along.count > 1) result.copies = {"", along.member, along.count};
  return result;
}

}  // namespace tc::strategy
