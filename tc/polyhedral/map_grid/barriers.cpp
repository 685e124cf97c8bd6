#include "tc/polyhedral/map_grid/barriers.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/core/pairs.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// Places after the children of a sequence, as a circle: `length` of them from `first` on, one of which needs a
/// barrier.
struct Arc {
  int first = 0, length = 0;
  bool contains(int place, int places) const { return (place - first + places) % places < length; }
};

/// A smallest set of \p places of a circle such that each of \p arcs contains one; of several, one that separates the
/// shortest arc before place 0.
std::vector<int> hit(const std::vector<Arc>& arcs, int places) {
  std::vector<int> best;
  bool best_wraps = true;
  if (arcs.empty()) return best;
  const Arc& shortest =
      *std::min_element(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.length < b.length; });
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
    bool wraps = begin < shortest.first;
    if (!best.empty() && (chosen.size() > best.size() || (chosen.size() == best.size() && wraps >= best_wraps)))
      continue;
    best = chosen;
    best_wraps = wraps;
  }
  return best;
}

/// What stands behind a child of a sequence.
struct Place {
  int child = 0;
  std::string name;
};

class Inserter {
 public:
  Inserter(const Coordinates& where, const isl::map& other_warps, const Synchronisation& behind)
      : threads_(threads_of_instances(where)), other_warps_(other_warps), behind_(behind) {}

  /// \p schedule with barriers and what else stands behind statements.
  isl::schedule run(const isl::schedule& schedule, const isl::union_map& pairs) {
    auto result = visit(schedule.root().child(0), pairs, isl::union_map::empty(pairs.ctx())).schedule();
    if (!behind_.empty()) throw InternalError("synchronisation belongs behind a statement that is in no sequence");
    return result;
  }

 private:
  /// The node \p node with barriers below it and after it. \p open: the pairs that no loop above tells apart; \p
  /// carried: those of which the loops directly above run the first in an earlier iteration than the second.
  schedule_node visit(const schedule_node& node, const isl::union_map& open, const isl::union_map& carried) {
    if (is_thread(node) || node.isa<isl::schedule_node_leaf>()) {
      const auto threads = related_threads(carried, threads_);
      return is_of_one(threads) ? node
                                : add(node, needs_block(threads) ? block_barrier : warp_barrier, iterations_at(node));
    }
    if (node.isa<isl::schedule_node_band>()) {
      auto members = node.as<isl::schedule_node_band>().partial_schedule();
      auto equal = at_equal(open, members);
      return visit_child(node, equal, carried.unite(earlier(open, members)));
    }
    if (node.isa<isl::schedule_node_sequence>() || node.isa<isl::schedule_node_set>())
      return visit_sequence(node, open, carried);
    return visit_child(node, open, carried);
  }

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
    auto iterations = iterations_at(node);
    std::vector<Place> added;
    std::vector<std::vector<std::string>> here;
    for (int i = 0; i < count; ++i) here.push_back(behind(filters[i]));
    for (const auto& filter : filters) take_alone(behind_.at_end, filter, here.back());
    for (int i = 0; i < count; ++i) {
      auto inside = open.intersect_domain(filters[i]).intersect_range(filters[i]);
      node = up_to(visit(node.child(i).child(0), inside, isl::union_map::empty(node.ctx())), depth);
      for (const auto& name : here[i]) added.push_back({i, name});
      if (contains(block, i))
        added.push_back({i, block_barrier});
      else if (contains(warp, i))
        added.push_back({i, warp_barrier});
    }
    return added.empty() ? node : add_between(node, added, iterations);
  }

  /// What stands behind the child of a sequence with the instances \p filter, and has not been placed.
  std::vector<std::string> behind(const isl::union_set& filter) {
    std::vector<std::string> result;
    take_alone(behind_.behind, filter, result);
    for (const auto& set : elements(filter.set_list())) take(behind_.behind_all, tuple_name(set), result);
    return result;
  }
  using Names = std::map<std::string, std::vector<std::string>>;
  static void take(Names& from, const std::string& statement, std::vector<std::string>& to) {
    if (auto found = from.extract(statement)) to.insert(to.end(), found.mapped().begin(), found.mapped().end());
  }
  /// Where \p filter has the instances of one statement.
  static void take_alone(Names& from, const isl::union_set& filter, std::vector<std::string>& to) {
    if (const auto sets = elements(filter.set_list()); sets.size() == 1) take(from, tuple_name(sets[0]), to);
  }

  /// After which children barriers stand: of the block, of the warp.
  std::pair<std::vector<int>, std::vector<int>> places(const std::vector<isl::union_set>& filters,
                                                       const isl::union_map& open,
                                                       const isl::union_map& carried) const {
    int count = static_cast<int>(filters.size());
    std::vector<Arc> block, warp;
    auto note = [&](const isl::union_map& pairs, int i, int j, int length) {
      auto between = pairs.intersect_domain(filters[i]).intersect_range(filters[j]);
      const auto threads = related_threads(between, threads_);
      if (is_of_one(threads)) return;
      (needs_block(threads) ? block : warp).push_back({i, length});
    };
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) {
        if (i < j) note(open, i, j, j - i);
        note(carried, i, j, i < j ? count : j - i + count);
      }
    auto chosen = hit(block, count);
    std::erase_if(warp, [&](const Arc& arc) {
      return std::any_of(chosen.begin(), chosen.end(), [&](int place) { return arc.contains(place, count); });
    });
    return {chosen, hit(warp, count)};
  }

  /// Has each of \p threads, pairs, one thread on both sides?
  static bool is_of_one(const isl::union_map& threads) {
    return threads.is_subset(call(threads.ctx(), isl_union_set_identity, threads.domain().release()));
  }
  /// Are threads of different warps among \p threads, pairs?
  bool needs_block(const isl::union_map& threads) const { return !threads.is_disjoint(other_warps_.to_union_map()); }

  /// The iterations of the loops above \p node.
  static isl::set iterations_at(const schedule_node& node) {
    auto prefix = call(node.ctx(), isl_schedule_node_get_prefix_schedule_relation, node.get());
    return prefix.intersect_domain(instances_at(node)).range().as_set();
  }

  /// Instances called \p wish and a number, one in each of \p iterations.
  isl::union_map instances(const std::string& wish, const isl::set& iterations) {
    auto name = str(wish, "_", count_++);
    auto extension = call(iterations.ctx(), isl_set_identity, iterations.copy());
    return call(iterations.ctx(), isl_map_set_tuple_name, extension.copy(), isl_dim_out, name.c_str()).to_union_map();
  }

  /// An instance called \p wish and a number after \p node, in each of \p iterations.
  schedule_node add(const schedule_node& node, const std::string& wish, const isl::set& iterations) {
    return node.graft_after(schedule_node::from_extension(instances(wish, iterations)));
  }

  /// The sequence \p node with children in each of \p iterations, those in which the child before takes no part too:
  /// instances of an extension below a child would be lost there, so that it stands above the sequence, after an empty
  /// one.
  ///
  ///   before  sequence { S } { T }      after  extension { barrier } sequence { S } { barrier } { T }
  schedule_node add_between(const schedule_node& node, const std::vector<Place>& added, const isl::set& iterations) {
    auto depth = isl_schedule_node_get_tree_depth(node.get());
    auto nothing = schedule_node::from_extension(isl::union_map::empty(node.ctx()));
    auto result = up_to(node.graft_after(nothing), depth + 1);
    result = call(node.ctx(), isl_schedule_node_sequence_splice_child, result.release(), 0);
    for (std::size_t i = added.size(); i-- > 0;)
      result = up_to(add(result.child(added[i].child).child(0), added[i].name, iterations), depth + 1);
    return up_to(result, depth);
  }

  const isl::union_map threads_;  ///< of instances
  const isl::map& other_warps_;   ///< pairs of threads
  Synchronisation behind_;
  int count_ = 0;
};

}  // namespace

bool is_barrier(const std::string& id) { return id.rfind(block_barrier, 0) == 0 || id.rfind(warp_barrier, 0) == 0; }

int groups_left(const std::string& id) {
  return id.rfind(copy_wait, 0) == 0 ? std::atoi(id.c_str() + copy_wait.size() + 1) : -1;
}

int unit_groups_left(const std::string& id) {
  return id.rfind(unit_wait, 0) == 0 ? std::atoi(id.c_str() + unit_wait.size() + 1) : -1;
}

std::string function_of_synchronisation(const std::string& id) {
  for (const auto* name :
       {&block_barrier, &warp_barrier, &copy_commit, &copy_wait, &unit_begin, &unit_commit, &unit_wait, &proxy_fence})
    if (id.rfind(*name, 0) == 0) return *name;
  return "";
}

bool is_synchronisation(const std::string& id) { return !function_of_synchronisation(id).empty(); }

Scop insert_barriers(const Scop& scop, const Coordinates& where, const std::array<std::int64_t, 3>& block,
                     std::int64_t warp_size, const Synchronisation& behind) {
  bool alone = block == std::array<std::int64_t, 3>{1, 1, 1};
  // Pairs of one thread stay among them until threads are asked for: isl would split what it has to order.
  auto pairs = alone ? isl::union_map::empty(scop.ctx()) : within_blocks(conflicts(scop, Sharing::Block), where);
  if (pairs.is_empty() && behind.empty()) return scop;
  auto other_warps = threads_of_other_warps(scop.ctx(), block, warp_size);
  auto result = scop;
  result.schedule = Inserter(where, other_warps, behind).run(scop.schedule, pairs);
  return result;
}

}  // namespace tc::polyhedral
