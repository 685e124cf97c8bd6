#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tc/library/description/call.h"

namespace tc::library {

/// A call that was measured on this machine, in turns with the compiler's own code for the same def.
struct Price {
  std::string library, version, routine;
  std::vector<DType> types;                     ///< of the operands
  std::vector<bool> constant;                   ///< which of them never change
  std::map<std::string, std::int64_t> numbers;  ///< of the call
  std::int64_t times = 1;                       ///< Call::times()
  std::int64_t sums = 0;                        ///< post-ops that add more than a number or a bias
  double library_seconds = 0, own_seconds = 0;
  int threads = 1;
};

/// What routines cost on a machine.
struct PriceTable {
  std::string machine;  ///< cache::measurement_here().machine where it was measured
  std::vector<Price> prices;
};

/// A line for the machine, and one a price: texts that parse back.
std::string to_string(const PriceTable& table);
/// The inverse. Nothing where \p text is none of this version.
std::optional<PriceTable> parse_prices(const std::string& text);

/// The price of \p call, without its seconds.
Price price_of(const Call& call, int threads);

/// How many times as fast as the compiler's own code \p call is: what the nearest of the calls measured of the same routine,
/// version, types, constants, sums and threads was, by the logarithms of their numbers; nothing where none is within a factor of 16, all
/// numbers together.
std::optional<double> speed_of(const Call& call, const PriceTable& table, int threads);

/// Calls are taken that are so many times as fast as own code: less is noise of the measuring.
constexpr double least_gain = 1.1;

}  // namespace tc::library
