#include "tc/library/cublaslt/seconds.h"

#include <algorithm>
#include <array>

#include "tc/base/ceil_div.h"
#include "tc/strategy/grid_price/grid_rates.h"

namespace tc::library {
namespace {

/// The multiply-adds of the library over those of GridRates, which for halves are those of our kernels, and over its own where
/// rows of halves do not begin at multiples of 16 bytes. With these, predictions for products of 1000 to 8192 are within
/// a fifth, one within two fifths, of the times of cuBLAS 13.1 on an H200 in benchmarks/results/2026-11-26_h200_units.md.
constexpr double share_of_halves = 1.21, share_of_floats = 0.8, share_of_odd_rows = 0.2;

/// Multiply-adds of float64 over those of float32.
constexpr double share_of_doubles = 0.5;

/// How often a block waits for memory and nothing hides it: for the first tiles of the operands, and to write.
constexpr double exposed_waits = 3;

/// A tile of the result that a block computes, and the share of the rate that it reaches.
struct Tile {
  std::int64_t rows, columns;
  double share;
};
constexpr std::array<Tile, 4> tiles = {{{256, 128, 1.0}, {128, 128, 0.9}, {128, 64, 0.8}, {64, 64, 0.6}}};

/// Do all rows of \p operand begin at multiples of 16 bytes if the first one does?
bool has_whole_rows(const Operand& operand) {
  return std::all_of(operand.strides.begin(), operand.strides.end(), [&](std::int64_t stride) {
    return stride == 1 || stride * static_cast<std::int64_t>(byte_size(operand.type)) % 16 == 0;
  });
}

/// Multiply-adds of a multiprocessor in a cycle.
double products_in_a_cycle(const Call& call, const strategy::GridRates& rates) {
  const auto type = call.operands[0].type;
  const bool whole = std::all_of(call.operands.begin(), call.operands.end(), has_whole_rows);
  if (is_half(type)) return rates.products * share_of_halves * (whole ? 1 : share_of_odd_rows);
  return rates.operations * share_of_floats * (type == DType::Float64 ? share_of_doubles : 1);
}

/// The bytes of the operands of \p call, each element once, and of its post-ops'.
double bytes_of(const Call& call) {
  const auto b = call.number("B"), m = call.number("M"), k = call.number("K"), n = call.number("N");
  const auto in = static_cast<std::int64_t>(byte_size(call.operands[0].type));
  const auto out = static_cast<std::int64_t>(byte_size(call.result().type));
  std::int64_t bytes = b * (in * (m * k + k * n) + out * m * n);
  for (const auto& op : call.post_ops)
    if (op.operand) bytes += out * b * m * n;
  return static_cast<double>(bytes);
}

}  // namespace

double cublaslt_seconds(const Call& call, const GridLimits& limits) {
  const auto& rates = strategy::grid_rates_of(limits);
  const double rate = products_in_a_cycle(call, rates);
  double cycles = 0;
  for (const auto& tile : tiles) {
    const auto blocks =
        call.number("B") * ceil_div(call.number("M"), tile.rows) * ceil_div(call.number("N"), tile.columns);
    const auto rounds = ceil_div(blocks, limits.multiprocessors);
    const auto products = static_cast<double>(rounds * tile.rows * tile.columns * call.number("K"));
    const double own = products / (rate * tile.share);
    cycles = cycles == 0 ? own : std::min(cycles, own);
  }
  const double begin = rates.launch + exposed_waits * rates.memory_latency / rates.hertz;
  const double seconds = begin + std::max(cycles / rates.hertz, bytes_of(call) / rates.memory_bytes);
  return seconds * static_cast<double>(call.times());
}

}  // namespace tc::library
