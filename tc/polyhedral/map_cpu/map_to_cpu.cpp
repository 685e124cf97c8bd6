#include "tc/polyhedral/map_cpu/map_to_cpu.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/contract.h"
#include "tc/polyhedral/map/privatise_reduction.h"
#include "tc/polyhedral/map/stage_tensor.h"
#include "tc/polyhedral/map_cpu/mark_parallel.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/polyhedral/map_cpu/tile_cluster.h"
#include "tc/polyhedral/map_cpu/vectorise.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {
namespace {

/// Does \p choice run a reduction of its statement along lanes?
bool reduces(const Scop& scop, const StatementMapping& choice) {
  if (choice.iterator < 0) return false;
  const auto& statement = scop.statement(choice.id);
  if (!statement.accumulates) return false;
  for (int kept : kept_dimensions(statement))
    if (kept == choice.iterator) return false;
  return true;
}

/// Rewrites the program of one cluster, its loops unchanged: lanes for reductions, temporaries for staged tensors.
Scop rewrite(const Scop& scop, const ClusterView& cluster, ClusterMapping& mapping) {
  auto result = scop;
  auto chosen = mapping.statements;
  for (const auto& choice : chosen)
    if (reduces(result, choice)) result = privatise_reduction(result, cluster.path, choice, mapping);
  auto staged = mapping.staged;
  if (mapping.reduction.iterator >= 0) result = block_reduction(result, cluster.path, mapping);
  for (const auto& tensor : staged) result = stage_tensor(result, cluster.path, tensor, mapping);
  return result;
}

/// The steps of one cluster's packed copies: which loops are above them, and where they go.
class Packs {
 public:
  Packs(const ClusterView& cluster, ClusterMapping& mapping, TiledCluster& tiled)
      : cluster_(cluster), mapping_(mapping), tiled_(tiled), start_(cluster.path) {}

  /// Makes the copies, from the outermost on. The paths then lead past them.
  Scop run(const Scop& scop) {
    auto result = scop;
    auto packed = mapping_.packed;
    for (auto* place : {&start_, &tiled_.copies, &tiled_.block})
      for (const auto& choice : packed)
        if (&place_of(choice) == place) result = add(result, choice);
    return result;
  }

  /// The bands whose first loop threads run: of the copies that are made once, and of the cluster.
  std::vector<std::vector<int>> outermost() const {
    auto result = copied_once_;
    result.push_back(start_);
    return result;
  }

 private:
  std::vector<int>& place_of(const PackMapping& choice) {
    return choice.once ? start_ : choice.below_blocks ? tiled_.block : tiled_.copies;
  }

  Scop add(const Scop& scop, const PackMapping& choice) {
    auto place = place_of(choice);
    auto mapping = mapping_;
    auto result = pack(scop, place, choice, fixed_loops(choice), mapping);
    auto temporary = result.tensors.back().name;
    result = contract(result, place, place, mapping, {temporary}, 0);
    if (result.tensors.back().storage != Tensor::Storage::Local) return scop;
    mapping_ = mapping;
    auto past_copy = way_past_copy(result, place);
    if (choice.once) copied_once_.push_back(band_of_copy(place, past_copy));
    for (auto* path : {&start_, &tiled_.first, &tiled_.copies, &tiled_.block, &tiled_.inside})
      step_past(*path, place, past_copy);
    return result;
  }

  /// From \p place down through the marks there to what follows the copy in the sequence below them.
  static std::vector<int> way_past_copy(const Scop& scop, const std::vector<int>& place) {
    std::vector<int> result;
    for (auto node = node_at(scop.schedule, place); node.isa<isl::schedule_node_mark>(); node = node.child(0))
      result.push_back(0);
    result.insert(result.end(), {1, 0});
    return result;
  }
  static void step_past(std::vector<int>& path, const std::vector<int>& place, const std::vector<int>& way) {
    if (path.size() < place.size() || !std::equal(place.begin(), place.end(), path.begin())) return;
    path.insert(path.begin() + static_cast<long>(place.size()), way.begin(), way.end());
  }

  static std::vector<int> band_of_copy(std::vector<int> place, const std::vector<int>& past_copy) {
    place.insert(place.end(), past_copy.begin(), past_copy.end());
    place.end()[-2] = 0;
    return place;
  }

  const ClusterStatement& reader(const PackMapping& choice) const {
    for (const auto& entry : cluster_.statements)
      if (entry.id == choice.statement) return entry;
    throw InternalError(str("no statement '", choice.statement, "' in the cluster whose read is packed"));
  }

  std::vector<FixedLoop> fixed_loops(const PackMapping& choice) const {
    std::vector<FixedLoop> result;
    if (choice.once) return result;
    const auto& outer = reader(choice).outer;
    for (std::size_t i = 0; i < mapping_.members.size(); ++i) {
      const auto& size = mapping_.members[i];
      int member = static_cast<int>(i);
      bool blocked = size.block > 0 && size.block < cluster_.members[i].extent();
      auto loops = (member == mapping_.outermost) + std::count(mapping_.above.begin(), mapping_.above.end(), member);
      if (loops == 0 && choice.below_blocks && blocked) loops = 1;
      if (outer[i] >= 0 && loops > 0) result.push_back({outer[i], blocked && loops == 1 ? size.block : size.points});
    }
    if (mapping_.reduction.iterator >= 0 && mapping_.reduction.statement == choice.statement)
      result.push_back({mapping_.reduction.iterator, mapping_.reduction.size});
    return result;
  }

  const ClusterView& cluster_;
  ClusterMapping& mapping_;
  TiledCluster& tiled_;
  std::vector<int> start_;                     ///< the outermost loop
  std::vector<std::vector<int>> copied_once_;  ///< the loops of copies above it
};

/// Where the buffers of a tile are allocated: outside the loops that isl may cut into several, inside those that run in
/// parallel, past the packed copies.
const std::vector<int>& buffers_at(const TiledCluster& tiled, const ClusterMapping& mapping) {
  bool below_blocks = false, any = mapping.reduction.iterator >= 0;
  for (const auto& pack : mapping.packed) (pack.below_blocks ? below_blocks : any) = true;
  return below_blocks ? tiled.block : any ? tiled.copies : tiled.first;
}

}  // namespace

Scop map_cluster_to_cpu(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping,
                        std::int64_t buffer_bytes) {
  auto choice = mapping;
  auto result = rewrite(scop, cluster, choice);
  auto tiled = tile_cluster(result, cluster, choice);
  result.schedule = tiled.schedule;
  bool has_outermost = tiled.first != cluster.path;
  Packs packs(cluster, choice, tiled);
  result = packs.run(result);
  result = contract(result, tiled.inside, buffers_at(tiled, choice), choice, choice.staged, buffer_bytes);
  result = vectorise(result, cluster.path, choice);
  if (!choice.parallel || !has_outermost) return result;
  for (const auto& band : packs.outermost()) result.schedule = mark_parallel(result.schedule, band);
  return result;
}

Scop map_to_cpu(const Scop& scop, const Mapping& mapping) {
  auto result = scop;
  result.schedule = gather_coincident(result);
  auto clusters = cluster_views(result);
  for (std::size_t i = 0; i < clusters.size() && i < mapping.clusters.size(); ++i)
    result = map_cluster_to_cpu(result, clusters[i], mapping.clusters[i], mapping.buffer_bytes);
  return result;
}

}  // namespace tc::polyhedral
