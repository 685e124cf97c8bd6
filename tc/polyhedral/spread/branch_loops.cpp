#include "tc/polyhedral/spread/branch_loops.h"

#include <algorithm>
#include <optional>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/loops.h"

namespace tc::polyhedral {
namespace {

/// The mod of the first digit of \p iterator below the loop over blocks that copies are made for.
std::int64_t first_mod(const NestBranch& branch, int iterator) {
  for (const auto& loop : branch.loops)
    if (loop.slots > 0 && loop.digit.index.number == iterator) return loop.digit.step;
  return 0;
}

bool is_over(const NestSpace& space, const NestLoop& loop, const BranchIndex& index, std::size_t position) {
  const auto number = static_cast<std::size_t>(loop.digit.index.number);
  if (loop.digit.index.statement < 0) return index.band < 0 && position == number;
  return position >= space.members.size() && index.iterator == loop.digit.index.number;
}

class Walk {
 public:
  Walk(const NestSpace& space, const NestBranch& branch, const std::vector<BranchIndex>& indices,
       const std::array<std::int64_t, 3>& block, bool spread_only)
      : space_(space), branch_(branch), indices_(indices), block_(block), spread_only_(spread_only) {
    for (const auto& index : indices) open_.push_back(index.index);
    for (std::size_t i = 0; i < indices.size(); ++i) is_named_.push_back(has_first_digit(i));
  }

  BranchLoops run() {
    add_unnamed_before(first_named());
    for (std::size_t i = 0; i < branch_.loops.size(); ++i)
      if (const auto position = position_of(branch_.loops[i])) add(i, *position);
    return result_;
  }

 private:
  bool has_first_digit(std::size_t position) const {
    const bool serial = indices_[position].band >= 0 && !is_on_threads(position, 0, branch_.loops.size());
    if (spread_only_ && serial) return false;
    return std::any_of(branch_.loops.begin(), branch_.loops.end(), [&](const NestLoop& loop) {
      return loop.slots == 0 && is_over(space_, loop, indices_[position], position) &&
             loop.digit.mod == indices_[position].index.mod();
    });
  }

  std::optional<std::size_t> position_of(const NestLoop& loop) const {
    for (std::size_t i = 0; i < indices_.size(); ++i)
      if (is_named_[i] && loop.slots == 0 && is_over(space_, loop, indices_[i], i) && loop.digit.mod == open_[i].mod())
        return i;
    return std::nullopt;
  }

  /// The first own index that the branch names; the number of indices where there is none.
  std::size_t first_named() const {
    for (std::size_t i = 0; i < indices_.size(); ++i)
      if (indices_[i].band >= 0 && is_named_[i]) return i;
    return indices_.size();
  }

  bool is_left(std::size_t position) const { return indices_[position].band >= 0 && !is_named_[position]; }

  /// Own indices that the branch does not name, from the last one that was added on and before \p position.
  void add_unnamed_before(std::size_t position) {
    if (spread_only_) return;
    for (; unnamed_ < position; ++unnamed_)
      if (is_left(unnamed_)) {
        const auto& index = indices_[unnamed_];
        result_.loops.push_back({{index.member, index.index.is_coincident()}, NestPlace::Serial, 0, index.band, false});
      }
  }

  /// Do threads run a digit of the index at \p position in loops from number \p begin to before \p end?
  bool is_on_threads(std::size_t position, std::size_t begin, std::size_t end) const {
    return std::any_of(branch_.loops.begin() + static_cast<std::ptrdiff_t>(begin),
                       branch_.loops.begin() + static_cast<std::ptrdiff_t>(end), [&](const NestLoop& loop) {
                         return loop.place == NestPlace::Thread && is_over(space_, loop, indices_[position], position);
                       });
  }

  int group_of(std::size_t number, std::size_t position) const {
    const auto& loop = branch_.loops[number];
    if (loop.place == NestPlace::Lanes) return BranchLoop::Lanes;
    const auto end = branch_.loops.size();
    if (is_on_threads(position, 0, number) && !is_on_threads(position, number, end)) return BranchLoop::Runs;
    return spread_only_ ? BranchLoop::Points : indices_[position].band;
  }

  void add(std::size_t number, std::size_t position) {
    const auto& loop = branch_.loops[number];
    const auto step = loop.digit.step;
    auto& index = open_[position];
    const bool on_threads = loop.place == NestPlace::Thread;
    if (on_threads) add_coordinate(loop, index);
    const auto& own = indices_[position];
    const bool is_whole = own.band >= 0 && step == 1 && index.mod() == own.index.mod() && !on_threads;
    const auto value = is_whole ? own.member : index.digit(step);
    if (on_threads && is_round(number, position))
      result_.loops.back().loop.index = before_->digit(step);
    else if (!on_threads || index.values(step) > 1)
      result_.loops.push_back({{value, index.is_coincident()}, loop.place, loop.lanes, group_of(number, position)});
    last_ = position;
    before_ = index;
    if (step > 1) index = index.below(step);
    if (own.band >= 0) add_unnamed_behind(position);
  }

  /// Is the loop before number \p number, over the index at \p position, over its digit above, in the same band, and one that
  /// may go in steps of the threads?
  bool is_round(std::size_t number, std::size_t position) const {
    if (number == 0 || !before_ || last_ != position) return false;
    const auto& above = branch_.loops[number - 1];
    return is_over(space_, above, indices_[position], position) &&
           (above.place == NestPlace::Serial || (spread_only_ && above.place == NestPlace::Unrolled));
  }

  void add_unnamed_behind(std::size_t position) {
    auto end = position + 1;
    while (end < indices_.size() && is_left(end)) ++end;
    if (unnamed_ <= position) unnamed_ = position + 1;
    add_unnamed_before(end);
  }

  void add_coordinate(const NestLoop& loop, const OpenIndex& index) {
    const auto dimension = static_cast<std::size_t>(loop.dimension);
    if (block_[dimension] <= 1) return;
    const auto values = index.values(loop.digit.step);
    const auto value = index.coordinate(loop.digit.step);
    auto& coordinate = result_.threads[dimension];
    coordinate = coordinate.is_null()
                     ? value
                     : call(value.ctx(), isl_union_pw_aff_add, scaled(coordinate, values).release(), value.copy());
  }

  const NestSpace& space_;
  const NestBranch& branch_;
  const std::vector<BranchIndex>& indices_;
  const std::array<std::int64_t, 3>& block_;
  const bool spread_only_;
  std::vector<OpenIndex> open_;  ///< below the loops so far
  std::vector<bool> is_named_;
  std::size_t unnamed_ = 0;  ///< the first index that may be left to add
  std::size_t last_ = 0;
  std::optional<OpenIndex> before_;  ///< the index of the last loop, above that
  BranchLoops result_;
};

}  // namespace

std::vector<BranchIndex> branch_indices(const isl::schedule_node& node, const Scop& scop, const GridClusterState& state,
                                        const std::vector<OpenIndex>& points) {
  const auto id = statement_ids(node).at(0);
  const auto& domain = scop.statement(id).domain;
  std::vector<BranchIndex> result;
  for (const auto& point : points) result.push_back({point, point.rest(), only_iterator(point.rest(), domain)});
  const auto number = state.position(id);
  int number_of_band = 0;
  for (auto band = node; band.isa<isl::schedule_node_band>(); band = band.child(0), ++number_of_band) {
    const auto members = band_members(band);
    const auto coincident = band_coincident(band);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto iterator = only_iterator(members[i], domain);
      const auto range = values(members[i], instances_at(band));
      const auto mod = number < 0 ? 0 : first_mod(state.nest.branches[static_cast<std::size_t>(number)], iterator);
      OpenIndex index(from_origin(members[i], range.min, instances_at(band)), range.extent(),
                      static_cast<bool>(coincident[i]), mod);
      result.push_back({std::move(index), members[i], iterator, number_of_band});
    }
  }
  return result;
}

BranchLoops branch_loops(const NestSpace& space, const NestBranch& branch, const std::vector<BranchIndex>& indices,
                         const std::array<std::int64_t, 3>& block, bool spread_only) {
  return Walk(space, branch, indices, block, spread_only).run();
}

std::vector<NestLoop> loops_over(const NestSpace& space, const NestBranch& branch, const BranchIndex& index,
                                 std::size_t position) {
  std::vector<NestLoop> result;
  for (const auto& loop : branch.loops)
    if (is_over(space, loop, index, position)) result.push_back(loop);
  return result;
}

}  // namespace tc::polyhedral
