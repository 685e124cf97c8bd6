#include "walks.h"

#include <cstdio>
#include <functional>

#include "../price_model/problem.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/strategy/construct/walk_kernels.h"

using namespace tc;

namespace {

struct Column {
  const char* name;
  strategy::KernelWalk walk;
};

const std::vector<Column>& columns() {
  using Policy = strategy::ConstructionPolicy;
  static const auto& all = *new std::vector<Column>{
      {"roller", {.policy = Policy::Roller}},
      {"no virtual threads", {.policy = Policy::Gensor, .virtual_threads = false}},
      {"gensor", {.policy = Policy::Gensor}},
      {"best_first", {.policy = Policy::BestFirst}},
  };
  return all;
}

struct Line {
  double chosen = 0;
  std::vector<double> found = std::vector<double>(columns().size()), seconds = found;  ///< predicted; of the walk
};

void add_launch(const engine::CompileState& state, const engine::LaunchState& launch, Line& line) {
  const auto bodies = engine::body_operations(*state.program);
  for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
    const auto& cluster = launch.clusters[i];
    const auto& nest = launch.grid().nests.at(i).nest;
    const strategy::PricedCluster prices(*launch.scop, cluster, state.target, bodies);
    line.chosen += strategy::grid_price(prices, nest).seconds;
    for (std::size_t c = 0; c < columns().size(); ++c) {
      const auto begin = Clock::now();
      line.found[c] += strategy::walk_kernels(prices, nest, columns()[c].walk, [&](const polyhedral::Nest& beside) {
                         return polyhedral::is_realisable_kernel(*launch.scop, cluster, beside, *state.target.grid);
                       }).price.seconds;
      line.seconds[c] += std::chrono::duration<double>(Clock::now() - begin).count();
    }
  }
}

}  // namespace

void print_head_of_walks() {
  std::printf("predicted us (ms of the walk)\n%-22s %10s", "", "default");
  for (const auto& column : columns()) std::printf(" %20s", column.name);
  std::printf("\n");
}

void print_walks(const PricedProgram& program) {
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
  std::fflush(stdout);
}
