#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tc/engine/compile/back_end.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_names.h"

namespace tc::engine {

/// The stages of a launch that are the same for all targets: extract, depend, schedule, cut_reductions.
std::vector<LaunchStage> scheduling_stages();

/// The laws of a program that is scheduled, or mapped to a CPU. One whose mapping was given, not chosen, breaks them by an
/// OptionsError. They are not run again for a scop that they held for, that is, behind a pass that changed nothing.
void verify_scheduled(const CompileState& state, const LaunchState& launch);

/// The schedule of \p launch.
std::string print_schedule(const LaunchState& launch);

/// The nest that was chosen for a cluster of a launch.
using ChosenNest = std::function<polyhedral::Nest(const LaunchState&, std::size_t cluster)>;

/// The nests of all clusters of \p launch, one below the other.
std::string print_nests(const LaunchState& launch, const ChosenNest& chosen);

/// The text of the option `nest`, with positional names; "" without it. Throws OptionsError where sums have fixed orders.
std::string nests_of_options(const CompileState& state);

/// How a text calls what a nest consists of: nest_names, or positional_nest_names.
using NamesOfNest = polyhedral::NestNames (*)(const polyhedral::Scop&, const polyhedral::ClusterView&);

struct NestOfCluster {
  std::size_t cluster = 0;  ///< of a launch
  polyhedral::NestNames names;
  polyhedral::Nest nest;
};

/// The nests of \p text that are of clusters of \p launch; they keep the laws (check_nest.h). Throws OptionsError where one
/// does not, is for another kind of machine, or is of no launch's cluster.
std::vector<NestOfCluster> read_nests(const CompileState& state, const LaunchState& launch, const std::string& text,
                                      const ChosenNest& chosen, NamesOfNest names_of);

/// Replaces the scop of \p launch by the same one with its coincident members gathered, and finds its clusters.
void gather_clusters(LaunchState& launch);

}  // namespace tc::engine
