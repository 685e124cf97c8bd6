#include "tc/polyhedral/map_cpu/pack_reads.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/map/contract.h"
#include "tc/polyhedral/map_cpu/pack.h"

namespace tc::polyhedral {
namespace {

using Path = std::vector<int>;

/// Where the copy \p choice is made.
Path& place_of(const PackMapping& choice, TilePlaces& places) {
  return choice.once ? places.start : choice.below_blocks ? places.block : places.copies;
}

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

const ClusterStatement& reader(const ClusterView& cluster, const PackMapping& choice) {
  for (const auto& entry : cluster.statements)
    if (entry.id == choice.statement) return entry;
  throw InternalError(str("no statement '", choice.statement, "' in the cluster whose read is packed"));
}

/// The loops above the copy \p choice.
std::vector<FixedLoop> fixed_loops(const CpuCluster& cluster, const PackMapping& choice) {
  std::vector<FixedLoop> result;
  const auto& [id, outer, inner, around] = reader(cluster.view, choice);
  for (int iterator : around) result.push_back({iterator, 1});
  if (choice.once) return result;
  const auto& mapping = cluster.state.mapping;
  for (std::size_t i = 0; i < mapping.members.size(); ++i) {
    const auto& size = mapping.members[i];
    int member = static_cast<int>(i);
    bool blocked = size.block > 0 && size.block < cluster.view.members[i].extent();
    auto loops = (member == mapping.outermost) + std::count(mapping.above.begin(), mapping.above.end(), member);
    if (loops == 0 && choice.below_blocks && blocked) loops = 1;
    if (outer[i] >= 0 && loops > 0) result.push_back({outer[i], blocked && loops == 1 ? size.block : size.points});
  }
  if (mapping.reduction.iterator >= 0 && mapping.reduction.statement == choice.statement)
    result.push_back({mapping.reduction.iterator, mapping.reduction.size});
  return result;
}

/// Makes the copy \p choice at its place; the places then lead past it.
Scop add_copy(const Scop& scop, CpuCluster& cluster, const PackMapping& choice) {
  const Path place = place_of(choice, cluster.places);
  auto state = cluster.state;
  auto result = pack(scop, place, choice, fixed_loops(cluster, choice), state);
  auto temporary = result.tensors.back().name;
  result = contract(result, place, place, state, {temporary}, 0);
  if (result.tensors.back().storage != Tensor::Storage::Local) return scop;
  cluster.state = state;
  auto past_copy = way_past_copy(result, place);
  if (choice.once) cluster.copied_once.push_back(band_of_copy(place, past_copy));
  auto& places = cluster.places;
  for (auto* path : {&places.start, &places.first, &places.copies, &places.block, &places.inside})
    step_past(*path, place, past_copy);
  return result;
}

}  // namespace

Scop pack_reads(const Scop& scop, CpuCluster& cluster) {
  auto result = scop;
  auto& places = cluster.places;
  for (auto* place : {&places.start, &places.copies, &places.block})
    for (const auto& choice : cluster.state.mapping.packed)
      if (&place_of(choice, places) == place) result = add_copy(result, cluster, choice);
  return result;
}

}  // namespace tc::polyhedral
