#include "tc/polyhedral/map_grid/grid_loops.h"

#include <algorithm>

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

GridLoop point_loop(const isl::union_pw_aff& index, std::int64_t tile, bool tiled, std::int64_t extent,
                    const ThreadLoop& threads) {
  GridLoop loop{tiled ? remainder(index, tile) : index, extent, true, threads};
  if (tiled) loop.whole = index;
  loop.tile = tile;
  return loop;
}

bool uses(const GridLoops& loops, int dimension) {
  return std::any_of(loops.begin(), loops.end(),
                     [&](const GridLoop& loop) { return loop.threads.dimension == dimension; });
}

ThreadCoordinate coordinate_of(const GridLoop& loop, std::int64_t threads) {
  auto run = loop.threads.run;
  auto count = (loop.extent + run - 1) / run, used = std::min(count, threads);
  bool cyclic = !loop.whole.is_null() && loop.tile % (used * run) == 0;
  auto index = cyclic ? isl::union_pw_aff(loop.whole) : loop.index;
  auto group = run > 1 ? quotient(index, run) : index;
  return {cyclic || count > threads ? remainder(group, used) : group, used};
}

void take_apart(const GridLoop& loop, std::int64_t threads, GridLoops& band, GridLoops& runs) {
  auto run = loop.threads.run;
  if (loop.threads.dimension < 0) return void(band.push_back(loop));
  auto group = run > 1 ? quotient(loop.index, run) : loop.index;
  if (threads > 0 && loop.extent > run * threads) {
    band.push_back({quotient(loop.index, run * threads), 1, loop.coincident, {}});
    group = remainder(group, threads);
  }
  if (loop.extent > run) band.push_back({group, 1, loop.coincident, {}});
  if (run > 1) runs.push_back({remainder(loop.index, run), 1, loop.coincident, loop.threads});
}

isl::union_set everywhere(const isl::union_set& instances) {
  return call(instances.ctx(), isl_union_set_universe, instances.copy());
}

isl::union_pw_aff zero_on(const isl::union_set& domain) {
  return call(domain.ctx(), isl_union_pw_aff_val_on_domain, everywhere(domain).release(),
              isl::val(domain.ctx(), 0).release());
}

}  // namespace tc::polyhedral
