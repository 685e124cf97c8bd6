#include "tc/strategy/cpu/thread_loops.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/strategy/cost/parallel_work.h"

namespace tc::strategy {
namespace {

std::int64_t instances(const ReductionView& view) {
  auto result = view.volume;
  for (const auto& member : view.cluster.members) result = count_product(result, member.extent());
  return result;
}

bool wants_threads(const ReductionView& view) {
  return view.options.parallel && view.target.cores > 1 && instances(view) >= parallel_cluster;
}

bool is_tiled(const ReductionView& view, int member) { return member == view.rows || member == view.columns; }

/// Iterations of \p member, rows or columns, in blocks of whole tiles, \p blocks of them, or in the smaller ones that it
/// has already; 0 where one block has all.
std::int64_t block_of(const ReductionView& view, int member, std::int64_t blocks) {
  auto each = round_up(ceil_div(view.extent(member), blocks), view.points(member));
  each = std::min(each, view.in_block(member));
  return each < view.extent(member) ? each : 0;
}

/// The first member, -1 for none, along an iterator that the user named for threads.
int named_member(const ReductionView& view) {
  for (int member = 0; member < view.member_count(); ++member) {
    int iterator = view.iterator(member);
    if (iterator < 0 || !contains(view.options.parallel_along, view.statement.iterators[iterator])) continue;
    if (is_tiled(view, member) ? block_of(view, member, view.target.cores) > 0 : view.extent(member) > 1) return member;
  }
  return -1;
}

/// The members whose loops threads may share: the one that the user named, else all, those first along which fewer copies are the
/// same for each.
std::vector<int> members(const ReductionView& view) {
  if (int named = named_member(view); named >= 0) return {named};
  std::vector<int> result(static_cast<std::size_t>(view.member_count()));
  std::iota(result.begin(), result.end(), 0);
  auto repeated = [&](int member) {
    const auto& packs = view.mapping.packed;
    return std::count_if(packs.begin(), packs.end(),
                         [&](const auto& pack) { return !view.indexes(pack.read, member); });
  };
  std::stable_sort(result.begin(), result.end(), [&](int a, int b) { return repeated(a) < repeated(b); });
  return result;
}

/// Is \p member the only one that indexes \p read?
bool indexed_by_alone(const ReductionView& view, int read, int member) {
  for (int other = 0; other < view.member_count(); ++other)
    if (view.indexes(read, other) != (other == member)) return false;
  return true;
}

}  // namespace

std::vector<ThreadedLoop> thread_loops(const ReductionView& view) {
  if (!wants_threads(view)) return {{}};
  std::vector<ThreadedLoop> result;
  for (int member : members(view)) {
    std::int64_t cores = view.target.cores, extent = view.extent(member);
    for (auto tasks : {cores, 2 * cores, 4 * cores})
      if (is_tiled(view, member)) {
        if (auto block = block_of(view, member, tasks); block > 0) result.push_back({member, block});
      } else if (extent > 1) {
        auto each = ceil_div(extent, std::min(tasks, extent));
        result.push_back({member, each > 1 ? each : 0});
      }
  }
  if (result.empty()) result.push_back({});
  return result;
}

bool can_be_copied_once(const ReductionView& view, const polyhedral::PackMapping& pack) {
  int member = view.mapping.outermost;
  if (member < 0 || view.indexes(pack.read, member)) return false;
  const std::array tiled{view.rows, view.columns};
  return std::any_of(tiled.begin(), tiled.end(), [&](int only) {
    return indexed_by_alone(view, pack.read, only) && view.bytes_of_all(only) <= view.target.l3_bytes;
  });
}

}  // namespace tc::strategy
