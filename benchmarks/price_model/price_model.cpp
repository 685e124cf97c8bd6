// Random legal mappings of programs, measured beside what the price says of them. One line of JSON each.
//
//   price_model list
//   price_model measure PROGRAM COUNT SEED    random mappings, the choice of the rules first; one thread
//   price_model price PROGRAM [RATES] < LINES lines of "measure" with the price of today, by other rates of the machine
//   price_model speed PROGRAM                 microseconds of a price
//   price_model turns PROGRAM THREADS         what rules and each search choose, measured in turns
//   price_model search PROGRAM                what searches find by the price, in how many states and milliseconds
//   price_model kinds                         operators of the paper on Gensor, whole: milliseconds of each search
//   price_model ablation KIND                 the same operators, smaller: what searches find, measured in turns
//   price_model given PROGRAM [THREADS] < LINES  each mapping that a line gives, "rules" for theirs, measured in turns
//   price_model decisions PROGRAM THREADS     what prices make of each decision of the rules alone, measured in turns
//   price_model collisions                    what lines cost that fall into few sets of the first cache

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>

#include "collisions.h"
#include "programs.h"
#include "tc/cpu/code_counts.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/map_cpu/check_mapping.h"
#include "tc/strategy/construct/construct.h"
#include "tc/strategy/construct/mapping_moves.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/price/price.h"

namespace {

using namespace tc;
using Clock = std::chrono::steady_clock;

struct Memory {
  Memory(const TensorSpec& spec, std::uint64_t seed, std::int64_t most) : spec(spec) {
    auto count = static_cast<std::size_t>(spec.element_count());
    data.resize(count * static_cast<std::size_t>(byte_size(spec.dtype)) + 64);
    first = data.data() + (64 - reinterpret_cast<std::uintptr_t>(data.data()) % 64) % 64;
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      auto value = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
      if (spec.dtype == DType::Int64) std::memcpy(first + 8 * i, &value, 8);
      auto number = static_cast<float>(value);
      if (spec.dtype == DType::Float32) std::memcpy(first + 4 * i, &number, 4);
    }
  }
  float at(std::size_t i) const {
    float result = 0;
    std::memcpy(&result, first + 4 * i, 4);
    return result;
  }
  TensorSpec spec;
  std::vector<std::byte> data;
  std::byte* first = nullptr;
};

/// A program with its tensors.
class Problem {
 public:
  explicit Problem(const PricedProgram& program) : program_(program) {
    function_ = engine::define(program.text).functions.back();
    options_.mapping = options::MappingOptions().with_parallel(false);
    auto how = options_;
    how.stages.mutate = [&](const std::string& stage, engine::CompileState& state) {
      if (stage == "lower" && state.launches.size() > 1) last_launch_ = str(".", state.launches.size() - 1);
    };
    engine::compile(function_, program_.inputs, {}, how);
  }

  void make_tensors() {
    auto outputs = engine::infer_output_tensor_info(*function_, program_.inputs);
    std::uint64_t seed = 1;
    for (const auto& input : program_.inputs)
      tensors_.emplace_back(input, seed++, input.dtype == DType::Int64 ? program_.inputs.front().shape.front() : 4);
    for (const auto& output : outputs) tensors_.emplace_back(contiguous(output.dtype, output.shape), seed++, 4);
    first_output_ = program_.inputs.size();
    for (auto& tensor : tensors_) pointers_.push_back(tensor.first);
  }

  using AtClusters = std::function<void(engine::CompileState&)>;
  /// Compiles with \p mapping, the rules' choice where it is empty; \p look sees the clusters before they are mapped.
  std::shared_ptr<const engine::Executable> compile(const std::string& mapping, const AtClusters& look = {},
                                                    std::string* chosen = nullptr) const {
    auto how = options_;
    how.stages.keep_text_of = {"choose"};
    if (!mapping.empty()) how.stages.replace["choose" + last_launch_] = mapping;
    if (look)
      how.stages.mutate = [&](const std::string& stage, engine::CompileState& state) {
        if (stage == "collapse" + last_launch_) look(state);
      };
    auto result = engine::compile(function_, program_.inputs, {}, how);
    for (const auto& record : result->stats().records)
      if (chosen && record.name == "choose" + last_launch_) *chosen += record.text;
    return result;
  }
  const std::shared_ptr<const engine::Function>& function() const { return function_; }
  void set_options(const options::MappingOptions& mapping) { options_.mapping = mapping; }

  /// The least of some runs that take \p seconds together: what else runs on the machine makes a run longer only.
  double measure(const engine::Executable& code, double seconds) {
    code.run_unchecked(pointers_.data());
    double best = 1e9;
    auto end = Clock::now() + std::chrono::duration<double>(seconds);
    int runs = 0;
    do {
      auto begin = Clock::now();
      code.run_unchecked(pointers_.data());
      best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
      ++runs;
    } while (runs < 3 || (Clock::now() < end && runs < 200));
    return best;
  }

  void keep_outputs() {
    for (std::size_t i = first_output_; i < tensors_.size(); ++i) kept_.push_back(tensors_[i].data);
  }
  /// The largest difference to the outputs that were kept, as a share of the largest element; spoils the outputs.
  double difference() {
    double most = 0, largest = 1e-30;
    for (std::size_t i = first_output_; i < tensors_.size(); ++i) {
      auto& tensor = tensors_[i];
      auto offset = tensor.first - tensor.data.data();
      for (std::size_t k = 0; k < static_cast<std::size_t>(tensor.spec.element_count()); ++k) {
        float kept = 0;
        std::memcpy(&kept, kept_[i - first_output_].data() + offset + 4 * k, 4);
        most = std::max(most, static_cast<double>(std::abs(tensor.at(k) - kept)));
        if (!(std::abs(tensor.at(k) - kept) <= 1e30f)) most = 1e30;
        largest = std::max(largest, static_cast<double>(std::abs(kept)));
      }
      std::memset(tensor.first, 0x7f, static_cast<std::size_t>(tensor.spec.element_count()) * 4);
    }
    return most / largest;
  }

 private:
  const PricedProgram& program_;
  std::shared_ptr<const engine::Function> function_;
  std::string last_launch_;  ///< behind the names of its stages, where there are several
  engine::CompileOptions options_;
  std::vector<Memory> tensors_;
  std::vector<void*> pointers_;
  std::size_t first_output_ = 0;
  std::vector<std::vector<std::byte>> kept_;
};

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

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string result;
  for (char c : text) result += c == '\n' ? std::string(" | ") : std::string(1, c);
  return result;
}
std::string lines_of(std::string text) {
  for (std::size_t at; (at = text.find(" | ")) != std::string::npos;) text.replace(at, 3, "\n");
  return text + "\n";
}

void measure(const PricedProgram& program, int count, std::uint64_t seed) {
  Problem problem(program);
  problem.make_tensors();
  std::vector<std::string> mappings;
  auto rules = problem.compile("", [&](engine::CompileState& state) {
    auto& launch = state.launches.back();
    auto chosen = strategy::choose_mapping({*launch.scop, launch.clusters}, state.target, state.mapping);
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

strategy::Price price_of(const engine::CompileState& state, const polyhedral::Mapping& mapping,
                         const std::string& rates) {
  const auto& launch = state.launches.back();
  auto bodies = engine::body_operations(*state.program);
  strategy::Price all;
  for (std::size_t i = 0; i < launch.clusters.size() && i < mapping.clusters.size(); ++i) {
    strategy::PricedCluster cluster(*launch.scop, launch.clusters[i], state.target, bodies);
    cluster.rates = strategy::with_rates(cluster.rates, rates);
    all += price(cluster, mapping.clusters[i], mapping.buffer_bytes);
  }
  return all;
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
      std::printf("%s, \"predicted\": %.9f, \"price\": \"%s\"}\n", line.substr(0, line.rfind('}')).c_str(), all.seconds,
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
    auto chosen = strategy::choose_mapping({*launch.scop, launch.clusters}, state.target, state.mapping);
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

using Codes = std::vector<std::shared_ptr<const engine::Executable>>;

struct InTurns {
  std::vector<double> seconds, difference;  ///< medians; to the outputs of the first
};

/// Each of \p codes measured in each of some rounds.
InTurns measure_in_turns(Problem& problem, const Codes& codes) {
  std::vector<std::vector<double>> times(codes.size());
  InTurns result;
  constexpr int rounds = 9;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < codes.size(); ++i) {
      times[i].push_back(problem.measure(*codes[i], 0.02));
      if (round == 0 && i == 0) problem.keep_outputs();
      if (round == 0) result.difference.push_back(problem.difference());
    }
  for (auto& each : times) {
    std::nth_element(each.begin(), each.begin() + rounds / 2, each.end());
    result.seconds.push_back(each[rounds / 2]);
  }
  return result;
}

/// What rules and searches choose. In one thread they choose for one core.
void turns(const PricedProgram& program, int threads) {
  cpu::set_num_threads(threads);
  Problem problem(program);
  problem.make_tensors();
  const std::vector<std::string> choices{"", "construct", "construct:roller", "construct:gensor"};
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

constexpr std::pair<const char*, strategy::ConstructionPolicy> policies[] = {
    {"best_first", strategy::ConstructionPolicy::BestFirst},
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

void search(const PricedProgram& program) {
  Problem problem(program);
  problem.compile("", [&](engine::CompileState& state) {
    const auto& launch = state.launches.back();
    auto rules = strategy::choose_mapping({*launch.scop, launch.clusters}, state.target, state.mapping);
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
    engine::CompileOptions grid;
    grid.target = Target::parse("cuda:sm_90");
    auto begin = Clock::now();
    engine::compile(problem.function(), program.inputs, {}, grid);
    std::printf(", \"sm_90_ms\": %.1f}\n", milliseconds_since(begin));
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

void given(const PricedProgram& program, int threads) {
  cpu::set_num_threads(threads);
  Problem problem(program);
  problem.make_tensors();
  problem.set_options(options::MappingOptions().with_parallel(threads > 1));
  Codes codes;
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line); lines.push_back(one_line(line)))
    if (line == "rules") {
      line.clear();
      codes.push_back(problem.compile("", {}, &line));
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

/// What the price makes of each single decision, given the rest of the rules' mapping, measured in turns.
void decisions(const PricedProgram& program, int threads) {
  cpu::set_num_threads(threads);
  Problem problem(program);
  problem.make_tensors();
  problem.set_options(options::MappingOptions().with_parallel(threads > 1));
  std::vector<std::string> names{"rules"}, mappings{""};
  std::vector<double> prices{0};
  problem.compile("", [&](engine::CompileState& state) {
    const auto& launch = state.launches.back();
    auto bodies = engine::body_operations(*state.program);
    auto rules = strategy::choose_mapping({*launch.scop, launch.clusters}, state.target, state.mapping);
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
  std::vector<std::size_t> same;
  for (const auto& mapping : mappings) {
    auto first = std::find(mappings.begin(), mappings.end(), mapping) - mappings.begin();
    same.push_back(static_cast<std::size_t>(first));
    codes.push_back(same.back() < codes.size() ? codes[same.back()] : problem.compile(mapping));
  }
  auto measured = measure_in_turns(problem, codes);
  for (std::size_t i = 0; i < names.size(); ++i)
    std::printf(
        "{\"program\": \"%s\", \"decision\": \"%s\", \"same\": %s, \"us\": %.2f, \"price_us\": %.2f, \"difference\": "
        "%.2g, "
        "\"mapping\": \"%s\"}\n",
        program.name.c_str(), names[i].c_str(), same[i] == 0 ? "true" : "false", measured.seconds[i] * 1e6,
        prices[i] * 1e6, measured.difference[i], one_line(mappings[i]).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  auto programs = priced_programs();
  cpu::set_num_threads(1);
  if (words.empty() || words[0] == "list") {
    for (const auto& program : programs) std::printf("%s\n", program.name.c_str());
    return 0;
  }
  if (words[0] == "collisions") {
    print_collisions();
    return 0;
  }
  if (words[0] == "kinds") {
    kinds();
    return 0;
  }
  if (words[0] == "ablation") programs = paper_programs(false);
  for (const auto& program : programs) {
    if (words.size() < 2 || program.name != words[1]) continue;
    if (words[0] == "measure" && words.size() == 4) measure(program, std::stoi(words[2]), std::stoull(words[3]));
    if (words[0] == "price") price_lines(program, words.size() > 2 ? words[2] : "");
    if (words[0] == "speed") speed(program);
    if (words[0] == "search") search(program);
    if (words[0] == "given") given(program, words.size() > 2 ? std::stoi(words[2]) : 1);
    if (words[0] == "ablation") ablation(program);
    if (words[0] == "decisions" && words.size() == 3) decisions(program, std::stoi(words[2]));
    if (words[0] == "turns" && words.size() == 3) turns(program, std::stoi(words[2]));
    return 0;
  }
  std::fprintf(stderr, "no such program; \"price_model list\" lists them\n");
  return 1;
}
