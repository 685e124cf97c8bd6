#include "tc/polyhedral/core/surround.h"

#include <algorithm>
#include <set>

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

isl::union_set universe(const isl::union_set& set) { return call(set.ctx(), isl_union_set_universe, set.copy()); }

/// Copies a schedule tree into one with a larger domain, with the additions around one node.
class Rebuilder {
 public:
  Rebuilder(const std::vector<int>& path, const std::vector<Addition>& before, const std::vector<Addition>& after)
      : path_(path), before_(before), after_(after) {
    additions_ = before;
    additions_.insert(additions_.end(), after.begin(), after.end());
  }

  schedule_node copy(const schedule_node& from, const schedule_node& to) const {
    if (path_of(from) == path_) return place(from, to);
    return copy_node(from, to);
  }

 private:
  schedule_node copy_node(const schedule_node& from, const schedule_node& to) const {
    if (from.isa<isl::schedule_node_leaf>()) return to;
    if (from.isa<isl::schedule_node_band>()) {
      auto band = from.as<isl::schedule_node_band>();
      auto functions = leads_to_place(from) ? extend(band.partial_schedule()) : band.partial_schedule();
      auto node = copy_flags(band, to.insert_partial_schedule(functions));
      return copy(from.child(0), node.child(0)).parent();
    }
    if (from.isa<isl::schedule_node_mark>())
      return copy(from.child(0), to.insert_mark(mark_name(from)).child(0)).parent();
    return copy_sequence(from, to);
  }

  schedule_node copy_sequence(const schedule_node& from, const schedule_node& to) const {
    isl::union_set_list filters(from.ctx(), static_cast<int>(from.n_children()));
    for (unsigned i = 0; i < from.n_children(); ++i)
      filters = filters.add(extend(instances_at(from.child(i).child(0)), i, from));
    auto node = to.insert_sequence(filters);
    for (unsigned i = 0; i < from.n_children(); ++i)
      node = copy(from.child(i).child(0), node.child(i).child(0)).ancestor(2);
    return node;
  }

  schedule_node place(const schedule_node& from, const schedule_node& to) const {
    isl::union_set_list filters(from.ctx(), static_cast<int>(additions_.size()) + 1);
    auto add = [&](bool behind) {
      for (const auto& addition : before_)
        if (addition.behind == behind) filters = filters.add(addition.statement.domain.to_union_set());
    };
    add(false);
    filters = filters.add(instances_at(from));
    add(true);
    for (const auto& addition : after_) filters = filters.add(addition.statement.domain.to_union_set());
    auto universes = isl::union_set_list(from.ctx(), static_cast<int>(additions_.size()) + 1);
    for (const auto& filter : elements(filters)) universes = universes.add(universe(filter));
    auto node = to.insert_sequence(universes);
    int position = 0;
    auto add_all = [&](bool behind) {
      for (const auto& addition : before_)
        if (addition.behind == behind) node = add_loops(node, position++, addition);
    };
    add_all(false);
    node = copy_node(from, node.child(position).child(0)).ancestor(2);
    ++position;
    add_all(true);
    for (const auto& addition : after_) node = add_loops(node, position++, addition);
    return node;
  }

  static schedule_node add_loops(const schedule_node& sequence, int position, const Addition& addition) {
    auto node = sequence.child(position).child(0);
    for (std::size_t i = addition.loops.size(); i-- > 0;)
      node = node.insert_partial_schedule(addition.loops[i]).as<isl::schedule_node_band>().set_permutable(1);
    return node.ancestor(2);
  }

  static schedule_node copy_flags(const isl::schedule_node_band& from, const schedule_node& to) {
    auto band = to.as<isl::schedule_node_band>().set_permutable(from.permutable());
    for (unsigned i = 0; i < from.n_member(); ++i)
      band = band.member_set_coincident(static_cast<int>(i), from.member_get_coincident(static_cast<int>(i)));
    return band.set_ast_build_options(from.ast_build_options());
  }

  /// Does the place lie below \p node?
  bool leads_to_place(const schedule_node& node) const {
    auto here = path_of(node);
    return here.size() < path_.size() && std::equal(here.begin(), here.end(), path_.begin());
  }

  /// The functions of a band on the new instances too: those of their hosts.
  isl::multi_union_pw_aff extend(const isl::multi_union_pw_aff& functions) const {
    auto result = functions;
    for (const auto& addition : additions_)
      result = result.union_add(functions.pullback(isl::union_pw_multi_aff(addition.like.to_pw_multi_aff())));
    return result;
  }

  /// The filter of child \p position of \p sequence, with the additions if the path leads through it.
  isl::union_set extend(const isl::union_set& instances, unsigned position, const schedule_node& sequence) const {
    auto result = universe(instances);
    if (leads_to_place(sequence) && path_[path_of(sequence).size()] == static_cast<int>(position))
      for (const auto& addition : additions_) result = result.unite(universe(addition.statement.domain.to_union_set()));
    return result;
  }

  const std::vector<int>& path_;
  const std::vector<Addition>& before_;
  const std::vector<Addition>& after_;
  std::vector<Addition> additions_;
};

/// The iterators of \p statement that bands above \p node run over.
std::set<int> iterators_above(const schedule_node& node, const Statement& statement) {
  std::set<int> result;
  for (auto here = node; here.has_parent(); here = here.parent()) {
    if (!here.parent().isa<isl::schedule_node_band>()) continue;
    for (const auto& member : band_members(here.parent())) result.insert(only_iterator(member, statement.domain));
  }
  return result;
}

/// The dimension of an addition of which iterator \p iterator of the host is \p like; -1: none.
int dimension_like(const isl::multi_aff& like, int iterator) {
  const auto dimensions = isl::multi_aff::identity_on_domain(like.space().domain());
  for (unsigned d = 0; d < dimensions.size(); ++d)
    if (isl_aff_plain_is_equal(like.at(iterator).get(), dimensions.at(static_cast<int>(d)).get()) == isl_bool_true)
      return static_cast<int>(d);
  return -1;
}

/// \p additions around \p node, in the ordered loops of their hosts that run above.
std::vector<Addition> in_loops_of_hosts(const Scop& scop, const schedule_node& node, std::vector<Addition> additions) {
  for (auto& addition : additions) {
    const auto& host = scop.statement(addition.host);
    if (host.loops.empty()) continue;
    const auto above = iterators_above(node, host);
    for (const auto& loop : host.loops) {
      const int dimension = above.count(loop.iterator) > 0 ? dimension_like(addition.like, loop.iterator) : -1;
      if (dimension < 0) break;
      addition.statement.loops.push_back({loop.id, dimension});
    }
  }
  return additions;
}

/// Puts the additions into program order: before the first and after the last statement of \p inside.
void add_statements(Scop& scop, const std::vector<std::string>& inside, const std::vector<Addition>& before,
                    const std::vector<Addition>& after) {
  auto is_inside = [&](const Statement& statement) {
    return std::find(inside.begin(), inside.end(), statement.id) != inside.end();
  };
  auto first = std::find_if(scop.statements.begin(), scop.statements.end(), is_inside);
  for (const auto& addition : before) first = scop.statements.insert(first, addition.statement) + 1;
  auto last = std::find_if(scop.statements.rbegin(), scop.statements.rend(), is_inside).base();
  for (const auto& addition : after) last = scop.statements.insert(last, addition.statement) + 1;
}

}  // namespace

Scop surround(const Scop& scop, const std::vector<int>& path, const std::vector<Addition>& before,
              const std::vector<Addition>& after) {
  if (before.empty() && after.empty()) return scop;
  auto result = scop;
  const auto node = node_at(scop.schedule, path);
  add_statements(result, statement_ids(node), in_loops_of_hosts(scop, node, before),
                 in_loops_of_hosts(scop, node, after));
  auto root = isl::schedule::from_domain(result.domain()).root();
  result.schedule = Rebuilder(path, before, after).copy(scop.schedule.root().child(0), root.child(0)).schedule();
  return result;
}

}  // namespace tc::polyhedral
