#include "tc/strategy/price/statement_nest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;

class NestMaker {
 public:
  NestMaker(const PricedCluster& cluster, const ClusterMapping& mapping, const PricedStatement& statement)
      : cluster_(cluster), mapping_(mapping), statement_(statement), choice_(mapping.statement(statement.entry.id)) {
    nest_.lanes = choice_.iterator < 0 ? 1 : std::max(choice_.lanes, 1);
    nest_.lane_iterator = nest_.lanes > 1 ? choice_.iterator : -1;
    nest_.unrolled = nest_.lane_iterator >= 0 && (mapping.register_tile || choice_.unroll > 1);
    taken_.resize(cluster.extent.size());
  }

  StatementNest run() {
    auto& loops = nest_.loops;
    if (!mapping_.members.empty()) {
      if (mapping_.outermost >= 0) take(mapping_.outermost);
      for (int member : mapping_.above) take(member);
    }
    add_reduction_blocks();
    nest_.copies = loops.size();
    for (int member = 0; member < members(); ++member)
      if (blocked(member) && taken_[member] == 0) take(member);
    nest_.blocks = loops.size();
    for (int member = 0; member < members(); ++member)
      if (taken_[member] < (blocked(member) ? 2 : 1)) take(member);
    nest_.tile = loops.size();
    add_inner();
    nest_.points = loops.size();
    for (int member = 0; member < members(); ++member) add_points(iterator(member), points(member));
    for (const auto& [iterator, count] : sunk_) add_points(iterator, count);
    return std::move(nest_);
  }

 private:
  int members() const { return static_cast<int>(cluster_.extent.size()); }
  int iterator(int member) const { return statement_.entry.outer[member]; }
  polyhedral::MemberMapping size(int member) const {
    return member < static_cast<int>(mapping_.members.size()) ? mapping_.members[member] : polyhedral::MemberMapping{};
  }
  bool blocked(int member) const {
    auto block = static_cast<double>(size(member).block);
    return block > 0 && block < cluster_.extent[member];
  }
  double points(int member) const {
    return std::min(static_cast<double>(size(member).points), cluster_.extent[member]);
  }
  int lanes_along(int iterator) const { return iterator >= 0 && iterator == nest_.lane_iterator ? nest_.lanes : 1; }

  /// How many tiles of \p points there are in \p extent, a partial one counted by its vectors.
  double tiles(double extent, double points, int lanes) const {
    auto whole = std::floor(extent / points), rest = extent - whole * points;
    if (rest > 0) rest = std::min(points, std::ceil(rest / lanes) * lanes);
    return whole + rest / points;
  }

  /// How many blocks of \p inside there are in \p extent, a partial one counted by its tiles.
  double blocks(double extent, double inside, int member) const {
    auto lanes = lanes_along(iterator(member));
    auto whole = std::floor(extent / inside), rest = extent - whole * inside;
    return whole + tiles(rest, points(member), lanes) / tiles(inside, points(member), lanes);
  }

  void add(int iterator, double trips, double span) { nest_.loops.push_back({iterator, trips, span}); }

  /// The next loop of \p member: over blocks, then over tiles.
  void take(int member) {
    if (taken_[member] == (blocked(member) ? 2 : 1)) return;
    auto extent = cluster_.extent[member];
    int along = iterator(member), done = taken_[member]++;
    bool first = done == 0 && blocked(member);
    auto inside = static_cast<double>(size(member).block);
    auto whole = done == 0 ? extent : std::min(inside, extent);
    auto trips = first ? blocks(extent, inside, member) : tiles(whole, points(member), lanes_along(along));
    add(along, along < 0 ? 1 : trips, along < 0 ? 1 : whole);
  }

  void add_reduction_blocks() {
    const auto& cut = mapping_.reduction;
    if (cut.iterator < 0) return;
    if (cut.statement != statement_.entry.id) return add(-1, 1, 1);
    auto extent = statement_.extent[cut.iterator];
    add(cut.iterator, extent / static_cast<double>(cut.size), extent);
  }

  /// Iterations of a loop of the statement's own that become points.
  double sunk(int iterator) const {
    const auto& id = statement_.entry.id;
    double result = 1;
    if (mapping_.dot.statement == id && mapping_.dot.iterator == iterator)
      result = mapping_.dot.width * mapping_.dot.steps;
    if (mapping_.window.statement == id && mapping_.window.iterator == iterator) result = mapping_.window.width;
    if (nest_.lane_iterator == iterator) result = std::max<double>(result, nest_.lanes * std::max(choice_.unroll, 1));
    return result;
  }

  void add_inner() {
    const auto& cut = mapping_.reduction;
    for (const auto& loop : statement_.entry.inner) {
      if (loop.iterator < 0) continue;
      auto extent = statement_.extent[loop.iterator];
      if (cut.iterator == loop.iterator && cut.statement == statement_.entry.id)
        extent = std::min(extent, static_cast<double>(cut.size));
      auto below = std::min(sunk(loop.iterator), extent);
      add(loop.iterator, tiles(extent, below, lanes_along(loop.iterator)), extent);
      if (below > 1) sunk_.emplace_back(loop.iterator, below);
    }
  }

  void add_points(int iterator, double count) {
    if (iterator < 0 || count <= 1) return;
    auto span = std::min(count, statement_.extent[iterator]);
    nest_.loops.push_back({iterator, std::ceil(span / lanes_along(iterator)), span});
  }

  const PricedCluster& cluster_;
  const ClusterMapping& mapping_;
  const PricedStatement& statement_;
  polyhedral::StatementMapping choice_;
  StatementNest nest_;
  std::vector<int> taken_;  ///< loops of each member that stand
  std::vector<std::pair<int, double>> sunk_;
};

}  // namespace

double StatementNest::trips_above(std::size_t end) const {
  double result = 1;
  for (std::size_t i = 0; i < end; ++i) result *= loops[i].trips;
  return result;
}

std::vector<double> StatementNest::spans(const PricedStatement& statement, std::size_t first) const {
  std::vector<double> result(statement.extent.size(), 1);
  for (std::size_t i = first; i < loops.size(); ++i)
    if (auto along = loops[i].iterator; along >= 0) result[along] = std::max(result[along], loops[i].span);
  return result;
}

double square_side(const StatementNest& nest, const PricedAccess& access) {
  constexpr double least_side = 4;  // lanes that one shuffle of a register moves together (choose_tile.h)
  if (!nest.unrolled || nest.lane_iterator < 0 || !access.changes(nest.lane_iterator)) return 0;
  auto stride = access.strides[static_cast<std::size_t>(nest.lane_iterator)];
  if (stride == polyhedral::unknown_stride || std::abs(stride) <= few_apart) return 0;
  for (std::size_t i = nest.points; i < nest.loops.size(); ++i) {
    int along = nest.loops[i].iterator;
    if (along < 0 || along == nest.lane_iterator || access.strides[static_cast<std::size_t>(along)] != 1) continue;
    auto span = nest.loops[i].span;
    if (span >= least_side && std::exp2(std::floor(std::log2(span))) == span) return span;
  }
  return 0;
}

StatementNest statement_nest(const PricedCluster& cluster, const ClusterMapping& mapping, int index) {
  return NestMaker(cluster, mapping, cluster.statements[static_cast<std::size_t>(index)]).run();
}

}  // namespace tc::strategy
