#include "commands.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>

#include "problem.h"
#include "tc/polyhedral/map_cpu/check_mapping.h"
#include "tc/strategy/construct/mapping_moves.h"
#include "tc/strategy/cpu/choose_mapping.h"

using namespace tc;

namespace {

polyhedral::Mapping random_mapping(const engine::CompileState& state, const polyhedral::Mapping& rules,
                                   std::mt19937_64& random) {
  const auto& launch = state.launches.back();
  auto result = rules;
  bool walk = random() % 2 == 0;
  for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
    strategy::MappingSpace space(*launch.scop, launch.clusters[i], state.target, state.mapping);
    auto near = strategy::state_of(space, rules.clusters[i]);
    auto chosen = walk && is_possible(space, near)
                      ? random_walk(space, near, 1 + static_cast<int>(random() % 5), random)
                      : random_state(space, random);
    result.clusters[i] = mapping_of(space, chosen);
  }
  return result;
}

/// May the program be mapped so, as its statements are fused today?
bool fits(const engine::CompileState& state, const polyhedral::Mapping& mapping) {
  const auto& launch = state.launches.back();
  try {
    polyhedral::check_mapping({*launch.scop, launch.clusters}, mapping);
    return true;
  } catch (const OptionsError&) {
    return false;
  }
}

}  // namespace

void measure(const PricedProgram& program, int count, std::uint64_t seed) {
  Problem problem(program);
  problem.make_tensors();
  std::vector<std::string> mappings;
  auto rules = problem.compile("", [&](engine::CompileState& state) {
    auto chosen = rules_of(state);
    std::mt19937_64 random(seed);
    mappings.push_back(to_string(chosen));
    for (int tries = 0; static_cast<int>(mappings.size()) <= count && tries < 20 * count; ++tries) {
      auto text = to_string(random_mapping(state, chosen, random));
      if (std::find(mappings.begin(), mappings.end(), text) == mappings.end()) mappings.push_back(text);
    }
  });
  problem.measure(*rules, 0);
  problem.keep_outputs();
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    try {
      auto code = problem.compile(mappings[i]);
      auto seconds = problem.measure(*code, 0.03);
      auto wrong = problem.difference();
      std::printf(
          "{\"program\": \"%s\", \"rules\": %s, \"seconds\": %.9f, \"difference\": %.2g, \"mapping\": \"%s\"}\n",
          program.name.c_str(), i == 0 ? "true" : "false", seconds, wrong, one_line(mappings[i]).c_str());
    } catch (const Error& error) {
      std::printf("{\"program\": \"%s\", \"refused\": \"%s\", \"mapping\": \"%s\"}\n", program.name.c_str(),
                  one_line(error.what()).substr(0, 200).c_str(), one_line(mappings[i]).c_str());
    }
    std::fflush(stdout);
  }
}

namespace {

/// What \p mapping adds to plain loops, by which searches choose among equal prices.
double added_code(const engine::CompileState& state, const polyhedral::Mapping& mapping) {
  const auto& launch = state.launches.back();
  double result = 0;
  for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
    strategy::MappingSpace space(*launch.scop, launch.clusters[i], state.target, state.mapping);
    result += strategy::added_code(strategy::state_of(space, mapping.clusters[i]));
  }
  return result;
}

}  // namespace

void price_lines(const PricedProgram& program, const std::string& rates) {
  Problem problem(program);
  int others = 0;
  problem.compile("", [&](engine::CompileState& state) {
    for (std::string line; std::getline(std::cin, line);) {
      const std::string key = "\"mapping\": \"";
      auto begin = line.find(key);
      if (begin == std::string::npos || line.find("\"seconds\"") == std::string::npos) continue;
      begin += key.size();
      auto text = line.substr(begin, line.find('"', begin) - begin);
      const auto mapping = polyhedral::parse_mapping(lines_of(text));
      if (!fits(state, mapping)) {
        ++others;
        continue;
      }
      auto all = price_of(state, mapping, rates);
      std::printf("%s, \"predicted\": %.9f, \"added\": %.2f, \"price\": \"%s\"}\n",
                  line.substr(0, line.rfind('}')).c_str(), all.seconds, added_code(state, mapping),
                  to_string(all).c_str());
    }
  });
  if (others > 0)
    std::fprintf(stderr, "%s: %d mappings of clusters that are fused otherwise today\n", program.name.c_str(), others);
}

void speed(const PricedProgram& program) {
  Problem problem(program);
  problem.compile("", [&](engine::CompileState& state) {
    const auto& launch = state.launches.back();
    auto chosen = rules_of(state);
    auto begin = Clock::now();
    strategy::PricedCluster cluster(*launch.scop, launch.clusters.front(), state.target);
    auto made = Clock::now();
    constexpr int times = 1000;
    double sum = 0;
    for (int i = 0; i < times; ++i) sum += price(cluster, chosen.clusters.front(), chosen.buffer_bytes).seconds;
    auto priced = Clock::now();
    strategy::MappingSpace space(*launch.scop, launch.clusters.front(), state.target, state.mapping);
    auto near = state_of(space, chosen.clusters.front());
    auto space_made = Clock::now();
    std::size_t moved = 0, mapped = 0;
    for (int i = 0; i < times / 10; ++i) moved += moves(space, near).size();
    auto listed = Clock::now();
    for (int i = 0; i < times / 10; ++i) mapped += mapping_of(space, near).members.size();
    auto done = Clock::now();
    auto us = [](auto a, auto b) { return std::chrono::duration<double, std::micro>(b - a).count(); };
    std::printf(
        "{\"program\": \"%s\", \"facts_us\": %.1f, \"price_us\": %.2f, \"space_us\": %.1f, \"moves_us\": %.1f, "
        "\"moves\": %zu, \"mapping_us\": %.1f, \"sum\": %.3g}\n",
        program.name.c_str(), us(begin, made), us(made, priced) / times, us(priced, space_made),
        us(space_made, listed) / (times / 10), moved / (times / 10), us(listed, done) / (times / 10),
        sum + static_cast<double>(mapped));
  });
}
