#include "tc/polyhedral/thread_map.h"

#include "tc/base/str.h"
#include "tc/polyhedral/instances.h"
#include "tc/polyhedral/schedule_walk.h"

namespace tc::polyhedral {
namespace {

constexpr const char* axes[] = {"x", "y", "z"};
constexpr unsigned dimension_count = 3;

/// { instance -> [] } of \p instances, the parameter \p name appended to the range; 0 where they do not have it.
isl::map append_coordinate(const isl::map& map, const std::string& name) {
  auto out = static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_out));
  auto parameter = isl_map_find_dim_by_name(map.get(), isl_dim_param, name.c_str());
  if (parameter >= 0)
    return call(map.ctx(), isl_map_move_dims, map.copy(), isl_dim_out, out, isl_dim_param, static_cast<unsigned>(parameter), 1u);
  auto wider = call(map.ctx(), isl_map_add_dims, map.copy(), isl_dim_out, 1u);
  return call(map.ctx(), isl_map_fix_si, wider.copy(), isl_dim_out, out, 0);
}

isl::map coordinates_of(const isl::set& instances) {
  auto map = call(instances.ctx(), isl_map_from_domain, instances.copy());
  for (unsigned i = 0; i < dimension_count; ++i) map = append_coordinate(map, block_name(static_cast<int>(i)));
  for (unsigned i = 0; i < dimension_count; ++i) map = append_coordinate(map, thread_name(static_cast<int>(i)));
  return call(map.ctx(), isl_map_project_out_all_params, map.copy());
}

isl::union_map equal_at(const isl::union_map& pairs, const isl::union_map& function) {
  auto at = call(pairs.ctx(), isl_multi_union_pw_aff_from_union_map, function.copy());
  return call(pairs.ctx(), isl_union_map_eq_at_multi_union_pw_aff, pairs.copy(), at.copy());
}

/// The instances of \p statement that write: of threads that combine their values, the first.
isl::set writers(const Statement& statement) {
  if (statement.combined_iterator < 0) return statement.domain;
  auto names = dimension_names(dimensions(statement.domain));
  auto text = str("{ ", statement.id, "[", join(names), "] : ", names[statement.combined_iterator], " mod ", statement.combined_lanes, " = 0 }");
  return statement.domain.intersect(isl::set(statement.domain.ctx(), text));
}

/// The part of memory that \p access touches and other threads may too, named after its buffer; nothing for a buffer of one thread.
isl::union_map shared_memory(const Scop& scop, const Statement& statement, const Access& access, Sharing sharing) {
  auto nothing = isl::union_map::empty(scop.ctx());
  if (access.function.is_null()) return access.relation.to_union_map();
  const auto& tensor = scop.tensor(range_name(access.function.as_map()));
  auto runs = &access == &statement.write ? writers(statement) : statement.domain;
  if (tensor.storage != Tensor::Storage::Local) return access.relation.intersect_domain(runs).to_union_map();
  if (!tensor.shared || sharing == Sharing::Grid) return nothing;
  return access.function.as_map().intersect_domain(runs).to_union_map();
}

}  // namespace

std::string block_name(int dimension) { return str("block_", axes[dimension]); }
std::string thread_name(int dimension) { return str("thread_", axes[dimension]); }

isl::union_set equal_to(const isl::union_pw_aff& value, const std::string& name) {
  auto ctx = value.ctx();
  auto domain = call(ctx, isl_union_pw_aff_domain, value.copy());
  auto coordinate = call(ctx, isl_union_pw_aff_param_on_domain_id, domain.copy(), isl::id(ctx, name).release());
  auto difference = call(ctx, isl_union_pw_aff_sub, value.copy(), coordinate.copy());
  return call(ctx, isl_union_pw_aff_zero_union_set, difference.copy());
}

isl::union_map coordinates(const isl::schedule& schedule) {
  auto result = isl::union_map::empty(schedule.ctx());
  for_each_place(schedule, [&](const Place& place) {
    if (!place.node.isa<isl::schedule_node_leaf>()) return;
    place.instances.foreach_set([&](const isl::set& set) { result = result.unite(coordinates_of(set).to_union_map()); });
  });
  return result;
}

isl::union_map blocks_of(const isl::union_map& coordinates) {
  return coordinates.apply_range(isl::union_map(coordinates.ctx(), "{ [a, b, c, d, e, f] -> [a, b, c] }"));
}
isl::union_map threads_of(const isl::union_map& coordinates) {
  return coordinates.apply_range(isl::union_map(coordinates.ctx(), "{ [a, b, c, d, e, f] -> [d, e, f] }"));
}

isl::union_map conflicts(const Scop& scop, Sharing sharing) {
  auto reads = isl::union_map::empty(scop.ctx()), writes = reads;
  for (const auto& statement : scop.statements) {
    writes = writes.unite(shared_memory(scop, statement, statement.write, sharing));
    for (const auto& read : statement.reads) reads = reads.unite(shared_memory(scop, statement, read, sharing));
  }
  auto after_write = writes.apply_range(writes.unite(reads).reverse());
  auto pairs = after_write.unite(after_write.reverse());
  return pairs.subtract(call(pairs.ctx(), isl_union_set_identity, scop.domain().release())).coalesce();
}

isl::union_map across_threads(const isl::union_map& pairs, const isl::union_map& coordinates) {
  if (pairs.is_empty()) return pairs;
  auto in_block = equal_at(pairs, blocks_of(coordinates));
  return in_block.subtract(equal_at(in_block, threads_of(coordinates)));
}

isl::union_map across_blocks(const isl::union_map& pairs, const isl::union_map& coordinates) {
  return pairs.is_empty() ? pairs : pairs.subtract(equal_at(pairs, blocks_of(coordinates)));
}

}  // namespace tc::polyhedral
