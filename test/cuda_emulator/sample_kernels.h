#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "test/cuda_emulator/emulator.h"

namespace tc::emulator {

/// A kernel written by hand, its tensors and what its last tensor must hold afterwards.
struct Sample {
  KernelText kernel;
  LaunchShape shape;
  std::vector<std::string> names;
  std::vector<TensorSpec> specs;
  std::vector<std::vector<double>> values;  ///< the last is poisoned instead where it is empty
  std::vector<Scalar> scalars;              ///< behind the tensors
  std::vector<double> want;
  double tolerance = 0;
};

/// Rows of 100 numbers, one block of 64 threads a row; maximum and sum by shuffles and shared memory.
Sample softmax();
/// C = A B for 37 x 50 x 41: tiles of 16 x 64 x 8, four columns a thread, guards at the edges.
Sample sgemm();
/// 70 x 45 by tiles of 32 x 32 with a padded column.
Sample transpose();
/// The sum of 3000 numbers: partial sums of blocks, the last block adds them.
Sample two_stage_sum();
/// Two rounds in which each of 5 blocks adds up what its neighbours left in the round before: a cooperative launch. A
/// block keeps its own sum in shared memory from one round to the next.
Sample neighbours();
/// Sums of 64 columns over 24 rows, which arrive by asynchronous copies two stages ahead.
Sample pipeline();
/// y = 2 x for a few rows of a tensor whose offsets need 64 bits; its memory is mostly never touched.
Sample far_rows();
/// The running sums of pairs: each thread keeps the last element of the step before.
Sample carried();

struct Outcome {
  Result result;
  std::optional<std::string> wrong_value;  ///< the first, by tensor and element
};

Outcome run_sample(const Sample& sample, std::uint64_t seed);
/// \p sample with \p from replaced by \p to everywhere in the text. Fails the test if it does not occur.
Sample with_change(Sample sample, const std::string& from, const std::string& to);

}  // namespace tc::emulator
