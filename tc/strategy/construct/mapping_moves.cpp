#include "tc/strategy/construct/mapping_moves.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"

namespace tc::strategy {
namespace {

/// Sizes of tiles and blocks, up to and with \p most: powers of two, halfway between them, and what parts \p most evenly
/// where it is no more than \p parts.
std::vector<std::int64_t> sizes_to(std::int64_t most, std::int64_t parts) {
  std::vector<std::int64_t> result{1};
  for (std::int64_t power = 2; power < most; power *= 2) {
    result.push_back(power);
    if (power + power / 2 < most) result.push_back(power + power / 2);
  }
  for (std::int64_t part = 2; part <= std::min(parts, most); ++part)
    if (most % part == 0) result.push_back(part);
  if (most > 1) result.push_back(most);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// The number of tiles in a block, from one to half of all.
constexpr std::int64_t least_reduction = 16;

class MoveLister {
 public:
  MoveLister(const MappingSpace& space, const MappingState& state) : space_(space), state_(state) {}

  std::vector<MappingState> run() {
    for (int member = 0; member < space_.member_count(); ++member) {
      list_tiles(member);
      list_blocks(member);
      list_order(member);
    }
    list_lanes();
    list_unrolling();
    list_reductions();
    list_copies();
    return std::move(result_);
  }

 private:
  template <typename Change>
  void add(const Change& change) {
    auto next = state_;
    change(next);
    if (next == state_ || !is_possible(space_, next) || contains(result_, next)) return;
    result_.push_back(std::move(next));
  }

  static std::vector<std::int64_t> neighbours(const std::vector<std::int64_t>& sizes, std::int64_t size) {
    std::vector<std::int64_t> result;
    auto above = std::upper_bound(sizes.begin(), sizes.end(), size);
    if (above != sizes.end()) result.push_back(*above);
    auto here = std::lower_bound(sizes.begin(), sizes.end(), size);
    if (here != sizes.begin()) result.push_back(here[-1]);
    return result;
  }

  std::int64_t lanes(const MappingState& state, std::size_t member) const {
    return static_cast<int>(member) == space_.lane_member(state) ? space_.lanes_along(state.lanes) : 1;
  }

  std::vector<std::int64_t> tiles(int member) const {
    return sizes_to(space_.units(state_, member), space_.facts.target.vector_registers());
  }
  void set_tile(MappingState& next, std::size_t member, std::int64_t size) const {
    next.tile[member] = size;
    if (next.block[member] > 0) next.block[member] = round_up(next.block[member], size * lanes(next, member));
  }

  void list_tiles(int number) {
    auto member = static_cast<std::size_t>(number);
    auto sizes = neighbours(tiles(number), state_.tile[member]);
    sizes.insert(sizes.end(), {1, std::min<std::int64_t>(space_.priced().lanes, space_.units(state_, number))});
    for (auto size : sizes) add([&](MappingState& next) { set_tile(next, member, size); });
    for (int other = 0; other < space_.member_count(); ++other)
      if (other != number) list_exchanges(member, static_cast<std::size_t>(other));
  }

  /// Registers that \p more takes, \p less gives.
  void list_exchanges(std::size_t more, std::size_t less) {
    for (auto larger : neighbours(tiles(static_cast<int>(more)), state_.tile[more]))
      for (auto smaller : neighbours(tiles(static_cast<int>(less)), state_.tile[less]))
        if (larger > state_.tile[more] && smaller < state_.tile[less])
          add([&](MappingState& next) {
            set_tile(next, more, larger);
            set_tile(next, less, smaller);
          });
  }

  void list_blocks(int number) {
    auto member = static_cast<std::size_t>(number);
    auto points = state_.tile[member] * lanes(state_, member);
    auto extent = space_.facts.cluster.members[member].extent();
    auto block = state_.block[member];
    for (auto size : {block * 2, block / 2, block == 0 ? extent / 2 : 0, extent / space_.facts.target.cores})
      add([&](MappingState& next) {
        next.block[member] = size <= 0 ? 0 : round_up(size, points);
        if (next.block[member] >= extent) next.block[member] = 0;
      });
  }

  void list_order(int member) {
    bool threads = space_.facts.options.parallel && space_.facts.target.cores > 1;
    for (int outermost : {member, -1})
      for (bool parallel : {false, threads})
        add([&](MappingState& next) {
          next.outermost = outermost;
          next.parallel = parallel && outermost >= 0;
        });
    add([&](MappingState& next) {
      auto found = std::find(next.above.begin(), next.above.end(), member);
      if (found != next.above.end())
        next.above.erase(found);
      else
        next.above.insert(std::lower_bound(next.above.begin(), next.above.end(), member), member);
    });
  }

  void list_lanes() {
    for (int iterator : space_.lane_candidates)
      add([&](MappingState& next) {
        next = plain_state(space_);
        next.lanes = iterator;
        next.outermost = state_.outermost;
        next.parallel = state_.parallel;
      });
  }

  void list_unrolling() {
    add([](MappingState& next) { next.unrolled = !next.unrolled; });
    for (auto vectors : {state_.vectors * 2, state_.vectors / 2})
      if (space_.reduces && space_.lane_member(state_) < 0 && !state_.unrolled)
        add([&](MappingState& next) { next.vectors = vectors; });
  }

  void list_reductions() {
    if (!space_.reduces || space_.facts.heaviest.inner.front().iterator < 0) return;
    auto all = static_cast<std::int64_t>(
        space_.priced().extent[static_cast<std::size_t>(space_.facts.heaviest.inner.front().iterator)]);
    auto size = state_.reduction;
    for (auto next_size : {size * 2, size / 2, size == 0 ? round_up(all / 2, least_reduction) : 0})
      add([&](MappingState& next) {
        next.reduction = next_size < least_reduction || next_size >= all ? 0 : round_up(next_size, least_reduction);
      });
  }

  void list_copies() {
    for (std::size_t read = 0; read < state_.copies.size(); ++read)
      for (auto place : {CopyPlace::None, CopyPlace::AboveBlocks, CopyPlace::BelowBlocks, CopyPlace::Once})
        add([&](MappingState& next) {
          next.copies[read] = place;
          bool any = std::any_of(next.copies.begin(), next.copies.end(), [](auto p) { return p != CopyPlace::None; });
          if (!any) next.above.clear();
        });
  }

  const MappingSpace& space_;
  const MappingState& state_;
  std::vector<MappingState> result_;
};

/// One of \p items, which are some.
template <typename Item>
const Item& one_of(const std::vector<Item>& items, std::mt19937_64& random) {
  return items[random() % items.size()];
}

MappingState any_state(const MappingSpace& space, std::mt19937_64& random) {
  auto result = plain_state(space);
  if (!space.lane_candidates.empty() && random() % 8 != 0) result.lanes = one_of(space.lane_candidates, random);
  result.unrolled = result.lanes >= 0 && random() % 4 != 0;
  for (int i = 0; i < space.member_count() && space.interchangeable; ++i) {
    auto member = static_cast<std::size_t>(i);
    auto sizes = sizes_to(std::min<std::int64_t>(space.units(result, i), 16), 1);
    if (random() % 2 == 0) result.tile[member] = one_of(sizes, random);
    auto points = result.tile[member] * (i == space.lane_member(result) ? space.lanes_along(result.lanes) : 1);
    auto extent = space.facts.cluster.members[member].extent();
    if (random() % 3 == 0) result.block[member] = round_up(one_of(sizes_to(extent, 1), random), points);
    if (result.block[member] >= extent) result.block[member] = 0;
  }
  if (space.lane_member(result) < 0 && !result.unrolled) result.vectors = std::int64_t{1} << random() % 4;
  if (space.reduces && random() % 3 == 0) {
    int outermost = space.facts.heaviest.inner.front().iterator;
    if (outermost >= 0) result.reduction = least_reduction * (1 + static_cast<std::int64_t>(random() % 32));
  }
  for (std::size_t read = 0; read < result.copies.size(); ++read)
    if (random() % 3 == 0 && space.priced().reads[read].packable)
      result.copies[read] = static_cast<CopyPlace>(random() % 4);
  if (space.interchangeable && space.member_count() > 0 && random() % 2 == 0)
    result.outermost = static_cast<int>(random() % static_cast<unsigned>(space.member_count()));
  return result;
}

}  // namespace

std::vector<MappingState> moves(const MappingSpace& space, const MappingState& state) {
  return MoveLister(space, state).run();
}

MappingState random_state(const MappingSpace& space, std::mt19937_64& random) {
  constexpr int tries = 1000;
  for (int i = 0; i < tries; ++i)
    if (auto state = any_state(space, random); is_possible(space, state)) return state;
  return plain_state(space);
}

MappingState random_walk(const MappingSpace& space, MappingState near, int steps, std::mt19937_64& random) {
  for (int i = 0; i < steps; ++i) {
    auto next = moves(space, near);
    if (next.empty()) break;
    near = one_of(next, random);
  }
  return near;
}

}  // namespace tc::strategy
