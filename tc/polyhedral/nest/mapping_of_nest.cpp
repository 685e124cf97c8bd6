#include "tc/polyhedral/nest/mapping_of_nest.h"

#include <algorithm>
#include <bit>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_beside.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"

namespace tc::polyhedral {
namespace {

/// Decisions that leave some nests as they are: loops of `above` that stand there anyway, one of them as the outermost,
/// copies above blocks where there are none, and what unrolls the points. A nest has one mapping for each.
struct Choice {
  std::size_t above = 0;  ///< leading loops of the trunk that are placed, not left where blocks and tiles stand
  bool has_outermost = false, below_blocks = false, register_tile = false;
};

class MappingOfNest {
 public:
  MappingOfNest(const NestSpace& space, const Nest& nest) : space_(space), nest_(nest) {
    for (const auto& step : nest.trunk)
      if (const auto* loop = std::get_if<NestLoop>(&step.what); loop && loop->digit.index.statement < 0)
        trunk_.push_back(*loop);
  }

  /// Are points along lanes of a member unrolled? Then a register tile says so, as the rules do, rather than a statement.
  bool has_register_tile() const {
    return std::any_of(nest_.branches.begin(), nest_.branches.end(), [](const NestBranch& branch) {
      return !branch.loops.empty() && branch.loops.back().place == NestPlace::Lanes &&
             branch.loops.back().digit.index.statement < 0 && is_unrolled(branch);
    });
  }

  /// As many loops as can be placed.
  std::size_t loops() const { return trunk_.size(); }

  ClusterMapping with(const Choice& choice) const {
    ClusterMapping result;
    for (std::size_t m = 0; m < space_.members.size(); ++m) result.members.push_back(sizes_of(static_cast<int>(m)));
    for (std::size_t i = 0; i < choice.above; ++i) {
      const int member = trunk_[i].digit.index.number;
      if (i > 0 || !choice.has_outermost)
        result.above.push_back(member);
      else
        result.outermost = member;
    }
    result.parallel = choice.has_outermost && !trunk_.empty() && trunk_[0].place == NestPlace::Cores;
    result.register_tile = choice.register_tile;
    add_trunk(result, choice);
    for (std::size_t b = 0; b < nest_.branches.size(); ++b) add_branch(result, static_cast<int>(b));
    return result;
  }

 private:
  static bool is_unrolled(const NestBranch& branch) {
    return std::any_of(branch.loops.begin(), branch.loops.end(),
                       [](const NestLoop& loop) { return loop.place == NestPlace::Unrolled; });
  }

  std::int64_t extent(const NestIndex& index) const { return space_.extent(index); }

  bool in_branches(const NestIndex& index) const {
    for (const auto& branch : nest_.branches)
      for (const auto& loop : branch.loops)
        if (loop.digit.index == index) return true;
    return false;
  }

  MemberMapping sizes_of(int member) const {
    const NestIndex index{-1, member};
    std::vector<Digit> digits;
    for (const auto& loop : trunk_)
      if (loop.digit.index == index) digits.push_back(loop.digit);
    MemberMapping result;
    if (digits.size() > 1) result.block = digits[0].step;
    if (!digits.empty())
      result.points = digits.back().step;
    else if (in_branches(index))
      result.points = std::max<std::int64_t>(extent(index), 2);
    return result;
  }

  void add_trunk(ClusterMapping& result, const Choice& choice) const {
    bool any_loop = false;
    int positions = 0;
    std::size_t copied_below = 0;  // loops above the copies last seen
    std::size_t loops_above = 0;
    for (const auto& step : nest_.trunk) {
      if (const auto* loop = std::get_if<NestLoop>(&step.what)) {
        any_loop = true;
        ++loops_above;
        if (const auto& index = loop->digit.index; index.statement >= 0)
          result.reduction = {space_.statements[static_cast<std::size_t>(index.statement)].entry.id, index.number,
                              loop->digit.step};
      } else if (const auto* copy = std::get_if<NestCopy>(&step.what)) {
        if (any_loop && (positions == 0 || copied_below != loops_above)) ++positions, copied_below = loops_above;
        const auto& id = space_.statements[static_cast<std::size_t>(copy->statement)].entry.id;
        result.packed.push_back({id, copy->read, copy->panel, copy->size, copy->panel_last,
                                 any_loop && (choice.below_blocks || positions > 1), copy->lanes, !any_loop});
      } else if (const auto* keep = std::get_if<NestKeep>(&step.what)) {
        result.staged.push_back(keep->tensor);
      } else {
        const auto& lanes = std::get<NestCopyLanes>(step.what);
        result.copies = {"", lanes.member, lanes.lanes, 1};
      }
    }
  }

  void add_branch(ClusterMapping& result, int number) const {
    const auto& branch = nest_.branches[static_cast<std::size_t>(number)];
    for (const auto& loop : branch.loops) {
      const int iterator = space_.iterator(loop.digit.index, number);
      if (loop.place == NestPlace::Lanes)
        result.statements.push_back(
            {branch.statement, iterator, loop.lanes, vectors_in_flight(branch, loop, result.register_tile)});
      if (loop.place == NestPlace::Unit) result.dot = {branch.statement, iterator, loop.width, loop.steps};
      if (loop.slides_along)
        result.window = {branch.statement, iterator, space_.iterator(*loop.slides_along, number),
                         static_cast<int>(extent(loop.digit.index)), loop.slide_step};
    }
  }

  /// Vectors of \p lanes that \p branch has at once along an iterator of its own: as many as the loop over them has
  /// iterations, if its points are unrolled. Along a member, 2 says that they are.
  int vectors_in_flight(const NestBranch& branch, const NestLoop& lanes, bool register_tile) const {
    if (lanes.digit.index.statement < 0) return !register_tile && is_unrolled(branch) ? 2 : 1;
    for (const auto& loop : branch.loops) {
      const bool counts_vectors = loop.digit.index == lanes.digit.index && loop.digit.step == lanes.lanes;
      if (!counts_vectors || loop.place != NestPlace::Unrolled) continue;
      const auto values = loop.digit.mod > 0 ? loop.digit.mod : extent(loop.digit.index);
      return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(ceil_div(values, std::int64_t{lanes.lanes}))));
    }
    return 1;
  }

  const NestSpace& space_;
  const Nest& nest_;
  std::vector<NestLoop> trunk_;  ///< the loops over members
};

/// The mappings that may have the nest of \p maker.
std::vector<ClusterMapping> candidates(const MappingOfNest& maker) {
  std::vector<ClusterMapping> result;
  for (std::size_t above = 0; above <= maker.loops(); ++above)
    for (bool has_outermost : {false, true}) {
      if (has_outermost && above == 0) continue;
      for (bool register_tile : {maker.has_register_tile(), !maker.has_register_tile()})
        for (bool below_blocks : {false, true})
          result.push_back(maker.with({above, has_outermost, below_blocks, register_tile}));
    }
  return result;
}

}  // namespace

ClusterMapping mapping_of(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest) {
  const auto space = nest_space(scop, cluster);
  for (const auto& mapping : candidates(MappingOfNest(space, nest)))
    if (nest_of(space, mapping) == nest) return mapping;
  const auto wanted = without_idle_loops(space, nest);
  std::optional<Nest> nearest;
  for (const auto& mapping : candidates(MappingOfNest(space, wanted))) {
    auto made = without_idle_loops(space, nest_of(space, mapping));
    if (made == wanted) return mapping;
    if (!nearest || common_lines(wanted, made, names) > common_lines(wanted, *nearest, names))
      nearest = std::move(made);
  }
  fail_beside(wanted, *nearest, names);
}

}  // namespace tc::polyhedral
