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

/// How a text calls the parts of a nest: nest_names, or positional_nest_names.
using NamesOfNest = polyhedral::NestNames (*)(const polyhedral::Scop&, const polyhedral::ClusterView&);
/// Takes the mappings of the clusters of a launch that a text has nests for.
using TakeNests = void (*)(CompileState&, std::size_t index, const std::string& text, NamesOfNest names_of);

/// The stage `nest`, whose text is that of \p print: nests that the options name, or that replace its result, go to \p take. It
/// throws OptionsError for the option where sums have fixed orders.
LaunchStage nest_stage(std::function<std::string(const LaunchState&)> print, TakeNests take);

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
