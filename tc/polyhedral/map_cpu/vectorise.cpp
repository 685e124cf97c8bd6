#include "tc/polyhedral/map_cpu/vectorise.h"

#include <algorithm>
#include <optional>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/nest/branch_points.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

struct PointLoop {
  isl::union_pw_aff index;
  bool coincident = false;
  int iterator = -1;  ///< the iterator of the statement that it is over
};

/// The loops of one statement that take the place of the band above it.
struct Points {
  std::vector<PointLoop> loops;
  std::optional<PointLoop> vector;
  int lanes = 0;
  bool unrolled = false;
};

std::vector<PointLoop> loops_of(const schedule_node& band, const Statement& statement) {
  std::vector<PointLoop> result;
  const auto members = band_members(band);
  const auto coincident = band_coincident(band);
  for (std::size_t i = 0; i < members.size(); ++i)
    result.push_back({members[i], coincident[i], only_iterator(members[i], statement.domain)});
  return result;
}

std::vector<PointLoop>::iterator loop_over(std::vector<PointLoop>& loops, int iterator) {
  return std::find_if(loops.begin(), loops.end(), [&](const PointLoop& loop) { return loop.iterator == iterator; });
}

class Vectoriser {
 public:
  Vectoriser(Scop& scop, const CpuCluster& cluster) : scop_(scop), cluster_(cluster) {
    const auto& branches = cluster.nest.branches;
    const auto& copies = cluster.state.copies;
    unrolls_added_ =
        copies.iterator >= 0 ? copies.unroll > 1 : std::any_of(branches.begin(), branches.end(), unrolls_members);
  }

  schedule_node visit(schedule_node node) {
    if (is_point_band(node)) return vectorise_band(node);
    for (unsigned i = 0; i < node.n_children(); ++i) node = visit(node.child(i)).parent();
    return node;
  }

 private:
  static bool is_point_band(const schedule_node& node) {
    return node.isa<isl::schedule_node_band>() && node.child(0).isa<isl::schedule_node_leaf>() &&
           statement_ids(node).size() == 1;
  }

  static bool unrolls_members(const NestBranch& branch) {
    return std::any_of(branch.loops.begin(), branch.loops.end(), [](const NestLoop& loop) {
      return loop.place == NestPlace::Unrolled && loop.digit.index.statement < 0;
    });
  }

  schedule_node vectorise_band(const schedule_node& band) {
    auto& statement = scop_.statement(statement_ids(band).at(0));
    const int number = cluster_.space.position(statement.id);
    const auto points = number < 0 ? points_of_added(band, statement) : points_of_branch(band, statement, number);
    if (!points) return band;
    auto node = erase(band);
    if (points->vector) {
      statement.vector_lanes = points->lanes;
      node = insert_loops(node, std::vector<PointLoop>{*points->vector}).insert_mark(marks::vector);
    }
    if (points->loops.empty()) return node;
    node = insert_loops(node, points->loops);
    return points->unrolled ? node.insert_mark(marks::register_tile) : node;
  }

  /// The loops over points of branch \p number, and behind them the band's loops that the branch has not: a statement
  /// beside it has these points; nothing where the band has no points.
  std::optional<Points> points_of_branch(const schedule_node& band, const Statement& statement, int number) const {
    const auto& branch = cluster_.nest.branches.at(static_cast<std::size_t>(number));
    Points result{.unrolled = is_unrolled(branch)};
    auto rest = loops_of(band, statement);
    std::vector<int> met;
    for (const auto& loop : polyhedral::points_of(branch)) {
      const int iterator = cluster_.space.iterator(loop.digit.index, number);
      const auto from = loop_over(rest, iterator);
      if (iterator < 0 || from == rest.end()) continue;
      if (std::find(met.begin(), met.end(), iterator) == met.end() && loop.digit.index.statement >= 0)
        add_groups(*from, loop.digit.mod, band, result.loops);
      met.push_back(iterator);
      auto made = *from;
      if (loop.digit.step > 1) {
        made.index = quotient(from->index, loop.digit.step);
        from->index = remainder(from->index, loop.digit.step);
      }
      if (loop.slides_along)
        slide(result.loops, made, cluster_.space.iterator(*loop.slides_along, number), loop.slide_step);
      if (loop.place == NestPlace::Lanes)
        result.vector = made, result.lanes = loop.lanes;
      else
        result.loops.push_back(made);
    }
    if (met.empty()) return std::nullopt;
    std::erase_if(rest,
                  [&](const PointLoop& loop) { return std::find(met.begin(), met.end(), loop.iterator) != met.end(); });
    result.loops.insert(result.loops.end(), rest.begin(), rest.end());
    return result;
  }

  /// Where a band is shared with a statement of longer points, a loop over groups of \p size of them.
  static void add_groups(PointLoop& points, std::int64_t size, const schedule_node& band,
                         std::vector<PointLoop>& loops) {
    if (size == 0 || values(points.index, instances_at(band)).max < size) return;
    auto groups = points;
    groups.index = quotient(points.index, size);
    points.index = remainder(points.index, size);
    loops.push_back(groups);
  }

  /// Rows in the order of what they read, beside the iterations \p window that read the same.
  void slide(std::vector<PointLoop>& loops, const PointLoop& window, int along, int step) const {
    const auto row = loop_over(loops, along);
    if (row == loops.end()) return;
    auto scaled =
        call(scop_.ctx(), isl_union_pw_aff_scale_val, row->index.copy(), isl::val(scop_.ctx(), step).release());
    row->index = scaled.add(window.index);
    row->coincident = false;
  }

  /// Lanes as a pass said; in a statement that accumulates, vectors of a row come last: what the row shares is used up
  /// before the next row. Nothing for a scalar statement.
  std::optional<Points> points_of_added(const schedule_node& band, const Statement& statement) const {
    const auto choice = cluster_.state.statement(statement.id);
    Points result{
        .loops = loops_of(band, statement), .lanes = choice.lanes, .unrolled = unrolls_added_ || choice.unroll > 1};
    const auto lane = choice.iterator < 0 ? result.loops.end() : loop_over(result.loops, choice.iterator);
    if (lane == result.loops.end()) return std::nullopt;
    result.vector = *lane;
    if (values(lane->index, instances_at(band)).max < choice.lanes) {
      result.loops.erase(lane);
      return result;
    }
    result.vector->index = remainder(lane->index, choice.lanes);
    lane->index = quotient(lane->index, choice.lanes);
    if (statement.accumulates) std::rotate(lane, lane + 1, result.loops.end());
    return result;
  }

  Scop& scop_;
  const CpuCluster& cluster_;
  bool unrolls_added_ = false;
};

}  // namespace

Scop vectorise(const Scop& scop, const CpuCluster& cluster) {
  auto result = scop;
  Vectoriser vectoriser(result, cluster);
  result.schedule = vectoriser.visit(node_at(scop.schedule, cluster.view.path)).schedule();
  return result;
}

}  // namespace tc::polyhedral
