#include "tc/strategy/cpu/choose_threads.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/strategy/cost/parallel_work.h"

namespace tc::strategy {
namespace {

/// Uses of an element that take as long as it comes from the last cache.
constexpr double far_element = 6;

std::int64_t instances(const ReductionView& view) {
  auto result = view.volume;
  for (const auto& member : view.cluster.members) result = count_product(result, member.extent());
  return result;
}

bool wants_threads(const ReductionView& view) {
  return view.options.parallel && view.target.cores > 1 && instances(view) >= parallel_cluster;
}

bool is_tiled(const ReductionView& view, int member) { return member == view.rows || member == view.columns; }

/// Iterations of \p member, rows or columns, in blocks of whole tiles, one for each core, or in the smaller ones that it
/// has already; 0 where one block has all. More blocks would even out the load, but read the other operand more often.
std::int64_t block_for_core(const ReductionView& view, int member) {
  auto each = round_up(ceil_div(view.extent(member), view.target.cores), view.points(member));
  each = std::min(each, view.in_block(member));
  return each < view.extent(member) ? each : 0;
}

/// The first member, -1 for none, along an iterator that the user named for threads.
int named_member(const ReductionView& view) {
  for (int member = 0; member < view.member_count(); ++member) {
    int iterator = view.iterator(member);
    if (iterator < 0 || !contains(view.options.parallel_along, view.statement.iterators[iterator])) continue;
    if (is_tiled(view, member) ? block_for_core(view, member) > 0 : view.extent(member) > 1) return member;
  }
  return -1;
}

/// A member beside rows and columns with enough iterations for all cores, -1 for none.
int other_member(const ReductionView& view) {
  int result = -1;
  for (int member : view.others()) {
    if (view.extent(member) < 4 * view.target.cores) continue;
    if (view.indexes_copy(member, false)) return member;
    if (result < 0 || view.indexes_copy(member, true)) result = member;
  }
  return view.is_packed(false) ? -1 : result;
}

/// Is \p member the only one that indexes \p read?
bool alone(const ReductionView& view, int read, int member) {
  for (int other = 0; other < view.member_count(); ++other)
    if (view.indexes(read, other) != (other == member)) return false;
  return true;
}

/// Is what \p pack copies all rows or all columns, and can threads share them?
bool can_be_shared(const ReductionView& view, const polyhedral::PackMapping& pack) {
  return (alone(view, pack.read, view.rows) && can_be_copied_once(view, view.rows)) ||
         (alone(view, pack.read, view.columns) && can_be_copied_once(view, view.columns));
}

/// Does no iteration of \p member, beside rows and columns, repeat a copy that threads cannot share?
bool repeats_no_copy(const ReductionView& view, int member) {
  const auto& packed = view.mapping.packed;
  return std::all_of(packed.begin(), packed.end(),
                     [&](const auto& pack) { return view.indexes(pack.read, member) || can_be_shared(view, pack); });
}

/// The speed with \p member on threads, as a share of that of all cores: some wait for the last one; and rows that use
/// columns from the last cache seldom, or columns rows, wait for these.
double speed(const ReductionView& view, int member) {
  auto unit = is_tiled(view, member) ? view.points(member) : 1;
  auto tiles = ceil_div(view.extent(member), unit);
  auto busy = busy_share(tiles, view.target.cores);
  if (!is_tiled(view, member)) return busy;
  auto uses = static_cast<double>(ceil_div(tiles, view.target.cores) * unit);
  int other = member == view.rows ? view.columns : view.rows;
  return view.bytes_of_all(other) <= view.near_bytes() ? busy : busy * uses / (uses + far_element);
}

/// The member with which cores run fastest: \p first, rows or columns, if it is close to that.
int split_member(const ReductionView& view, int first) {
  std::vector<int> members{first, first == view.rows ? view.columns : view.rows};
  for (int member : view.others())
    if (repeats_no_copy(view, member)) members.push_back(member);
  constexpr double close = 0.1;
  int best = members.front();
  for (int member : members)
    if (speed(view, member) > speed(view, best) + (best == first ? close : 0)) best = member;
  bool has_blocks = is_tiled(view, best) ? block_for_core(view, best) > 0 : view.extent(best) > 1;
  return has_blocks ? best : -1;
}

}  // namespace

ThreadedLoop choose_threads(const ReductionView& view, int first) {
  if (!wants_threads(view)) return {};
  int member = named_member(view);
  if (member < 0) member = other_member(view);
  if (member < 0) member = split_member(view, first);
  if (member < 0) return {};
  if (is_tiled(view, member)) return {member, block_for_core(view, member)};
  auto trips = view.extent(member);
  auto group = task_iterations(trips, instances(view) / trips, 8 * view.target.cores);
  return {member, group > 1 ? group : 0};
}

bool threads_split_tile(const ReductionView& view) { return wants_threads(view) && other_member(view) < 0; }

bool can_be_copied_once(const ReductionView& view, int member) {
  auto bytes = view.bytes_of_all(member);
  bool fits_far = view.target.cores > 3 && bytes <= view.target.l3_bytes / 2;
  return bytes <= view.near_bytes() || (member == view.columns && fits_far);
}

bool is_copied_once(const ReductionView& view, const polyhedral::PackMapping& pack) {
  int member = view.mapping.outermost;
  return member >= 0 && !view.indexes(pack.read, member) && can_be_shared(view, pack);
}

}  // namespace tc::strategy
