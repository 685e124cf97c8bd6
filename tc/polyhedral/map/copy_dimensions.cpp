#include "tc/polyhedral/map/copy_dimensions.h"

#include <algorithm>
#include <cstdlib>

#include "tc/polyhedral/core/indirect_reads.h"

namespace tc::polyhedral {
namespace {

/// A dimension for each iterator on which the element depends.
std::vector<CopyDimension> indirect_dimensions(const Statement& statement, int read) {
  std::vector<CopyDimension> result;
  auto iterators = element_iterators(statement, read);
  if (!iterators || statement.reads.at(read).relation.is_empty()) return {};
  for (int i : *iterators) result.push_back({{{i, 1}}, i});
  return result;
}

}  // namespace

std::int64_t CopyDimension::extent(const std::function<std::int64_t(int)>& tile) const {
  std::int64_t result = 1;
  for (auto [of, factor] : terms) result += std::abs(factor) * (tile(of) - 1);
  return result;
}

std::vector<CopyDimension> copy_dimensions(const Statement& statement, int read) {
  const auto& access = statement.reads.at(read);
  if (!access.exact) return indirect_dimensions(statement, read);
  if (access.function.is_null() || !access.function.isa_multi_aff() || access.relation.is_empty()) return {};
  std::vector<CopyDimension> result;
  std::vector<int> uses(static_cast<std::size_t>(dimensions(statement.domain)));
  for (const auto& index : elements(access.function.as_multi_aff().list())) {
    CopyDimension dimension;
    if (isl_aff_dim(index.get(), isl_dim_div) > 0) return {};
    for (int i = 0; i < dimensions(statement.domain); ++i) {
      auto factor = call(index.ctx(), isl_aff_get_coefficient_val, index.get(), isl_dim_in, i);
      if (!factor.is_int()) return {};
      if (factor.is_zero()) continue;
      dimension.terms.emplace_back(i, factor.num_si());
      ++uses[static_cast<std::size_t>(i)];
    }
    auto is_one = [](const auto& term) { return std::abs(term.second) == 1; };
    if (!dimension.terms.empty() && std::none_of(dimension.terms.begin(), dimension.terms.end(), is_one)) return {};
    result.push_back(dimension);
  }
  for (auto& dimension : result)
    if (dimension.terms.size() == 1 && dimension.terms[0].second == 1 &&
        uses[static_cast<std::size_t>(dimension.terms[0].first)] == 1)
      dimension.iterator = dimension.terms[0].first;
  return result;
}

}  // namespace tc::polyhedral
