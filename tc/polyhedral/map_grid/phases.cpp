#include "tc/polyhedral/map_grid/phases.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/broken_law.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::polyhedral {
namespace {

/// Which blocks of a phase touch which memory, and which write it: { element -> [number of the block] }.
struct Touched {
  isl::union_map all, written;
};

/// { instance -> [number of its block, x fastest] }
isl::union_map block_numbers(const GridKernel& kernel) {
  auto number = kernel.where.blocks.at(0);
  auto weight = kernel.grid[0];
  for (int i = 1; i < 3; weight *= kernel.grid[i++]) {
    auto part = call(number.ctx(), isl_union_pw_aff_scale_val, kernel.where.blocks.at(i).release(),
                     isl::val(number.ctx(), weight).release());
    number = call(number.ctx(), isl_union_pw_aff_add, number.copy(), part.copy());
  }
  return call(number.ctx(), isl_union_map_from_union_pw_aff, number.copy());
}

Touched touched(const GridKernel& kernel) {
  const auto& scop = kernel.scop;
  auto nothing = isl::union_map::empty(scop.ctx());
  auto numbers = block_numbers(kernel);
  auto by_block = [&](const Statement& statement, const Access& access) {
    return memory_of_grid(scop, statement, access).reverse().apply_range(numbers);
  };
  Touched result{nothing, nothing};
  for (const auto& statement : scop.statements) {
    result.written = result.written.unite(by_block(statement, statement.write));
    for (const auto& read : statement.reads) result.all = result.all.unite(by_block(statement, read));
  }
  result.all = result.all.unite(result.written);
  return result;
}

/// The pairs of blocks { of the one phase -> of the other } that touch one element, at least one of them writing.
isl::union_map conflict(const Touched& a, const Touched& b) {
  auto pairs = a.written.reverse().apply_range(b.all).unite(a.all.reverse().apply_range(b.written));
  return pairs.intersect(isl::union_map(pairs.ctx(), "{ [a] -> [b] : a != b }"));
}

std::vector<Touched> touched(const std::vector<GridKernel>& kernels) {
  std::vector<Touched> result;
  for (const auto& kernel : kernels) result.push_back(touched(kernel));
  return result;
}

bool has_barrier(const std::vector<bool>& barriers, std::size_t from, std::size_t to) {
  auto at = [&](std::size_t i) { return barriers.begin() + static_cast<std::ptrdiff_t>(i); };
  return std::find(at(from), at(to), true) != at(to);
}

}  // namespace

GridKernel widen_block(const GridKernel& kernel, std::int64_t threads) {
  auto own = kernel.block[0] * kernel.block[1] * kernel.block[2];
  if (own >= threads) return kernel;
  int last = 2;
  while (last > 0 && kernel.block[last] == 1) --last;
  auto inner = own / kernel.block[last];
  auto result = kernel;
  result.block[last] = ceil_div(threads, inner);
  auto& parameters = result.scop.parameters;
  auto known =
      std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == thread_name(last); });
  auto node = kernel.scop.schedule.root().child(0);
  if (node.isa<isl::schedule_node_context>()) node = call(node.ctx(), isl_schedule_node_delete, node.copy());
  if (known != parameters.end()) {
    known->max = result.block[last] - 1;
  } else {
    parameters.push_back({thread_name(last), 0, result.block[last] - 1});
    auto first = isl::set(node.ctx(), str("[", thread_name(last), "] -> { : ", thread_name(last), " = 0 }"));
    auto instances = call(node.ctx(), isl_union_set_universe, instances_at(node).release());
    node = node.child(0).insert_filter(instances.intersect_params(first)).parent();
  }
  auto bounds = call(node.ctx(), isl_set_from_params, parameter_bounds(result.scop).release());
  result.scop.schedule = node.insert_context(bounds).schedule();
  return result;
}

std::vector<bool> grid_barriers(const std::vector<GridKernel>& kernels) {
  auto phases = touched(kernels);
  std::vector<bool> result(kernels.size(), false);
  for (std::size_t j = 1; j < phases.size(); ++j)
    for (std::size_t i = 0; i < j && !result[j - 1]; ++i)
      result[j - 1] = !has_barrier(result, i, j) && !conflict(phases[i], phases[j]).is_empty();
  return result;
}

void verify_phases(const std::vector<GridKernel>& kernels, const std::vector<bool>& barriers) {
  auto phases = touched(kernels);
  for (std::size_t j = 1; j < phases.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      if (has_barrier(barriers, i, j)) continue;
      auto both = conflict(phases[i], phases[j]);
      if (!both.is_empty())
        broken_law("phases",
                   str("no barrier of the grid separates phases ", i, " and ", j,
                       ", in which two blocks touch what one of them writes: ", first_pair(both)),
                   kernels[j].scop.schedule);
    }
}

}  // namespace tc::polyhedral
