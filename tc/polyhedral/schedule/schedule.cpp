#include "tc/polyhedral/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/copy_tree.h"
#include "tc/polyhedral/schedule/clusters.h"
#include "tc/polyhedral/schedule/isl_scheduler.h"
#include "tc/polyhedral/schedule/join_loops.h"
#include "tc/polyhedral/schedule/statement_graph.h"

namespace tc::polyhedral {
namespace {

/// Builds the tree from the root down. Functions take a leaf and return the node of its depth.
class Scheduler {
 public:
  /// Of statements that are in the same \p depth ordered loops, whose bands stand above.
  Scheduler(const Scop& scop, const Dependences& dependences, const MappingOptions& options,
            const FusionCriterion* criterion, std::size_t depth = 0)
      : scop_(scop),
        dependences_(dependences),
        options_(options),
        criterion_(criterion),
        depth_(depth),
        graph_(scop, dependences),
        clustering_(graph_, dependences, options, criterion, depth) {
    for (const auto& statement : scop.statements) {
      targets_.push_back(range_name(statement.write.relation));
      results_.push_back(statement.write.relation.range_tuple_dim());
    }
  }

  isl::schedule run() const {
    auto leaf = isl::schedule::from_domain(scop_.domain()).root().child(0);
    if (scop_.statements.empty()) return leaf.schedule();
    Free free;
    for (const auto& node : graph_.nodes) free.emplace_back(node.size(), true);
    std::vector<int> all(scop_.statements.size());
    std::iota(all.begin(), all.end(), 0);
    return fused(leaf, units(all, free), free).schedule();
  }

 private:
  const Scop& scop_;
  const Dependences& dependences_;
  const MappingOptions& options_;
  const FusionCriterion* criterion_;
  std::size_t depth_;
  StatementGraph graph_;
  Clustering clustering_;
  std::vector<std::string> targets_;  ///< of each statement, what it writes
  std::vector<unsigned> results_;     ///< and the dimensions of that

  std::vector<Unit> units(const std::vector<int>& statements, const Free& free) const {
    auto result = distribute_loops(scop_, graph_, units_of(scop_, statements, depth_), depth_);
    return criterion_ ? join_loops(scop_, graph_, result, free, depth_, *criterion_) : result;
  }

  /// sequence over the clusters of \p units
  isl::schedule_node fused(isl::schedule_node leaf, const std::vector<Unit>& units, const Free& free) const {
    std::vector<Cluster> parts;
    for (auto& cluster : clustering_.fuse(units, free)) {
      if (!parts.empty() && continues(parts.back(), cluster)) {
        parts.back().units.insert(parts.back().units.end(), cluster.units.begin(), cluster.units.end());
        continue;
      }
      if (!cluster.rows.empty() || cluster.statements().size() == 1 || is_one_number(cluster) || is_loop(cluster)) {
        parts.push_back(std::move(cluster));
        continue;
      }
      for (int statement : cluster.statements()) parts.push_back({{{statement}}, align(graph_, {statement}, free)});
    }
    return sequence(leaf, parts,
                    [&](isl::schedule_node below, const Cluster& part) { return cluster(below, part, free); });
  }

  const std::string& target(const Cluster& cluster) const { return targets_[cluster.statements().front()]; }

  /// Does \p cluster compute one number, in statements without a common loop? Where kernels are launched it is one of
  /// them.
  bool is_one_number(const Cluster& cluster) const {
    auto statements = cluster.statements();
    return options_.fuse_rows > 0 && cluster.rows.empty() &&
           std::all_of(statements.begin(), statements.end(), [&](int statement) {
             return results_[statement] == 0 && targets_[statement] == target(cluster);
           });
  }

  /// Does \p cluster go on computing the one number of \p earlier, right after it?
  bool continues(const Cluster& earlier, const Cluster& cluster) const {
    return options_.fusion != FusionStrategy::Min && is_one_number(earlier) && is_one_number(cluster) &&
           target(earlier) == target(cluster);
  }

  /// band [0] around the statements of \p part, one after the other
  isl::schedule_node in_one_iteration(isl::schedule_node leaf, const Cluster& part, const Free& free) const {
    std::vector<Cluster> singles;
    for (int statement : part.statements()) singles.push_back({{{statement}}, {}});
    auto here = universe(part.statements());
    auto zero = call(leaf.ctx(), isl_union_pw_aff_val_on_domain, here.release(), isl::val(leaf.ctx(), 0).release());
    leaf = polyhedral::insert_band(leaf, {zero}, {true}).child(0);
    return sequence(leaf, singles,
                    [&](isl::schedule_node below, const Cluster& single) { return cluster(below, single, free); })
        .parent();
  }

  /// sequence { part } { part } ..., or the part alone
  template <typename Below>
  isl::schedule_node sequence(isl::schedule_node leaf, const std::vector<Cluster>& parts, const Below& below) const {
    if (parts.size() == 1) return below(leaf, parts[0]);
    isl::union_set_list filters(leaf.ctx(), static_cast<int>(parts.size()));
    for (const auto& part : parts) filters = filters.add(universe(part.statements()));
    leaf = leaf.insert_sequence(filters);
    for (std::size_t i = 0; i < parts.size(); ++i)
      leaf = below(leaf.child(static_cast<int>(i)).child(0), parts[i]).ancestor(2);
    return leaf;
  }

  isl::union_set universe(const std::vector<int>& statements) const {
    auto result = isl::union_set::empty(scop_.ctx());
    for (int statement : statements)
      result = result.unite(isl::set::universe(graph_.nodes[statement].domain.space()).to_union_set());
    return result;
  }

  /// The shared coincident members of \p cluster, and below them its units with what is left of their iterators.
  isl::schedule_node cluster(isl::schedule_node leaf, const Cluster& cluster, Free free) const {
    auto statements = cluster.statements();
    if (is_one_number(cluster) && statements.size() > 1) return in_one_iteration(leaf, cluster, free);
    if (auto skewed = skew(statements, cluster.rows, free)) return copy_tree(skewed->root().child(0), leaf);
    for (const auto& row : cluster.rows)
      for (const auto& [statement, term] : row.terms) free[statement][term.iterator] = false;
    if (!cluster.rows.empty()) leaf = insert_band(leaf, statements, cluster.rows, true, true).child(0);
    if (is_loop(cluster))
      leaf = in_loop(leaf, statements, free);
    else
      leaf = statements.size() > 1 ? fused(leaf, cluster.units, free) : rest(leaf, statements[0], free);
    return cluster.rows.empty() ? leaf : leaf.parent();
  }

  /// Is \p cluster the statements of an ordered loop that stands nowhere above?
  bool is_loop(const Cluster& cluster) const {
    return cluster.units.size() == 1 && scop_.statements[cluster.statements().front()].loops.size() > depth_;
  }

  /// band [t] around \p statements, all of an ordered loop over t, as they are scheduled in one iteration of it.
  isl::schedule_node in_loop(isl::schedule_node leaf, const std::vector<int>& statements, Free free) const {
    const auto iterator = [&](int statement) { return scop_.statements[statement].loops[depth_].iterator; };
    const bool runs = free[statements[0]][iterator(statements[0])];
    Row row;
    for (int statement : statements) {
      row.terms[statement] = {iterator(statement)};
      free[statement][iterator(statement)] = false;
    }
    if (runs) leaf = insert_band(leaf, statements, {row}, true, false).child(0);
    const auto within = in_one_iteration_of(statements);
    const Scheduler inner(scop_, within, options_, criterion_, depth_ + 1);
    leaf = inner.fused(leaf, inner.units(statements, free), free);
    return runs ? leaf.parent() : leaf;
  }

  /// The dependences among \p statements, all of an ordered loop, within one iteration.
  Dependences in_one_iteration_of(const std::vector<int>& statements) const {
    std::map<std::string, int> iterators;
    for (int statement : statements)
      iterators[graph_.nodes[statement].id] = scop_.statements[statement].loops[depth_].iterator;
    const auto within = [&](const isl::union_map& all) {
      auto result = isl::union_map::empty(scop_.ctx());
      for (const auto& pairs : elements(all.map_list())) {
        const auto source = iterators.find(domain_name(pairs)), sink = iterators.find(range_name(pairs));
        if (source == iterators.end() || sink == iterators.end()) continue;
        const auto same =
            call(scop_.ctx(), isl_map_equate, pairs.copy(), isl_dim_in, source->second, isl_dim_out, sink->second);
        if (!same.is_empty()) result = result.unite(same.to_union_map());
      }
      return result;
    };
    return {within(dependences_.flow), within(dependences_.anti), within(dependences_.output),
            within(dependences_.validity), within(dependences_.coincidence)};
  }

  /// The free iterators of one statement, in their order: none of them is coincident.
  isl::schedule_node rest(isl::schedule_node leaf, int statement, const Free& free) const {
    Rows rows;
    bool permutable = true;
    for (int d = 0; d < graph_.nodes[statement].size(); ++d) {
      if (!free[statement][d]) continue;
      rows.push_back({{{statement, {d}}}});
      permutable = permutable && graph_.nodes[statement].forward[d];
    }
    return rows.empty() ? leaf : insert_band(leaf, {statement}, rows, permutable || rows.size() == 1, false);
  }

  isl::schedule_node insert_band(isl::schedule_node leaf, const std::vector<int>& statements, const Rows& rows,
                                 bool permutable, bool coincident) const {
    auto node = leaf.insert_partial_schedule(band_function(statements, rows)).as<isl::schedule_node_band>();
    node = node.set_permutable(permutable).as<isl::schedule_node_band>();
    if (coincident)
      for (std::size_t i = 0; i < rows.size(); ++i) node = node.member_set_coincident(static_cast<int>(i), 1);
    return node;
  }

  isl::multi_union_pw_aff band_function(const std::vector<int>& statements, const Rows& rows) const {
    isl::union_pw_aff_list members(scop_.ctx(), static_cast<int>(rows.size()));
    for (const auto& row : rows) {
      auto member = call(scop_.ctx(), isl_union_pw_aff_empty_ctx, scop_.ctx().get());
      for (int statement : statements) member = member.union_add(function_of(statement, row.terms.at(statement)));
      members = members.add(member);
    }
    auto space = call(scop_.ctx(), isl_space_set_alloc, scop_.ctx().get(), 0u, static_cast<unsigned>(rows.size()));
    return isl::multi_union_pw_aff(space, members);
  }

  /// { S[i] -> [sign * i_d + shift] }
  isl::union_pw_aff function_of(int statement, const Row::Term& term) const {
    auto function = isl::multi_aff::identity_on_domain(graph_.nodes[statement].domain.space()).at(term.iterator);
    if (term.sign < 0) function = function.neg();
    return isl::union_pw_aff(isl::pw_aff(function.add_constant(isl::val(scop_.ctx(), static_cast<long>(term.shift)))));
  }

  /// isl's own schedule of a cluster that skewing helps: a permutable band where there would be a loop that carries
  /// dependences in an order that cannot be tiled. Only at the outermost level and where the options allow it.
  std::optional<isl::schedule> skew(const std::vector<int>& statements, const Rows& rows, const Free& free) const {
    if (!options_.allow_skewing) return std::nullopt;
    bool needed = false;
    for (int statement : statements) {
      const auto& node = graph_.nodes[statement];
      if (std::find(free[statement].begin(), free[statement].end(), false) != free[statement].end())
        return std::nullopt;
      needed = needed || std::find(node.forward.begin(), node.forward.end(), false) != node.forward.end();
    }
    if (!needed) return std::nullopt;
    auto schedule = schedule_with_isl(graph_, statements, dependences_, options_);
    if (!schedule || (options_.positive_orthant && !in_positive_orthant(*schedule))) return std::nullopt;
    return schedule;
  }
};

}  // namespace

isl::schedule compute_schedule(const Scop& scop, const Dependences& dependences, const MappingOptions& options,
                               const FusionCriterion* criterion) {
  {
    OperationQuota quota(scop.ctx(), options.quota * std::max<std::size_t>(scop.statements.size(), 1));
    try {
      return Scheduler(scop, dependences, options, criterion).run();
    } catch (const isl::exception& error) {
      if (!quota.caused(error)) throw;
    }
  }
  return program_order(scop);
}

}  // namespace tc::polyhedral
