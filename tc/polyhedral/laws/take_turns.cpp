#include "tc/polyhedral/laws/take_turns.h"

#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/core/pairs.h"

namespace tc::polyhedral {
namespace {

bool runs_at_once(const isl::schedule_node& band) {
  const auto above = band.parent();
  if (!above.isa<isl::schedule_node_mark>()) return false;
  return mark_name(above) == marks::parallel || mark_name(above) == marks::vector;
}

/// The pairs that \p node and the nodes below put in order; those above leave \p pairs open.
isl::union_map in_sequence(const isl::schedule_node& node, isl::union_map pairs) {
  auto result = isl::union_map::empty(pairs.ctx());
  if (node.isa<isl::schedule_node_filter>()) {
    const auto filter = node.as<isl::schedule_node_filter>().filter();
    pairs = within(pairs, filter, filter);
  }
  if (pairs.is_empty()) return result;
  if (node.isa<isl::schedule_node_sequence>()) {
    const auto filter = [&](unsigned i) {
      return node.child(static_cast<int>(i)).as<isl::schedule_node_filter>().filter();
    };
    for (unsigned i = 0; i < node.n_children(); ++i)
      for (unsigned j = i + 1; j < node.n_children(); ++j) result = result.unite(within(pairs, filter(i), filter(j)));
  }
  if (node.isa<isl::schedule_node_band>() && node.as<isl::schedule_node_band>().n_member() > 0) {
    const auto members = node.as<isl::schedule_node_band>().partial_schedule();
    if (!runs_at_once(node))
      result = call(pairs.ctx(), isl_union_map_lex_lt_at_multi_union_pw_aff, pairs.copy(), members.copy());
    pairs = at_equal(pairs, members);
  }
  for (unsigned i = 0; i < node.n_children(); ++i)
    result = result.unite(in_sequence(node.child(static_cast<int>(i)), pairs));
  return result;
}

}  // namespace

bool take_turns(const isl::schedule& schedule, const isl::union_map& reads, const isl::union_map& writes,
                const isl::union_map& homes) {
  const auto same = homes.apply_range(homes.reverse());
  const auto shared = same.subtract(call(same.ctx(), isl_union_set_identity, same.domain().release()));
  if (shared.is_empty()) return true;
  const auto touched = reads.unite(writes);
  const auto accesses = touched.apply_range(shared).apply_range(touched.reverse());
  const auto open = accesses.subtract(in_sequence(schedule.root(), accesses));
  const auto alone = open.intersect(call(open.ctx(), isl_union_set_identity, touched.domain().release()));
  const auto elements = [&](const isl::union_map& pairs, const isl::union_map& first, const isl::union_map& second) {
    return pairs.apply_domain(first).apply_range(second).intersect(shared);
  };
  const auto not_before = elements(open.subtract(alone), touched, touched)
                              .unite(elements(alone, writes, touched))
                              .unite(elements(alone, reads, reads));
  return not_before.intersect(not_before.reverse()).is_empty();
}

}  // namespace tc::polyhedral
