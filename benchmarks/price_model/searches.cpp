#include "commands.h"

#include <chrono>
#include <cmath>
#include <cstdio>

#include "problem.h"
#include "tc/cpu/code_counts.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/polyhedral/nest/nest_line.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/strategy/construct/construct.h"
#include "tc/strategy/construct/nest_moves.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/grid_price/grid_price.h"

using namespace tc;

namespace {

constexpr std::pair<const char*, strategy::ConstructionPolicy> policies[] = {
    {"best_first", strategy::ConstructionPolicy::BestFirst},
    {"descent", strategy::ConstructionPolicy::Descent},
    {"roller", strategy::ConstructionPolicy::Roller},
    {"gensor", strategy::ConstructionPolicy::Gensor},
    {"printed", strategy::ConstructionPolicy::GensorPrinted}};

/// What \p policy finds for the clusters of \p state.
polyhedral::Mapping constructed(const engine::CompileState& state, strategy::ConstructionPolicy policy,
                                bool virtual_threads, int* states) {
  const auto& launch = state.launches.back();
  auto bodies = engine::body_operations(*state.program);
  polyhedral::Mapping result{{}, strategy::buffer_bytes(state.target, state.mapping)};
  for (const auto& cluster : launch.clusters) {
    strategy::MappingSpace space(*launch.scop, cluster, state.target, state.mapping, bodies);
    space.virtual_threads = virtual_threads;
    auto made = construct(space, policy, result.buffer_bytes);
    result.clusters.push_back(made.mapping);
    if (states) *states += made.states;
  }
  return result;
}

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

/// What rules choose, rules that are checked by price, and searches. In one thread they choose for one core.
void turns(const PricedProgram& program, int threads) {
  cpu::set_num_threads(threads);
  Problem problem(program);
  problem.make_tensors();
  const std::vector<std::string> choices{"construct=rules", "", "construct", "construct:roller", "construct:gensor"};
  Codes codes;
  std::vector<std::string> mappings;
  std::vector<double> compile_ms;
  for (const auto& choice : choices) {
    problem.set_options(options::MappingOptions::parse(choice).with_parallel(threads > 1));
    mappings.emplace_back();
    codes.push_back(problem.compile("", {}, &mappings.back()));
    compile_ms.push_back(codes.back()->stats().milliseconds);
  }
  auto measured = measure_in_turns(problem, codes);
  for (std::size_t i = 0; i < choices.size(); ++i)
    std::printf(
        "{\"program\": \"%s\", \"choice\": \"%s\", \"threads\": %d, \"seconds\": %.9f, \"difference\": %.2g, "
        "\"compile_ms\": %.1f, \"mapping\": \"%s\"}\n",
        program.name.c_str(), choices[i].c_str(), threads, measured.seconds[i], measured.difference[i], compile_ms[i],
        one_line(mappings[i]).c_str());
}

/// The default's nests and the nests that a descent by moves finds from them, which have any number of levels; measured in turns
/// where prices differ.
void levels(const PricedProgram& program, int threads) {
  cpu::set_num_threads(threads);
  Problem problem(program);
  problem.make_tensors();
  engine::CompileOptions options;
  options.mapping = options::MappingOptions().with_parallel(threads > 1);
  double before = 0, after = 0;
  std::string text;
  options.stages.mutate = [&](const std::string& stage, engine::CompileState& state) {
    if (stage.rfind("nest", 0) != 0) return;
    const auto& launch = state.launches[stage == "nest" ? 0 : std::stoul(stage.substr(5))];
    for (std::size_t i = 0; i < launch.cpu().nests.size(); ++i) {
      const strategy::PricedCluster cluster(*launch.scop, launch.clusters[i], state.target,
                                            engine::body_operations(*state.program));
      const auto& nest = launch.cpu().nests[i];
      const auto bytes = launch.cpu().mapping->buffer_bytes;
      const auto found = descend(cluster, nest, bytes);
      before += price(cluster, nest, bytes).seconds;
      after += found.price.seconds;
      text += to_string(found.nest, polyhedral::positional_nest_names(*launch.scop, launch.clusters[i])) + "\n";
    }
  };
  engine::compile(problem.function(), program.inputs, {}, options);
  std::printf("{\"program\": \"%s\", \"threads\": %d, \"before\": %.9f, \"after\": %.9f", program.name.c_str(), threads,
              before, after);
  if (after < before * (1 - strategy::least_difference)) {
    problem.set_options(options.mapping);
    Codes codes{problem.compile("")};
    problem.set_options(options.mapping.with_nest(polyhedral::nest_line(text)));
    codes.push_back(problem.compile(""));
    const auto measured = measure_in_turns(problem, codes);
    std::printf(", \"seconds\": [%.9f, %.9f], \"difference\": %.2g, \"nest\": \"%s\"", measured.seconds[0],
                measured.seconds[1], measured.difference[1], polyhedral::nest_line(text).c_str());
  }
  std::printf("}\n");
}

void search(const PricedProgram& program) {
  Problem problem(program);
  problem.compile("", [&](engine::CompileState& state) {
    auto rules = rules_of(state);
    std::printf("{\"program\": \"%s\", \"rules\": %.9f", program.name.c_str(), price_of(state, rules, "").seconds);
    for (const auto& [name, policy] : policies) {
      int states = 0;
      auto begin = Clock::now();
      auto mapping = constructed(state, policy, true, &states);
      auto ms = milliseconds_since(begin);
      std::printf(", \"%s\": {\"seconds\": %.9f, \"states\": %d, \"ms\": %.1f}", name,
                  price_of(state, mapping, "").seconds, states, ms);
    }
    std::printf("}\n");
  });
}

namespace {

/// Compiles for a GPU: milliseconds, microseconds of one price, and the predicted microseconds of all kernels.
void price_kernels(const Problem& problem, const PricedProgram& program) {
  constexpr int times = 100;
  engine::CompileOptions grid;
  grid.target = Target::parse("cuda:sm_90");
  auto begin = Clock::now();
  engine::compile(problem.function(), program.inputs, {}, grid);
  std::printf(", \"sm_90_ms\": %.1f", milliseconds_since(begin));
  double seconds = 0, price_us = 0;
  grid.stages.mutate = [&](const std::string& stage, engine::CompileState& state) {
    if (stage.rfind("choose", 0) != 0) return;
    const auto& launch = state.launches.back();
    for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
      strategy::PricedCluster cluster(*launch.scop, launch.clusters[i], state.target,
                                      engine::body_operations(*state.program));
      auto first = Clock::now();
      for (int t = 0; t < times; ++t) strategy::grid_price(cluster, launch.grid().mapping->clusters[i]);
      price_us += milliseconds_since(first) * 1e3 / times;
      seconds += strategy::grid_price(cluster, launch.grid().mapping->clusters[i]).seconds;
    }
  };
  engine::compile(problem.function(), program.inputs, {}, grid);
  std::printf(", \"price_us\": %.0f, \"predicted_us\": %.1f", price_us, seconds * 1e6);
}

}  // namespace

void kinds() {
  for (const auto& program : paper_programs(true)) {
    Problem problem(program);
    std::printf("{\"kind\": \"%s\"", program.name.c_str());
    auto before = cpu::code_counts();
    problem.compile("", [&](engine::CompileState& state) {
      before = cpu::code_counts();
      for (const auto& [name, policy] : policies) {
        int states = 0;
        auto begin = Clock::now();
        constructed(state, policy, true, &states);
        std::printf(", \"%s\": {\"ms\": %.1f, \"states\": %d}", name, milliseconds_since(begin), states);
      }
      std::printf(", \"emitted\": %lld", static_cast<long long>(cpu::code_counts().emitted - before.emitted));
    });
    price_kernels(problem, program);
    std::printf("}\n");
    std::fflush(stdout);
  }
}

void ablation(const PricedProgram& program) {
  Problem problem(program);
  problem.make_tensors();
  std::vector<std::string> names{"rules"}, mappings{""};
  problem.compile("", [&](engine::CompileState& state) {
    for (const auto& [name, policy] : policies) {
      names.emplace_back(name);
      mappings.push_back(to_string(constructed(state, policy, true, nullptr)));
      names.push_back(str(name, ", one vector"));
      mappings.push_back(to_string(constructed(state, policy, false, nullptr)));
    }
  });
  Codes codes;
  for (const auto& mapping : mappings) codes.push_back(problem.compile(mapping));
  auto measured = measure_in_turns(problem, codes);
  for (std::size_t i = 0; i < names.size(); ++i)
    std::printf("{\"kind\": \"%s\", \"choice\": \"%s\", \"us\": %.2f, \"difference\": %.2g, \"mapping\": \"%s\"}\n",
                program.name.c_str(), names[i].c_str(), measured.seconds[i] * 1e6, measured.difference[i],
                one_line(mappings[i]).c_str());
}

namespace {

/// A column of the table of walks: a policy that decides alone.
struct Walk {
  const char* name;
  strategy::ConstructionPolicy policy;
  bool virtual_threads = true;
};
constexpr Walk walks_shown[] = {{"roller!", strategy::ConstructionPolicy::Roller},
                                {"no virtual threads", strategy::ConstructionPolicy::Gensor, false},
                                {"gensor!", strategy::ConstructionPolicy::Gensor},
                                {"best_first!", strategy::ConstructionPolicy::BestFirst},
                                {"gensor_printed", strategy::ConstructionPolicy::GensorPrinted}};

/// What the default chooses for the clusters of \p state.
polyhedral::Mapping default_of(const engine::CompileState& state) {
  const auto& launch = state.launches.back();
  polyhedral::Mapping result{{}, strategy::buffer_bytes(state.target, state.mapping)};
  for (const auto& cluster : launch.clusters)
    result.clusters.push_back(strategy::construct_cluster_mapping(*launch.scop, cluster, state.target, state.mapping,
                                                                  {}, engine::body_operations(*state.program)));
  return result;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (auto value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

void print_walks() {
  std::printf("default: predicted and measured us; others over it, one thread\n%-16s %19s", "", "default");
  for (const auto& walk : walks_shown) std::printf(" %18s", walk.name);
  std::printf("\n");
  std::vector<std::vector<double>> predicted(std::size(walks_shown)), measured = predicted;
  for (const auto& program : paper_programs(false)) {
    Problem problem(program);
    problem.make_tensors();
    problem.set_options(options::MappingOptions().with_parallel(false));
    std::vector<std::string> mappings;
    std::vector<double> prices;
    problem.compile("", [&](engine::CompileState& state) {
      const auto take = [&](const polyhedral::Mapping& mapping) {
        mappings.push_back(to_string(mapping));
        prices.push_back(price_of(state, mapping, "").seconds);
      };
      take(default_of(state));
      for (const auto& walk : walks_shown) take(constructed(state, walk.policy, walk.virtual_threads, nullptr));
    });
    Codes codes;
    for (const auto& mapping : mappings) codes.push_back(problem.compile(mapping));
    const auto times = measure_in_turns(problem, codes);
    std::printf("%-16s %9.1f %9.1f", program.name.c_str(), prices[0] * 1e6, times.seconds[0] * 1e6);
    for (std::size_t i = 1; i < codes.size(); ++i) {
      predicted[i - 1].push_back(prices[i] / prices[0]);
      measured[i - 1].push_back(times.seconds[i] / times.seconds[0]);
      std::printf(" %9.2f %8.2f%s", predicted[i - 1].back(), measured[i - 1].back(),
                  times.difference[i] > 1e-5 ? " differs" : "");
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  std::printf("%-36s", "geometric mean");
  for (std::size_t i = 0; i < predicted.size(); ++i)
    std::printf(" %9.2f %8.2f", geometric_mean(predicted[i]), geometric_mean(measured[i]));
  std::printf("\n");
}
