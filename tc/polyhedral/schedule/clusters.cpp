#include "tc/polyhedral/schedule/clusters.h"

#include <algorithm>
#include <map>

#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/schedule/isl_scheduler.h"

namespace tc::polyhedral {
namespace {

/// Statements of a cluster, where the user does not ask for all that can be fused. What one keeps in registers and local
/// buffers is worth more than what passes to the next; and no part of the compiler takes long for it.
constexpr std::size_t most_fused = 64;

/// Iterations of the shared members below which a unit does not give up members of its own.
constexpr std::int64_t kEnoughIterations = 32;

bool touches(const Statement& statement, const std::string& tensor) {
  auto is = [&](const Access& access) { return range_name(access.relation) == tensor; };
  return is(statement.write) || std::any_of(statement.reads.begin(), statement.reads.end(), is);
}

/// The accumulation into the tensor that \p init initialises, if it is the next statement that touches the tensor.
std::optional<std::size_t> update_of(const Scop& scop, std::size_t init) {
  const auto& statements = scop.statements;
  if (statements[init].body != Statement::Body::Identity) return std::nullopt;
  auto tensor = range_name(statements[init].write.relation);
  for (auto next = init + 1; next < statements.size(); ++next)
    if (touches(statements[next], tensor)) {
      bool updates = statements[next].accumulates && range_name(statements[next].write.relation) == tensor;
      return updates ? std::optional(next) : std::nullopt;
    }
  return std::nullopt;
}

/// Iterations of all \p rows together, of the statement that has most.
std::int64_t iterations(const StatementGraph& graph, const Rows& rows) {
  std::int64_t product = 1;
  for (const auto& row : rows) {
    std::int64_t extent = 0;
    for (const auto& [statement, term] : row.terms)
      extent = std::max(extent, graph.nodes[statement].extent[term.iterator]);
    product = count_product(product, extent);
  }
  return product;
}

/// Whether all statements run through one range along \p row, or through the beginning of that of a padded one.
bool has_one_range(const StatementGraph& graph, const Row& row) {
  const auto longest = std::max_element(row.terms.begin(), row.terms.end(), [&](const auto& a, const auto& b) {
    return graph.nodes[a.first].extent[a.second.iterator] < graph.nodes[b.first].extent[b.second.iterator];
  });
  const auto from_zero = [&](const auto& entry) {
    return entry.second.sign > 0 && entry.second.shift == 0 && graph.nodes[entry.first].min[entry.second.iterator] == 0;
  };
  if (graph.nodes[longest->first].padded && std::all_of(row.terms.begin(), row.terms.end(), from_zero)) return true;
  auto first = [&](const auto& entry) {
    const auto& node = graph.nodes[entry.first];
    const auto& term = entry.second;
    auto low = node.min[term.iterator], high = low + node.extent[term.iterator] - 1;
    return std::pair(term.shift + (term.sign > 0 ? low : -high), node.extent[term.iterator]);
  };
  auto range = first(*row.terms.begin());
  return std::all_of(row.terms.begin(), row.terms.end(), [&](const auto& entry) { return first(entry) == range; });
}

/// The members no cluster of \p statements can exceed: the fewest free coincident iterators of a statement.
std::size_t most_members(const StatementGraph& graph, const std::vector<int>& statements, const Free& free) {
  std::size_t bound = SIZE_MAX;
  for (int statement : statements) {
    std::size_t count = 0;
    for (int d : graph.nodes[statement].order) count += free[statement][d] && graph.nodes[statement].coincident[d];
    bound = std::min(bound, count);
  }
  return bound;
}

}  // namespace

bool keeps_loops(const StatementGraph& graph, const Row& row) {
  std::map<int, bool> along;
  for (const auto& [statement, term] : row.terms)
    for (const auto& loop : graph.nodes[statement].loops) {
      const bool is_along = term.iterator == loop.iterator;
      if (along.emplace(loop.id, is_along).first->second != is_along) return false;
    }
  return true;
}

namespace {

bool is_outermost(const Free& free) {
  return std::all_of(free.begin(), free.end(), [](const std::vector<bool>& iterators) {
    return std::find(iterators.begin(), iterators.end(), false) == iterators.end();
  });
}

/// Whether some dependence among \p statements relates two coincident iterators at a constant distance other than 0.
bool has_constant_shift(const StatementGraph& graph, const std::vector<int>& statements) {
  for (const auto& edge : graph.edges) {
    if (!contains(statements, edge.source) || !contains(statements, edge.sink)) continue;
    for (const auto& row : edge.shift)
      for (const auto& shift : row)
        if (shift && *shift != 0) return true;
  }
  return false;
}

}  // namespace

std::vector<int> Cluster::statements() const {
  std::vector<int> result;
  for (const auto& unit : units) result.insert(result.end(), unit.begin(), unit.end());
  return result;
}

std::vector<Unit> units_of(const Scop& scop, const std::vector<int>& statements, std::size_t depth) {
  std::vector<Unit> units;
  std::map<std::size_t, Unit> initialisations;
  int loop = -1;
  for (const int statement : statements) {
    const auto i = static_cast<std::size_t>(statement);
    const auto& loops = scop.statements[i].loops;
    if (loops.size() > depth) {
      if (loops[depth].id != loop) units.emplace_back();
      loop = loops[depth].id;
      units.back().push_back(statement);
      continue;
    }
    loop = -1;
    const auto update = update_of(scop, i);
    if (update && contains(statements, static_cast<int>(*update)) && scop.statements[*update].loops.size() == depth) {
      initialisations[*update].push_back(statement);
    } else {
      auto unit = initialisations[i];
      unit.push_back(statement);
      units.push_back(std::move(unit));
    }
  }
  return units;
}

namespace {

/// Which of \p parts must run before which: [a][b], through others too.
std::vector<std::vector<bool>> orders_of(const StatementGraph& graph, const std::vector<Unit>& parts) {
  const auto count = parts.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (const auto& edge : graph.edges)
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b)
        if (contains(parts[a], edge.source) && contains(parts[b], edge.sink)) before[a][b] = true;
  for (std::size_t via = 0; via < count; ++via)
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; before[a][via] && b < count; ++b) before[a][b] = before[a][b] || before[via][b];
  return before;
}

}  // namespace

std::vector<Unit> distribute_loops(const Scop& scop, const StatementGraph& graph, const std::vector<Unit>& units,
                                   std::size_t depth) {
  std::vector<Unit> result;
  for (const auto& unit : units) {
    if (scop.statements[unit.front()].loops.size() <= depth) {
      result.push_back(unit);
      continue;
    }
    const auto parts = units_of(scop, unit, depth + 1);
    const auto before = orders_of(graph, parts);
    std::vector<bool> done(parts.size());
    while (std::find(done.begin(), done.end(), false) != done.end()) {
      std::size_t next = 0;
      const auto is_ready = [&](std::size_t part) {
        for (std::size_t other = 0; other < parts.size(); ++other)
          if (!done[other] && before[other][part] && !before[part][other]) return false;
        return !done[part];
      };
      while (!is_ready(next)) ++next;
      Unit loop;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        if (part != next && !(before[part][next] && before[next][part])) continue;
        loop.insert(loop.end(), parts[part].begin(), parts[part].end());
        done[part] = true;
      }
      std::sort(loop.begin(), loop.end());
      result.push_back(std::move(loop));
    }
  }
  return result;
}

std::vector<Cluster> Clustering::fuse(const std::vector<Unit>& units, const Free& free) const {
  std::vector<Cluster> clusters;
  for (const auto& unit : units) {
    bool joined = false;
    for (auto cluster = clusters.rbegin(); cluster != clusters.rend() && !joined; ++cluster) {
      joined = join(*cluster, unit, free);
      if (depends(cluster->statements(), unit)) break;
    }
    if (joined) continue;
    Cluster alone{{unit}, {}};
    alone.rows = rows_of(alone, free);
    clusters.push_back(std::move(alone));
  }
  return clusters;
}

bool Clustering::join(Cluster& cluster, const Unit& unit, const Free& free) const {
  if (options_.fusion == FusionStrategy::Min) return false;
  if ((is_loop(unit) || has_loop(cluster)) && !joins_loops(cluster, unit)) return false;
  if (options_.fusion == FusionStrategy::Preserve3Coincident) {
    if (cluster.statements().size() + unit.size() > most_fused) return false;
    if (!share_data(cluster.statements(), unit)) return false;
  }
  Cluster fused = cluster;
  fused.units.push_back(unit);
  fused.rows = rows_of(fused, free);
  if (!accept(fused, free) || !pays(fused, cluster, unit, free)) return false;
  cluster = std::move(fused);
  return true;
}

bool Clustering::joins_loops(const Cluster& cluster, const Unit& unit) const {
  return options_.fuse_rows > 0 && is_loop(unit) != has_loop(cluster);
}

Rows Clustering::rows_of(const Cluster& cluster, const Free& free) const {
  auto statements = cluster.statements();
  auto rows = align(graph_, statements, free);
  const bool in_loops = std::any_of(statements.begin(), statements.end(),
                                    [&](int statement) { return !graph_.nodes[statement].loops.empty(); });
  if (in_loops) std::erase_if(rows, [&](const Row& row) { return !keeps_loops(graph_, row); });
  bool improvable = !in_loops && rows.size() < most_members(graph_, statements, free) && is_outermost(free) &&
                    (!options_.positive_orthant || has_constant_shift(graph_, statements));
  if (improvable)
    if (auto schedule = schedule_with_isl(graph_, statements, dependences_, options_)) {
      auto found = coincident_rows(*schedule, graph_, statements, options_);
      if (found.size() > rows.size()) rows = std::move(found);
    }
  if (options_.fusion == FusionStrategy::Preserve3Coincident)
    std::erase_if(rows, [&](const Row& row) { return !has_one_range(graph_, row); });
  return rows;
}

bool Clustering::accept(const Cluster& cluster, const Free& free) const {
  if (cluster.rows.empty()) return false;
  if (options_.fusion == FusionStrategy::Max) return true;
  return std::all_of(cluster.units.begin(), cluster.units.end(),
                     [&](const Unit& unit) { return loses_little(cluster, unit, free); });
}

bool Clustering::pays(const Cluster& fused, const Cluster& cluster, const Unit& unit, const Free& free) const {
  if (!criterion_ || options_.fusion != FusionStrategy::Preserve3Coincident || !is_outermost(free)) return true;
  Cluster alone{{unit}, {}};
  alone.rows = rows_of(alone, free);
  return criterion_->pays(view_of(fused), view_of(cluster), view_of(alone));
}

/// What the passes that map \p cluster would see of it. Loops below its members are taken as each statement's own.
ClusterView Clustering::view_of(const Cluster& cluster) const {
  ClusterView view{.permutable = true};
  for (const auto& row : cluster.rows) {
    const auto& [statement, term] = *row.terms.begin();
    view.members.push_back({0, graph_.nodes[statement].extent[term.iterator] - 1});
  }
  for (int statement : cluster.statements()) {
    const auto& node = graph_.nodes[statement];
    ClusterStatement entry{.id = node.id};
    for (const auto& row : cluster.rows) entry.outer.push_back(row.terms.at(statement).iterator);
    for (int d = 0; d < node.size(); ++d)
      if (!contains(entry.outer, d)) entry.inner.push_back({d, node.coincident[d], false});
    view.statements.push_back(std::move(entry));
  }
  return view;
}

bool Clustering::loses_little(const Cluster& cluster, const Unit& unit, const Free& free) const {
  if (align(graph_, unit, free).size() <= cluster.rows.size()) return true;
  bool accumulates = false, keeps_innermost = true;
  for (int statement : unit) {
    const auto& node = graph_.nodes[statement];
    accumulates = accumulates || node.accumulates;
    for (const auto& row : cluster.rows)
      keeps_innermost = keeps_innermost && row.terms.at(statement).iterator != node.order.back();
  }
  if (options_.fuse_rows > 0 && !accumulates && iterations(graph_, cluster.rows) >= options_.fuse_rows) return true;
  return keeps_innermost && (!accumulates || cluster.rows.size() >= 3) &&
         iterations(graph_, cluster.rows) >= kEnoughIterations;
}

bool Clustering::depends(const std::vector<int>& earlier, const Unit& later) const {
  return std::any_of(graph_.edges.begin(), graph_.edges.end(), [&](const StatementGraph::Edge& edge) {
    return contains(earlier, edge.source) && contains(later, edge.sink);
  });
}

bool Clustering::share_data(const std::vector<int>& earlier, const Unit& later) const {
  if (depends(earlier, later)) return true;
  for (int first : earlier)
    for (int second : later)
      for (const auto& tensor : graph_.nodes[first].reads)
        if (graph_.nodes[second].reads.count(tensor)) return true;
  return false;
}

}  // namespace tc::polyhedral
