#include "tc/engine/parts/spread_rows.h"

#include <algorithm>

#include "tc/strategy/cost/cache_sets.h"

namespace tc::engine {
TensorSpec spread_rows(const TensorSpec& dense, const Target& target) {
  auto result = dense;
  const std::int64_t size = byte_size(dense.dtype), ways = target.l1_bytes / strategy::l1_way_bytes;
  std::int64_t stride = 1;
  for (auto d = dense.shape.size(); d-- > 0;) {
    if (dense.shape[d] > ways && stride * size % strategy::l1_way_bytes == 0) stride += Target::cache_line / size;
    result.strides[d] = stride;
    stride *= std::max<std::int64_t>(dense.shape[d], 1);
  }
  return result;
}

std::map<std::size_t, TensorSpec> spread_tensors(const graph::Graph& graph, const std::vector<graph::Part>& parts,
                                                 const std::set<std::size_t>& apart, const Target& target) {
  std::map<std::size_t, TensorSpec> result;
  for (const auto& part : parts) {
    if (std::none_of(part.nodes.begin(), part.nodes.end(), [&](auto n) { return reduces(graph.nodes[n]); })) continue;
    for (const auto* list : {&part.inputs, &part.outputs})
      for (auto t : *list) {
        const auto& tensor = graph.tensors[t];
        if (tensor.role != lang::Role::Temporary || !tensor.producer || apart.count(*tensor.producer)) continue;
        auto spread = spread_rows(tensor.spec, target);
        if (spread != tensor.spec) result.emplace(t, std::move(spread));
      }
  }
  return result;
}

}  // namespace tc::engine
