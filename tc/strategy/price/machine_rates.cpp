#include "tc/strategy/price/machine_rates.h"

#include <cstdlib>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::strategy {
namespace {

struct Field {
  const char* name;
  double MachineRates::* value;
};

constexpr Field fields[] = {
    {"hertz", &MachineRates::hertz},
    {"instructions", &MachineRates::instructions},
    {"operations", &MachineRates::operations},
    {"loads", &MachineRates::loads},
    {"stores", &MachineRates::stores},
    {"shuffles", &MachineRates::shuffles},
    {"shuffles_as_operations", &MachineRates::shuffles_as_operations},
    {"part", &MachineRates::part},
    {"operation_latency", &MachineRates::operation_latency},
    {"forward_latency", &MachineRates::forward_latency},
    {"division", &MachineRates::division},
    {"function", &MachineRates::function},
    {"crowded", &MachineRates::crowded},
    {"overlap", &MachineRates::overlap},
    {"exposed", &MachineRates::exposed},
    {"window", &MachineRates::window},
    {"branch_miss", &MachineRates::branch_miss},
    {"l2_bytes", &MachineRates::l2_bytes},
    {"l3_bytes", &MachineRates::l3_bytes},
    {"memory_bytes", &MachineRates::memory_bytes},
    {"l2_latency", &MachineRates::l2_latency},
    {"l3_latency", &MachineRates::l3_latency},
    {"memory_latency", &MachineRates::memory_latency},
    {"l3_share", &MachineRates::l3_share},
    {"comes_to_be_overwritten", &MachineRates::comes_to_be_overwritten},
    {"known_pages", &MachineRates::known_pages},
    {"page_walk", &MachineRates::page_walk},
    {"misses", &MachineRates::misses},
    {"unforeseen_lines", &MachineRates::unforeseen_lines},
    {"loads_under_way", &MachineRates::loads_under_way},
    {"stores_under_way", &MachineRates::stores_under_way},
    {"read_collision", &MachineRates::read_collision},
    {"write_collision", &MachineRates::write_collision},
    {"cores_that_fill_memory", &MachineRates::cores_that_fill_memory},
    {"l1_period", &MachineRates::l1_period},
    {"l2_period", &MachineRates::l2_period},
    {"start_threads", &MachineRates::start_threads},
    {"take_task", &MachineRates::take_task},
    {"torn_line", &MachineRates::torn_line},
    {"next_line", &MachineRates::next_line},
    {"foreign_line", &MachineRates::foreign_line},
};

MachineRates wide_registers() {
  MachineRates rates;
  rates.name = "registers of 64 bytes";
  rates.hertz = 4.1e9;
  rates.instructions = 6;
  rates.division = 7;
  rates.function = 10;
  rates.shuffles = 2;
  rates.window = 448;
  rates.l2_bytes = 48;
  rates.l3_bytes = 32;
  rates.memory_bytes = 8;
  rates.misses = 16;
  rates.read_collision = 8;
  rates.write_collision = 42;
  rates.stores_under_way = 104;
  return rates;
}

/// Registers of 64 bytes, of which the core computes, loads and stores 32 a time. Published: operations, loads, stores,
/// shuffles, part, window, known_pages. Measured: hertz, bytes from L3 (reads in order of up to 8 MB, 89 GB/s) and memory (28 of 32 MB, 8 of
/// short runs), l3_share, unforeseen_lines, comes_to_be_overwritten, read_collision. Fitted to the times of random mappings of 215 programs: crowded, overlap,
/// exposed; of 30 programs: shuffles_as_operations, function, division, l2_bytes (a loop of loads gave 28), write_collision,
/// stores_under_way; to drawn programs: page_walk, forward_latency, memory_latency.
MachineRates zen4() {
  MachineRates rates = wide_registers();
  rates.name = "zen4";
  rates.hertz = 3.66e9;
  rates.operations = 1;
  rates.loads = 1;
  rates.stores = 0.5;
  rates.shuffles = 1;
  rates.shuffles_as_operations = 0.5;
  rates.part = 0.5;
  rates.division = 6;
  rates.function = 12;
  rates.crowded = 0.05;
  rates.overlap = 3;
  rates.exposed = 0.2;
  rates.window = 320;
  rates.comes_to_be_overwritten = 0;
  rates.known_pages = 3072;
  rates.page_walk = 20;
  rates.forward_latency = 8;
  rates.l2_bytes = 36;
  rates.l3_bytes = 24;
  rates.memory_bytes = 6;
  rates.memory_latency = 400;
  rates.unforeseen_lines = 90;
  rates.l3_share = 0.4;
  rates.read_collision = 11;
  rates.write_collision = 34;
  rates.stores_under_way = 16;
  return rates;
}

MachineRates middle_registers() {
  MachineRates rates;
  rates.name = "registers of 32 bytes";
  rates.division = 8;
  return rates;
}

MachineRates narrow_registers() {
  MachineRates rates;
  rates.name = "registers of 16 bytes";
  rates.division = 6;
  rates.operation_latency = 8;
  return rates;
}

}  // namespace

const std::vector<MachineRates>& known_rates() {
  static const auto& rows =
      *new std::vector<MachineRates>{narrow_registers(), middle_registers(), wide_registers(), zen4()};
  return rows;
}

const MachineRates& rates_of(const Target& target) {
  const auto& rows = known_rates();
  auto bytes = target.vector_bytes();
  if (bytes == target.instructions->register_bytes)
    for (const auto& row : rows)
      if (row.name == target.core) return row;
  return bytes >= 64 ? rows[2] : bytes >= 32 ? rows[1] : rows[0];
}

std::string to_string(const MachineRates& rates) {
  std::vector<std::string> parts;
  for (const auto& field : fields) parts.push_back(str(field.name, " ", rates.*field.value));
  return str(rates.name, ": ", join(parts));
}

MachineRates with_rates(MachineRates rates, const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = std::min(text.find(',', begin), text.size());
    auto part = text.substr(begin, end - begin);
    auto equals = std::min(part.find('='), part.size());
    const Field* found = nullptr;
    std::vector<std::string> names;
    for (const auto& field : fields) {
      if (part.substr(0, equals) == field.name) found = &field;
      names.emplace_back(field.name);
    }
    auto value = equals < part.size() ? std::strtod(part.c_str() + equals + 1, nullptr) : 0;
    if (!found || !(value > 0))
      throw OptionsError(str("'", part, "' is no rate of a machine: write NAME=NUMBER, with a name of ", join(names)));
    rates.*found->value = value;
    begin = end + 1;
  }
  return rates;
}

}  // namespace tc::strategy
