#include "tc/strategy/choose_threads.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/strategy/parallel_work.h"

namespace tc::strategy {
namespace {

std::int64_t instances(const ReductionView& view) {
  auto result = view.volume;
  for (const auto& member : view.cluster.members) result *= member.extent();
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

/// The share of all cores that is busy while equal blocks of whole tiles run.
double busy_cores(const ReductionView& view, int member) {
  auto tiles = ceil_div(view.extent(member), view.points(member)), each = ceil_div(tiles, view.target.cores);
  return static_cast<double>(tiles) / static_cast<double>(each * view.target.cores);
}

/// Rows or columns; -1 where there is one tile of the better ones.
int split_member(const ReductionView& view, int first) {
  int second = first == view.rows ? view.columns : view.rows;
  int member = busy_cores(view, first) >= busy_cores(view, second) - 0.1 ? first : second;
  return block_for_core(view, member) > 0 ? member : -1;
}

/// Is \p member the only one that indexes \p read?
bool alone(const ReductionView& view, int read, int member) {
  for (int other = 0; other < view.member_count(); ++other)
    if (view.indexes(read, other) != (other == member)) return false;
  return true;
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
  auto bytes = view.extent(member) * view.volume * view.element_bytes;
  bool fits_far = view.target.cores > 3 && bytes <= view.target.l3_bytes / 2;
  return bytes <= view.near_bytes() || (member == view.columns && fits_far);
}

bool is_copied_once(const ReductionView& view, const polyhedral::PackMapping& pack) {
  int member = view.mapping.outermost;
  if (member < 0 || !is_tiled(view, member)) return false;
  int copied = member == view.rows ? view.columns : view.rows;
  return alone(view, pack.read, copied) && can_be_copied_once(view, copied);
}

}  // namespace tc::strategy
