#include "tc/strategy/cost/vector_cost.h"

#include <algorithm>
#include <cstdlib>

#include "tc/base/ceil_div.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/strategy/cost/cache_sets.h"
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

/// Does a condition on \p iterator keep \p access from happening, as the zeros around an image do?
bool is_guarded_along(const Statement& statement, const Access& access, int iterator) {
  auto dim = static_cast<unsigned>(iterator);
  isl::set happens = access.relation.domain();
  isl::set anywhere =
      polyhedral::call(happens.ctx(), isl_set_drop_constraints_involving_dims, happens.copy(), isl_dim_set, dim, 1u);
  return !anywhere.intersect(statement.domain).is_subset(happens);
}

/// What it adds to a contiguous vector that a condition masks lanes. Measured on a Zen 5: along rows of an image of 56x56
/// or 14x14, a 3x3 convolution of 64 or 256 channels takes 4.0 and 1.8 times as long with zeros around the image as
/// without.
constexpr double masked_cost = 5;

/// An element of a vector that is scattered, in scalar writes: each goes to a line of its own.
constexpr double apart_scatter_cost = 4;

/// The same where the lines of a tile share so few sets of the first cache that they wait for one another, from the
/// second cache and from farther away. Measured on a Zen 5: 15 to 18 cycles an element where a tile's reduction leaves
/// the lines in the second cache (images of 32x32; 64x1024x1024), 140 to 210 where it does not (128x1024x4096,
/// 128x16384x4096); a scalar write takes half a cycle.
constexpr double near_colliding_cost = 36, far_colliding_cost = 300;

/// Vectors of a register tile that are scattered together, at least and often.
constexpr std::int64_t fewest_scattered = 2, scattered_vectors = 4;

/// A vector of a packed copy: read from far, transposed and written once.
constexpr double copy_cost = 16;

/// What it takes to combine the lanes of a reduction, once.
constexpr double combine_cost = 8;

/// The cost of read number \p index: of its copy, where that is cheaper.
double read_cost(const Scop& scop, const Statement& statement, std::size_t index, int iterator, int lanes,
                 const CopiedReads& copies) {
  auto cost = access_cost(scop, statement, statement.reads[index], iterator, lanes);
  bool contiguous = polyhedral::stride(scop, statement.reads[index], iterator) == 1;
  if (contiguous && is_guarded_along(statement, statement.reads[index], iterator)) cost += masked_cost;
  bool copied = index < copies.uses.size() && copies.uses[index] > 1 && cost > 1;
  return copied ? std::min(cost, 1 + copy_cost / static_cast<double>(copies.uses[index])) : cost;
}

/// Do \p lines lines, \p stride bytes apart, not fit the sets of the first cache that they fall in?
bool lines_collide(std::int64_t stride, std::int64_t lines, const Target& target) {
  auto ways = static_cast<double>(target.l1_bytes) / l1_way_bytes;
  const LineStep rows{static_cast<double>(stride), static_cast<double>(lines)};
  return lines_of_a_set({&rows, 1}, l1_way_bytes) > ways;
}

double scatter_cost(const Scop& scop, const Statement& statement, int iterator, int lanes, const Target& target,
                    std::int64_t reduced) {
  auto stride = polyhedral::stride(scop, statement.write, iterator);
  if (stride == polyhedral::unknown_stride) return apart_scatter_cost;
  auto lines = std::min(polyhedral::box(statement.domain)[iterator].extent(), fewest_scattered * lanes);
  std::int64_t bytes = byte_size(element_type(scop, statement.write));
  if (!lines_collide(count_product(std::abs(stride), bytes), lines, target)) return apart_scatter_cost;
  auto read_by_a_tile = count_product(reduced, scattered_vectors * lanes * bytes);
  return read_by_a_tile > target.l2_bytes / 2 ? far_colliding_cost : near_colliding_cost;
}

/// What the write costs per vector: an accumulator is read too, as is what a scatter goes around.
double write_cost(const Scop& scop, const Statement& statement, int iterator, int lanes, const Target& target,
                  const CopiedReads& copies) {
  double once = access_cost(scop, statement, statement.write, iterator, lanes);
  bool scattered = once >= lanes;
  if (scattered && copies.reduced > 1) once *= scatter_cost(scop, statement, iterator, lanes, target, copies.reduced);
  if (scattered || statement.accumulates) once *= 2;
  return once / static_cast<double>(copies.reduced);
}

/// Accesses of one instance of \p statement when \p iterator runs along \p lanes.
double vector_cost(const Scop& scop, const Statement& statement, int iterator, std::int64_t extent, int lanes,
                   const Target& target, const CopiedReads& copies) {
  bool reduced = statement.accumulates && polyhedral::stride(scop, statement.write, iterator) == 0;
  double vector = write_cost(scop, statement, iterator, lanes, target, copies);
  for (std::size_t i = 0; i < statement.reads.size(); ++i)
    vector += read_cost(scop, statement, i, iterator, lanes, copies);
  auto vectors = ceil_div(extent, lanes);
  return (vector * static_cast<double>(vectors) + (reduced ? combine_cost : 0)) / static_cast<double>(extent);
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

VectorChoice best_vector(const Scop& scop, const Statement& statement, const std::vector<int>& candidates,
                         const Target& target, const CopiedReads& copies) {
  auto accesses = 1.0 + statement.accumulates + static_cast<double>(statement.reads.size());
  VectorChoice best{-1, 0, accesses};
  auto box = polyhedral::box(statement.domain);
  for (int iterator : candidates) {
    auto extent = box[iterator].extent();
    if (extent < 2) continue;
    auto full = vector_lanes(scop, statement, target, iterator);
    auto lanes = lanes_for(extent, full);
    auto cost = vector_cost(scop, statement, iterator, extent, lanes, target, copies);
    if (cost < best.cost || (best.iterator >= 0 && cost <= best.cost)) best = {iterator, lanes, cost};
  }
  return best;
}

}  // namespace tc::strategy
