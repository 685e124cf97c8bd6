#include "commands.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "problem.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/strategy/construct/construct.h"
#include "tc/strategy/construct/mapping_moves.h"
#include "tc/strategy/cpu/choose_mapping.h"

using namespace tc;

namespace {

/// Fields of a state that one decision of the rules makes.
struct Decision {
  const char* name;
  bool tile, unrolled, blocks, reduction, copies, order;
};
constexpr Decision decisions_of_rules[] = {
    {"same", false, false, false, false, false, false},  {"reduction", false, false, false, true, false, false},
    {"copies", false, false, false, false, true, false}, {"threads", false, false, true, false, false, true},
    {"blocks", false, false, true, true, true, true},    {"tile", true, true, false, false, false, false},
};

/// \p state with what \p decision makes taken from \p other.
strategy::MappingState with_decision(strategy::MappingState state, const strategy::MappingState& other,
                                     const Decision& decision) {
  if (decision.tile) state.tile = other.tile;
  if (decision.unrolled) state.unrolled = other.unrolled;
  if (decision.blocks) state.block = other.block;
  if (decision.reduction) state.reduction = other.reduction;
  if (decision.copies) state.copies = other.copies;
  if (decision.copies || decision.order) state.above = other.above;
  if (decision.order) {
    state.outermost = other.outermost;
    state.parallel = other.parallel;
  }
  return state;
}

/// The cheapest state that differs from \p rules in what \p decision makes alone, where nothing is known of what the rules decide.
strategy::MappingState decided(const strategy::MappingSpace& space, const strategy::MappingState& rules,
                               const Decision& decision, std::int64_t buffer_bytes) {
  auto seconds = [&](const strategy::MappingState& state) {
    return price(space.prices, mapping_of(space, state), buffer_bytes).seconds;
  };
  auto start = with_decision(rules, plain_state(space), decision);
  if (!is_possible(space, start)) start = rules;
  std::vector<std::pair<double, strategy::MappingState>> open{{seconds(start), start}};
  auto best = open.front();
  std::vector<strategy::MappingState> seen{start};
  auto cheaper = [](const auto& a, const auto& b) { return a.first < b.first; };
  for (int idle = 0; !open.empty() && idle < 15;) {
    auto at = std::min_element(open.begin(), open.end(), cheaper);
    auto state = at->second;
    open.erase(at);
    ++idle;
    for (auto& next : moves(space, state)) {
      if (!(with_decision(next, rules, decision) == rules)) continue;
      if (std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
      seen.push_back(next);
      open.emplace_back(seconds(next), next);
      if (open.back().first < best.first * (1 - strategy::least_difference)) {
        best = open.back();
        idle = 0;
      }
    }
  }
  return best.second;
}

}  // namespace

void given(const PricedProgram& program, int threads) {
  cpu::set_num_threads(threads);
  Problem problem(program);
  problem.make_tensors();
  const auto decide_by = [&](const std::string& construct) {
    problem.set_options(options::MappingOptions::parse("construct=" + construct).with_parallel(threads > 1));
  };
  decide_by("rules");
  Codes codes;
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line); lines.push_back(one_line(line)))
    if (line.find(' ') == std::string::npos) {
      decide_by(line);
      line.clear();
      codes.push_back(problem.compile("", {}, &line));
      decide_by("rules");
    } else {
      codes.push_back(problem.compile(lines_of(line)));
    }
  auto measured = measure_in_turns(problem, codes);
  problem.compile("", [&](engine::CompileState& state) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      std::printf("%9.2f us, difference %.2g: %s\n    %s\n", measured.seconds[i] * 1e6, measured.difference[i],
                  lines[i].c_str(),
                  to_string(price_of(state, polyhedral::parse_mapping(lines_of(lines[i])), "")).c_str());
  });
}

void choice(const PricedProgram& program, int threads) {
  cpu::set_num_threads(threads);
  Problem problem(program);
  problem.set_options(options::MappingOptions().with_parallel(threads > 1));
  std::string chosen;
  problem.compile("", {}, &chosen);
  std::printf("%s\n", one_line(chosen).c_str());
}

void code(const PricedProgram& program) {
  std::string line;
  std::getline(std::cin, line);
  const auto compiled = Problem(program).compile(lines_of(line));
  for (const auto& function : compiled->image().functions) std::printf("%s\n", cpu::disassemble(function).c_str());
}

/// What the price makes of each single decision, given the rest of the rules' mapping, measured in turns.
void decisions(const PricedProgram& program, int threads) {
  cpu::set_num_threads(threads);
  Problem problem(program);
  problem.make_tensors();
  problem.set_options(options::MappingOptions::parse("construct=rules").with_parallel(threads > 1));
  std::vector<std::string> names{"rules"}, mappings{""};
  std::vector<double> prices{0};
  problem.compile("", [&](engine::CompileState& state) {
    const auto& launch = state.launches.back();
    auto bodies = engine::body_operations(*state.program);
    auto rules = rules_of(state);
    mappings.front() = to_string(rules);
    prices.front() = price_of(state, rules, "").seconds;
    for (const auto& decision : decisions_of_rules) {
      auto mapping = rules;
      for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
        strategy::MappingSpace space(*launch.scop, launch.clusters[i], state.target, state.mapping, bodies);
        auto near = state_of(space, rules.clusters[i]);
        if (!is_possible(space, near)) continue;
        mapping.clusters[i] = mapping_of(space, decided(space, near, decision, rules.buffer_bytes));
      }
      names.emplace_back(decision.name);
      mappings.push_back(to_string(mapping));
      prices.push_back(price_of(state, mapping, "").seconds);
    }
  });
  Codes codes;
  std::vector<std::size_t> code_of;
  std::vector<std::string> compiled;
  for (const auto& mapping : mappings) {
    code_of.push_back(
        static_cast<std::size_t>(std::find(compiled.begin(), compiled.end(), mapping) - compiled.begin()));
    if (code_of.back() < compiled.size()) continue;
    compiled.push_back(mapping);
    codes.push_back(problem.compile(mapping));
  }
  auto measured = measure_in_turns(problem, codes);
  for (std::size_t i = 0; i < names.size(); ++i)
    std::printf(
        "{\"program\": \"%s\", \"decision\": \"%s\", \"same\": %s, \"us\": %.2f, \"price_us\": %.2f, \"difference\": "
        "%.2g, "
        "\"mapping\": \"%s\"}\n",
        program.name.c_str(), names[i].c_str(), code_of[i] == 0 ? "true" : "false", measured.seconds[code_of[i]] * 1e6,
        prices[i] * 1e6, measured.difference[code_of[i]], one_line(mappings[i]).c_str());
}
