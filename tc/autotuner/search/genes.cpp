#include "tc/autotuner/search/genes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"
#include "tc/engine/compile/compile_options.h"

namespace tc::autotuner {
namespace {

constexpr int most_tiled = 6;
constexpr std::int64_t least_tile = 4, least_reduction_block = 16, most_size = 1 << 20;
constexpr std::int64_t most_parts = 64, most_parts_of_grid = 512;
/// Results of a reduction that may have parts, on a processor, and on each multiprocessor of a GPU: more are enough work as they are.
constexpr std::int64_t few_results = 1024, few_results_of_each = 2048;

/// The greatest value of `gather_reuse`: no copies through index tensors.
constexpr std::int64_t never_reused = 1 << 20;

using Values = std::vector<std::string>;

/// What the def says about its loops, for given sizes.
struct Facts {
  Values left, all;  ///< iterators
  std::set<std::int64_t> extents, reduced;
  std::int64_t longest = 1;  ///< iterations of a reduction with few results
  int statements = 0, depth = 0;
  bool temporaries = false;
  bool windows = false;  ///< subscripts that are sums
  bool gathers = false;  ///< subscripts that are read
};

void note(Values& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// Does \p value read an element of which \p chosen picks a subscript?
template <typename Chosen>
bool has_subscript(const lang::ExprPtr& value, const Chosen& chosen) {
  bool found = false;
  lang::for_each_expr(value, [&](const lang::ExprPtr& expr) {
    if (const auto* access = std::get_if<lang::Access>(&expr->node))
      found = found || std::any_of(access->subscripts.begin(), access->subscripts.end(), chosen);
  });
  return found;
}

bool is_sum(const lang::ExprPtr& subscript) { return std::holds_alternative<lang::Binary>(subscript->node); }

bool has_reads(const lang::ExprPtr& subscript) {
  bool found = false;
  lang::for_each_expr(
      subscript, [&](const lang::ExprPtr& expr) { found = found || std::holds_alternative<lang::Access>(expr->node); });
  return found;
}

void add_statement(const lang::Assignment& assignment, const std::map<std::string, lang::Range>& ranges,
                   const lang::SizeMap& sizes, std::int64_t few, Facts& facts) {
  ++facts.statements;
  facts.depth = std::max(facts.depth, static_cast<int>(ranges.size()));
  facts.windows = facts.windows || has_subscript(assignment.rhs, is_sum);
  facts.gathers = facts.gathers || has_subscript(assignment.rhs, has_reads);
  const auto& sums = assignment.reduction_iterators;
  std::int64_t results = 1, iterations = 1;
  for (const auto& [name, range] : ranges) {
    auto extent = lang::evaluate_box({range}, sizes)[0].extent;
    bool reduced = std::find(sums.begin(), sums.end(), name) != sums.end();
    if (!reduced && extent > 1) note(facts.left, name);
    if (extent > 1) note(facts.all, name);
    facts.extents.insert(extent);
    if (reduced) facts.reduced.insert(extent);
    (reduced ? iterations : results) *= extent;
  }
  if (results <= few) facts.longest = std::max(facts.longest, iterations);
}

Facts facts_of(const engine::Function& function, const lang::SizeMap& sizes, std::int64_t few) {
  Facts facts;
  for (std::size_t i = 0; i < function.def.statements.size(); ++i)
    if (const auto* assignment = std::get_if<lang::Assignment>(&function.def.statements[i].node))
      add_statement(*assignment, function.ranges.statements[i], sizes, few, facts);
  for (const auto& [name, tensor] : function.def.tensors)
    facts.temporaries = facts.temporaries || tensor.role == lang::Role::Temporary;
  return facts;
}

/// Powers of two up to each extent and its ceilings of divisions by them, from \p least on.
Values sizes_up_to(const std::set<std::int64_t>& extents, std::int64_t least) {
  std::set<std::int64_t> sizes;
  for (auto extent : extents)
    for (std::int64_t power = 1; power < 2 * extent && power < most_size; power *= 2) {
      if (power <= extent) sizes.insert(power);
      sizes.insert(ceil_div(extent, power));
    }
  Values result;
  for (auto size : sizes)
    if (size >= least) result.push_back(str(size));
  return result;
}

/// \p from, twice as much, ..., up to \p most.
Values doubled(std::int64_t from, std::int64_t most) {
  Values result;
  for (auto value = from; value <= most; value *= 2) result.push_back(str(value));
  return result;
}

/// Collects genes; those without values are none.
class Genes {
 public:
  void add(const char* option, Values values, int position = 0) {
    if (values.empty()) return;
    values.insert(values.begin(), "");
    genes_.push_back({option, position, std::move(values)});
  }
  std::vector<Gene> take() { return std::move(genes_); }

 private:
  std::vector<Gene> genes_;
};

void add_common(const Facts& facts, Genes& genes) {
  if (facts.statements > 1) genes.add("fusion", {"max", "min"});
  if (facts.statements > 1 && facts.windows) genes.add("allow_skewing", {"1"});
  auto tiles = sizes_up_to(facts.extents, least_tile);
  tiles.insert(tiles.begin(), "0");
  for (int i = 0; i < std::min(facts.depth, most_tiled); ++i) genes.add("tile", tiles, i);
  genes.add("promote", {"0"});
}

void add_for_processor(const Facts& facts, const Target& target, Genes& genes) {
  if (facts.temporaries) genes.add("promote_bytes", {"16384", "65536", "262144", "1048576"});
  if (target.cores > 1) genes.add("parallel", {"0"});
  genes.add("vector_bytes", doubled(16, target.vector_bytes() / 2));
  if (!facts.reduced.empty()) {
    if (target.cores > 1 && facts.longest > 1)
      genes.add("reduction_parts", doubled(1, std::min(most_parts, facts.longest)));
    genes.add("register_tile", {"1", "2", "3", "4", "5", "6", "7", "8", "10", "12", "14", "16"}, 0);
    genes.add("register_tile", {"1", "2", "3", "4", "6", "8"}, 1);
    genes.add("unroll", {"1", "2", "4", "8", "16"});
    genes.add("pack", {"0"});
    genes.add("reduction_block", sizes_up_to(facts.reduced, least_reduction_block));
  }
  genes.add("prefetch", {"0"});
  genes.add("prefetch_distance", {"1", "2", "4", "8", "16"});
  if (target.cores > 1 && facts.left.size() > 1) genes.add("parallel_along", facts.left);
  if (facts.all.size() > 1) genes.add("vector_along", facts.all);
}

void add_for_gpu(const Facts& facts, const GridLimits& limits, Genes& genes) {
  genes.add("vectorise", {"0"});
  if (!facts.reduced.empty()) {
    genes.add("register_tile", {"1", "2", "4", "8", "16"}, 0);
    genes.add("register_tile", {"1", "2", "4", "8", "16"}, 1);
    genes.add("reduction_block", {"4", "8", "16", "32", "64"});
    if (facts.longest > 1) genes.add("reduction_parts", doubled(1, std::min(most_parts_of_grid, facts.longest)));
    genes.add("reduce_in_block", {"0"});
  }
  if (facts.statements > 1 || facts.longest > 1) genes.add("cooperative", {"1"});
  genes.add("block", doubled(8, limits.block_threads), 0);
  genes.add("block", doubled(1, limits.block_threads / 16), 1);
  genes.add("grid", doubled(limits.multiprocessors, 16 * limits.multiprocessors));
  genes.add("shared", {"0"});
  if (facts.gathers) genes.add("gather_reuse", {"1", "2", "4", "16", str(never_reused)});
  genes.add("registers", {"0"});
  genes.add("shared_bytes", doubled(8 << 10, limits.block_shared_bytes_requested));
  genes.add("unroll_limit", {"1", "4", "8", "16", "64", "128"});
}

}  // namespace

std::int64_t number_of(const std::string& text) {
  std::int64_t result = -1;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

std::vector<Gene> genes_of(const engine::Function& function, const std::vector<engine::Argument>& arguments,
                           const Target& target) {
  auto few = target.grid ? few_results_of_each * target.grid->multiprocessors : few_results;
  auto facts = facts_of(function, engine::bind_inputs(function, engine::specs(arguments, false)), few);
  Genes genes;
  add_common(facts, genes);
  if (target.grid)
    add_for_gpu(facts, *target.grid, genes);
  else
    add_for_processor(facts, target, genes);
  return genes.take();
}

}  // namespace tc::autotuner
