#include "tc/polyhedral/core/indirect_reads.h"

#include <algorithm>

#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {
namespace {

/// Does iterator \p i of \p statement decide on one of the iterators \p of_source of its source?
bool decides(const Statement& statement, int i, const std::vector<int>& of_source) {
  return std::any_of(of_source.begin(), of_source.end(), [&](int j) {
    if (statement.origin.is_null()) return i == j;
    auto value = statement.origin.at(j);
    return isl_aff_involves_dims(value.get(), isl_dim_in, static_cast<unsigned>(i), 1) == isl_bool_true;
  });
}

/// The first of the reads that read number \p read of \p statement makes: those in its subscripts, then itself.
int first_read(const Statement& statement, int read) {
  const auto& access = statement.reads.at(static_cast<std::size_t>(read));
  return access.indirection ? read - access.indirection->subscript_reads : read;
}

/// { S[i] -> [x] }: the values that subscript number \p dimension of \p access may have.
isl::map index_of(const Access& access, int dimension) {
  auto index = access.relation;
  auto count = static_cast<unsigned>(isl_map_dim(index.get(), isl_dim_out));
  auto first = static_cast<unsigned>(dimension);
  index = call(index.ctx(), isl_map_project_out, index.copy(), isl_dim_out, first + 1, count - first - 1);
  return call(index.ctx(), isl_map_project_out, index.copy(), isl_dim_out, 0u, first);
}

}  // namespace

std::optional<std::vector<int>> element_iterators(const Statement& statement, int read) {
  const auto& access = statement.reads.at(static_cast<std::size_t>(read));
  std::vector<int> result;
  if (!access.exact && !access.indirection) return std::nullopt;
  for (int i = 0; i < dimensions(statement.domain); ++i) {
    bool moves = access.exact ? isl_pw_multi_aff_involves_dims(access.function.get(), isl_dim_in,
                                                               static_cast<unsigned>(i), 1) == isl_bool_true
                              : decides(statement, i, access.indirection->iterators);
    if (moves) result.push_back(i);
  }
  return result;
}

bool is_subscript(const Statement& statement, int read) {
  for (int other = read + 1; other < static_cast<int>(statement.reads.size()); ++other)
    if (first_read(statement, other) <= read) return true;
  return false;
}

std::vector<std::string> tensors_of(const Statement& statement, int read) {
  std::vector<std::string> result;
  for (int r = first_read(statement, read); r <= read; ++r)
    result.push_back(range_name(statement.reads.at(static_cast<std::size_t>(r)).relation));
  return result;
}

bool is_told(const Access& access, int dimension) {
  return access.exact || index_of(access, dimension).is_single_valued();
}

std::optional<isl::aff> affine_subscript(const Access& access, int dimension) {
  if (access.exact) {
    auto function = access.function.at(dimension);
    return function.isa_aff() ? std::optional(function.as_aff()) : std::nullopt;
  }
  auto index = index_of(access, dimension);
  if (!index.is_single_valued()) return std::nullopt;
  auto function = index.as_pw_multi_aff().gist(index.domain());
  if (!function.isa_multi_aff()) return std::nullopt;
  auto result = function.as_multi_aff().at(0);
  if (isl_aff_dim(result.get(), isl_dim_div) > 0) return std::nullopt;
  return result;
}

std::int64_t known_stride(const Scop& scop, const Access& access, int iterator) {
  if (access.exact) return stride(scop, access, iterator);
  const auto& tensor = scop.tensor(range_name(access.relation));
  std::int64_t result = 0;
  for (std::size_t d = 0; d < tensor.extent.size(); ++d) {
    auto index = affine_subscript(access, static_cast<int>(d));
    if (!index) continue;
    auto factor = call(scop.ctx(), isl_aff_get_coefficient_val, index->get(), isl_dim_in, iterator);
    if (!factor.is_int()) return unknown_stride;
    result += factor.num_si() * tensor.strides[d];
  }
  return result;
}

void move_indirect_read(const Statement& reader, int read, const isl::map& instances, const isl::multi_aff& like,
                        Statement& copy) {
  const auto& moved = reader.reads.at(static_cast<std::size_t>(read));
  auto served = instances.intersect_domain(moved.relation.domain()).reverse();
  copy.domain = served.domain().coalesce();
  copy.source = reader.source;
  copy.origin = reader.origin.is_null() ? like : reader.origin.pullback(like);
  copy.source_read = read;
  for (int r = first_read(reader, read); r <= read; ++r) {
    auto access = reader.reads.at(static_cast<std::size_t>(r));
    access.relation = served.apply_range(access.relation).coalesce();
    if (access.exact) access.function = access.function.pullback(like.to_pw_multi_aff());
    copy.reads.push_back(access);
  }
}

void read_copy(Statement& statement, int read, const Access& access) {
  auto& moved = statement.reads.at(static_cast<std::size_t>(read));
  auto happens = moved.relation.domain();
  for (int r = first_read(statement, read); r < read; ++r) {
    auto& relation = statement.reads.at(static_cast<std::size_t>(r)).relation;
    relation = relation.subtract(relation);
  }
  auto indirection = moved.indirection;
  moved = access;
  moved.relation = moved.relation.intersect_domain(happens);
  moved.indirection = indirection;
}

}  // namespace tc::polyhedral
