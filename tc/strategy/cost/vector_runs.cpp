#include "tc/strategy/cost/vector_runs.h"

#include <algorithm>
#include <optional>

#include "tc/base/dtype.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::Interval;
using polyhedral::Scop;
using polyhedral::Tensor;

std::optional<std::int64_t> integer(const isl::val& value) {
  if (!value.is_int()) return std::nullopt;
  return value.num_si();
}

/// The coefficient of iterator \p i.
std::optional<std::int64_t> coefficient(const isl::aff& function, int i) {
  return integer(polyhedral::call(function.ctx(), isl_aff_get_coefficient_val, function.get(), isl_dim_in, i));
}

/// The value of \p function at the lower corner of \p box.
std::optional<std::int64_t> at_corner(const isl::aff& function, const std::vector<Interval>& box) {
  auto result = integer(polyhedral::call(function.ctx(), isl_aff_get_constant_val, function.get()));
  for (std::size_t i = 0; result && i < box.size(); ++i) {
    auto factor = coefficient(function, static_cast<int>(i));
    result = factor ? std::optional(*result + *factor * box[i].min) : std::nullopt;
  }
  return result;
}

/// Is subscript \p d of \p access the remainder of \p iterator by a multiple of \p run?
bool begins_blocks(const Access& access, int d, int iterator, std::int64_t run) {
  if (access.function.is_null() || !access.function.isa_multi_aff()) return false;
  auto subscript = access.function.as_multi_aff().at(d);
  auto blocks = polyhedral::blocked_stride(subscript, iterator);
  bool is_remainder = blocks && blocks->inside == 1 && blocks->between == 0 && blocks->size % run == 0;
  return is_remainder && polyhedral::call(subscript.ctx(), isl_aff_get_constant_val, subscript.get()).is_zero() &&
         polyhedral::only_iterator(isl::union_pw_aff(subscript), access.relation.domain()) == iterator;
}

bool is_aligned(const Scop& scop, const std::vector<Interval>& box, const Access& access, int iterator,
                std::int64_t run) {
  const auto& tensor = scop.tensor(polyhedral::range_name(access.relation));
  if (!tensor.aligned && run > 1) return false;
  std::int64_t corner = 0;
  for (std::size_t d = 0; d < tensor.extent.size(); ++d) {
    const bool is_told = d < tensor.stride_variables.size() && !tensor.stride_variables[d].empty();
    if (is_told && tensor.extent[d] > 1 && run > 1) return false;
    if (tensor.strides[d] % run == 0) continue;
    if (begins_blocks(access, static_cast<int>(d), iterator, run)) continue;
    auto index = polyhedral::affine_subscript(access, static_cast<int>(d));
    auto first = index ? at_corner(*index, box) : std::nullopt;
    if (!first) return false;
    corner += (*first - tensor.min[d]) * tensor.strides[d];
    for (std::size_t i = 0; i < box.size(); ++i) {
      bool moves = static_cast<int>(i) != iterator && box[i].extent() > 1;
      if (moves && *coefficient(*index, static_cast<int>(i)) * tensor.strides[d] % run != 0) return false;
    }
  }
  return corner % run == 0;
}

}  // namespace

bool is_aligned(const Scop& scop, const polyhedral::Statement& statement, const Access& access, int iterator,
                std::int64_t run) {
  return is_aligned(scop, polyhedral::box(statement.domain), access, iterator, run);
}

int aligned_run(const Scop& scop, const std::vector<Interval>& box, const Access& access, int iterator, int most) {
  int result = most;
  while (result > 1 && !is_aligned(scop, box, access, iterator, result)) result /= 2;
  return result;
}

std::int64_t vector_run(const Scop& scop, const polyhedral::Statement& statement, int iterator) {
  std::int64_t widest = 1;
  for (const auto* access : polyhedral::accesses(statement)) {
    auto moved = polyhedral::known_stride(scop, *access, iterator);
    if ((moved != 0 && moved != 1) || !statement.domain.is_subset(access->relation.domain())) return 1;
    if (moved == 1)
      widest = std::max<std::int64_t>(widest, byte_size(scop.tensor(polyhedral::range_name(access->relation)).type));
  }
  auto run = widest_access / widest;
  for (const auto* access : polyhedral::accesses(statement))
    if (polyhedral::known_stride(scop, *access, iterator) == 1 && !is_aligned(scop, statement, *access, iterator, run))
      return 1;
  return run;
}

std::int64_t access_run(const Scop& scop, const polyhedral::Statement& statement, const Access& access, int iterator) {
  auto run = widest_access / byte_size(scop.tensor(polyhedral::range_name(access.relation)).type);
  return polyhedral::known_stride(scop, access, iterator) == 1 && is_aligned(scop, statement, access, iterator, run)
             ? run
             : 1;
}

}  // namespace tc::strategy
