#include "tc/polyhedral/map_cpu/mark_parallel.h"

#include "tc/base/error.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/marks.h"

namespace tc::polyhedral {

isl::schedule mark_parallel(const isl::schedule& schedule, const std::vector<int>& path) {
  auto node = node_at(schedule, path);
  if (!node.isa<isl::schedule_node_band>()) throw InternalError("a parallel mark needs a band below it");
  auto band = node.as<isl::schedule_node_band>();
  if (!band.member_get_coincident(0)) throw InternalError("the loop to run in parallel carries a dependence");
  if (band.n_member() > 1) band = band.split(1);
  return band.insert_mark(marks::parallel).schedule();
}

}  // namespace tc::polyhedral
