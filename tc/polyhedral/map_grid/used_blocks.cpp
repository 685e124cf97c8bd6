#include "tc/polyhedral/map_grid/used_blocks.h"

#include <algorithm>
#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/constraints.h"

namespace tc::polyhedral {
namespace {

/// [sizes] -> { [block] }: coordinate \p dimension of the blocks that run instances of \p kernel.
isl::set blocks_of(const GridKernel& kernel, int dimension) {
  const auto& scop = kernel.scop;
  auto result = isl::set(scop.ctx(), "{ [b] : false }");
  const auto blocks = kernel.where.blocks.at(dimension);
  scop.domain().intersect_params(parameter_bounds(scop)).foreach_set([&](const isl::set& set) {
    auto own = set;
    for (int p = isl_set_dim(own.get(), isl_dim_param); p-- > 0;) {
      const auto position = static_cast<unsigned>(p);
      if (!is_size_parameter(isl_set_get_dim_name(own.get(), isl_dim_param, position)))
        own = call(own.ctx(), isl_set_project_out, own.release(), isl_dim_param, position, 1u);
    }
    auto map = call(set.ctx(), isl_union_map_from_union_pw_aff, blocks.copy());
    auto range = map.intersect_domain(own.to_union_set()).range();
    if (range.is_empty()) return;
    result = result.unite(call(set.ctx(), isl_set_reset_tuple_id, range.as_set().release()));
  });
  return call(scop.ctx(), isl_set_remove_divs, result.coalesce().release()).coalesce();
}

/// What \p constraint of [sizes] -> { [block] } says of how many blocks there are, at most; nothing if it does not.
std::optional<RunExtent::Term> term_of(const Constraint& constraint, const isl::basic_set& set,
                                       const std::vector<std::string>& sizes) {
  const auto factor = constraint.factors.at(0);
  if (factor == 0 || (factor > 0 && !constraint.equality)) return std::nullopt;
  const std::int64_t sign = factor > 0 ? -1 : 1;
  RunExtent::Term term;
  term.divisor = factor > 0 ? factor : -factor;
  term.constant = sign * constraint.constant + term.divisor;
  term.factors.resize(sizes.size());
  const int parameters = isl_basic_set_dim(set.get(), isl_dim_param);
  const auto before = constraint.factors.size() - static_cast<std::size_t>(parameters);
  for (std::size_t i = 1; i < before; ++i)
    if (constraint.factors[i] != 0) return std::nullopt;
  for (int p = 0; p < parameters; ++p) {
    const auto own = constraint.factors.at(before + static_cast<std::size_t>(p));
    if (own == 0) continue;
    const std::string name = isl_basic_set_get_dim_name(set.get(), isl_dim_param, static_cast<unsigned>(p));
    const auto found = std::find(sizes.begin(), sizes.end(), name);
    if (found == sizes.end()) return std::nullopt;
    term.factors[static_cast<std::size_t>(found - sizes.begin())] = sign * own;
  }
  return term;
}

bool depends_on_sizes(const RunExtent::Term& term) {
  return std::any_of(term.factors.begin(), term.factors.end(), [](std::int64_t factor) { return factor != 0; });
}

RunExtent used_along(const GridKernel& kernel, int dimension, const std::vector<std::string>& sizes) {
  RunExtent result;
  bool depends = false;
  blocks_of(kernel, dimension).foreach_basic_set([&](const isl::basic_set& set) {
    auto& part = result.parts.emplace_back();
    for (const auto& constraint : constraints(set))
      if (auto term = term_of(constraint, set, sizes)) part.push_back(std::move(*term));
    depends = depends || std::any_of(part.begin(), part.end(), depends_on_sizes);
  });
  const bool unbounded = std::any_of(result.parts.begin(), result.parts.end(), [](auto& part) { return part.empty(); });
  return depends && !unbounded ? result : RunExtent();
}

/// [sizes] -> { [block] : block < extent }
std::string text_of(const RunExtent& extent, const std::vector<std::string>& sizes) {
  std::vector<std::string> parts;
  for (const auto& part : extent.parts) {
    std::vector<std::string> terms;
    for (const auto& term : part) {
      auto sum = std::to_string(term.constant);
      for (std::size_t i = 0; i < term.factors.size(); ++i) sum += str(" + ", term.factors[i], " * ", sizes[i]);
      terms.push_back(str(term.divisor, " * b + ", term.divisor, " <= ", sum));
    }
    parts.push_back(str("(", join(terms, " and "), ")"));
  }
  return str("[", join(sizes), "] -> { [b] : b = 0 or ", join(parts, " or "), " }");
}

}  // namespace

std::array<RunExtent, 3> used_blocks(const GridKernel& kernel, const std::vector<std::string>& sizes) {
  std::array<RunExtent, 3> result;
  if (kernel.scop.sizes.is_null()) return result;
  for (int d = 0; d < 3; ++d)
    if (kernel.grid[static_cast<std::size_t>(d)] > 1)
      result[static_cast<std::size_t>(d)] = used_along(kernel, d, sizes);
  return result;
}

void verify_used_blocks(const GridKernel& kernel, const std::vector<std::string>& sizes,
                        const std::array<RunExtent, 3>& used) {
  for (int d = 0; d < 3; ++d) {
    const auto& extent = used[static_cast<std::size_t>(d)];
    if (extent.is_fixed()) continue;
    auto left_out = blocks_of(kernel, d).subtract(isl::set(kernel.scop.ctx(), text_of(extent, sizes)));
    if (!left_out.is_empty())
      throw InternalError(str("law 'grids' is broken: ", block_name(d), " of ", left_out.sample_point(),
                              " has instances and is not launched"));
  }
}

}  // namespace tc::polyhedral
