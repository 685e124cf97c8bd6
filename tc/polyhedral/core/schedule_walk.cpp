#include "tc/polyhedral/core/schedule_walk.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"
#include "tc/polyhedral/core/pairs.h"

namespace tc::polyhedral {
namespace {

/// { instance -> [] }
isl::union_map at_the_root(const isl::union_set& domain) {
  auto nothing = isl::set(domain.ctx(), "{ [] }").to_union_set();
  return call(domain.ctx(), isl_union_map_from_domain_and_range, domain.copy(), nothing.copy());
}

isl::union_map as_map(const isl::multi_union_pw_aff& function) {
  return call(function.ctx(), isl_union_map_from_multi_union_pw_aff, function.copy());
}

/// \p place after its own node, before its children.
Place below(Place place) {
  const auto& node = place.node;
  if (node.isa<isl::schedule_node_domain>()) {
    place.instances = node.as<isl::schedule_node_domain>().domain();
    place.prefix = at_the_root(place.instances);
  } else if (node.isa<isl::schedule_node_band>()) {
    auto band = node.as<isl::schedule_node_band>();
    if (band.n_member() == 0) return place;
    place.prefix = call(node.ctx(), isl_union_map_flat_range_product, place.prefix.copy(),
                        as_map(band.partial_schedule()).release());
    place.path.push_back({false, static_cast<int>(band.n_member())});
  } else if (node.isa<isl::schedule_node_filter>()) {
    auto filter = node.as<isl::schedule_node_filter>().filter();
    place.instances = place.instances.intersect(filter);
    place.prefix = place.prefix.intersect_domain(filter);
  } else if (node.isa<isl::schedule_node_extension>()) {
    auto extension = node.as<isl::schedule_node_extension>().extension();
    place.instances = place.instances.unite(extension.range());
    place.prefix = place.prefix.unite(extension.reverse());
  }
  return place;
}

void walk(const Place& place, const std::function<void(const Place&)>& visit) {
  visit(place);
  if (place.node.isa<isl::schedule_node_leaf>()) return;
  auto inside = below(place);
  bool branches = place.node.isa<isl::schedule_node_sequence>() || place.node.isa<isl::schedule_node_set>();
  for (unsigned i = 0; i < place.node.n_children(); ++i) {
    auto child = inside;
    child.node = place.node.child(static_cast<int>(i));
    if (branches) child.path.push_back({true, static_cast<int>(i)});
    walk(child, visit);
  }
}

/// { [members] -> [t] }: the children of \p path between the members, zeros up to \p length.
isl::map interleave(isl::ctx ctx, const std::vector<Place::Step>& path, int length) {
  std::vector<std::string> members, time;
  for (const auto& step : path) {
    if (step.is_child) time.push_back(str(step.value));
    for (int i = 0; !step.is_child && i < step.value; ++i) {
      members.push_back(str("m", members.size()));
      time.push_back(members.back());
    }
  }
  time.resize(length, "0");
  return isl::map(ctx, str("{ [", join(members), "] -> [", join(time), "] }"));
}

int length_of(const std::vector<Place::Step>& path) {
  int length = 0;
  for (const auto& step : path) length += step.is_child ? 1 : step.value;
  return length;
}

/// The pairs that \p node or a node below it puts in order; \p pairs are those that the nodes above leave open.
isl::union_map forward_below(const isl::schedule_node& node, isl::union_map pairs) {
  auto forward = isl::union_map::empty(pairs.ctx());
  auto filter_of = [](const isl::schedule_node& child) { return child.as<isl::schedule_node_filter>().filter(); };
  if (node.isa<isl::schedule_node_filter>()) pairs = within(pairs, filter_of(node), filter_of(node));
  if (pairs.is_empty()) return forward;
  if (node.isa<isl::schedule_node_sequence>())
    for (int first = 0; first < static_cast<int>(node.n_children()); ++first)
      for (int second = first + 1; second < static_cast<int>(node.n_children()); ++second)
        forward = forward.unite(within(pairs, filter_of(node.child(first)), filter_of(node.child(second))));
  if (node.isa<isl::schedule_node_band>() && node.as<isl::schedule_node_band>().n_member() > 0) {
    auto members = node.as<isl::schedule_node_band>().partial_schedule();
    forward = call(pairs.ctx(), isl_union_map_lex_lt_at_multi_union_pw_aff, pairs.copy(), members.copy());
    pairs = call(pairs.ctx(), isl_union_map_eq_at_multi_union_pw_aff, pairs.copy(), members.copy());
  }
  for (unsigned i = 0; i < node.n_children(); ++i)
    forward = forward.unite(forward_below(node.child(static_cast<int>(i)), pairs));
  return forward;
}

}  // namespace

int Place::members() const {
  int count = 0;
  for (const auto& step : path) count += step.is_child ? 0 : step.value;
  return count;
}

void for_each_place(const isl::schedule& schedule, const std::function<void(const Place&)>& visit) {
  auto root = schedule.root();
  auto nothing = isl::union_set::empty(schedule.ctx());
  walk({root, nothing, isl::union_map::empty(schedule.ctx()), {}}, visit);
}

std::vector<std::string> marks_above(isl::schedule_node node) {
  std::vector<std::string> result;
  while (node.has_parent()) {
    node = node.parent();
    if (node.isa<isl::schedule_node_mark>()) result.push_back(mark_name(node));
  }
  std::reverse(result.begin(), result.end());
  return result;
}

isl::union_map sequential_time(const isl::schedule& schedule) {
  std::vector<Place> leaves;
  for_each_place(schedule, [&](const Place& place) {
    if (place.node.isa<isl::schedule_node_leaf>()) leaves.push_back(place);
  });
  int length = 0;
  for (const auto& leaf : leaves) length = std::max(length, length_of(leaf.path));
  auto time = isl::union_map::empty(schedule.ctx());
  for (const auto& leaf : leaves)
    time = time.unite(leaf.prefix.apply_range(interleave(schedule.ctx(), leaf.path, length).to_union_map()));
  return time;
}

isl::union_map forward_pairs(const isl::schedule& schedule, const isl::union_map& pairs) {
  auto domain = schedule.domain();
  bool has_extensions = !pairs.domain().unite(pairs.range()).is_subset(domain);
  if (!has_extensions) return forward_below(schedule.root(), pairs);
  return in_order(pairs, sequential_time(schedule));
}

}  // namespace tc::polyhedral
