#include "tc/polyhedral/map/fuse_in_strips.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/copy_tree.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/isolate.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/map/cut_statement.h"
#include "tc/polyhedral/map/fused_parts_tree.h"
#include "tc/polyhedral/schedule/schedule_parts.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

const ClusterView& cluster_of(const ClusteredScop& scop, const Strips& strips, std::size_t number) {
  return scop.clusters.at(strips.first + number);
}

/// Calls \p function(id, iterators) for each statement of \p strips: its iterators of the shared loops, before they are cut.
template <typename Function>
void for_each_statement(const ClusteredScop& scop, const Strips& strips, const Function& function) {
  for (std::size_t c = 0; c < strips.loops.size(); ++c)
    for (const auto& entry : cluster_of(scop, strips, c).statements) {
      std::vector<int> iterators;
      for (int member : strips.loops[c]) iterators.push_back(entry.outer.at(static_cast<std::size_t>(member)));
      function(entry.id, iterators);
    }
}

/// The statements of \p strips, with their iterators of the shared loops.
std::map<std::string, std::vector<int>> iterators_of(const ClusteredScop& scop, const Strips& strips) {
  std::map<std::string, std::vector<int>> result;
  for_each_statement(scop, strips, [&](const auto& id, const auto& iterators) { result[id] = iterators; });
  return result;
}

const Interval& range_of_cut(const ClusteredScop& scop, const Strips& strips) {
  const auto member = strips.loops.front().at(static_cast<std::size_t>(strips.cut));
  return cluster_of(scop, strips, 0).members.at(static_cast<std::size_t>(member));
}

/// The tree that replaces the clusters of a Strips.
class StripsTree {
 public:
  /// In \p cut, whose statements are cut; \p old is the schedule before, of the new instances.
  StripsTree(const ClusteredScop& scop, const Strips& strips, const Scop& cut, const isl::schedule& old)
      : scop_(scop), strips_(strips), cut_(cut), old_(old), iterators_(iterators_of(scop, strips)) {}

  isl::schedule run() const {
    std::vector<std::string> all;
    for (const auto& [id, iterators] : iterators_) all.push_back(id);
    auto node = isl::schedule::from_domain(instances_of(cut_, all)).root().child(0);
    node = shared_loops(node, all);
    isl::union_set_list filters(cut_.ctx(), static_cast<int>(strips_.loops.size()));
    for (std::size_t c = 0; c < strips_.loops.size(); ++c) filters = filters.add(instances_of(cut_, ids_of_cluster(c)));
    node = node.insert_sequence(filters);
    for (std::size_t c = 0; c < strips_.loops.size(); ++c)
      node = cluster_tree(node.child(static_cast<int>(c)).child(0), c).ancestor(2);
    return node.schedule();
  }

 private:
  std::vector<std::string> ids_of_cluster(std::size_t number) const {
    return ids_of(cluster_of(scop_, strips_, number));
  }

  /// The function that takes each of \p ids to its iterator of shared loop number \p loop: of the one that is cut, to the place in the
  /// strip or, with \p strip, to its number.
  isl::union_pw_aff member(const std::vector<std::string>& ids, int loop, bool strip) const {
    return member_of(cut_, ids, [&](const std::string& id) {
      return strip ? 0 : iterators_.at(id).at(static_cast<std::size_t>(loop)) + 1;
    });
  }

  /// parallel  band [first]  band [others], above the leaf that is returned
  schedule_node shared_loops(schedule_node node, const std::vector<std::string>& ids) const {
    std::vector<isl::union_pw_aff> members;
    for (int loop = 0; loop < static_cast<int>(strips_.loops.front().size()); ++loop)
      members.push_back(member(ids, loop, loop == strips_.cut));
    node = insert_band(node, {members.front()}, {true}).insert_mark(marks::parallel).child(0).child(0);
    if (members.size() == 1) return node;
    members.erase(members.begin());
    node = insert_band(node, members, std::vector<bool>(members.size(), true));
    const auto& range = range_of_cut(scop_, strips_);
    if (strips_.cut > 0 && range.extent() % strips_.size != 0)
      node = isolate(node, {str(strips_.size, "*t", strips_.cut - 1, "+", strips_.size, "<=", range.extent())});
    return node.child(0);
  }

  /// The tree of cluster number \p number at \p leaf: its outer band without the shared members, and the tree below that band.
  schedule_node cluster_tree(const schedule_node& leaf, std::size_t number) const {
    const auto band = node_at(old_, cluster_of(scop_, strips_, number).path);
    const auto& shared = strips_.loops[number];
    auto members = band_members(band);
    std::vector<isl::union_pw_aff> kept;
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (static_cast<int>(m) == shared[static_cast<std::size_t>(strips_.cut)])
        kept.push_back(member(ids_of_cluster(number), strips_.cut, false));
      else if (!contains(shared, static_cast<int>(m)))
        kept.push_back(members[m]);
    }
    const bool permutable = band.as<isl::schedule_node_band>().permutable();
    auto node = insert_band(leaf, kept, std::vector<bool>(kept.size(), true));
    node = node.as<isl::schedule_node_band>().set_permutable(permutable);
    return copy_tree(band.child(0), node.child(0)).parent();
  }

  const ClusteredScop& scop_;
  const Strips& strips_;
  const Scop& cut_;
  const isl::schedule& old_;
  std::map<std::string, std::vector<int>> iterators_;
};

/// Has \p statement strips along one of its iterators?
bool has_strips(const Statement& statement) {
  const auto all = accesses(statement);
  return statement.loops.empty() && !statement.unit && std::all_of(all.begin(), all.end(), [](const Access* access) {
           return access->exact && !access->indirection;
         });
}

/// Do all dependences among the statements of \p iterators stay in one iteration of their loops?
bool stay_in_iterations(const Dependences& dependences, const std::map<std::string, std::vector<int>>& iterators) {
  bool result = true;
  dependences.validity.foreach_map([&](const isl::map& pairs) {
    const auto source = iterators.find(domain_name(pairs)), sink = iterators.find(range_name(pairs));
    if (!result || source == iterators.end() || sink == iterators.end()) return;
    auto same = pairs;
    for (std::size_t i = 0; i < source->second.size(); ++i)
      same = call(pairs.ctx(), isl_map_equate, same.release(), isl_dim_in, source->second[i], isl_dim_out,
                  sink->second[i]);
    result = pairs.is_subset(same);
  });
  return result;
}

/// Is member \p member of \p cluster one iterator of constant range, that of \p like?
bool is_alike(const ClusteredScop& scop, const ClusterView& cluster, int member, const Interval& like) {
  if (!is_one_iterator(scop.scop, cluster, member)) return false;
  const auto& range = cluster.members[static_cast<std::size_t>(member)];
  return !range.symbolic && range.min == like.min && range.max == like.max;
}

}  // namespace

bool can_fuse_in_strips(const ClusteredScop& scop, const Dependences& dependences, const Strips& strips) {
  if (strips.loops.size() < 2 || strips.first + strips.loops.size() > scop.clusters.size()) return false;
  const auto count = strips.loops.front().size();
  if (strips.cut < 0 || static_cast<std::size_t>(strips.cut) >= count || strips.size < 1) return false;
  const auto& first = cluster_of(scop, strips, 0);
  for (std::size_t c = 0; c < strips.loops.size(); ++c) {
    const auto& cluster = cluster_of(scop, strips, c);
    const std::set<int> different(strips.loops[c].begin(), strips.loops[c].end());
    if (cluster.in_strips() || strips.loops[c].size() != count || different.size() != count || !cluster.permutable)
      return false;
    for (std::size_t l = 0; l < count; ++l) {
      const auto like = strips.loops.front()[l];
      if (like < 0 || static_cast<std::size_t>(like) >= first.members.size()) return false;
      if (!is_alike(scop, cluster, strips.loops[c][l], first.members[static_cast<std::size_t>(like)])) return false;
    }
    for (const auto& entry : cluster.statements)
      if (!has_strips(scop.scop.statement(entry.id))) return false;
  }
  return stay_in_iterations(dependences, iterators_of(scop, strips));
}

Scop fuse_in_strips(const ClusteredScop& scop, const std::vector<Strips>& strips) {
  auto result = scop.scop;
  std::map<std::string, isl::multi_aff> cut;
  for (const auto& each : strips)
    for_each_statement(scop, each, [&](const std::string& id, const std::vector<int>& iterators) {
      const auto iterator = iterators.at(static_cast<std::size_t>(each.cut));
      const auto& whole = scop.scop.statement(id);
      cut.emplace(id, uncut(whole, iterator, each.size));
      result.statement(id) = cut_statement(whole, iterator, each.size);
    });
  auto backward = isl::union_pw_multi_aff::empty(result.ctx());
  for (const auto& statement : scop.scop.statements) {
    const auto found = cut.find(statement.id);
    const auto from =
        found == cut.end() ? isl::multi_aff(statement.domain.space().identity_multi_aff_on_domain()) : found->second;
    backward = backward.union_add(isl::union_pw_multi_aff(from.to_pw_multi_aff()));
  }
  const auto old = isl::schedule(scop.scop.schedule).pullback(backward);
  std::vector<schedule_node> trees;
  auto next = strips.begin();
  for (std::size_t i = 0; i < scop.clusters.size(); ++i) {
    if (next == strips.end() || i < next->first) {
      trees.push_back(node_at(scop.scop.schedule, scop.clusters[i].path));
      continue;
    }
    trees.push_back(StripsTree(scop, *next, result, old).run().root().child(0));
    i += next->loops.size() - 1;
    ++next;
  }
  result.schedule = in_order(trees, result.domain());
  return result;
}

}  // namespace tc::polyhedral
