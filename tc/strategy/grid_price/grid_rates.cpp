#include "tc/strategy/grid_price/grid_rates.h"

#include <cstdlib>

#include "tc/base/str.h"

namespace tc::strategy {
namespace {

/// A number by its name.
struct Field {
  std::string_view name;
  double GridRates::* number;
};

constexpr Field fields[] = {
    {"hertz", &GridRates::hertz},
    {"instructions", &GridRates::instructions},
    {"operations", &GridRates::operations},
    {"products", &GridRates::products},
    {"group_products", &GridRates::group_products},
    {"functions", &GridRates::functions},
    {"rounds", &GridRates::rounds},
    {"l2_bytes", &GridRates::l2_bytes},
    {"memory_bytes", &GridRates::memory_bytes},
    {"operation_latency", &GridRates::operation_latency},
    {"shared_latency", &GridRates::shared_latency},
    {"l2_latency", &GridRates::l2_latency},
    {"memory_latency", &GridRates::memory_latency},
    {"copy_latency", &GridRates::copy_latency},
    {"words_under_way", &GridRates::words_under_way},
    {"blocks", &GridRates::blocks},
    {"barrier", &GridRates::barrier},
    {"launch", &GridRates::launch},
};

/// The number of an architecture: 90 of "sm_90a".
int number_of(std::string_view architecture) {
  auto digits = architecture.find_first_of("0123456789");
  return digits == std::string_view::npos ? 0 : std::atoi(std::string(architecture.substr(digits)).c_str());
}

}  // namespace

const std::vector<GridRates>& known_grid_rates() {
  static const auto& rows = *new std::vector<GridRates>{
      {.name = "sm_75",
       .hertz = 1.59e9,
       .operations = 64,
       .products = 256,
       .memory_bytes = 0.32e12,
       .memory_latency = 430},
      {.name = "sm_80",
       .hertz = 1.41e9,
       .operations = 64,
       .products = 1024,
       .memory_bytes = 1.55e12,
       .memory_latency = 470},
      {.name = "sm_86", .hertz = 1.7e9, .products = 256, .memory_bytes = 0.94e12, .memory_latency = 470},
      {.name = "sm_89", .hertz = 2.5e9, .products = 256, .memory_bytes = 1.0e12, .memory_latency = 540},
      {.name = "sm_90"},
      {.name = "sm_100", .hertz = 1.85e9, .products = 1024, .memory_bytes = 8e12},
      {.name = "sm_120", .hertz = 2.4e9, .products = 256, .memory_bytes = 1.79e12},
  };
  return rows;
}

const GridRates& grid_rates_of(const GridLimits& limits) {
  const auto& rows = known_grid_rates();
  const auto* result = &rows.front();
  for (const auto& row : rows)
    if (number_of(row.name) <= number_of(limits.architecture)) result = &row;
  return *result;
}

std::string to_string(const GridRates& rates) {
  std::vector<std::string> parts;
  for (const auto& field : fields) parts.push_back(str(field.name, " ", rates.*field.number));
  return str(rates.name, ": ", join(parts));
}

}  // namespace tc::strategy
