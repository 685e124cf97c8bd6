#include "tc/strategy/price/nest_walk.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestCopy;
using polyhedral::NestCopyLanes;
using polyhedral::NestIndex;
using polyhedral::NestKeep;
using polyhedral::NestLoop;
using polyhedral::NestPlace;

/// How many tiles of \p points there are in \p extent, a partial one counted by its vectors of \p lanes.
double tiles(double extent, double points, int lanes) {
  const auto whole = std::floor(extent / points), rest = extent - whole * points;
  return rest > 0 ? whole + std::min(points, std::ceil(rest / lanes) * lanes) / points : whole;
}

bool is_on(const NestLoop& loop, NestPlace place) { return loop.place == place; }

/// Are points of a member unrolled in \p nest, so that those of one vector count as unrolled too?
bool has_register_tile(const Nest& nest) {
  for (const auto& step : nest.trunk)
    if (const auto* lanes = std::get_if<NestCopyLanes>(&step.what); lanes && lanes->unrolled) return true;
  for (const auto& branch : nest.branches)
    for (const auto& loop : branch.loops)
      if (loop.digit.index.statement < 0 && is_on(loop, NestPlace::Unrolled)) return true;
  return false;
}

/// Walks to one statement.
class StatementWalker {
 public:
  StatementWalker(const PricedCluster& cluster, const Nest& nest, int number)
      : cluster_(cluster),
        nest_(nest),
        number_(number),
        statement_(cluster.statements[static_cast<std::size_t>(number)]),
        branch_(nest.branches[static_cast<std::size_t>(number)].loops) {
    if (!branch_.empty() && is_on(branch_.back(), NestPlace::Lanes)) {
      walk_.lanes = branch_.back().lanes;
      walk_.lane_iterator = walk_.lanes > 1 ? iterator_of(branch_.back().digit.index) : -1;
    }
    walk_.copies.resize(statement_.reads.size());
    walk_.loops.reserve(nest.trunk.size() + branch_.size());
  }

  StatementWalk run(bool has_register_tile) {
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) {
      const auto& what = nest_.trunk[i].what;
      if (const auto* loop = std::get_if<NestLoop>(&what)) add_trunk(*loop, i);
      if (const auto* copy = std::get_if<NestCopy>(&what); copy && copy->statement == number_)
        walk_.copies[static_cast<std::size_t>(copy->read)] = {copy, walk_.loops.size()};
    }
    walk_.tile = walk_.loops.size();
    for (const auto& loop : branch_)
      if (!is_point(loop)) add_own(loop);
    walk_.points = walk_.loops.size();
    for (const auto& loop : branch_)
      if (is_point(loop)) add_points(loop);
    walk_.unrolled = walk_.lane_iterator >= 0 && are_unrolled(has_register_tile);
    return std::move(walk_);
  }

 private:
  int iterator_of(const NestIndex& index) const { return cluster_.nests.iterator(index, number_); }
  int lanes_along(int iterator) const { return iterator >= 0 && iterator == walk_.lane_iterator ? walk_.lanes : 1; }
  double extent_of(int iterator) const { return statement_.extent[static_cast<std::size_t>(iterator)]; }
  /// How many values the digit of \p loop and those below it take together, of \p extent.
  static double rest_of(const NestLoop& loop, double extent) {
    const auto mod = static_cast<double>(loop.digit.mod);
    return mod > 0 ? std::min(mod, extent) : extent;
  }

  /// The next loop of the trunk below step number \p above over the index of that one; null: there is none.
  const NestLoop* next_in_trunk(std::size_t above) const {
    const auto& index = std::get<NestLoop>(nest_.trunk[above].what).digit.index;
    for (auto i = above + 1; i < nest_.trunk.size(); ++i)
      if (const auto* loop = std::get_if<NestLoop>(&nest_.trunk[i].what); loop && loop->digit.index == index)
        return loop;
    return nullptr;
  }

  void add_trunk(const NestLoop& loop, std::size_t number) {
    const auto iterator = iterator_of(loop.digit.index);
    if (iterator < 0) return walk_.loops.push_back({});
    const auto step = static_cast<double>(loop.digit.step);
    if (loop.with_private_sums) {
      walk_.with_private_sums = true;
      return walk_.loops.push_back({iterator, extent_of(iterator) / step, extent_of(iterator)});
    }
    const auto whole = cluster_.extent[static_cast<std::size_t>(loop.digit.index.number)];
    const auto rest = rest_of(loop, whole);
    const auto lanes = lanes_along(iterator);
    const auto* below = next_in_trunk(number);
    if (!below) return walk_.loops.push_back({iterator, tiles(rest, step, lanes), rest});
    const auto inside = static_cast<double>(below->digit.step), full = std::floor(rest / step);
    const auto partial = tiles(rest - full * step, inside, lanes) / tiles(step, inside, lanes);
    walk_.loops.push_back({iterator, full + partial, rest});
  }

  /// Does \p loop of the branch run over points: of a member, or what one step of a loop of the statement's own computes?
  static bool is_point(const NestLoop& loop) {
    return loop.digit.index.statement < 0 || !is_on(loop, NestPlace::Serial) || loop.slides_along.has_value();
  }

  void add_own(const NestLoop& loop) {
    const auto iterator = iterator_of(loop.digit.index);
    const auto rest = rest_of(loop, extent_of(iterator));
    walk_.loops.push_back({iterator, tiles(rest, static_cast<double>(loop.digit.step), lanes_along(iterator)), rest});
  }

  void add_points(const NestLoop& loop) {
    const auto iterator = iterator_of(loop.digit.index);
    if (iterator < 0) return;
    if (is_on(loop, NestPlace::Lanes) && counts_vectors_above(iterator)) return;
    const auto span = rest_of(loop, extent_of(iterator));
    if (is_on(loop, NestPlace::Unit)) {
      walk_.unit = &loop;
      walk_.unit_iterator = iterator;
    }
    if (loop.slides_along) {
      walk_.window = &loop;
      walk_.window_iterator = iterator;
      walk_.window_row = iterator_of(*loop.slides_along);
      walk_.window_width = span;
    }
    walk_.loops.push_back({iterator, std::ceil(span / lanes_along(iterator)), span});
  }

  /// Does a loop over points count vectors along \p iterator?
  bool counts_vectors_above(int iterator) const {
    return std::any_of(walk_.loops.begin() + static_cast<long>(walk_.points), walk_.loops.end(),
                       [&](const WalkedLoop& loop) { return loop.iterator == iterator; });
  }

  bool are_unrolled(bool has_register_tile) const {
    for (const auto& loop : branch_) {
      if (!is_point(loop)) continue;
      if (is_on(loop, NestPlace::Unrolled)) return true;
      if (is_on(loop, NestPlace::Serial)) return false;
    }
    return has_register_tile;
  }

  const PricedCluster& cluster_;
  const Nest& nest_;
  int number_;
  const PricedStatement& statement_;
  const std::vector<NestLoop>& branch_;
  StatementWalk walk_;
};

}  // namespace

double StatementWalk::trips_above(std::size_t end) const {
  double result = 1;
  for (std::size_t i = 0; i < end; ++i) result *= loops[i].trips;
  return result;
}

std::vector<double> StatementWalk::spans(const PricedStatement& statement, std::size_t first) const {
  std::vector<double> result(statement.extent.size(), 1);
  for (std::size_t i = first; i < loops.size(); ++i)
    if (auto along = loops[i].iterator; along >= 0)
      result[static_cast<std::size_t>(along)] = std::max(result[static_cast<std::size_t>(along)], loops[i].span);
  return result;
}

NestWalk walk(const PricedCluster& cluster, const Nest& nest) {
  NestWalk result;
  result.kept.resize(cluster.tensors.size());
  for (const auto& step : nest.trunk) {
    if (const auto* copy = std::get_if<NestCopy>(&step.what)) result.copies.push_back(copy);
    if (const auto* keep = std::get_if<NestKeep>(&step.what))
      for (std::size_t t = 0; t < cluster.tensors.size(); ++t)
        if (cluster.tensors[t].name == keep->tensor) result.kept[t] = true;
    if (const auto* loop = std::get_if<NestLoop>(&step.what); loop && is_on(*loop, NestPlace::Cores)) {
      result.member_on_cores = loop->digit.index.number;
      result.tasks = std::max(
          cluster.extent[static_cast<std::size_t>(loop->digit.index.number)] / static_cast<double>(loop->digit.step),
          1.0);
    }
  }
  const bool register_tile = has_register_tile(nest);
  for (std::size_t s = 0; s < cluster.statements.size(); ++s)
    result.statements.push_back(StatementWalker(cluster, nest, static_cast<int>(s)).run(register_tile));
  return result;
}

Squares squares_of(const StatementWalk& walk, const PricedStatement& statement, const PricedAccess& access) {
  constexpr double least_side = 4;  // lanes that one shuffle of a register moves together (choose_tile.h)
  if (!walk.unrolled || walk.lane_iterator < 0 || !access.changes(walk.lane_iterator)) return {};
  auto stride = access.strides[static_cast<std::size_t>(walk.lane_iterator)];
  if (stride == polyhedral::unknown_stride || std::abs(stride) <= few_apart) return {};
  const auto whole = [&](int iterator, double size) {
    const auto extent = statement.extent[static_cast<std::size_t>(iterator)];
    return extent > size ? std::floor(extent / size) * size / extent : 1;
  };
  for (std::size_t i = walk.points; i < walk.loops.size(); ++i) {
    int along = walk.loops[i].iterator;
    if (along < 0 || along == walk.lane_iterator || access.strides[static_cast<std::size_t>(along)] != 1) continue;
    auto span = walk.loops[i].span;
    if (span >= least_side && std::exp2(std::floor(std::log2(span))) == span)
      return {span, whole(along, span) * whole(walk.lane_iterator, walk.lanes)};
  }
  return {};
}

bool repeats(const StatementWalk& walk, const PricedStatement& statement, int read) {
  const auto& near = statement.reads[static_cast<std::size_t>(read)].near;
  return !walk.copy_of(read) && std::any_of(near.begin(), near.end(), [&](const NearRead& other) {
    return other.shifts.empty() && !walk.copy_of(other.read);
  });
}

}  // namespace tc::strategy
