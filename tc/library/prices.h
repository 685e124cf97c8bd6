#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tc/library/description/call.h"

namespace tc::library {

/// A call that was measured on this machine, in turns with the compiler's own code for the same def.
struct Price {
  std::string library, version, routine;
  std::vector<DType> types;                             ///< of the operands
  std::vector<bool> constant;                           ///< which of them never change
  std::vector<std::vector<std::int64_t>> strides = {};  ///< of the operands
  std::map<std::string, std::int64_t> numbers;          ///< of the call
  std::int64_t times = 1;                               ///< Call::times()
  std::int64_t sums = 0;                                ///< post-ops that add more than a number or a bias
  double library_seconds = 0, own_seconds = 0;
  int threads = 1;
};

/// Are \p a and \p b prices of the same call, in the same number of threads?
bool is_of_same_call(const Price& a, const Price& b);

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

/// How many times as fast as the compiler's own code \p call is: the mean of what the calls measured of the same routine, version,
/// types, constants, sums and threads were, weighed by the inverse squares of their distances (Shepard, A two-dimensional
/// interpolation function for irregularly-spaced data, 1968), as logarithms: one that was measured itself is what it was, and one
/// far from all is like most, not like the one that happens to be nearest. The distance is the sum of the binary logarithms of
/// what numbers and strides differ by; those farther away than 6 say nothing. Nothing where there are no others.
std::optional<double> speed_of(const Call& call, const PriceTable& table, int threads);

/// Calls are taken that are so many times as fast as own code: less is noise of the measuring.
constexpr double least_gain = 1.1;

}  // namespace tc::library
