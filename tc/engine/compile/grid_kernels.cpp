#include "tc/engine/compile/grid_kernels.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/quota.h"
#include "tc/engine/compile/scheduling_stages.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_grid/phases.h"
#include "tc/polyhedral/nest/kernel_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/strategy/grid/resident_blocks.h"

namespace tc::engine {
namespace {

std::int64_t volume(const std::array<std::int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

/// Does the kernel of \p nest keep tiles of accumulators?
bool keeps_tiles(const polyhedral::Nest& nest) {
  return std::any_of(nest.trunk.begin(), nest.trunk.end(), [](const polyhedral::NestStep& step) {
    const auto* added = std::get_if<polyhedral::NestAdded>(&step.what);
    return added && added->points_innermost;
  });
}

/// Blocks that a multiprocessor has room for, of the largest of \p kernels, which \p nests are of. Layouts of shared memory
/// may need what a block has without asking; tiles of accumulators need half of the registers that a thread can have,
/// else a quarter is enough.
std::int64_t room_for(const Kernels& kernels, const std::vector<GridNests>& nests, const GridLimits& limits) {
  std::int64_t bytes = 0;
  for (const auto& kernel : kernels)
    if (kernel.shared_bytes > 0) bytes = std::max({bytes, kernel.shared_bytes, limits.block_shared_bytes});
  bool tiles = std::any_of(nests.begin(), nests.end(), [](const GridNests& one) { return keeps_tiles(one.nest); });
  auto registers = (limits.thread_registers + 1) / (tiles ? 2 : 4);
  return strategy::resident_blocks(limits, largest(kernels).first, bytes, registers);
}

}  // namespace

polyhedral::Nest nest_of_one_thread(const polyhedral::NestSpace& space) {
  return polyhedral::nest_of(space, polyhedral::GridClusterMapping{});
}

polyhedral::GridKernel map_part(CompileState& state, const LaunchState& launch, const polyhedral::Scop& part,
                                GridNests& nests) {
  std::optional<polyhedral::GridKernel> kernel;
  auto take = [&] { kernel = polyhedral::map_kernel(part, nests.space, nests.nest, state.target.grid->warp_size); };
  with_quota(state, *launch.scop, "map", "a kernel has neither buffers nor register tiles", 1, take, [&] {
    nests.nest = nests.plain;
    with_quota(state, *launch.scop, "map", "a kernel runs in one thread", 1, take, [&] {
      nests.nest = nest_of_one_thread(nests.space);
      take();
    });
  });
  return *kernel;
}

std::pair<std::int64_t, std::int64_t> largest(const Kernels& kernels) {
  std::int64_t threads = 1, blocks = 1;
  for (const auto& kernel : kernels) {
    threads = std::max(threads, volume(kernel.block));
    blocks = std::max(blocks, volume(kernel.grid));
  }
  return {threads, blocks};
}

Kernels kernels_of(const LaunchState& launch) {
  Kernels kernels;
  for (const auto& part : launch.grid().kernels) kernels.push_back(*part.kernel);
  return kernels;
}

void join_phases(CompileState& state, LaunchState& launch) {
  auto& on = launch.grid();
  const auto& limits = *state.target.grid;
  auto kernels = kernels_of(launch);
  auto nests = on.nests;
  auto room = room_for(kernels, nests, limits);
  for (std::size_t i = 0; i < on.parts.size(); ++i) {
    if (volume(kernels[i].grid) <= limits.multiprocessors * room) continue;
    const auto grid = strategy::fit_grid(kernels[i].grid, limits.multiprocessors * room);
    nests[i].nest = polyhedral::with_grid(nests[i].space, nests[i].nest, grid);
    nests[i].plain = polyhedral::with_grid(nests[i].space, nests[i].plain, grid);
    kernels[i] = map_part(state, launch, on.parts[i], nests[i]);
  }
  const auto [threads, blocks] = largest(kernels);
  auto blocks_per_multiprocessor = ceil_div(blocks, limits.multiprocessors);
  if (blocks_per_multiprocessor > room_for(kernels, nests, limits)) {
    state.fallbacks.emplace_back("map found no grid whose blocks fit at once: there are several kernels");
    return;
  }
  for (auto& kernel : kernels) kernel = polyhedral::widen_block(kernel, threads);
  auto join = [&, threads = threads] {
    on.phases = PhasesState{polyhedral::grid_barriers(kernels), threads, static_cast<int>(blocks_per_multiprocessor)};
    for (std::size_t i = 0; i < kernels.size(); ++i) on.kernels[i].kernel = std::move(kernels[i]);
    on.nests = std::move(nests);
  };
  with_quota(state, *launch.scop, "map", "there are several kernels", 1, join, [] {});
}

void verify_whole(const KernelState& part, const polyhedral::GridKernel& kernel) {
  auto& proved = part.proved->whole;
  if (proved && polyhedral::are_copies(*proved, kernel)) return;
  polyhedral::verify_kernel(kernel);
  proved.emplace(kernel);
}

void verify_kernels(const CompileState& state, const LaunchState& launch) {
  try {
    verify_scheduled(state, launch);
    for (const auto& part : launch.grid().kernels) verify_whole(part, *part.kernel);
    if (launch.grid().phases) polyhedral::verify_phases(kernels_of(launch), launch.grid().phases->grid_waits);
  } catch (const InternalError& error) {
    if (!launch.has_own_mapping) throw;
    throw OptionsError(str("the mapping that was given is none of this program: ", error.what()));
  }
}

}  // namespace tc::engine
