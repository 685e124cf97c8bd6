#include "tc/polyhedral/spread/thread_map.h"

#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/pairs.h"

namespace tc::polyhedral {
namespace {

isl::union_map equal_at(const isl::union_map& pairs, const isl::multi_union_pw_aff& function) {
  return call(pairs.ctx(), isl_union_map_eq_at_multi_union_pw_aff, pairs.copy(), function.copy());
}

/// The instances of \p statement that write: of threads that combine their values, the first, or all.
isl::set writers(const Statement& statement) {
  if (statement.combined_iterator < 0 || statement.combined_in_all) return statement.domain;
  auto names = dimension_names(dimensions(statement.domain));
  auto text = str("{ ", statement.id, "[", join(names), "] : ", names[statement.combined_iterator], " mod ",
                  statement.combined_lanes, " = 0 }");
  return statement.domain.intersect(isl::set(statement.domain.ctx(), text));
}

/// The part of memory that \p access touches and other threads may too, named after its buffer; nothing for a buffer of
/// one thread.
isl::union_map shared_memory(const Scop& scop, const Statement& statement, const Access& access, Sharing sharing) {
  auto nothing = isl::union_map::empty(scop.ctx());
  if (access.function.is_null()) return access.relation.to_union_map();
  if (access.relation.is_empty()) return nothing;
  const auto& tensor = scop.tensor(range_name(access.function));
  auto runs = &access == &statement.write ? writers(statement) : statement.domain;
  if (tensor.storage != Tensor::Storage::Local) return access.relation.intersect_domain(runs).to_union_map();
  if (!tensor.shared || sharing == Sharing::Grid) return nothing;
  return access.function.as_map().intersect_domain(runs).to_union_map();
}

}  // namespace

std::string block_name(int dimension) { return str("block_", "xyz"[dimension]); }
std::string thread_name(int dimension) { return str("thread_", "xyz"[dimension]); }

isl::union_set equal_to(const isl::union_pw_aff& value, const std::string& name) {
  auto ctx = value.ctx();
  auto domain = call(ctx, isl_union_pw_aff_domain, value.copy());
  auto coordinate = call(ctx, isl_union_pw_aff_param_on_domain_id, domain.copy(), isl::id(ctx, name).release());
  auto difference = call(ctx, isl_union_pw_aff_sub, value.copy(), coordinate.copy());
  return call(ctx, isl_union_pw_aff_zero_union_set, difference.copy());
}

isl::multi_union_pw_aff three_coordinates(const std::array<isl::union_pw_aff, 3>& functions) {
  auto ctx = functions[0].ctx();
  isl::union_pw_aff_list list(ctx, 3);
  for (const auto& function : functions) list = list.add(function);
  return isl::multi_union_pw_aff(isl::space::unit(ctx).add_unnamed_tuple(3), list);
}

isl::pw_aff Coordinates::thread(const Statement& statement, int dimension) const {
  auto space = statement.domain.space().add_unnamed_tuple(1);
  return call(space.ctx(), isl_union_pw_aff_extract_pw_aff, threads.at(dimension).get(), space.copy());
}

isl::union_map memory_of_grid(const Scop& scop, const Statement& statement, const Access& access) {
  return shared_memory(scop, statement, access, Sharing::Grid);
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

isl::union_map within_blocks(const isl::union_map& pairs, const Coordinates& coordinates) {
  return pairs.is_empty() ? pairs : equal_at(pairs, coordinates.blocks);
}

isl::union_map across_threads(const isl::union_map& pairs, const Coordinates& coordinates) {
  return apart(within_blocks(pairs, coordinates), coordinates.threads);
}

isl::union_map across_blocks(const isl::union_map& pairs, const Coordinates& coordinates) {
  return pairs.is_empty() ? pairs : pairs.subtract(equal_at(pairs, coordinates.blocks));
}

isl::union_map threads_of_instances(const Coordinates& coordinates) {
  return call(coordinates.threads.ctx(), isl_union_map_from_multi_union_pw_aff, coordinates.threads.copy());
}

isl::union_map related_threads(const isl::union_map& pairs, const isl::union_map& threads) {
  return pairs.is_empty() ? pairs : pairs.apply_domain(threads).apply_range(threads);
}

isl::map threads_of_other_warps(isl::ctx ctx, const std::array<std::int64_t, 3>& block, std::int64_t warp) {
  auto number = [&](const char* prime) {
    return str("floor((x", prime, " + ", block[0], "y", prime, " + ", block[0] * block[1], "z", prime, ")/", warp, ")");
  };
  return isl::map(ctx, str("{ [x, y, z] -> [x', y', z'] : ", number(""), " != ", number("'"), " }"));
}

isl::union_map across_warps(const isl::union_map& pairs, const Coordinates& coordinates,
                            const std::array<std::int64_t, 3>& block, std::int64_t warp) {
  if (pairs.is_empty() || block[0] * block[1] * block[2] <= warp) return isl::union_map::empty(pairs.ctx());
  auto number = coordinates.threads.at(0);
  auto weight = block[0];
  for (int i = 1; i < 3; weight *= block[i++]) {
    auto part = call(pairs.ctx(), isl_union_pw_aff_scale_val, coordinates.threads.at(i).release(),
                     isl::val(pairs.ctx(), weight).release());
    number = call(pairs.ctx(), isl_union_pw_aff_add, number.copy(), part.copy());
  }
  return pairs.subtract(equal_at(pairs, isl::multi_union_pw_aff(quotient(number, warp))));
}

}  // namespace tc::polyhedral
