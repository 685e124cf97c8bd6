#include "problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tc/engine/compile/body_operations.h"
#include "tc/strategy/cpu/choose_mapping.h"

using namespace tc;

Memory::Memory(const TensorSpec& spec, std::uint64_t seed, std::int64_t most) : spec(spec) {
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

float Memory::at(std::size_t i) const {
  float result = 0;
  std::memcpy(&result, first + 4 * i, 4);
  return result;
}

Problem::Problem(const PricedProgram& program) : program_(program) {
  function_ = engine::define(program.text).functions.back();
  options_.mapping = options::MappingOptions().with_parallel(false);
  auto how = options_;
  how.stages.mutate = [&](const std::string& stage, engine::CompileState& state) {
    if (stage == "lower" && state.launches.size() > 1) last_launch_ = str(".", state.launches.size() - 1);
  };
  engine::compile(function_, program_.inputs, {}, how);
}

void Problem::make_tensors() {
  auto outputs = engine::infer_output_tensor_info(*function_, program_.inputs);
  std::uint64_t seed = 1;
  for (const auto& input : program_.inputs)
    tensors_.emplace_back(input, seed++, input.dtype == DType::Int64 ? program_.inputs.front().shape.front() : 4);
  for (const auto& output : outputs) tensors_.emplace_back(contiguous(output.dtype, output.shape), seed++, 4);
  first_output_ = program_.inputs.size();
  for (auto& tensor : tensors_) pointers_.push_back(tensor.first);
}

std::shared_ptr<const engine::Executable> Problem::compile(const std::string& mapping, const AtClusters& look,
                                                           std::string* chosen) const {
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

double Problem::measure(const engine::Executable& code, double seconds) {
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

void Problem::keep_outputs() {
  for (std::size_t i = first_output_; i < tensors_.size(); ++i) kept_.push_back(tensors_[i].data);
}

double Problem::difference() {
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

polyhedral::Mapping rules_of(const engine::CompileState& state) {
  const auto& launch = state.launches.back();
  return strategy::choose_mapping({*launch.scop, launch.clusters}, state.target, state.mapping,
                                  engine::body_operations(*state.program));
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
