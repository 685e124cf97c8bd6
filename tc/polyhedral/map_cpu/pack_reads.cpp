#include "tc/polyhedral/map_cpu/pack_reads.h"

#include <algorithm>

#include "tc/polyhedral/map/contract.h"
#include "tc/polyhedral/map_cpu/pack.h"

namespace tc::polyhedral {
namespace {

using Path = std::vector<int>;

/// From \p place down through the marks there to what follows the copy in the sequence below them.
Path way_past_copy(const Scop& scop, const Path& place) {
  Path result;
  for (auto node = node_at(scop.schedule, place); node.isa<isl::schedule_node_mark>(); node = node.child(0))
    result.push_back(0);
  result.insert(result.end(), {1, 0});
  return result;
}

/// Moves \p path, if it leads through \p place, along \p way from there.
void step_past(Path& path, const Path& place, const Path& way) {
  if (path.size() < place.size() || !std::equal(place.begin(), place.end(), path.begin())) return;
  path.insert(path.begin() + static_cast<long>(place.size()), way.begin(), way.end());
}

Path band_of_copy(Path place, const Path& past_copy) {
  place.insert(place.end(), past_copy.begin(), past_copy.end());
  place.end()[-2] = 0;
  return place;
}

/// The loops above step \p step of the trunk, which copies for \p reader: of each iterator the innermost.
std::vector<FixedLoop> fixed_loops(const CpuCluster& cluster, const NestCopy& copy, std::size_t step) {
  std::vector<FixedLoop> result;
  for (int iterator : cluster.view.statements.at(static_cast<std::size_t>(copy.statement)).around)
    result.push_back({iterator, 1});
  for (std::size_t i = 0; i < step; ++i) {
    const auto* loop = std::get_if<NestLoop>(&cluster.nest.trunk[i].what);
    const int iterator = loop ? cluster.space.iterator(loop->digit.index, copy.statement) : -1;
    if (iterator < 0) continue;
    std::erase_if(result, [&](const FixedLoop& above) { return above.iterator == iterator; });
    result.push_back({iterator, loop->digit.step});
  }
  return result;
}

bool has_loop_above(const Nest& nest, std::size_t step) {
  return std::any_of(nest.trunk.begin(), nest.trunk.begin() + static_cast<std::ptrdiff_t>(step),
                     [](const NestStep& above) { return std::holds_alternative<NestLoop>(above.what); });
}

/// Makes the copy \p copy, step \p step of the trunk; the places then lead past it.
Scop add_copy(const Scop& scop, CpuCluster& cluster, const NestCopy& copy, std::size_t step) {
  const Path place = cluster.places.at(step);
  const bool once = !has_loop_above(cluster.nest, step);
  const PackMapping choice{.statement = cluster.nest.branches.at(static_cast<std::size_t>(copy.statement)).statement,
                           .read = copy.read,
                           .panel = copy.panel,
                           .size = copy.size,
                           .panel_last = copy.panel_last,
                           .lanes = copy.lanes,
                           .once = once};
  auto state = cluster.state;
  auto result = pack(scop, place, choice, fixed_loops(cluster, copy, step), state);
  auto temporary = result.tensors.back().name;
  result = contract(result, place, place, state, {temporary}, 0);
  if (result.tensors.back().storage != Tensor::Storage::Local) return scop;
  cluster.state = state;
  auto past_copy = way_past_copy(result, place);
  if (once) cluster.copied_once.push_back(band_of_copy(place, past_copy));
  for (auto& path : cluster.places.below) step_past(path, place, past_copy);
  return result;
}

}  // namespace

Scop pack_reads(const Scop& scop, CpuCluster& cluster) {
  auto result = scop;
  for (std::size_t step = 0; step < cluster.nest.trunk.size(); ++step)
    if (const auto* copy = std::get_if<NestCopy>(&cluster.nest.trunk[step].what))
      result = add_copy(result, cluster, *copy, step);
  return result;
}

}  // namespace tc::polyhedral
