#include "walks.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "../price_model/problem.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_names.h"
#include "tc/strategy/construct/plain_kernels.h"
#include "tc/strategy/construct/walk_kernels.h"

using namespace tc;
using polyhedral::Nest;
using polyhedral::NestLoop;

namespace {

struct Column {
  const char* name;
  strategy::KernelWalk walk;
  bool alone = true;  ///< from plain kernels alone; else from the default too
};

const std::vector<Column>& columns() {
  using Policy = strategy::ConstructionPolicy;
  static const auto& all = *new std::vector<Column>{
      {"roller!", {.policy = Policy::Roller}},
      {"no virtual threads!", {.policy = Policy::Gensor, .virtual_threads = false}},
      {"gensor!", {.policy = Policy::Gensor}},
      {"best_first!", {.policy = Policy::BestFirst}},
      {"gensor", {.policy = Policy::Gensor}, false},
      {"best_first", {.policy = Policy::BestFirst}, false},
  };
  return all;
}

struct Line {
  double chosen = 0;
  std::vector<double> found = std::vector<double>(columns().size()), seconds = found;  ///< predicted; of the walk
  std::vector<std::string> states = std::vector<std::string>(columns().size());
};

/// The sizes of the loops that count tiles, rounds and runs of threads, and steps between copies.
std::vector<std::int64_t> sizes_of(const Nest& nest) {
  std::vector<std::int64_t> result;
  for (const auto& step : nest.trunk)
    if (const auto* loop = std::get_if<NestLoop>(&step.what)) result.push_back(loop->digit.step);
  return result;
}

/// Moves along \p path that make a tile of a block larger, and smaller.
std::pair<int, int> tiles_and_inverse_tiles(const std::vector<Nest>& path) {
  std::pair<int, int> result;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const auto before = sizes_of(path[i - 1]), after = sizes_of(path[i]);
    if (before.size() != after.size() || before == after) continue;
    (before < after ? result.first : result.second) += 1;
  }
  return result;
}

/// The state of a walk in the words of the paper: the levels of each index, virtual threads, and what is copied.
///
///   m 128 = 2 virtual x 16 threads x 4   n 64 = 16 threads x 4   k 32, copies of A B in 2 slots; 9 tiles, 1 inverse
std::string state_of(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                     const polyhedral::NestSpace& space, const strategy::WalkedKernel& walked) {
  const auto& nest = walked.kernel.nest;
  const auto names = polyhedral::nest_names(scop, cluster);
  const auto branch =
      std::max_element(nest.branches.begin(), nest.branches.end(),
                       [](const auto& one, const auto& other) { return one.loops.size() < other.loops.size(); });
  const auto number = branch - nest.branches.begin();
  std::string text;
  const auto add = [&](const polyhedral::NestIndex& index, const std::string& name) {
    std::string levels;
    std::int64_t rounds = 1, threads = 0, each = 1;
    for (const auto& loop : branch->loops) {
      if (!(loop.digit.index == index)) continue;
      const auto values = polyhedral::values_of(loop.digit, space.extent(index));
      if (loop.slots > 0) levels += str(" ", loop.digit.step, " in ", loop.slots, loop.slots > 1 ? " slots" : " slot");
      if (loop.place == polyhedral::NestPlace::Thread)
        threads = std::max<std::int64_t>(threads, 1) * values;
      else if (loop.slots == 0)
        (threads > 0 ? each : rounds) *= values;
    }
    if (index.statement < 0) levels += str(" ", rounds * std::max<std::int64_t>(threads, 1) * each, " =");
    if (index.statement < 0 || threads > 0)
      levels += str(" ", rounds,
                    threads == 0          ? ""
                    : index.statement < 0 ? str(" virtual x ", threads, " threads x ", each)
                                          : str(" steps x ", threads, " threads x ", each));
    if (!levels.empty()) text += str(text.empty() ? "" : "   ", name, levels);
  };
  for (std::size_t m = 0; m < space.members.size(); ++m) add({-1, static_cast<int>(m)}, names.members[m]);
  const auto& own = names.statements[static_cast<std::size_t>(number)];
  for (std::size_t i = 0; i < own.iterators.size(); ++i)
    add({static_cast<int>(number), static_cast<int>(i)}, own.iterators[i]);
  std::string copies;
  for (const auto& step : nest.trunk)
    if (const auto* copy = std::get_if<polyhedral::NestSharedCopy>(&step.what)) copies += str(" ", copy->read);
  const auto [tiles, inverse] = tiles_and_inverse_tiles(walked.path);
  return str(text, ";", copies.empty() ? " no cache" : str(" cache of reads", copies), "; ", tiles, " tiles, ", inverse,
             " inverse of ", walked.path.size() - 1, " moves, ", walked.priced, " kernels");
}

void add_launch(const engine::CompileState& state, const engine::LaunchState& launch, Line& line) {
  const auto bodies = engine::body_operations(*state.program);
  for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
    const auto& cluster = launch.clusters[i];
    const auto& nest = launch.grid().nests.at(i).nest;
    const strategy::PricedCluster prices(*launch.scop, cluster, state.target, bodies);
    line.chosen += strategy::grid_price(prices, nest).seconds;
    for (std::size_t c = 0; c < columns().size(); ++c) {
      const auto begin = Clock::now();
      auto starts = strategy::plain_kernels(*launch.scop, cluster, prices, state.mapping);
      if (!columns()[c].alone || starts.empty()) starts.push_back(nest);
      const auto walked = strategy::walk_kernels(prices, starts, columns()[c].walk, [&](const Nest& beside) {
        return polyhedral::is_realisable_kernel(*launch.scop, cluster, beside, *state.target.grid);
      });
      line.found[c] += walked.kernel.price.seconds;
      line.seconds[c] += std::chrono::duration<double>(Clock::now() - begin).count();
      line.states[c] = state_of(*launch.scop, cluster, prices.nests, walked);
    }
  }
}

}  // namespace

void print_head_of_walks() {
  std::printf("predicted us (ms of the walk)\n%-22s %10s", "", "default");
  for (const auto& column : columns()) std::printf(" %20s", column.name);
  std::printf("\n");
}

void print_walks(const PricedProgram& program, bool with_states) {
  const auto function = engine::define(program.text).functions.back();
  engine::CompileOptions how;
  how.target = Target::parse("cuda:sm_90");
  Line line;
  engine::map_launches(
      function, engine::make_arguments(*function, program.inputs, {}, how), how,
      [&line](engine::CompileState& state) {
        for (const auto& launch : state.launches) add_launch(state, launch, line);
      },
      engine::Phase::Choose);
  std::printf("%-22s %10.1f", program.name.c_str(), line.chosen * 1e6);
  for (std::size_t c = 0; c < columns().size(); ++c)
    std::printf(" %11.1f (%4.0f) ", line.found[c] * 1e6, line.seconds[c] * 1e3);
  std::printf("\n");
  for (std::size_t c = 0; with_states && c < columns().size(); ++c)
    std::printf("    %-20s %s\n", columns()[c].name, line.states[c].c_str());
  std::fflush(stdout);
}
