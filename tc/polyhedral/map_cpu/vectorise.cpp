#include "tc/polyhedral/map_cpu/vectorise.h"

#include <algorithm>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/marks.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

class Vectoriser {
 public:
  Vectoriser(Scop& scop, const ClusterState& cluster) : scop_(scop), cluster_(cluster), mapping_(cluster.mapping) {}

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

  /// Register and vector bands in place of \p band, which holds the points of one statement.
  schedule_node vectorise_band(const schedule_node& band) {
    auto& statement = scop_.statement(statement_ids(band).at(0));
    auto choice = cluster_.statement(statement.id);
    auto members = band_members(band);
    auto coincident = band_coincident(band);
    int lane = -1;
    for (std::size_t i = 0; i < members.size(); ++i)
      if (choice.iterator >= 0 && only_iterator(members[i], statement.domain) == choice.iterator)
        lane = static_cast<int>(i);
    if (lane < 0) return band;
    auto whole = values(members[lane], instances_at(band));
    bool split = whole.max >= choice.lanes;
    auto lanes = split ? remainder(members[lane], choice.lanes) : members[lane];
    bool lanes_coincident = coincident[lane];
    if (split) {
      members[lane] = quotient(members[lane], choice.lanes);
      if (statement.accumulates) move_last(members, coincident, lane);
    } else {
      members.erase(members.begin() + lane);
      coincident.erase(coincident.begin() + lane);
    }
    move_dot_last(statement, members, coincident);
    slide_window(statement, members, coincident);
    statement.vector_lanes = choice.lanes;
    auto node = insert_band(erase(band), {lanes}, {lanes_coincident}).insert_mark(marks::vector);
    if (members.empty()) return node;
    node = insert_band(node, members, coincident);
    return mapping_.register_tile || choice.unroll > 1 ? node.insert_mark(marks::register_tile) : node;
  }

  /// Vectors of a row side by side: what the row shares is used up before the next row.
  static void move_last(std::vector<isl::union_pw_aff>& members, std::vector<bool>& coincident, int lane) {
    std::rotate(members.begin() + lane, members.begin() + lane + 1, members.end());
    std::rotate(coincident.begin() + lane, coincident.begin() + lane + 1, coincident.end());
  }

  /// The iterations that one instruction sums follow one another.
  void move_dot_last(const Statement& statement, std::vector<isl::union_pw_aff>& members,
                     std::vector<bool>& coincident) const {
    if (statement.id != mapping_.dot.statement) return;
    for (std::size_t i = 0; i < members.size(); ++i)
      if (only_iterator(members[i], statement.domain) == mapping_.dot.iterator)
        return move_last(members, coincident, static_cast<int>(i));
  }

  /// Rows in the order of what they read, the iterations that read the same innermost.
  void slide_window(const Statement& statement, std::vector<isl::union_pw_aff>& members,
                    std::vector<bool>& coincident) const {
    const auto& window = mapping_.window;
    if (statement.id != window.statement) return;
    int row = -1, iteration = -1;
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto iterator = only_iterator(members[i], statement.domain);
      if (iterator == window.row) row = static_cast<int>(i);
      if (iterator == window.iterator) iteration = static_cast<int>(i);
    }
    if (row < 0 || iteration < 0) return;
    auto scaled = call(scop_.ctx(), isl_union_pw_aff_scale_val, members[row].copy(),
                       isl::val(scop_.ctx(), window.step).release());
    members[row] = scaled.add(members[iteration]);
    coincident[row] = false;
    move_last(members, coincident, iteration);
  }

  Scop& scop_;
  const ClusterState& cluster_;
  const ClusterMapping& mapping_;
};

}  // namespace

Scop vectorise(const Scop& scop, const std::vector<int>& path, const ClusterState& cluster) {
  auto result = scop;
  Vectoriser vectoriser(result, cluster);
  result.schedule = vectoriser.visit(node_at(scop.schedule, path)).schedule();
  return result;
}

}  // namespace tc::polyhedral
