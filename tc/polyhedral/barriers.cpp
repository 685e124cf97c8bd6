#include "tc/polyhedral/barriers.h"

#include <algorithm>
#include <vector>

#include "tc/base/str.h"
#include "tc/polyhedral/marks.h"
#include "tc/polyhedral/thread_map.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// Places after the children of a sequence, as a circle: `length` of them from `first` on, one of which needs a barrier.
struct Arc {
  int first = 0, length = 0;
  bool contains(int place, int places) const { return (place - first + places) % places < length; }
};

/// A smallest set of \p places of a circle such that each of \p arcs contains one.
std::vector<int> hit(const std::vector<Arc>& arcs, int places) {
  std::vector<int> best;
  if (arcs.empty()) return best;
  const Arc& shortest = *std::min_element(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.length < b.length; });
  for (int i = 0; i < shortest.length; ++i) {
    int begin = (shortest.first + shortest.length - 1 - i) % places;
    std::vector<int> chosen{begin};
    auto last = [&](const Arc& arc) { return (arc.first + arc.length - 1 - begin + places) % places; };
    auto rest = arcs;
    std::erase_if(rest, [&](const Arc& arc) { return arc.contains(begin, places); });
    std::sort(rest.begin(), rest.end(), [&](const Arc& a, const Arc& b) { return last(a) < last(b); });
    for (const auto& arc : rest)
      if (std::none_of(chosen.begin(), chosen.end(), [&](int place) { return arc.contains(place, places); }))
        chosen.push_back((begin + last(arc)) % places);
    if (best.empty() || chosen.size() < best.size()) best = chosen;
  }
  return best;
}

isl::union_map at_equal(const isl::union_map& pairs, const isl::multi_union_pw_aff& function) {
  return call(pairs.ctx(), isl_union_map_eq_at_multi_union_pw_aff, pairs.copy(), function.copy());
}

class Inserter {
 public:
  explicit Inserter(const isl::union_map& apart) : apart_(apart) {}

  /// The node \p node with barriers below it and after it. \p open: the pairs that no loop above tells apart; \p carried: those
  /// that the loops directly above do.
  schedule_node visit(const schedule_node& node, const isl::union_map& open, const isl::union_map& carried) {
    if (is_thread(node) || node.isa<isl::schedule_node_leaf>())
      return carried.is_empty() ? node : add(node, needs_block(carried), iterations_at(node));
    if (node.isa<isl::schedule_node_band>()) {
      auto members = node.as<isl::schedule_node_band>().partial_schedule();
      auto equal = at_equal(open, members);
      return visit_child(node, equal, carried.unite(open.subtract(equal)));
    }
    if (node.isa<isl::schedule_node_sequence>() || node.isa<isl::schedule_node_set>()) return visit_sequence(node, open, carried);
    return visit_child(node, open, carried);
  }

 private:
  static bool is_thread(const schedule_node& node) {
    return node.isa<isl::schedule_node_mark>() && mark_name(node) == marks::thread;
  }

  /// A graft puts nodes between a node and its parent, so the way back is by depth.
  schedule_node visit_child(const schedule_node& node, const isl::union_map& open, const isl::union_map& carried) {
    auto depth = isl_schedule_node_get_tree_depth(node.get());
    return up_to(visit(node.child(0), open, carried), depth);
  }
  static schedule_node up_to(const schedule_node& node, int depth) {
    return node.ancestor(isl_schedule_node_get_tree_depth(node.get()) - depth);
  }

  schedule_node visit_sequence(schedule_node node, const isl::union_map& open, const isl::union_map& carried) {
    int count = static_cast<int>(node.n_children());
    auto depth = isl_schedule_node_get_tree_depth(node.get());
    std::vector<isl::union_set> filters;
    for (int i = 0; i < count; ++i) filters.push_back(node.child(i).as<isl::schedule_node_filter>().filter());
    auto [block, warp] = places(filters, open, carried);
    const auto iterations = iterations_at(node);
    auto nothing = isl::union_map::empty(node.ctx());
    for (int i = count - 1; i >= 0; --i) {
      auto inside = open.intersect_domain(filters[i]).intersect_range(filters[i]);
      node = up_to(visit(node.child(i).child(0), inside, nothing), depth);
      if (node.isa<isl::schedule_node_extension>()) ++depth, node = node.child(0);
      bool by_block = std::find(block.begin(), block.end(), i) != block.end();
      if (!by_block && std::find(warp.begin(), warp.end(), i) == warp.end()) continue;
      auto child = node.child(i).child(0);
      node = up_to(add(child, by_block, iterations), depth);
      if (node.isa<isl::schedule_node_extension>()) ++depth, node = node.child(0);
    }
    return node;
  }

  /// After which children barriers stand: of the block, of the warp.
  std::pair<std::vector<int>, std::vector<int>> places(const std::vector<isl::union_set>& filters, const isl::union_map& open,
                                                       const isl::union_map& carried) const {
    int count = static_cast<int>(filters.size());
    std::vector<Arc> block, warp;
    auto note = [&](const isl::union_map& pairs, int i, int j) {
      auto between = pairs.intersect_domain(filters[i]).intersect_range(filters[j]);
      if (between.is_empty()) return;
      (needs_block(between) ? block : warp).push_back({i, j > i ? j - i : j - i + count});
    };
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) {
        if (i < j) note(open, i, j);
        if (i >= j) note(carried, i, j);
      }
    auto chosen = hit(block, count);
    std::erase_if(warp, [&](const Arc& arc) {
      return std::any_of(chosen.begin(), chosen.end(), [&](int place) { return arc.contains(place, count); });
    });
    return {chosen, hit(warp, count)};
  }

  bool needs_block(const isl::union_map& pairs) const { return !pairs.intersect(apart_).is_empty(); }

  /// The iterations of the loops above \p node.
  static isl::set iterations_at(const schedule_node& node) {
    auto prefix = call(node.ctx(), isl_schedule_node_get_prefix_schedule_relation, node.get());
    return prefix.intersect_domain(instances_at(node)).range().as_set();
  }

  /// A barrier after \p node, in each of \p iterations: those of a whole sequence, of which \p node may take part in some only.
  schedule_node add(const schedule_node& node, bool by_block, const isl::set& iterations) {
    auto name = str(by_block ? block_barrier : warp_barrier, "_", count_++);
    auto extension = call(node.ctx(), isl_set_identity, iterations.copy());
    auto named = call(node.ctx(), isl_map_set_tuple_name, extension.copy(), isl_dim_out, name.c_str());
    return node.graft_after(isl::schedule_node::from_extension(named.to_union_map()));
  }

  const isl::union_map& apart_;  ///< pairs of threads of different warps
  int count_ = 0;
};

}  // namespace

bool is_barrier(const std::string& id) { return id.rfind(block_barrier, 0) == 0 || id.rfind(warp_barrier, 0) == 0; }

Scop insert_barriers(const Scop& scop, const Coordinates& where, const std::array<std::int64_t, 3>& block, std::int64_t warp) {
  if (block == std::array<std::int64_t, 3>{1, 1, 1}) return scop;
  auto pairs = across_threads(conflicts(scop, Sharing::Block), where);
  if (pairs.is_empty()) return scop;
  auto apart = across_warps(pairs, where, block, warp);
  auto result = scop;
  auto root = scop.schedule.root();
  result.schedule = Inserter(apart).visit(root.child(0), pairs, isl::union_map::empty(scop.ctx())).schedule();
  return result;
}

}  // namespace tc::polyhedral
