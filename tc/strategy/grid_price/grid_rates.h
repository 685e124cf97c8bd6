#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tc/base/target.h"

namespace tc::strategy {

/// How fast a GPU does what kernels ask of it. Counts a cycle are of one multiprocessor.
struct GridRates {
  std::string_view name = "sm_90";  ///< the row of the table, for messages
  double hertz = 1.93e9;            ///< cycles a second under load
  double instructions = 4;          ///< of warps that begin in a cycle
  double operations = 128;          ///< additions, multiplications or multiply-adds of float32
  double products = 1270;           ///< multiply-adds of halves by units for matrices
  double group_products = 2048;     ///< the same by units of groups of warps
  double functions = 16;            ///< exp and the like, divisions
  double rounds = 1;                ///< of the first cache and the banks of shared memory, which are one unit
  double l2_bytes = 40;             ///< that come from the second cache
  double memory_bytes = 3.0e12;     ///< that come from memory or go there in a second, of the whole machine
  double operation_latency = 4, shared_latency = 30, l2_latency = 300, memory_latency = 700;  ///< cycles
  double copy_latency = 1050;   ///< cycles until the threads of a block have copied a part of operands, and have met
  double words_under_way = 10;  ///< of four bytes, that a thread has asked memory for and waits for
  double blocks = 1.64e9;       ///< that begin in a second, in all multiprocessors together
  double barrier = 30;          ///< cycles until the threads of a block have met
  double launch = 3e-6;         ///< seconds until a kernel runs and is seen to have ended

  bool operator==(const GridRates&) const = default;
};

/// The rates of the machine that \p limits are of: the row of its architecture; of one without a row, of the newest before
/// it. Nothing is measured.
///
/// Measured on an H100 (sm_90): hertz, by multiply-adds; memory_bytes, by a copy; blocks, by kernels of some 60000 to a million of them;
/// words_under_way, by sums that few threads make of columns. On an H200: copy_latency, by products of 1024 cubed in 3, 4 and 6
/// slots. Other rows have these of sm_90 where they have none of their own.
/// Products: of sm_90 0.62 of what its units of groups reach, W. Luo et al.; of others half of the dense peak that the white
/// papers name for float16 with sums of float32.
/// Other sources: throughputs of the CUDA C++ Programming Guide, "Arithmetic instructions"; clocks and bandwidths of NVIDIA's
/// white papers of the architectures; latencies of W. Luo et al., "Benchmarking and dissecting the NVIDIA Hopper GPU
/// architecture via microbenchmarking", 2024.
const GridRates& grid_rates_of(const GridLimits& limits);

/// All rows, the oldest architecture first.
const std::vector<GridRates>& known_grid_rates();

/// "sm_90: hertz 1.7e+09, instructions 4, ...": every number by its name.
std::string to_string(const GridRates& rates);

}  // namespace tc::strategy
