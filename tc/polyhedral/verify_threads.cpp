#include "tc/base/str.h"
#include "tc/polyhedral/barriers.h"
#include "tc/polyhedral/broken_law.h"
#include "tc/polyhedral/schedule_walk.h"
#include "tc/polyhedral/thread_map.h"
#include "tc/polyhedral/verify.h"

namespace tc::polyhedral {
namespace {

/// { instance -> [coordinates] }: all threads that run the instances of \p set.
isl::map runners(const Scop& scop, const isl::set& set) {
  auto map = call(scop.ctx(), isl_map_from_domain, set.intersect_params(parameter_bounds(scop)).release());
  for (const auto& parameter : scop.parameters) {
    auto out = static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_out));
    auto position = isl_map_find_dim_by_name(map.get(), isl_dim_param, parameter.name.c_str());
    map = call(map.ctx(), isl_map_move_dims, map.copy(), isl_dim_out, out, isl_dim_param, static_cast<unsigned>(position), 1u);
  }
  return map;
}

/// The instances of \p set that \p where sends to the thread that runs them.
isl::union_set as_said(const Scop& scop, const isl::set& set, const Coordinates& where) {
  auto result = set.to_union_set();
  for (const auto& parameter : scop.parameters)
    for (int i = 0; i < 3; ++i) {
      if (parameter.name == block_name(i)) result = result.intersect(equal_to(where.blocks.at(i), parameter.name));
      if (parameter.name == thread_name(i)) result = result.intersect(equal_to(where.threads.at(i), parameter.name));
    }
  return result;
}

/// Is every coordinate that is no parameter 0?
void verify_constant_coordinates(const GridKernel& kernel) {
  for (int i = 0; i < 3; ++i) {
    auto check = [&](const std::string& name, const isl::multi_union_pw_aff& function) {
      bool parameter = false;
      for (const auto& known : kernel.scop.parameters) parameter = parameter || known.name == name;
      auto zero = call(kernel.scop.ctx(), isl_union_pw_aff_zero_union_set, function.at(i).release());
      if (!parameter && !kernel.scop.domain().is_subset(zero))
        broken_law("instances", str("instances run at different ", name, ", which is no parameter"), kernel.scop.schedule);
    };
    check(block_name(i), kernel.where.blocks);
    check(thread_name(i), kernel.where.threads);
  }
}

void verify_runners(const GridKernel& kernel) {
  const auto& scop = kernel.scop;
  verify_constant_coordinates(kernel);
  auto seen = isl::union_set::empty(scop.ctx());
  auto fail = [&](const isl::union_set& instances, const char* how) {
    if (instances.is_empty()) return;
    auto sample = call(instances.ctx(), isl_union_set_sample_point, instances.copy());
    broken_law("instances", str("the instance ", sample, " ", how), scop.schedule);
  };
  for_each_place(scop.schedule, [&](const Place& place) {
    if (!place.node.isa<isl::schedule_node_leaf>()) return;
    place.instances.foreach_set([&](const isl::set& set) {
      if (is_barrier(tuple_name(set))) return;
      auto run = runners(scop, set);
      auto instances = call(set.ctx(), isl_map_domain, run.copy()).to_union_set();
      auto bounded = set.intersect_params(parameter_bounds(scop));
      auto elsewhere = bounded.to_union_set().subtract(as_said(scop, bounded, kernel.where));
      if (!elsewhere.is_empty()) fail(instances, "runs in more than one thread, or in another one");
      fail(seen.intersect(instances), "runs at two leaves");
      seen = seen.unite(instances);
    });
  });
  fail(scop.domain().subtract(seen), "does not run");
  fail(seen.subtract(scop.domain()), "runs but is no instance of a statement");
}

/// The part of \p time of barriers of the block or, \p warp, of all barriers; or that of statements.
isl::union_map part_of(const isl::union_map& time, bool barriers, bool warp) {
  auto result = isl::union_map::empty(time.ctx());
  time.foreach_map([&](const isl::map& map) {
    auto name = domain_name(map);
    bool chosen = is_barrier(name) ? barriers && (warp || name.rfind(block_barrier, 0) == 0) : !barriers;
    if (chosen) result = result.unite(call(map.ctx(), isl_map_project_out_all_params, map.copy()).to_union_map());
  });
  return result;
}

isl::union_map earlier(const isl::union_map& first, const isl::union_map& second) {
  return call(first.ctx(), isl_union_map_lex_lt_union_map, first.copy(), second.copy());
}

/// The pairs of instances with a barrier between them.
isl::union_map separated(const isl::union_map& time, bool warp) {
  auto statements = part_of(time, false, false), barriers = part_of(time, true, warp);
  return earlier(statements, barriers).apply_range(earlier(barriers, statements));
}

}  // namespace

void verify_threads(const GridKernel& kernel) {
  const auto& scop = kernel.scop;
  const auto& where = kernel.where;
  auto far = across_blocks(conflicts(scop, Sharing::Grid), where);
  if (!far.is_empty())
    broken_law("blocks", str("different blocks touch what one of them writes: ", first_pair(far)), scop.schedule);
  auto pairs = across_threads(conflicts(scop, Sharing::Block), where);
  if (pairs.is_empty()) return;
  auto time = sequential_time(scop.schedule);
  auto statements = part_of(time, false, false);
  auto apart = across_warps(pairs, where, kernel.block, warp_threads);
  for (bool warp : {false, true}) {
    auto forward = (warp ? pairs.subtract(apart) : apart).intersect(earlier(statements, statements));
    auto open = forward.is_empty() ? forward : forward.subtract(separated(time, warp));
    if (!open.is_empty())
      broken_law("threads", str("no barrier separates two threads that touch what one of them writes: ", first_pair(open)), scop.schedule);
  }
  auto unordered = pairs.subtract(earlier(statements, statements)).subtract(earlier(statements, statements).reverse());
  if (!unordered.is_empty())
    broken_law("threads", str("two threads touch what one of them writes at once: ", first_pair(unordered)), scop.schedule);
}

void verify_kernel(const GridKernel& kernel) {
  verify_runners(kernel);
  verify_dependences(kernel.scop, compute_dependences(kernel.scop));
  verify_bounds(kernel.scop);
  verify_marks(kernel.scop);
  verify_threads(kernel);
}

}  // namespace tc::polyhedral
