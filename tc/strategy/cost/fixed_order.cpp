#include "tc/strategy/cost/fixed_order.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::Scop;
using polyhedral::Statement;

/// Vectors that hide the latency of a sum.
constexpr int most_vectors = 4;

/// Vectors along the reduction of a product from which on it pays to combine their lanes for each result: of 8, for a length of 64 lanes cost a
/// quarter of the time of attention, and for 256 a tenth of a perceptron's in large batches, which small ones gain.
constexpr int least_vectors_of_product = 8;

/// The dimension of \p tensor along which elements follow one another, whatever its extents are; -1: none.
int contiguous_dimension(const polyhedral::Tensor& tensor) {
  for (int i = static_cast<int>(tensor.strides.size()) - 1; i >= 0; --i)
    if (tensor.strides[static_cast<std::size_t>(i)] == 1) return i;
  return -1;
}

bool involves(const isl::aff& index, int iterator) {
  return isl_aff_involves_dims(index.get(), isl_dim_in, static_cast<unsigned>(iterator), 1) != isl_bool_false;
}

/// Does \p index move by one from one iteration of \p iterator to the next?
bool moves_by_one(const isl::aff& index, int iterator) {
  for (int i = 0; i < isl_aff_dim(index.get(), isl_dim_div); ++i)
    if (involves(isl::manage(isl_aff_get_div(index.get(), i)), iterator)) return false;
  return isl::manage(isl_aff_get_coefficient_val(index.get(), isl_dim_in, iterator)).is_one();
}

/// Is \p access contiguous or constant along \p iterator, by its subscripts alone?
bool is_near(const Scop& scop, const Access& access, int iterator) {
  if (!access.exact || access.function.is_null() || !access.function.isa_multi_aff()) return false;
  const auto subscripts = access.function.as_multi_aff();
  const auto contiguous = contiguous_dimension(scop.tensor(polyhedral::range_name(access.relation)));
  for (int i = 0; i < static_cast<int>(subscripts.size()); ++i) {
    const auto index = subscripts.at(i);
    if (involves(index, iterator) && (i != contiguous || !moves_by_one(index, iterator))) return false;
  }
  return true;
}

bool reads_are_near(const Scop& scop, const Statement& statement, int iterator) {
  return std::all_of(statement.reads.begin(), statement.reads.end(),
                     [&](const Access& read) { return is_near(scop, read, iterator); });
}

/// Is there a read along \p reduced that results of several iterations of \p kept share?
bool shares_operands(const Statement& statement, const std::vector<int>& kept, int reduced) {
  return std::any_of(statement.reads.begin(), statement.reads.end(), [&](const Access& read) {
    const auto depends = [&](int iterator) {
      return isl_pw_multi_aff_involves_dims(read.function.get(), isl_dim_in, static_cast<unsigned>(iterator), 1) !=
             isl_bool_false;
    };
    return depends(reduced) && !std::all_of(kept.begin(), kept.end(), depends);
  });
}

int vectors_in(std::int64_t extent, int lanes) {
  int result = 1;
  while (result < most_vectors && extent >= 2 * std::int64_t{lanes} * result) result *= 2;
  return result;
}

}  // namespace

bool has_fixed_order(const Scop& scop, const Statement& statement, const polyhedral::MappingOptions& options) {
  return options.batch_invariant && statement.accumulates &&
         is_float(scop.tensor(polyhedral::range_name(statement.write.relation)).type);
}

FixedOrder fixed_order(const Scop& scop, const Statement& statement, const Target& target) {
  const auto kept = polyhedral::kept_dimensions(statement);
  for (int iterator : kept)
    if (is_near(scop, statement.write, iterator) && reads_are_near(scop, statement, iterator)) return {};
  const auto box = polyhedral::box(statement.domain);
  for (int iterator = static_cast<int>(box.size()) - 1; iterator >= 0; --iterator) {
    const auto extent = box[static_cast<std::size_t>(iterator)].extent();
    const auto lanes = vector_lanes(scop, statement, target, iterator);
    const bool shared = shares_operands(statement, kept, iterator);
    const auto least = std::int64_t{lanes} * (shared ? least_vectors_of_product : 1);
    if (contains(kept, iterator) || extent < least || !reads_are_near(scop, statement, iterator)) continue;
    return {{iterator, lanes, 0}, shared ? 1 : vectors_in(extent, lanes)};
  }
  return {};
}

}  // namespace tc::strategy
