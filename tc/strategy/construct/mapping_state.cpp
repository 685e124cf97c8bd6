#include "tc/strategy/construct/mapping_state.h"

#include <algorithm>
#include <cmath>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/cpu/possible_packs.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::StatementMapping;

/// Instances of a statement that a tile unrolls at most: more code takes longer to compile than it saves.
constexpr std::int64_t most_unrolled = 256;

/// Makes the mapping of a state.
class MappingMaker {
 public:
  MappingMaker(const MappingSpace& space, const MappingState& state)
      : space_(space), state_(state), member_(space.lane_member(state)) {}

  ClusterMapping run() {
    set_members();
    mapping_.outermost = state_.outermost;
    mapping_.parallel = state_.parallel;
    mapping_.above = state_.above;
    mapping_.register_tile = state_.unrolled;
    for (std::size_t i = 0; i < space_.prices.statements.size(); ++i) add_lanes(i);
    if (state_.reduction > 0)
      mapping_.reduction = {space_.heaviest().id, space_.facts.heaviest.inner.front().iterator, state_.reduction};
    set_copies_of_results();
    add_packs();
    if (space_.facts.options.promote && space_.member_count() > 0) stage();
    return std::move(mapping_);
  }

 private:
  void set_members() {
    for (int i = 0; i < space_.member_count(); ++i) {
      auto lanes = i == member_ ? space_.lanes_along(state_.lanes) : 1;
      mapping_.members.push_back({state_.block[i], state_.tile[i] * lanes});
    }
  }

  void add_lanes(std::size_t index) {
    const auto& entry = space_.prices.statements[index].entry;
    StatementMapping choice{entry.id};
    if (auto order = space_.facts.fixed(entry); order && order->along_lanes()) {
      choice = {entry.id, order->lanes.iterator, order->lanes.lanes, order->vectors};
    } else if (entry.id == space_.facts.heaviest.id) {
      if (state_.lanes < 0) return;
      choice.iterator = state_.lanes;
      choice.lanes = space_.lanes_along(state_.lanes);
      if (member_ < 0 && !state_.unrolled && space_.reduces) choice.unroll = static_cast<int>(state_.vectors);
    } else if (member_ >= 0 && entry.outer[member_] >= 0) {
      choice.iterator = entry.outer[member_];
      choice.lanes = space_.lanes_along(state_.lanes);
    } else {
      std::vector<bool> points;
      for (const auto& member : mapping_.members) points.push_back(member.points > 1);
      auto best = space_.other_lanes(index, points);
      choice.iterator = best.iterator;
      choice.lanes = best.lanes;
      int own = member_of(entry, best.iterator);
      if (own >= 0) choice.lanes = lanes_within(best.lanes, mapping_.members[own].points);
    }
    if (choice.iterator >= 0 && choice.lanes > 1) mapping_.statements.push_back(choice);
  }

  /// Targets of reductions of which memory would see every step (choose_staged.h).
  void stage() {
    for (const auto& statement : space_.prices.statements) {
      auto lanes = mapping_.statement(statement.entry.id);
      bool private_lanes = lanes.iterator >= 0 && member_of(statement.entry, lanes.iterator) < 0;
      bool is_cut = statement.entry.id == mapping_.reduction.statement;
      if (!space_.facts.is_tiled_reduction(statement.entry) || is_cut || (private_lanes && !mapping_.register_tile))
        continue;
      const auto& name = space_.prices.tensors[static_cast<std::size_t>(statement.write.tensor)].name;
      if (!contains(mapping_.staged, name)) mapping_.staged.push_back(name);
    }
  }

  void set_copies_of_results() {
    const auto& facts = space_.facts;
    if (member_ >= 0) {
      mapping_.copies = {"", member_, space_.lanes_along(state_.lanes)};
      return;
    }
    for (int i = 0; state_.unrolled && i < space_.member_count(); ++i) {
      int iterator = facts.heaviest.outer[i];
      if (mapping_.members[i].points == 1 || iterator < 0) continue;
      if (polyhedral::stride(facts.scop, space_.heaviest().write, iterator) != 1) continue;
      auto lanes = vector_lanes(facts.scop, space_.heaviest(), facts.target, iterator);
      if (auto fitting = lanes_within(lanes, mapping_.members[i].points); fitting > 1)
        mapping_.copies = {"", i, fitting};
    }
  }

  /// The member with most points beside that of lanes, which read number \p read moves along; -1: none.
  int panel_member(int read) const {
    const auto& access = space_.priced().reads[static_cast<std::size_t>(read)];
    auto along = [&](int member) { return access.changes(space_.facts.heaviest.outer[member]); };
    if (member_ >= 0 && along(member_)) return member_;
    int best = -1;
    for (int i = 0; i < space_.member_count(); ++i)
      if (i != member_ && along(i) && (best < 0 || mapping_.members[i].points > mapping_.members[best].points))
        best = i;
    return best;
  }

  void add_packs() {
    if (std::all_of(state_.copies.begin(), state_.copies.end(), [](CopyPlace p) { return p == CopyPlace::None; }))
      return;
    for (std::size_t i = 0; i < state_.copies.size(); ++i) {
      int read = static_cast<int>(i), member = panel_member(read);
      if (state_.copies[i] == CopyPlace::None || member < 0) continue;
      auto copy = space_.copy_of(read, member, member == member_, mapping_.members[member].points);
      if (!copy) continue;
      auto pack = *copy;
      pack.below_blocks = state_.copies[i] == CopyPlace::BelowBlocks;
      pack.once = state_.copies[i] == CopyPlace::Once;
      mapping_.packed.push_back(pack);
    }
  }

  const MappingSpace& space_;
  const MappingState& state_;
  int member_;
  ClusterMapping mapping_;
};

}  // namespace

MappingSpace::MappingSpace(const ClusterFacts& known, const OperationsOfBodies& bodies)
    : facts(known), prices(known.scop, known.cluster, known.target, bodies) {
  heaviest_ = prices.position(facts.heaviest.id);
  reduces = facts.is_tiled_reduction(facts.heaviest);
  interchangeable = facts.cluster.permutable || facts.cluster.members.size() <= 1;
  for (int i = 0; i < static_cast<int>(priced().extent.size()); ++i)
    lanes.push_back(lanes_within(vector_lanes(facts.scop, heaviest(), facts.target, i),
                                 static_cast<std::int64_t>(priced().extent[static_cast<std::size_t>(i)])));
  auto candidates = facts.outer_candidates(facts.heaviest);
  auto inner = facts.inner_candidates(facts.heaviest);
  candidates.insert(candidates.end(), inner.begin(), inner.end());
  order = facts.fixed(facts.heaviest);
  for (int iterator : candidates) {
    const bool kept = contains(polyhedral::kept_dimensions(heaviest()), iterator);
    if (order && (order->along_lanes() ? iterator != order->lanes.iterator : !kept)) continue;
    if (contains(heaviest().uneven, iterator)) continue;
    bool member = member_of(facts.heaviest, iterator) >= 0;
    if (facts.options.vectorise && priced().extent[static_cast<std::size_t>(iterator)] > 1 &&
        (!member || interchangeable))
      lane_candidates.push_back(iterator);
  }
}

std::int64_t MappingSpace::units(const MappingState& state, int member) const {
  auto lanes = member == lane_member(state) ? lanes_along(state.lanes) : 1;
  return ceil_div(static_cast<std::int64_t>(prices.extent[static_cast<std::size_t>(member)]), std::int64_t{lanes});
}

VectorChoice MappingSpace::other_lanes(std::size_t index, const std::vector<bool>& points) const {
  auto [found, is_new] = other_lanes_.try_emplace({index, points});
  if (!is_new) return found->second;
  const auto& entry = prices.statements[index].entry;
  auto candidates = facts.inner_candidates(entry);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i] && entry.outer[i] >= 0) candidates.push_back(entry.outer[i]);
  return found->second = facts.best_lanes(entry, candidates);
}

std::optional<polyhedral::PackMapping> MappingSpace::copy_of(int read, int member, bool along_lanes,
                                                             std::int64_t size) const {
  auto [found, is_new] = copies_.try_emplace({read, member, along_lanes, size});
  if (!is_new) return found->second;
  ClusterMapping mapping;
  mapping.members.resize(static_cast<std::size_t>(member_count()));
  mapping.members[static_cast<std::size_t>(member)].points = size;
  const TiledReduction tiled{facts.heaviest, along_lanes ? -1 : member, along_lanes ? member : -1};
  ReductionView view(facts.scop, facts.cluster, tiled, facts.target, facts.options, mapping);
  if (!view.indexes(read, member)) return std::nullopt;
  bool last = along_lanes || view.stride(read, view.iterator(member)) == 1;
  return found->second = panels(view, read, member, last, false);
}

MappingState plain_state(const MappingSpace& space) {
  MappingState result;
  result.tile.assign(static_cast<std::size_t>(space.member_count()), 1);
  result.block.assign(static_cast<std::size_t>(space.member_count()), 0);
  result.copies.assign(space.heaviest().reads.size(), CopyPlace::None);
  if (space.order && space.order->along_lanes()) {
    result.lanes = space.order->lanes.iterator;
    result.vectors = space.order->vectors;
  }
  return result;
}

namespace {

/// Vectors of results of the register tile of \p state.
std::int64_t accumulators(const MappingSpace& space, const MappingState& state) {
  std::int64_t result = 1;
  for (int member = 0; member < space.member_count(); ++member)
    if (space.priced().write.changes(space.facts.heaviest.outer[member]))
      result *= state.tile[static_cast<std::size_t>(member)];
  return result;
}

bool sizes_fit(const MappingSpace& space, const MappingState& state) {
  for (int member = 0; member < space.member_count(); ++member) {
    auto tile = state.tile[static_cast<std::size_t>(member)], block = state.block[static_cast<std::size_t>(member)];
    auto units = space.units(state, member);
    if (tile < 1 || tile > units || block < 0) return false;
    auto points = tile * (member == space.lane_member(state) ? space.lanes_along(state.lanes) : 1);
    if (block > 0 && (block % points != 0 || block >= space.facts.cluster.members[member].extent())) return false;
    if (!space.interchangeable && (tile > 1 || block > 0)) return false;
  }
  return true;
}

bool order_fits(const MappingSpace& space, const MappingState& state) {
  if (state.parallel && (state.outermost < 0 || !space.facts.options.parallel)) return false;
  for (int member : state.above) {
    bool stands_alone = member == state.outermost && state.block[static_cast<std::size_t>(member)] == 0;
    if (member >= space.member_count() || stands_alone) return false;
  }
  bool moves = state.outermost > 0 || !state.above.empty();
  return state.outermost < space.member_count() && (space.interchangeable || !moves);
}

bool registers_fit(const MappingSpace& space, const MappingState& state) {
  std::int64_t unrolled = 1;
  for (auto tile : state.tile) unrolled *= tile;
  if (!state.unrolled) return unrolled <= most_unrolled;
  if (state.lanes < 0 || unrolled > most_unrolled) return false;
  return accumulators(space, state) < space.facts.target.vector_registers();
}

bool copies_fit(const MappingSpace& space, const MappingState& state) {
  const auto& reads = space.priced().reads;
  bool any = false;
  double bytes = 0;
  for (std::size_t i = 0; i < state.copies.size(); ++i) {
    if (state.copies[i] == CopyPlace::None) continue;
    any = true;
    if (!reads[i].packable || !space.facts.options.pack || !space.facts.options.promote) return false;
    bytes += space.prices.tensors[static_cast<std::size_t>(reads[i].tensor)].bytes;
  }
  if (!any) return state.above.empty();
  const auto& inner = space.facts.heaviest.inner;
  bool known = std::all_of(inner.begin(), inner.end(), [](const auto& loop) { return loop.iterator >= 0; });
  bool tiled = known && space.reduces && state.unrolled && space.lane_member(state) >= 0;
  return tiled && bytes <= static_cast<double>(space.facts.target.l3_bytes);
}

/// Does \p state accumulate in the order that the options fix?
bool keeps_order(const MappingSpace& space, const MappingState& state) {
  const auto& order = space.order;
  if (!order) return true;
  const bool along = order->along_lanes();
  if (state.reduction > 0 || (along && state.lanes != order->lanes.iterator)) return false;
  return !along || (state.vectors == order->vectors && (!state.unrolled || order->vectors == 1));
}

bool reduction_fits(const MappingSpace& space, const MappingState& state) {
  if (state.vectors < 1 || state.vectors > 16) return false;
  if (state.reduction == 0) return true;
  if (!space.reduces || !state.unrolled || space.lane_member(state) < 0) return false;
  int outermost = space.facts.heaviest.inner.front().iterator;
  return outermost >= 0 && state.reduction >= 16 &&
         static_cast<double>(state.reduction) < space.priced().extent[static_cast<std::size_t>(outermost)];
}

}  // namespace

double added_code(const MappingState& state) {
  double result = (state.outermost >= 0) + (state.reduction > 0) + static_cast<double>(state.above.size()) +
                  std::log2(static_cast<double>(state.vectors));
  for (auto tile : state.tile) result += std::log2(static_cast<double>(tile));
  for (auto block : state.block) result += block > 0;
  for (auto place : state.copies) result += place != CopyPlace::None;
  return result;
}

bool is_possible(const MappingSpace& space, const MappingState& state) {
  int along = space.lane_member(state);
  bool strided = state.vectors > 1 || (along >= 0 && state.tile[static_cast<std::size_t>(along)] > 1);
  if (strided && !space.virtual_threads) return false;
  if (state.lanes >= 0 && !contains(space.lane_candidates, state.lanes)) return false;
  return keeps_order(space, state) && sizes_fit(space, state) && order_fits(space, state) &&
         registers_fit(space, state) && copies_fit(space, state) && reduction_fits(space, state);
}

ClusterMapping mapping_of(const MappingSpace& space, const MappingState& state) {
  return MappingMaker(space, state).run();
}

MappingState state_of(const MappingSpace& space, const ClusterMapping& mapping) {
  auto result = plain_state(space);
  auto lanes = mapping.statement(space.facts.heaviest.id);
  if (contains(space.lane_candidates, lanes.iterator)) result.lanes = lanes.iterator;
  result.vectors = std::max(lanes.unroll, 1);
  result.unrolled = mapping.register_tile;
  for (std::size_t i = 0; i < mapping.members.size(); ++i) {
    auto each = static_cast<int>(i) == space.lane_member(result) ? space.lanes_along(result.lanes) : 1;
    result.tile[i] = std::max<std::int64_t>(mapping.members[i].points / each, 1);
    result.block[i] = mapping.members[i].block;
  }
  result.outermost = mapping.outermost;
  result.parallel = mapping.parallel;
  result.above = mapping.above;
  if (mapping.reduction.statement == space.facts.heaviest.id) result.reduction = mapping.reduction.size;
  for (const auto& pack : mapping.packed)
    if (pack.statement == space.facts.heaviest.id)
      result.copies[static_cast<std::size_t>(pack.read)] = pack.once           ? CopyPlace::Once
                                                           : pack.below_blocks ? CopyPlace::BelowBlocks
                                                                               : CopyPlace::AboveBlocks;
  return result;
}

}  // namespace tc::strategy
