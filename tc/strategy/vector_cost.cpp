#include "tc/strategy/vector_cost.h"

#include <algorithm>
#include <cstdlib>

#include "tc/polyhedral/cluster_view.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::Scop;
using polyhedral::Statement;

/// What \p access costs per vector of \p lanes along \p iterator, in scalar accesses.
double access_cost(const Scop& scop, const Access& access, int iterator, int lanes) {
  auto stride = polyhedral::stride(scop, access, iterator);
  if (stride == 0) return 0.25;
  if (stride == 1) return 1;
  if (stride == -1) return 2;
  return lanes;
}

/// What it takes to combine the lanes of a reduction, once.
constexpr double combine_cost = 8;

/// Accesses of one instance of \p statement when \p iterator runs along \p lanes.
double vector_cost(const Scop& scop, const Statement& statement, int iterator, std::int64_t extent, int lanes) {
  double write = access_cost(scop, statement.write, iterator, lanes);
  bool reduced = statement.accumulates && polyhedral::stride(scop, statement.write, iterator) == 0;
  double vector = write * (statement.accumulates || write >= lanes ? 2 : 1);
  for (const auto& read : statement.reads) vector += access_cost(scop, read, iterator, lanes);
  auto vectors = (extent + lanes - 1) / lanes;
  return (vector * static_cast<double>(vectors) + (reduced ? combine_cost : 0)) / static_cast<double>(extent);
}

int power_of_two_from(std::int64_t value) {
  int result = 1;
  while (result < value) result *= 2;
  return result;
}

int element_bytes(const Scop& scop, const Access& access) {
  auto relation = access.relation;
  auto type = scop.tensor(polyhedral::range_name(relation)).type;
  return byte_size(compute_type(type));
}

}  // namespace

int vector_lanes(const Scop& scop, const Statement& statement, const Target& target) {
  int bytes = element_bytes(scop, statement.write);
  for (const auto& read : statement.reads) bytes = std::max(bytes, element_bytes(scop, read));
  return std::max(1, target.vector_bytes() / bytes);
}

VectorChoice best_vector(const Scop& scop, const Statement& statement, const std::vector<int>& candidates,
                         const Target& target) {
  auto accesses = 1.0 + statement.accumulates + static_cast<double>(statement.reads.size());
  VectorChoice best{-1, 0, accesses};
  auto full = vector_lanes(scop, statement, target);
  auto box = polyhedral::box(statement.domain);
  for (int iterator : candidates) {
    auto extent = box[iterator].extent();
    if (extent < 2) continue;
    auto lanes = static_cast<int>(std::min<std::int64_t>(full, power_of_two_from(extent)));
    auto cost = vector_cost(scop, statement, iterator, extent, lanes);
    if (cost < best.cost || (best.iterator >= 0 && cost <= best.cost)) best = {iterator, lanes, cost};
  }
  return best;
}

}  // namespace tc::strategy
