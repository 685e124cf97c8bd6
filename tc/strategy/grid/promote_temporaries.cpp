#include "tc/strategy/grid/promote_temporaries.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::Scop;

/// Iterations of a thread that are unrolled, for buffers in registers.
constexpr std::int64_t most_iterations = 32;

bool touches(const Scop& scop, const ClusterView& cluster, const std::string& tensor) {
  return std::any_of(cluster.statements.begin(), cluster.statements.end(), [&](const auto& entry) {
    auto all = polyhedral::accesses(scop.statement(entry.id));
    return std::any_of(all.begin(), all.end(),
                       [&](const auto* access) { return polyhedral::touches(*access, tensor); });
  });
}

}  // namespace

std::vector<std::string> temporaries_of(const Scop& scop, const ClusterView& cluster) {
  std::vector<std::string> result;
  for (const auto& tensor : scop.tensors)
    if (tensor.storage == polyhedral::Tensor::Storage::Workspace && !tensor.live_in && !tensor.live_out &&
        touches(scop, cluster, tensor.name))
      result.push_back(tensor.name);
  return result;
}

GridClusterMapping promote_temporaries(GridClusterMapping mapping, const Scop& scop, const ClusterView& cluster,
                                       const polyhedral::MappingOptions& options) {
  if (!options.promote) return mapping;
  mapping.promoted = temporaries_of(scop, cluster);
  const auto most = options.unroll_limit > 0 ? options.unroll_limit : most_iterations;
  for (auto& statement : mapping.statements)
    for (const auto& loop : statement.loops) {
      auto whole = polyhedral::box(scop.statement(statement.id).domain).at(loop.iterator).extent();
      auto each = ceil_div(whole, mapping.block[loop.threads.dimension] * loop.threads.run);
      statement.unroll = statement.unroll || (each > 1 && each * loop.threads.run <= most);
    }
  return mapping;
}

}  // namespace tc::strategy
