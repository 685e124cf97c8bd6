#include "tc/polyhedral/map/buffer_slots.h"

#include <algorithm>
#include <set>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/pairs.h"

namespace tc::polyhedral {
namespace {

/// Does \p band run over an ordered loop of each statement below?
bool is_ordered_loop(const Scop& scop, const isl::schedule_node& band) {
  const auto members = band_members(band);
  if (members.size() != 1) return false;
  const auto ids = statement_ids(band);
  return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
    const auto& statement = scop.statement(id);
    const int iterator = only_iterator(members.front(), statement.domain);
    return std::any_of(statement.loops.begin(), statement.loops.end(),
                       [&](const auto& loop) { return loop.iterator == iterator; });
  });
}

/// Does \p node, or one below it, say that something runs before something else?
bool has_order(const Scop& scop, const isl::schedule_node& node) {
  if (node.isa<isl::schedule_node_sequence>()) return true;
  if (node.isa<isl::schedule_node_band>() && is_ordered_loop(scop, node)) return true;
  for (unsigned i = 0; i < node.n_children(); ++i)
    if (has_order(scop, node.child(static_cast<int>(i)))) return true;
  return false;
}

/// Of \p pairs of instances that run in one iteration of the loops above \p node, those whose first does not surely run after the
/// second.
isl::union_map not_after(const Scop& scop, const isl::schedule_node& node, const isl::union_map& pairs) {
  if (pairs.is_empty() || !has_order(scop, node)) return pairs;
  if (node.isa<isl::schedule_node_sequence>()) {
    auto result = isl::union_map::empty(pairs.ctx());
    const auto filter = [&](unsigned i) {
      return node.child(static_cast<int>(i)).as<isl::schedule_node_filter>().filter();
    };
    for (unsigned i = 0; i < node.n_children(); ++i) {
      for (unsigned j = i + 1; j < node.n_children(); ++j) result = result.unite(within(pairs, filter(i), filter(j)));
      result =
          result.unite(not_after(scop, node.child(static_cast<int>(i)).child(0), within(pairs, filter(i), filter(i))));
    }
    return result;
  }
  if (!node.isa<isl::schedule_node_band>())
    return node.n_children() == 1 ? not_after(scop, node.child(0), pairs) : pairs;
  if (node.as<isl::schedule_node_band>().n_member() == 0) return not_after(scop, node.child(0), pairs);
  const auto members = node.as<isl::schedule_node_band>().partial_schedule();
  const auto together = at_equal(pairs, members);
  const auto apart = is_ordered_loop(scop, node)
                         ? call(pairs.ctx(), isl_union_map_lex_lt_at_multi_union_pw_aff, pairs.copy(), members.copy())
                         : pairs.subtract(together);
  return apart.unite(not_after(scop, node.child(0), together));
}

/// { T[x] -> T[y] } of the elements that the two sides of \p pairs access, the first not surely after the second: an instance reads
/// before it writes, so what it writes is after what it reads.
isl::union_map open_elements(const isl::union_map& pairs, const isl::union_map& reads, const isl::union_map& writes) {
  const auto touched = reads.unite(writes);
  const auto same = pairs.domain().intersect(pairs.range());
  const auto alone = pairs.intersect(call(pairs.ctx(), isl_union_set_identity, same.copy()));
  const auto of = [](const isl::union_map& both, const isl::union_map& first, const isl::union_map& second) {
    return both.apply_domain(first).apply_range(second);
  };
  return of(pairs.subtract(alone), touched, touched).unite(of(alone, reads, touched)).unite(of(alone, writes, writes));
}

/// { T[x] -> T[y] } of all elements that are needed at one time in one execution of \p subtree, and are apart along dimensions in \p loops
/// alone.
isl::map needed_together(const Scop& scop, const Subtree& subtree, const std::string& tensor,
                         const std::set<unsigned>& loops) {
  auto reads = isl::union_map::empty(scop.ctx()), writes = reads;
  for_each_access(scop, subtree, tensor, [&](const AccessPlace&, const Statement& statement, const Access& access) {
    auto& kind = &access == &statement.write ? writes : reads;
    kind = kind.unite(access.relation.to_union_map());
  });
  const auto touched = reads.unite(writes);
  auto alike = touched.range().as_set().identity();
  for (const auto d : loops) {
    alike = call(scop.ctx(), isl_map_eliminate, alike.copy(), isl_dim_out, d, 1u);
    alike = call(scop.ctx(), isl_map_eliminate, alike.copy(), isl_dim_in, d, 1u);
  }
  const auto runs = subtree.runs.intersect_range(touched.domain());
  const auto both = touched.apply_range(alike.to_union_map()).apply_range(touched.reverse());
  const auto pairs = not_after(scop, subtree.node, runs.reverse().apply_range(runs).intersect(both).coalesce());
  const auto elements = open_elements(pairs, reads, writes);
  return elements.intersect(elements.reverse()).intersect(alike.to_union_map()).as_map();
}

/// The dimensions of \p tensor that ordered loops of statements which write it run over.
std::set<unsigned> loop_dimensions(const Scop& scop, const Subtree& subtree, const std::string& tensor) {
  std::set<unsigned> result;
  for (const auto& id : subtree.statements) {
    const auto& statement = scop.statement(id);
    if (!touches(statement.write, tensor) || !statement.write.function.isa_multi_aff()) continue;
    const auto index = statement.write.function.as_multi_aff();
    for (unsigned d = 0; d < index.size(); ++d)
      for (const auto& loop : statement.loops)
        if (only_iterator(isl::union_pw_aff(index.at(static_cast<int>(d))), statement.domain) == loop.iterator)
          result.insert(d);
  }
  return result;
}

/// The largest difference along dimension \p dimension of \p differences; -1 if there is no bound.
std::int64_t largest(const isl::set& differences, unsigned dimension) {
  if (differences.is_empty()) return 0;
  const auto value = call(differences.ctx(), isl_set_dim_max_val, differences.copy(), static_cast<int>(dimension));
  return value.is_int() ? value.num_si() : -1;
}

}  // namespace

std::vector<std::int64_t> buffer_slots(const Scop& scop, const Subtree& subtree, const std::string& tensor,
                                       const std::vector<std::int64_t>& extent) {
  const auto loops = loop_dimensions(scop, subtree, tensor);
  auto result = extent;
  if (loops.empty() || !scop.sizes.is_null()) return result;
  if (std::all_of(loops.begin(), loops.end(), [&](unsigned d) { return extent[d] < 2; })) return result;
  // Elements that are apart along another dimension, or an earlier one, have different places already.
  auto differences = needed_together(scop, subtree, tensor, loops).deltas();
  for (const auto d : loops) {
    const auto distance = largest(differences, d);
    if (distance >= 0 && 2 * (distance + 1) <= extent[d]) result[d] = distance + 1;
    differences = call(differences.ctx(), isl_set_fix_si, differences.copy(), isl_dim_set, d, 0);
  }
  return result;
}

}  // namespace tc::polyhedral
