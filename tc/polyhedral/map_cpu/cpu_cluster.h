#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map/cluster_state.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_space.h"

namespace tc::polyhedral {

/// Paths to the nodes of a tiled cluster. Its bands hold the loops of the nest's trunk, one after the other.
struct TilePlaces {
  std::vector<std::vector<int>> below;  ///< below so many bands, from the first node of the cluster on
  std::vector<std::size_t> bands;       ///< for each step of the trunk, and behind the last: the bands above it

  std::vector<int>& start() { return below.front(); }
  const std::vector<int>& start() const { return below.front(); }
  const std::vector<int>& inside() const { return below.back(); }
  /// Where step \p step of the trunk stands.
  std::vector<int>& at(std::size_t step) { return below.at(bands.at(step)); }
  const std::vector<int>& at(std::size_t step) const { return below.at(bands.at(step)); }
};

/// A cluster on its way through the passes that realise its nest on cores and vectors (cpu_passes.h). Each adds what later passes
/// need; other clusters of the scop may be further or not.
struct CpuCluster {
  /// Of \p cluster, whose nests have the space \p space, with temporaries of up to \p bytes that one tile keeps in local
  /// buffers.
  CpuCluster(ClusterView cluster, NestSpace space, Nest nest, std::int64_t bytes);

  ClusterView view;
  NestSpace space;
  Nest nest;
  ClusterState state;  ///< how its statements run, as the nest says
  std::int64_t buffer_bytes = 0;
  TilePlaces places;                          ///< tile_cluster; pack moves them past its copies
  std::vector<std::vector<int>> copied_once;  ///< pack: the loops of copies that stand above the outermost loop
};

/// How the statements of all \p clusters run.
ClusterState joined_state(const std::vector<CpuCluster*>& clusters);
/// Says to \p cluster that \p count nodes were inserted above the node at \p place.
void move_below(CpuCluster& cluster, const std::vector<int>& place, std::size_t count);

}  // namespace tc::polyhedral
