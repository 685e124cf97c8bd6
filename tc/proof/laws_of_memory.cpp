#include <algorithm>

#include "tc/base/str.h"
#include "tc/proof/laws.h"
#include "tc/proof/verdict.h"

namespace tc::proof {
namespace {

const std::string allocate = "allocate_";

bool is_local(const Subject& subject, const std::string& name) {
  const auto* tensor = subject.launch.find(name);
  return tensor && tensor->storage == Tensor::Storage::Local;
}

/// The only mark that allocates the local buffer \p name.
const Mark& mark_of(const Subject& subject, const std::string& name) {
  const Mark* found = nullptr;
  for (const auto& mark : subject.marks) {
    if (mark.name != allocate + name) continue;
    if (found) throw Refusal("storage", "", str("the buffer '", name, "' is allocated twice"));
    found = &mark;
  }
  if (!found) throw Refusal("storage", "", str("the buffer '", name, "' is not allocated"));
  return *found;
}

/// { instance -> [members of the bands above \p mark and of those right below it] }: the iterations that run one after another.
isl::union_map iterations_below(const Mark& mark) {
  auto node = mark.node;
  while (node.isa<isl::schedule_node_band>() ||
         (node.isa<isl::schedule_node_mark>() &&
          call(node.ctx(), isl_schedule_node_mark_get_id, node.get()).name() != "vector"))
    node = node.child(0);
  return node.prefix_schedule_union_map();
}

/// Of each two elements that \p homes, { T[x] -> place }, gives one place, are all accesses of one before all accesses of the other? An
/// instance reads before it writes.
bool take_turns(const Subject& subject, const std::vector<Use>& uses, const isl::union_map& homes) {
  auto reads = isl::union_map::empty(subject.ctx()), writes = reads;
  for (const auto& use : uses) {
    const auto element = use.access().element.to_union_map();
    if (use.writes()) writes = writes.unite(element);
    if (!use.writes() || use.accumulates()) reads = reads.unite(element);
  }
  const auto touched = reads.unite(writes);
  const auto same = homes.apply_range(homes.reverse());
  const auto shared = same.subtract(identity_on(same.domain()));
  const auto accesses = touched.apply_range(shared).apply_range(touched.reverse());
  const auto open = accesses.subtract(forward_in_any_run(subject.launch.schedule, accesses));
  const auto alone = open.intersect(identity_on(touched.domain()));
  const auto elements = [&](const isl::union_map& pairs, const isl::union_map& first, const isl::union_map& second) {
    return pairs.apply_domain(first).apply_range(second).intersect(shared);
  };
  const auto not_before = elements(open.subtract(alone), touched, touched)
                              .unite(elements(alone, writes, touched))
                              .unite(elements(alone, reads, reads));
  return not_before.is_disjoint(not_before.reverse());
}

/// One local buffer: where each element is kept, and in which execution.
void check_buffer(const Subject& subject, const Tensor& buffer) {
  const auto& mark = mark_of(subject, buffer.name);
  std::vector<Use> uses;
  for (const auto& use : uses_of(subject.launch)) {
    if (use.access().place.is_empty() || range_name(use.access().place) != buffer.name) continue;
    if (!use.access().place.domain().to_union_set().is_subset(mark.instances))
      throw Refusal("storage", use.statement->id,
                    str("it uses the buffer '", buffer.name, "' outside of its allocation"));
    uses.push_back(use);
  }
  // { T[x] -> [[execution] -> buffer[y]] } and its inverse have one value each: then no element ever takes the place of another
  // in one execution. Or else elements take turns at a place.
  const auto homes_in = [&](const isl::union_map& executions) {
    auto homes = isl::union_map::empty(subject.ctx());
    for (const auto& use : uses) {
      const auto place = use.access().place.to_union_map();
      homes = homes.unite(use.access().element.to_union_map().reverse().apply_range(
          paired(executions.intersect_domain(place.domain()), place)));
    }
    return homes.coalesce();
  };
  const auto below = homes_in(iterations_below(mark)), at_mark = homes_in(mark.prefix);
  if (below.is_single_valued() && below.is_injective()) return;
  if (!at_mark.is_single_valued() || !(at_mark.is_injective() || take_turns(subject, uses, at_mark)))
    throw Refusal(
        "storage", uses.empty() ? "" : uses.front().statement->id,
        str("a place of the buffer '", buffer.name, "' holds two elements at a time, or an element has two places"));
}

/// Throws Refusal if instances with different values of \p loop, below \p place, touch memory that one of them writes. \p lanes:
/// instances of one accumulating statement may write one place together, which the vector combines.
void check_loop(const Subject& subject, const Mark& place, const isl::union_map& loop, bool lanes) {
  const auto touches = [&](const Use& use) {
    const auto& tensor = range_name(use.access().place);
    // What is allocated below is another buffer in each iteration.
    if (is_local(subject, tensor) && !place.instances.is_subset(mark_of(subject, tensor).instances))
      return isl::union_map::empty(subject.ctx());
    if (is_local(subject, tensor) && mark_of(subject, tensor).node.tree_depth() > place.node.tree_depth())
      return isl::union_map::empty(subject.ctx());
    const auto memory = memory_of(subject, use.access()).intersect_domain(place.instances);
    return paired(place.prefix, memory).reverse().apply_range(loop);
  };
  std::vector<Use> below;
  std::vector<std::string> written;
  for (const auto& use : uses_of(subject.launch)) {
    if (use.access().place.is_empty() || use.statement->domain.to_union_set().is_disjoint(place.instances)) continue;
    below.push_back(use);
    if (use.writes()) written.push_back(range_name(use.access().place));
  }
  auto writes = isl::union_map::empty(subject.ctx()), others = writes, sums = writes;
  for (const auto& use : below) {
    if (std::find(written.begin(), written.end(), range_name(use.access().place)) == written.end()) continue;
    const auto touched = touches(use);
    auto& kind = lanes && use.accumulates() ? sums : use.writes() ? writes : others;
    kind = kind.unite(touched);
  }
  const auto shared = writes.unite(sums).domain();
  auto checked = writes.unite(others).intersect_domain(shared);
  checked = checked.unite(sums.intersect_domain(checked.domain()));
  if (checked.coalesce().is_single_valued()) return;
  for (const auto& use : below)
    if (use.writes() && !checked.intersect_domain(touches(use).domain()).is_single_valued())
      throw Refusal("races", use.statement->id,
                    str(lanes ? "lanes of a vector" : "iterations of a parallel loop", " touch an element of '",
                        range_name(use.access().place), "' that another of them writes"));
  throw Refusal("races", "", "two threads touch a place that one of them writes");
}

}  // namespace

isl::union_map memory_of(const Subject& subject, const Access& access) {
  const auto place = access.place.to_union_map();
  if (access.place.is_empty() || !is_local(subject, range_name(access.place))) return place;
  return paired(mark_of(subject, range_name(access.place)).prefix.intersect_domain(place.domain()), place);
}

void check_storage(const Subject& subject) {
  std::map<std::string, std::string> kept_in;
  for (const auto& use : uses_of(subject.launch)) {
    const auto& access = use.access();
    if (access.element.is_empty()) continue;
    const auto tensor = range_name(access.element), memory = range_name(access.place);
    const auto [known, fresh] = kept_in.emplace(tensor, memory);
    if (!fresh && known->second != memory)
      throw Refusal("storage", use.statement->id,
                    str("'", tensor, "' is in '", memory, "' here and in '", known->second, "' elsewhere"));
    if (is_local(subject, memory)) continue;
    if (tensor != memory || !access.place.is_equal(access.element))
      throw Refusal("storage", use.statement->id,
                    str("an element of '", tensor, "' is at another element of '", memory, "'"));
  }
  for (const auto& tensor : subject.launch.tensors)
    if (tensor.storage == Tensor::Storage::Local) check_buffer(subject, tensor);
}

void check_races(const Subject& subject) {
  for (const auto& mark : subject.marks) {
    if (mark.name != "parallel" && mark.name != "vector") continue;
    if (!mark.node.isa<isl::schedule_node_band>() || mark.node.as<isl::schedule_node_band>().n_member() == 0)
      throw Refusal("races", "", str("the mark '", mark.name, "' stands above no loop"));
    const auto members = mark.node.as<isl::schedule_node_band>().partial_schedule();
    const auto loop = call(subject.ctx(), isl_union_map_from_union_pw_aff, isl::union_pw_aff(members.at(0)).release());
    check_loop(subject, mark, loop, mark.name == "vector");
  }
}

}  // namespace tc::proof
