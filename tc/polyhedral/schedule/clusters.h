#pragma once

#include <algorithm>
#include <vector>

#include "tc/polyhedral/core/options.h"
#include "tc/polyhedral/schedule/fusion_criterion.h"
#include "tc/polyhedral/schedule/statement_graph.h"

namespace tc::polyhedral {

/// Statements that are fused first: one, the initialisation of a tensor and its accumulating update, or the statements of an ordered loop.
using Unit = std::vector<int>;

/// Fused units, in an order the dependences allow, and the coincident members of their common outer band.
struct Cluster {
  std::vector<Unit> units;
  Rows rows;

  /// Those of all its units, in program order.
  std::vector<int> statements() const;
};

/// The \p statements of \p scop, in program order and all in the same \p depth ordered loops, where an initialisation moves down to
/// the accumulation into its tensor. The statements of one more loop are one unit.
///
///   S0: C = 0   S1: D = ...   S2: C += ...      {S1} {S0, S2}
std::vector<Unit> units_of(const Scop& scop, const std::vector<int>& statements, std::size_t depth);

/// \p units, of statements in the same \p depth ordered loops, where one more loop is split into the smallest loops that the
/// dependences of \p graph allow, in an order that they allow: statements stay together where a circle of dependences joins them.
///
///   for t { G(t) = X(t)  H(t) = G(t) + H(t-1)  Y(t) = H(t) }      {G} {H} {Y}
std::vector<Unit> distribute_loops(const Scop& scop, const StatementGraph& graph, const std::vector<Unit>& units,
                                   std::size_t depth);

/// Does \p row run each ordered loop as it is, along its iterator in all its statements, or along that in none of them?
bool keeps_loops(const StatementGraph& graph, const Row& row);

/// Fuses \p units, taken in their order, under \p options.fusion: each joins the last cluster that it can join without
/// passing one it depends on, else it begins a cluster; an ordered loop is a cluster of its own, except that other statements may join it
/// where options.fuse_rows says that clusters are kernels. Along the members that clusters share, all dependences in them
/// have distance 0.
///
/// Max: one shared member suffices. Preserve3Coincident: all shared members have one range, the units share data, and
/// every unit keeps its own coincident members or gives some up at no great loss: it keeps its innermost left-hand
/// iterator, the shared members have iterations enough for all cores, and they are three or the unit does not
/// accumulate. With options.fuse_rows, enough shared iterations suffice for a unit that does not accumulate. A unit
/// joins an outermost cluster only where that pays by \p criterion, if there is one.
class Clustering {
 public:
  /// Of statements in the same \p depth ordered loops, whose bands stand above.
  Clustering(const StatementGraph& graph, const Dependences& dependences, const MappingOptions& options,
             const FusionCriterion* criterion = nullptr, std::size_t depth = 0)
      : graph_(graph), dependences_(dependences), options_(options), criterion_(criterion), depth_(depth) {}

  /// \p units as clusters, each as large as the options and the criterion allow, in an order that dependences allow.
  std::vector<Cluster> fuse(const std::vector<Unit>& units, const Free& free) const;

 private:
  bool is_loop(const Unit& unit) const { return graph_.nodes[unit.front()].loops.size() > depth_; }
  bool has_loop(const Cluster& cluster) const {
    return std::any_of(cluster.units.begin(), cluster.units.end(), [&](const Unit& unit) { return is_loop(unit); });
  }
  /// May \p unit run in one kernel with \p cluster, if one of them is an ordered loop?
  bool joins_loops(const Cluster& cluster, const Unit& unit) const;
  bool join(Cluster& cluster, const Unit& unit, const Free& free) const;
  Rows rows_of(const Cluster& cluster, const Free& free) const;
  bool accept(const Cluster& cluster, const Free& free) const;
  bool pays(const Cluster& fused, const Cluster& cluster, const Unit& unit, const Free& free) const;
  ClusterView view_of(const Cluster& cluster) const;
  bool loses_little(const Cluster& cluster, const Unit& unit, const Free& free) const;
  bool depends(const std::vector<int>& earlier, const Unit& later) const;
  bool share_data(const std::vector<int>& earlier, const Unit& later) const;

  const StatementGraph& graph_;
  const Dependences& dependences_;
  const MappingOptions& options_;
  const FusionCriterion* criterion_;
  const std::size_t depth_;
};

}  // namespace tc::polyhedral
