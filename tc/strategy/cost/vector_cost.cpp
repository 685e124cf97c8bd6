#include "tc/strategy/cost/vector_cost.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/strategy/cost/vector_runs.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::Scop;
using polyhedral::Statement;

DType element_type(const Scop& scop, const Access& access) {
  return scop.tensor(polyhedral::range_name(access.relation)).type;
}

int element_bytes(const Scop& scop, const Access& access) {
  return byte_size(compute_type(element_type(scop, access)));
}

/// The share of the contiguous vectors of \p lanes along \p iterator that cross from one cache line into the next:
/// those that may start anywhere do, as far as they fill a line.
double crossing_share(const Scop& scop, const Statement& statement, const Access& access, int iterator, int lanes) {
  if (is_aligned(scop, statement, access, iterator, lanes)) return 0;
  return static_cast<double>(lanes * element_bytes(scop, access)) / Target::cache_line;
}

/// What \p access costs per vector of \p lanes along \p iterator, in scalar accesses.
double access_cost(const Scop& scop, const Statement& statement, const Access& access, int iterator, int lanes) {
  auto stride = polyhedral::stride(scop, access, iterator);
  if (stride == 0) return 0.25;
  if (stride == 1) return 1 + crossing_share(scop, statement, access, iterator, lanes);
  if (stride == -1) return 2;
  return stride == polyhedral::unknown_stride
             ? static_cast<double>(lanes) / polyhedral::even_lanes(scop, access, iterator, lanes)
             : lanes;
}

/// Accesses of one instance of \p statement when \p iterator runs along \p lanes. An accumulator is read too, as is what a scatter
/// goes around.
double vector_cost(const Scop& scop, const Statement& statement, int iterator, std::int64_t extent, int lanes) {
  double write = access_cost(scop, statement, statement.write, iterator, lanes);
  double vector = write >= lanes || statement.accumulates ? 2 * write : write;
  for (const auto& read : statement.reads) vector += access_cost(scop, statement, read, iterator, lanes);
  auto vectors = ceil_div(extent, lanes);
  return vector * static_cast<double>(vectors) / static_cast<double>(extent);
}

/// The fewest lanes, a power of two up to \p most, that hold \p extent iterations; \p most where none do.
int lanes_for(std::int64_t extent, int most) {
  int result = 1;
  while (result < most && result < extent) result *= 2;
  return result;
}

/// Does \p access read an integer that is the same for all lanes along \p iterator?
bool is_fixed_integer(const Scop& scop, const Access& access, int iterator) {
  return iterator >= 0 && is_integer(element_type(scop, access)) && polyhedral::stride(scop, access, iterator) == 0;
}

}  // namespace

int vector_lanes(const Scop& scop, const Statement& statement, const Target& target, int along) {
  int bytes = element_bytes(scop, statement.write);
  for (const auto& read : statement.reads)
    if (!is_fixed_integer(scop, read, along)) bytes = std::max(bytes, element_bytes(scop, read));
  return std::max(1, target.vector_bytes() / bytes);
}

std::vector<VectorChoice> possible_vectors(const Scop& scop, const Statement& statement,
                                           const std::vector<int>& candidates, const Target& target) {
  std::vector<VectorChoice> result;
  auto box = polyhedral::box(statement.domain);
  for (int iterator : candidates) {
    auto extent = box[iterator].extent();
    if (extent < 2) continue;
    auto lanes = lanes_for(extent, vector_lanes(scop, statement, target, iterator));
    result.push_back({iterator, lanes, vector_cost(scop, statement, iterator, extent, lanes)});
  }
  return result;
}

VectorChoice best_vector(const Scop& scop, const Statement& statement, const std::vector<int>& candidates,
                         const Target& target) {
  auto accesses = 1.0 + statement.accumulates + static_cast<double>(statement.reads.size());
  VectorChoice best{-1, 0, accesses};
  for (const auto& vectors : possible_vectors(scop, statement, candidates, target))
    if (vectors.cost < best.cost || (best.iterator >= 0 && vectors.cost <= best.cost)) best = vectors;
  return best;
}

}  // namespace tc::strategy
