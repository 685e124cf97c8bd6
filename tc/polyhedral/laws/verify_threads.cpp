#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/core/broken_law.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/pairs.h"
#include "tc/polyhedral/core/schedule_walk.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_grid/barriers.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {
namespace {

/// { instance -> [coordinates] }: all threads that run the instances of \p set; symbolic sizes stay parameters.
isl::map runners(const Scop& scop, const isl::set& set) {
  auto map = call(scop.ctx(), isl_map_from_domain, set.intersect_params(parameter_bounds(scop)).release());
  for (const auto& parameter : scop.parameters) {
    if (is_size_parameter(parameter.name)) continue;
    auto out = static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_out));
    auto position = isl_map_find_dim_by_name(map.get(), isl_dim_param, parameter.name.c_str());
    map = call(map.ctx(), isl_map_move_dims, map.copy(), isl_dim_out, out, isl_dim_param,
               static_cast<unsigned>(position), 1u);
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
        broken_law("instances", str("instances run at different ", name, ", which is no parameter"),
                   kernel.scop.schedule);
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
      if (is_synchronisation(tuple_name(set))) return;
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

/// The part of \p time of the instances whose names \p chosen picks.
template <typename Chosen>
isl::union_map named(const isl::union_map& time, const Chosen& chosen) {
  auto result = isl::union_map::empty(time.ctx());
  time.foreach_map([&](const isl::map& map) {
    if (chosen(domain_name(map)))
      result = result.unite(call(map.ctx(), isl_map_project_out_all_params, map.copy()).to_union_map());
  });
  return result;
}

/// The part of \p time of statements; of barriers of the block or, \p warp, of all barriers.
isl::union_map of_statements(const isl::union_map& time) {
  return named(time, [](const std::string& name) { return !is_synchronisation(name); });
}
isl::union_map of_barriers(const isl::union_map& time, bool warp) {
  return named(
      time, [&](const std::string& name) { return is_barrier(name) && (warp || name.rfind(block_barrier, 0) == 0); });
}

/// The first \p dimensions of \p time.
isl::union_map truncated(const isl::union_map& time, unsigned dimensions) {
  auto result = isl::union_map::empty(time.ctx());
  time.foreach_map([&](const isl::map& map) {
    auto all = static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_out));
    auto left = std::min(all, dimensions);
    result =
        result.unite(call(map.ctx(), isl_map_project_out, map.copy(), isl_dim_out, left, all - left).to_union_map());
  });
  return result;
}

/// As few of the first dimensions of \p time, in all threads, as tell barriers, commits and waits from statements.
isl::union_map time_of_synchronisation(const isl::union_map& whole) {
  auto time = named(whole, [](const std::string&) { return true; });
  unsigned all = 0;
  time.foreach_map([&](const isl::map& map) { all = static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_out)); });
  for (unsigned dimensions = 1; dimensions < all; ++dimensions) {
    auto part = truncated(time, dimensions);
    auto others = named(part, [](const std::string& name) { return is_synchronisation(name); });
    if (of_statements(part).range().intersect(others.range()).is_empty()) return part;
  }
  return time;
}

/// When the instances of \p time run.
isl::set times(const isl::union_map& time) { return time.range().as_set().coalesce(); }

/// The pairs of \p first and \p second in lexicographic order.
isl::map before(const isl::set& first, const isl::set& second) {
  return call(first.ctx(), isl_set_lex_lt_set, first.copy(), second.copy());
}

/// { before -> after } composed.
isl::map then(const isl::map& first, const isl::map& second) { return first.apply_range(second).coalesce(); }

/// Groups of what is under way: what closes one, and the number that a wait leaves.
struct Groups {
  const std::string& commit;
  int (*left)(const std::string& wait);
};
const Groups groups_of_copies{copy_commit, groups_left}, groups_of_products{unit_commit, unit_groups_left};

/// What separates instances, in terms of a \p time that tells it from statements.
class Separation {
 public:
  explicit Separation(const isl::union_map& time) : time_(time) {}

  /// The pairs of \p pairs, in order of time, for which \p separated(first times, second times) does not hold.
  template <typename Separated>
  isl::union_map open(const isl::union_map& pairs, const Separated& separated) const {
    if (pairs.is_empty()) return pairs;
    auto at = pairs.apply_domain(time_).apply_range(time_).as_map().coalesce();
    auto left = isl::map::empty(at.space());
    at.foreach_basic_map([&](const isl::basic_map& part) {
      isl::map piece(part);
      left = left.unite(piece.subtract(separated(piece.domain(), piece.range())));
    });
    if (left.is_empty()) return isl::union_map::empty(pairs.ctx());
    return pairs.intersect(time_.apply_range(left.to_union_map()).apply_range(time_.reverse()));
  }

  /// The pairs of \p pairs without a barrier between them: of the block or, \p warp, any.
  isl::union_map without_barrier(const isl::union_map& pairs, bool warp) const {
    auto barriers = of_barriers(time_, warp);
    if (barriers.is_empty()) return pairs;
    return open(pairs, [&](const isl::set& first, const isl::set& second) {
      return then(before(first, times(barriers)), before(times(barriers), second));
    });
  }

  /// The pairs of \p pairs, which start with what is under way as one of \p groups, without a wait for it between them, and a
  /// barrier after this if \p barrier; of the block or, \p warp, any.
  isl::union_map without_wait(const isl::union_map& pairs, const Groups& groups, bool barrier, bool warp) const {
    auto barriers = of_barriers(time_, warp);
    if (barrier && barriers.is_empty()) return pairs;
    return open(pairs, [&](const isl::set& first, const isl::set& second) {
      auto result = isl::map::empty(before(first, second).space());
      for_each_wait(groups, [&](int left, const isl::set& wait) {
        auto there = done(groups, first, left, wait);
        if (barrier) there = then(there, before(wait, times(barriers)));
        result = result.unite(then(there, before(barrier ? times(barriers) : wait, second)));
      });
      return result;
    });
  }

  /// The pairs of \p pairs of a write to shared memory and an asynchronous unit that reads it without a fence for units
  /// between them, behind the wait for the write if it is a \p copy, and a barrier after this if \p barrier.
  isl::union_map without_fence(const isl::union_map& pairs, bool copy, bool barrier) const {
    auto barriers = of_barriers(time_, false);
    auto fences = named(time_, [](const std::string& name) { return name.rfind(proxy_fence, 0) == 0; });
    if (fences.is_empty() || (barrier && barriers.is_empty())) return pairs;
    return open(pairs, [&](const isl::set& first, const isl::set& second) {
      auto fenced = copy ? isl::map::empty(before(first, second).space()) : before(first, times(fences));
      if (copy)
        for_each_wait(groups_of_copies, [&](int left, const isl::set& wait) {
          fenced = fenced.unite(then(done(groups_of_copies, first, left, wait), before(wait, times(fences))));
        });
      if (barrier) fenced = then(fenced, before(times(fences), times(barriers)));
      return then(fenced, before(barrier ? times(barriers) : times(fences), second));
    });
  }

 private:
  template <typename Use>
  void for_each_wait(const Groups& groups, const Use& use) const {
    time_.foreach_map([&](const isl::map& map) {
      if (const int left = groups.left(domain_name(map)); left >= 0)
        use(left, times(call(map.ctx(), isl_map_project_out_all_params, map.copy()).to_union_map()));
    });
  }

  /// { begun -> wait }: the group of \p begun is closed by a commit after it, and a wait leaves the last \p left groups
  /// under way.
  isl::map done(const Groups& groups, const isl::set& begun, int left, const isl::set& waits) const {
    auto commits = named(time_, [&](const std::string& name) { return name.rfind(groups.commit, 0) == 0; });
    if (commits.is_empty()) return isl::map::empty(before(begun, waits).space());
    auto closed = before(begun, times(commits));
    for (int i = 0; i < left; ++i) closed = then(closed, before(times(commits), times(commits)));
    return then(closed, before(times(commits), waits));
  }

  isl::union_map time_;
};

/// What an asynchronous copy writes is touched again only after a wait for it; by another thread after a barrier that
/// follows. \p conflicts are those within blocks.
void verify_waits(const GridKernel& kernel, const isl::union_map& conflicts, const isl::union_map& time,
                  const Separation& separation) {
  const auto& scop = kernel.scop;
  auto asynchronous = isl::union_set::empty(scop.ctx());
  for (const auto& statement : scop.statements)
    if (statement.asynchronous) asynchronous = asynchronous.unite(statement.domain.to_union_set());
  if (asynchronous.is_empty()) return;
  auto pairs = in_order(conflicts.intersect_domain(asynchronous), of_statements(time));
  auto far = across_threads(pairs, kernel.where);
  auto without_block = separation.without_wait(far, groups_of_copies, true, false);
  auto early = separation.without_wait(pairs.subtract(far), groups_of_copies, false, false)
                   .unite(across_warps(without_block, kernel.where, kernel.block, kernel.warp_size))
                   .unite(separation.without_wait(without_block, groups_of_copies, true, true));
  if (!early.is_empty())
    broken_law("waits", str("an asynchronous copy may be under way: ", first_pair(early)), scop.schedule);
}

bool is_asynchronous_unit(const Statement& statement) { return statement.unit && statement.unit->from_shared; }

isl::union_set instances_of(const Statement& statement) { return statement.domain.to_union_set(); }

/// The pairs of instances of one thread, of \p update and of another statement, that use one element of its sums.
isl::union_map uses_of_sums(const GridKernel& kernel, const Statement& update) {
  const auto sums = range_name(update.write.function);
  auto written = update.write.function.as_map().intersect_domain(update.domain).to_union_map();
  auto result = isl::union_map::empty(kernel.scop.ctx());
  for (const auto& other : kernel.scop.statements)
    for (const auto* access : accesses(other)) {
      if (other.id == update.id || access->function.is_null() || range_name(access->function) != sums) continue;
      auto used = access->function.as_map().intersect_domain(other.domain).to_union_map();
      result = result.unite(written.apply_range(used.reverse()));
    }
  auto here = within_blocks(result, kernel.where);
  return here.subtract(across_threads(here, kernel.where));
}

/// What an asynchronous unit reads is written again, and its sums are used, only after a wait for its products, by another
/// thread after a barrier that follows; what was written before is fenced for units, and a barrier follows.
void verify_unit_waits(const GridKernel& kernel, const isl::union_map& conflicts, const isl::union_map& time,
                       const Separation& separation) {
  const auto& scop = kernel.scop;
  const auto statements = of_statements(time);
  const auto check = [&](const isl::union_map& open, const char* what) {
    if (!open.is_empty()) broken_law("units wait", str(what, ": ", first_pair(open)), scop.schedule);
  };
  for (const auto& update : scop.statements) {
    if (!is_asynchronous_unit(update)) continue;
    const auto own = instances_of(update);
    auto after = conflicts.intersect_domain(own);
    after = in_order(after.subtract(after.intersect_range(own)), statements);
    auto far = across_threads(after, kernel.where);
    check(separation.without_wait(after.subtract(far), groups_of_products, false, false)
              .unite(separation.without_wait(far, groups_of_products, true, false)),
          "what a unit reads is written while it may be under way");
    check(separation.without_wait(in_order(uses_of_sums(kernel, update), statements), groups_of_products, false, false),
          "sums are used while a unit may add to them");
    for (const auto& writer : scop.statements) {
      if (writer.id == update.id) continue;
      auto before = in_order(within(conflicts, instances_of(writer), own), statements);
      auto other = across_threads(before, kernel.where);
      check(separation.without_fence(before.subtract(other), writer.asynchronous, false)
                .unite(separation.without_fence(other, writer.asynchronous, true)),
            "a unit reads what no fence lets it see");
    }
  }
}

}  // namespace

void verify_threads(const GridKernel& kernel) {
  const auto& scop = kernel.scop;
  const auto& where = kernel.where;
  auto far = across_blocks(conflicts(scop, Sharing::Grid), where);
  if (!far.is_empty())
    broken_law("blocks", str("different blocks touch what one of them writes: ", first_pair(far)), scop.schedule);
  auto time = sequential_time(scop.schedule);
  Separation separation(time_of_synchronisation(time));
  auto in_block = within_blocks(conflicts(scop, Sharing::Block), where);
  verify_waits(kernel, in_block, time, separation);
  verify_unit_waits(kernel, in_block, time, separation);
  auto pairs = across_threads(in_block, where);
  if (pairs.is_empty()) return;
  auto forward = in_order(pairs, of_statements(time));
  auto without_block = separation.without_barrier(forward, false);
  auto open = across_warps(without_block, where, kernel.block, kernel.warp_size)
                  .unite(separation.without_barrier(without_block, true));
  if (!open.is_empty())
    broken_law("threads",
               str("no barrier separates two threads that touch what one of them writes: ", first_pair(open)),
               scop.schedule);
  auto unordered = at_once(pairs, of_statements(time));
  if (!unordered.is_empty())
    broken_law("threads", str("two threads touch what one of them writes at once: ", first_pair(unordered)),
               scop.schedule);
}

namespace {

/// The laws of the statements of a kernel, each thread of which runs alone.
void verify_statements(const GridKernel& kernel) {
  verify_runners(kernel);
  verify_dependences(kernel.scop, compute_dependences(kernel.scop));
  verify_bounds(kernel.scop);
  verify_marks(kernel.scop);
}

}  // namespace

void verify_unsynchronised_kernel(const GridKernel& kernel) {
  verify_statements(kernel);
  verify_kernel_promotion(kernel);
  verify_kernel_gathers(kernel);
}

void verify_kernel(const GridKernel& kernel) {
  verify_statements(kernel);
  verify_threads(kernel);
  verify_kernel_promotion(kernel);
  verify_kernel_gathers(kernel);
}

}  // namespace tc::polyhedral
