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
  return std::any_of(loops.begin(), loops.end(), [&](const GridLoop& loop) {
    return loop.threads.dimension == dimension || loop.threads.warps.dimension == dimension;
  });
}

namespace {

/// What is the same modulo \p period as the index of \p loop: the whole one where its tiles are multiples of that.
isl::union_pw_aff periodic_index(const GridLoop& loop, std::int64_t period) {
  return !loop.whole.is_null() && loop.tile % period == 0 ? isl::union_pw_aff(loop.whole) : loop.index;
}

isl::union_pw_aff in_groups(const isl::union_pw_aff& index, std::int64_t size) {
  return size > 1 ? quotient(index, size) : index;
}

std::vector<ThreadCoordinate> coordinates_of_warps(const GridLoop& loop) {
  const auto& threads = loop.threads;
  const auto& warps = threads.warps;
  auto lane = remainder(in_groups(periodic_index(loop, threads.run * threads.count), threads.run), threads.count);
  auto warp = remainder(in_groups(periodic_index(loop, warps.run * warps.count), warps.run), warps.count);
  if (warps.dimension != threads.dimension)
    return {{threads.dimension, lane, threads.count}, {warps.dimension, warp, warps.count}};
  auto ahead = call(warp.ctx(), isl_union_pw_aff_scale_val, warp.copy(), isl::val(warp.ctx(), threads.count).release());
  return {{threads.dimension, call(lane.ctx(), isl_union_pw_aff_add, lane.copy(), ahead.copy()),
           threads.count * warps.count}};
}

}  // namespace

std::vector<ThreadCoordinate> coordinates_of(const GridLoop& loop, const std::array<std::int64_t, 3>& block) {
  auto dimension = loop.threads.dimension;
  if (dimension < 0 || block[static_cast<std::size_t>(dimension)] <= 1) return {};
  if (loop.threads.has_warps()) return coordinates_of_warps(loop);
  auto run = loop.threads.run, threads = block[static_cast<std::size_t>(dimension)];
  auto count = (loop.extent + run - 1) / run, used = std::min(count, threads);
  bool cyclic = !loop.whole.is_null() && loop.tile % (used * run) == 0;
  auto group = in_groups(cyclic ? isl::union_pw_aff(loop.whole) : loop.index, run);
  return {{dimension, cyclic || count > threads ? remainder(group, used) : group, used}};
}

void take_apart(const GridLoop& loop, std::int64_t threads, GridLoops& band, GridLoops& runs) {
  auto run = loop.threads.run;
  if (loop.threads.dimension < 0) return void(band.push_back(loop));
  auto group = in_groups(loop.index, run);
  if (loop.threads.has_warps()) {
    auto threads_here = loop.threads.count;
    band.push_back({quotient(loop.index, loop.threads.warps.run), 1, loop.coincident, {}});
    band.push_back(
        {quotient(remainder(loop.index, loop.threads.warps.run), run * threads_here), 1, loop.coincident, {}});
    band.push_back({remainder(group, threads_here), 1, loop.coincident, {}});
    if (run > 1) runs.push_back({remainder(loop.index, run), 1, loop.coincident, loop.threads});
    return;
  }
  if (threads > 0 && loop.extent > run * threads) {
    band.push_back({quotient(loop.index, run * threads), 1, loop.coincident, {}});
    group = remainder(group, threads);
  }
  if (loop.extent > run) band.push_back({group, 1, loop.coincident, {}});
  if (run > 1) runs.push_back({remainder(loop.index, run), 1, loop.coincident, loop.threads});
}

std::vector<GridLoops> take_apart_for_unit(const GridLoops& points, const GridLoops& own,
                                           const std::vector<std::int64_t>& sizes, bool counted) {
  std::vector<GridLoops> result(3);
  auto part = [&](const isl::union_pw_aff& index, const GridLoop& loop) {
    return GridLoop{index, 1, loop.coincident, {}};
  };
  auto size = sizes.begin();
  for (const auto& loop : points) {
    const auto& [dimension, run, count, warps] = loop.threads;
    auto each = *size++;
    if (loop.threads.has_warps()) result[1].push_back(part(quotient(loop.index, warps.run), loop));
    auto within = loop.threads.has_warps() ? remainder(loop.index, warps.run) : loop.index;
    result[1].push_back(part(in_groups(within, each), loop));
    if (each == 1) continue;
    const auto of_warp = loop.threads.has_warps() ? std::min(each, warps.run) : each;
    if (of_warp > run * count) result[2].push_back(part(quotient(remainder(loop.index, of_warp), run * count), loop));
    result[2].push_back(part(remainder(in_groups(loop.index, run), count), loop));
    if (run > 1) result[2].push_back(part(remainder(loop.index, run), loop));
  }
  for (const auto& loop : own) {
    auto each = *size++;
    result[counted ? 1 : 0].push_back(part(in_groups(loop.index, each), loop));
    if (each > 1) result[2].push_back(part(remainder(loop.index, each), loop));
  }
  return result;
}

isl::union_set everywhere(const isl::union_set& instances) {
  return call(instances.ctx(), isl_union_set_universe, instances.copy());
}

isl::union_pw_aff zero_on(const isl::union_set& domain) {
  return call(domain.ctx(), isl_union_pw_aff_val_on_domain, everywhere(domain).release(),
              isl::val(domain.ctx(), 0).release());
}

}  // namespace tc::polyhedral
