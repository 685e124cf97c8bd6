#include "tc/proof/order.h"

#include <cstdint>

#include "tc/base/str.h"
#include "tc/proof/verdict.h"

namespace tc::proof {
namespace {

isl::union_set filter_of(const isl::schedule_node& sequence, unsigned child) {
  return sequence.child(static_cast<int>(child)).as<isl::schedule_node_filter>().filter();
}

isl::union_map between(const isl::union_map& pairs, const isl::union_set& first, const isl::union_set& second) {
  return pairs.intersect_domain(first).intersect_range(second);
}

bool has_members(const isl::schedule_node& node) {
  return node.isa<isl::schedule_node_band>() && node.as<isl::schedule_node_band>().n_member() > 0;
}

/// What is asked of pairs: their order, the same where some loops run at once, or whether they have none.
enum class Asked : std::uint8_t { Forward, ForwardInAnyRun, NotForward };

bool runs_at_once(const isl::schedule_node& band) {
  const auto above = band.parent();
  if (!above.isa<isl::schedule_node_mark>()) return false;
  const auto name = call(band.ctx(), isl_schedule_node_mark_get_id, above.get()).name();
  return name == "parallel" || name == "vector";
}

/// The pairs that \p node and the nodes below put in order, or leave without one, as \p asked says; the nodes above leave \p pairs open.
isl::union_map sorted_out(const isl::schedule_node& node, isl::union_map pairs, Asked asked) {
  const bool ordered = asked != Asked::NotForward;
  auto result = isl::union_map::empty(pairs.ctx());
  if (pairs.is_empty()) return result;
  if (node.isa<isl::schedule_node_leaf>()) return ordered ? result : pairs;
  const bool sequence = node.isa<isl::schedule_node_sequence>();
  if (sequence || node.isa<isl::schedule_node_set>()) {
    for (unsigned i = 0; i < node.n_children(); ++i)
      for (unsigned j = 0; j < node.n_children(); ++j) {
        auto inside = between(pairs, filter_of(node, i), filter_of(node, j));
        if (i == j)
          result = result.unite(sorted_out(node.child(static_cast<int>(i)).child(0), inside, asked));
        else if ((sequence && i < j) == ordered)
          result = result.unite(inside);
      }
    return result;
  }
  if (has_members(node)) {
    const auto members = node.as<isl::schedule_node_band>().partial_schedule();
    if (asked != Asked::ForwardInAnyRun || !runs_at_once(node))
      result = call(pairs.ctx(),
                    ordered ? isl_union_map_lex_lt_at_multi_union_pw_aff : isl_union_map_lex_gt_at_multi_union_pw_aff,
                    pairs.copy(), members.copy());
    pairs = call(pairs.ctx(), isl_union_map_eq_at_multi_union_pw_aff, pairs.copy(), members.copy());
  }
  return result.unite(sorted_out(node.child(0), pairs, asked));
}

void collect_marks(const isl::schedule_node& node, std::vector<Mark>& result) {
  if (node.isa<isl::schedule_node_mark>()) {
    const auto below = node.child(0);
    result.push_back({call(node.ctx(), isl_schedule_node_mark_get_id, node.get()).name(), below,
                      call(node.ctx(), isl_schedule_node_get_domain, node.get()), below.prefix_schedule_union_map()});
  }
  for (unsigned i = 0; i < node.n_children(); ++i) collect_marks(node.child(static_cast<int>(i)), result);
}

void check_nodes(const isl::schedule_node& node) {
  const bool known = node.isa<isl::schedule_node_domain>() || node.isa<isl::schedule_node_band>() ||
                     node.isa<isl::schedule_node_mark>() || node.isa<isl::schedule_node_leaf>() ||
                     node.isa<isl::schedule_node_filter>() || node.isa<isl::schedule_node_sequence>() ||
                     node.isa<isl::schedule_node_set>();
  if (!known) throw Undecided("instances", "the schedule has a node of a kind that no processor's has");
  const auto here = call(node.ctx(), isl_schedule_node_get_domain, node.get());
  if (has_members(node)) {
    // A band without a value for an instance would say nothing of when it runs.
    const auto members = node.as<isl::schedule_node_band>().partial_schedule();
    const auto scheduled = call(node.ctx(), isl_multi_union_pw_aff_domain, members.copy());
    if (!here.is_subset(scheduled)) throw Refusal("instances", "", "a band has no value for some of its instances");
  }
  if (node.isa<isl::schedule_node_sequence>() || node.isa<isl::schedule_node_set>()) {
    auto seen = isl::union_set::empty(node.ctx());
    for (unsigned i = 0; i < node.n_children(); ++i) {
      const auto filter = filter_of(node, i).intersect(here);
      if (!filter.is_disjoint(seen))
        throw Refusal("instances", "", str("an instance runs twice: ", filter.intersect(seen)));
      seen = seen.unite(filter);
    }
    if (!here.is_subset(seen)) throw Refusal("instances", "", str("instances run at no leaf: ", here.subtract(seen)));
  }
  for (unsigned i = 0; i < node.n_children(); ++i) check_nodes(node.child(static_cast<int>(i)));
}

}  // namespace

isl::union_map forward(const isl::schedule& schedule, const isl::union_map& pairs) {
  return sorted_out(schedule.root(), pairs, Asked::Forward);
}

isl::union_map forward_in_any_run(const isl::schedule& schedule, const isl::union_map& pairs) {
  return sorted_out(schedule.root(), pairs, Asked::ForwardInAnyRun);
}

isl::union_map not_forward(const isl::schedule& schedule, const isl::union_map& pairs) {
  return sorted_out(schedule.root(), pairs, Asked::NotForward);
}

std::vector<Mark> marks_of(const isl::schedule& schedule) {
  std::vector<Mark> result;
  collect_marks(schedule.root(), result);
  return result;
}

void check_tree(const isl::schedule& schedule, const isl::union_set& domain) {
  if (!schedule.domain().is_equal(domain))
    throw Refusal("instances", "", "the schedule does not run the instances of the statements, or runs others");
  check_nodes(schedule.root());
}

}  // namespace tc::proof
