#include "tc/polyhedral/map/fused_parts_tree.h"

#include <algorithm>
#include <functional>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/copy_tree.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/loops.h"

namespace tc::polyhedral {
namespace {

using Ids = std::vector<std::string>;
using isl::schedule_node;

class TreeMaker {
 public:
  TreeMaker(const Scop& scop, const ClusterView& host, const FusedParts& parts, const Ids& starts)
      : scop_(scop), host_(host), parts_(parts), starts_(starts) {}

  isl::schedule run(const isl::schedule& old) const {
    auto rows = ids_of(host_);
    for (const auto& id : reductions()) rows.push_back(id);
    auto all = starts_;
    all.insert(all.end(), rows.begin(), rows.end());
    auto node = isl::schedule::from_domain(instances_of(scop_, all)).root().child(0);
    auto part = member_of(scop_, all, [&](const std::string& id) {
      return contains(starts_, id) ? dimensions(scop_.statement(id).domain) - 1 : 0;
    });
    node = insert_band(node, {part}, {true}).child(0);
    isl::union_set_list filters(scop_.ctx(), static_cast<int>(starts_.size() + 1));
    for (const auto& id : starts_) filters = filters.add(instances_of(scop_, {id}));
    node = node.insert_sequence(filters.add(instances_of(scop_, rows)));
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      auto last = dimensions(scop_.statement(starts_[i]).domain) - 1;
      node = own_loops(node.child(static_cast<int>(i)).child(0), starts_[i], {last}).ancestor(2);
    }
    node = rows_tree(node.child(static_cast<int>(starts_.size())).child(0), rows, old);
    return node.schedule();
  }

 private:
  bool is_reduction(const std::string& id) const {
    return std::any_of(parts_.reductions.begin(), parts_.reductions.end(),
                       [&](const auto& reduction) { return reduction.statement == id; });
  }

  Ids reductions() const {
    Ids result;
    for (const auto& reduction : parts_.reductions) result.push_back(reduction.statement);
    return result;
  }

  /// The loops of \p id alone: those of its results, then the others, but for \p done of its first iterators and \p cut.
  schedule_node own_loops(schedule_node leaf, const std::string& id, const std::vector<int>& done) const {
    const auto& statement = scop_.statement(id);
    auto kept = kept_dimensions(statement);
    std::vector<isl::union_pw_aff> results, others;
    for (int i = 0; i < dimensions(statement.domain); ++i) {
      if (contains(done, i)) continue;
      (contains(kept, i) ? results : others).push_back(member_of(scop_, {id}, [&](const std::string&) { return i; }));
    }
    auto node = leaf;
    if (!results.empty()) node = insert_band(node, results, std::vector<bool>(results.size(), true)).child(0);
    if (!others.empty()) node = insert_band(node, others, {}).child(0);
    for (auto bands = !results.empty() + !others.empty(); bands > 0; --bands) node = node.parent();
    return node;
  }

  /// What stands in an iteration of the member, one after the other: its statements, and the tree of them at a leaf.
  struct Step {
    Ids ids;
    std::function<schedule_node(const schedule_node&)> tree;
    std::vector<int> loops = {};  ///< of the only statement, each over one iterator and coincident; else none
  };

  /// band [n] { what the cluster does in an iteration } { reductions }
  schedule_node rows_tree(schedule_node leaf, const Ids& rows, const isl::schedule& old) const {
    auto place = member_of(scop_, rows, [&](const std::string& id) { return cut_iterator(host_, parts_, id) + 1; });
    auto node = insert_band(leaf, {place}, {false}).child(0);
    auto steps = steps_of(node_at(old, host_.path));
    add_reductions(steps);
    isl::union_set_list filters(scop_.ctx(), static_cast<int>(steps.size()));
    for (const auto& step : steps) filters = filters.add(instances_of(scop_, step.ids));
    if (steps.size() == 1) return steps.front().tree(node).parent();
    node = node.insert_sequence(filters);
    for (std::size_t i = 0; i < steps.size(); ++i)
      node = steps[i].tree(node.child(static_cast<int>(i)).child(0)).ancestor(2);
    return node.parent();
  }

  /// The iterators of the members of \p band, which has one statement; none if it does more than run over these.
  std::vector<int> plain_loops(const std::vector<isl::union_pw_aff>& members, const schedule_node& below,
                               const Ids& ids) const {
    std::vector<int> result;
    if (ids.size() != 1 || !below.isa<isl::schedule_node_leaf>()) return result;
    for (const auto& one : members) result.push_back(only_iterator(one, scop_.statement(ids.front()).domain));
    return contains(result, -1) ? std::vector<int>{} : result;
  }

  /// What the cluster below \p band does in an iteration of the member that is cut.
  std::vector<Step> steps_of(const schedule_node& band) const {
    auto members = band_members(band);
    members.erase(members.begin() + parts_.member);
    const auto below = band.child(0);
    std::vector<Step> result;
    if (!members.empty()) {
      const bool permutable = band.as<isl::schedule_node_band>().permutable();
      auto whole = [=](const schedule_node& leaf) {
        auto node = insert_band(leaf, members, std::vector<bool>(members.size(), true));
        node = node.as<isl::schedule_node_band>().set_permutable(permutable);
        return copy_tree(below, node.child(0)).parent();
      };
      result.push_back({ids_of(host_), whole, plain_loops(members, below, ids_of(host_))});
    } else if (below.n_children() < 2) {
      result.push_back(step_of(below));
    } else {
      for (unsigned i = 0; i < below.n_children(); ++i)
        result.push_back(step_of(below.child(static_cast<int>(i)).child(0)));
    }
    return result;
  }
  Step step_of(const schedule_node& tree) const {
    Step result{statement_ids(tree), [=](const schedule_node& leaf) { return copy_tree(tree, leaf); }};
    if (!tree.isa<isl::schedule_node_band>()) return result;
    auto coincident = band_coincident(tree);
    if (!contains(coincident, false)) result.loops = plain_loops(band_members(tree), tree.child(0), result.ids);
    return result;
  }

  /// Adds the reductions to \p steps: those whose results have the same ranges in common loops, which they share with the
  /// last step if that has these too.
  void add_reductions(std::vector<Step>& steps) const {
    for (const auto& reduction : parts_.reductions) {
      const auto& id = reduction.statement;
      auto results = kept_dimensions(scop_.statement(id));
      std::erase(results, 0);
      auto& last = steps.back();
      if (results.empty() || !may_share_loops(last, id, results)) {
        steps.push_back(alone(id, results));
        continue;
      }
      auto together = last.ids;
      together.push_back(id);
      auto loops = last.loops;
      last = {together, [=, this](const schedule_node& leaf) { return shared_loops(leaf, together, loops.size()); },
              loops};
    }
  }
  Step alone(const std::string& id, const std::vector<int>& results) const {
    return {{id}, [=, this](const schedule_node& leaf) { return shared_loops(leaf, {id}, results.size()); }, results};
  }

  /// The iterators of the results of a reduction, or those of all loops of another statement, in one part.
  std::vector<int> loops_in_row(const std::string& id) const {
    const auto& statement = scop_.statement(id);
    auto kept = kept_dimensions(statement);
    std::vector<int> result;
    for (int i = 1; i < dimensions(statement.domain); ++i)
      if (i != cut_iterator(host_, parts_, id) + 1 && (!is_reduction(id) || contains(kept, i))) result.push_back(i);
    return result;
  }

  /// Do the loops of \p step have the ranges of \p results, and does an iteration of them have all that the same one of the
  /// reduction \p id reads?
  bool may_share_loops(const Step& step, const std::string& id, const std::vector<int>& results) const {
    if (step.loops.size() != results.size()) return false;
    const auto& statement = scop_.statement(id);
    const auto ranges = box(statement.domain);
    for (const auto& other : step.ids) {
      const auto& writer = scop_.statement(other);
      const auto loops = loops_in_row(other);
      const auto written = box(writer.domain);
      if (loops != step.loops && !is_reduction(other)) return false;
      for (std::size_t i = 0; i < results.size(); ++i) {
        const auto &one = written[static_cast<std::size_t>(loops.at(i))],
                   &own = ranges[static_cast<std::size_t>(results[i])];
        if (one.min != own.min || one.max != own.max) return false;
        for (const auto& read : statement.reads) {
          if (range_name(read.relation) != range_name(writer.write.relation)) continue;
          if (!are_equal(writer.write.relation.apply_range(read.relation.reverse()), loops[i], results[i]))
            return false;
        }
      }
    }
    return true;
  }

  /// band [c] { each of \p ids, with loops of its own below }
  schedule_node shared_loops(const schedule_node& leaf, const Ids& ids, std::size_t count) const {
    std::vector<isl::union_pw_aff> members;
    for (std::size_t i = 0; i < count; ++i)
      members.push_back(member_of(scop_, ids, [&](const std::string& id) { return loops_in_row(id)[i]; }));
    auto node = members.empty() ? leaf : insert_band(leaf, members, std::vector<bool>(count, true)).child(0);
    isl::union_set_list filters(scop_.ctx(), static_cast<int>(ids.size()));
    for (const auto& id : ids) filters = filters.add(instances_of(scop_, {id}));
    if (ids.size() > 1) node = node.insert_sequence(filters);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto below = ids.size() > 1 ? node.child(static_cast<int>(i)).child(0) : node;
      below = reduced_loops(below, ids[i]);
      node = ids.size() > 1 ? below.ancestor(2) : below;
    }
    return members.empty() ? node : node.parent();
  }
  /// The loops of \p id that no other statement of its step has.
  schedule_node reduced_loops(const schedule_node& leaf, const std::string& id) const {
    auto done = loops_in_row(id);
    done.push_back(0);
    done.push_back(cut_iterator(host_, parts_, id) + 1);
    return own_loops(leaf, id, done);
  }

  const Scop& scop_;
  const ClusterView& host_;
  const FusedParts& parts_;
  const Ids& starts_;
};

}  // namespace

std::vector<std::string> ids_of(const ClusterView& cluster) {
  std::vector<std::string> result;
  for (const auto& entry : cluster.statements) result.push_back(entry.id);
  return result;
}

int cut_iterator(const ClusterView& host, const FusedParts& parts, const std::string& statement) {
  for (const auto& reduction : parts.reductions)
    if (reduction.statement == statement) return reduction.iterator;
  for (const auto& entry : host.statements)
    if (entry.id == statement) return entry.outer.at(static_cast<std::size_t>(parts.member));
  return -1;
}

bool are_equal(const isl::map& pairs, int i, int j) {
  auto equal = call(pairs.ctx(), isl_map_equate, pairs.copy(), isl_dim_in, i, isl_dim_out, j);
  return pairs.is_subset(equal);
}

isl::schedule fused_parts_tree(const Scop& scop, const ClusterView& host, const FusedParts& parts, const Ids& starts,
                               const isl::schedule& old) {
  return TreeMaker(scop, host, parts, starts).run(old);
}

}  // namespace tc::polyhedral
