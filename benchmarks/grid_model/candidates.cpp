#include "candidates.h"

#include <algorithm>
#include <cstdlib>

#include "../price_model/problem.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/strategy/construct/kernel_moves.h"
#include "tc/strategy/grid_price/grid_price.h"

using namespace tc;

namespace {

/// Stands for a mapping that cannot be carried out.
constexpr double most_seconds = 1e3;

constexpr const char* between_launches = " || ";

template <typename T>
const T& one_of(const std::vector<T>& values, std::mt19937_64& random) {
  return values[random() % values.size()];
}

/// One to three options.
std::string random_options(std::mt19937_64& random) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> choices = {
      {"register_tile", {"2x2", "4x4", "8x8", "4x8", "8x4", "2x8", "8x2", "4x2", "2x4"}},
      {"reduction_block", {"4", "8", "16", "32"}},
      {"block", {"32x4", "32x8", "64x4", "128", "256", "512", "128x2", "16x16", "8x32", "32", "64"}},
      {"tile",
       {"1x32", "1x256", "8x32", "16x16", "32x32", "1x1024", "4x64", "64x4", "1x1x32", "1x4x32", "1x1x8x32", "32"}},
      {"reduction_parts", {"1", "2", "4", "8", "32", "128"}},
      {"shared", {"0"}},
      {"registers", {"0"}},
      {"promote", {"0"}},
      {"vectorise", {"0"}},
      {"reduce_in_block", {"0"}},
      {"shared_bytes", {"16384", "98304"}},
      {"grid", {"132", "264", "32x32"}},
      {"fusion", {"min", "max"}},
  };
  std::vector<std::string> parts;
  const auto most = 1 + random() % 3;
  for (std::size_t i = 0; i < most; ++i) {
    const auto& [name, values] = one_of(choices, random);
    bool given =
        std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return part.starts_with(name + "="); });
    if (!given) parts.push_back(name + "=" + one_of(values, random));
  }
  return join(parts, ",");
}

/// One change of the mapping of a cluster.
void change(polyhedral::GridClusterMapping& mapping, std::mt19937_64& random) {
  auto times = [&](std::int64_t& size) { size = std::max<std::int64_t>(1, random() % 2 ? size * 2 : size / 2); };
  switch (random() % 8) {
    case 0: {  // threads along one dimension, with the tile whose points they have
      auto d = random() % 2;
      auto before = mapping.block[d];
      times(mapping.block[d]);
      for (auto& member : mapping.members)
        if (member.threads.dimension == static_cast<int>(d) && member.tile > 1)
          member.tile = std::max<std::int64_t>(1, member.tile * mapping.block[d] / before);
      break;
    }
    case 1:  // iterations of a tile
      for (auto& member : mapping.members)
        if (member.tile > 1 && random() % 2) times(member.tile);
      break;
    case 2:
      if (mapping.blocks.iterator >= 0) times(mapping.blocks.size);
      break;
    case 3:
      if (mapping.blocks.iterator >= 0) mapping.blocks.slots = static_cast<int>(1 + random() % 4);
      break;
    case 4:
      if (!mapping.copies.empty())
        mapping.copies.erase(mapping.copies.begin() + static_cast<std::ptrdiff_t>(random() % mapping.copies.size()));
      break;
    case 5:  // what x and y of the grid are
      for (auto& member : mapping.members)
        if (member.grid == 0 || member.grid == 1) member.grid = 1 - member.grid;
      std::swap(mapping.grid[0], mapping.grid[1]);
      break;
    case 6:
      for (auto& blocks : mapping.grid)
        if (blocks > 1 && random() % 2) blocks = std::max<std::int64_t>(1, blocks / 2);
      break;
    default:
      for (auto& member : mapping.members)
        if (member.threads.run > 1) member.threads.run /= 2, mapping.others.vector = false;
  }
}

std::string fields(const std::vector<strategy::GridPrice>& prices) {
  double seconds = 0, memory = 0, waves = 0, occupancy = 1;
  strategy::GridPrice all;
  for (const auto& price : prices) {
    auto us = [&](double cycles) { return cycles / price.hertz; };
    seconds += price.seconds, memory += price.memory;
    all.instructions += us(price.instructions), all.operations += us(price.operations);
    all.functions += us(price.functions), all.rounds += us(price.rounds), all.l2 += us(price.l2);
    all.latency += us(price.latency), all.starts += us(price.starts), waves += price.waves;
    occupancy = std::min(occupancy, price.occupancy);
  }
  return str("\"kernels\": ", prices.size(), ", \"price\": ", std::min(seconds, most_seconds), ", \"memory\": ", memory,
             ", \"l2\": ", all.l2, ", \"rounds\": ", all.rounds, ", \"instructions\": ", all.instructions,
             ", \"operations\": ", all.operations, ", \"functions\": ", all.functions, ", \"latency\": ", all.latency,
             ", \"starts\": ", all.starts, ", \"waves\": ", waves, ", \"occupancy\": ", occupancy);
}

std::vector<std::string> mappings_of(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t from = 0; from < text.size();) {
    auto end = std::min(text.find(between_launches, from), text.size());
    result.push_back(lines_of(text.substr(from, end - from)));
    from = end + std::string(between_launches).size();
  }
  return result;
}

engine::CompileOptions options_of(const Target& target, const Candidate& candidate) {
  engine::CompileOptions result;
  result.target = target;
  result.mapping = options::MappingOptions::parse(candidate.options);
  auto mappings = mappings_of(candidate.mapping);
  for (std::size_t i = 0; i < mappings.size(); ++i)
    result.stages.replace[mappings.size() > 1 ? str("choose.", i) : "choose"] = mappings[i];
  return result;
}

struct Chosen {
  std::vector<polyhedral::GridMapping> mappings;
  std::vector<strategy::GridPrice> prices;
};

Chosen chosen(const PricedProgram& program, const Target& target, const Candidate& candidate) {
  auto function = engine::define(program.text).functions.back();
  auto how = options_of(target, candidate);
  auto result = std::make_shared<Chosen>();
  auto arguments = engine::make_arguments(*function, program.inputs, {}, how);
  engine::map_launches(
      function, arguments, how,
      [result](engine::CompileState& state) {
        auto bodies = engine::body_operations(*state.program);
        for (auto& launch : state.launches) {
          const auto& mapping = *launch.grid().mapping;
          result->mappings.push_back(mapping);
          for (std::size_t i = 0; i < launch.clusters.size(); ++i)
            result->prices.push_back(
                strategy::grid_price({*launch.scop, launch.clusters[i], state.target, bodies}, mapping.clusters[i]));
        }
      },
      engine::Phase::Choose);
  return *result;
}

std::vector<Descent> descents_of(const engine::CompileState& state, const engine::LaunchState& launch) {
  std::vector<Descent> result;
  const auto bodies = engine::body_operations(*state.program);
  for (std::size_t i = 0; i < launch.clusters.size(); ++i) {
    const auto& cluster = launch.clusters[i];
    const strategy::PricedCluster prices(*launch.scop, cluster, state.target, bodies);
    const auto& nest = launch.grid().nests.at(i).nest;
    const auto found = strategy::descend_kernel(prices, nest, [&](const polyhedral::Nest& beside) {
      return polyhedral::is_realisable_kernel(*launch.scop, cluster, beside, *state.target.grid);
    });
    const auto names = polyhedral::nest_names(*launch.scop, cluster);
    result.push_back({to_string(found.nest, names), to_string(nest, names), found.price.seconds,
                      strategy::grid_price(prices, nest).seconds});
  }
  return result;
}

std::string text_of(const std::vector<polyhedral::GridMapping>& mappings) {
  std::vector<std::string> lines;
  for (const auto& mapping : mappings) lines.push_back(one_line(to_string(mapping)));
  return join(lines, between_launches);
}

}  // namespace

std::vector<Descent> descents(const PricedProgram& program, const Target& target) {
  auto function = engine::define(program.text).functions.back();
  const auto how = options_of(target, {});
  auto result = std::make_shared<std::vector<Descent>>();
  engine::map_launches(
      function, engine::make_arguments(*function, program.inputs, {}, how), how,
      [result](engine::CompileState& state) {
        for (const auto& launch : state.launches)
          for (auto& each : descents_of(state, launch)) result->push_back(std::move(each));
      },
      engine::Phase::Choose);
  return *result;
}

Candidate random_candidate(const PricedProgram& program, const Target& target, std::mt19937_64& random) {
  Candidate result{"construct=rules", "", ""};
  if (random() % 4) result.options += "," + random_options(random);
  if (random() % 2) return result;
  auto mappings = chosen(program, target, result).mappings;
  const auto changes = 1 + random() % 3;
  for (std::size_t i = 0; i < changes; ++i) {
    auto& clusters = mappings[random() % mappings.size()].clusters;
    change(clusters[random() % clusters.size()], random);
  }
  result.mapping = text_of(mappings);
  return result;
}

Candidate price_candidate(const PricedProgram& program, const Target& target, const Candidate& candidate) {
  auto found = chosen(program, target, candidate);
  return {candidate.options, text_of(found.mappings), fields(found.prices)};
}

std::shared_ptr<const engine::Executable> compile_candidate(const PricedProgram& program, const Target& target,
                                                            const Candidate& candidate) {
  try {
    return engine::compile(engine::define(program.text).functions.back(), program.inputs, {},
                           options_of(target, candidate));
  } catch (const Error&) {
    return nullptr;
  }
}

std::string text_of(const std::string& line, const std::string& name) {
  auto key = str("\"", name, "\": \"");
  auto at = line.find(key);
  if (at == std::string::npos) return "";
  at += key.size();
  return line.substr(at, line.find('"', at) - at);
}

double number_of(const std::string& line, const std::string& name) {
  auto key = str("\"", name, "\": ");
  auto at = line.find(key);
  return at == std::string::npos ? 0 : std::atof(line.c_str() + at + key.size());
}
