#pragma once

#include <vector>

#include "../price_model/problem.h"
#include "tc/cuda/device.h"

/// The GPU of this machine.
tc::Target device_target();

/// The tensors of a program in the memory of this machine's GPU: small whole numbers.
class DeviceProblem {
 public:
  explicit DeviceProblem(const PricedProgram& program);
  ~DeviceProblem();
  DeviceProblem(const DeviceProblem&) = delete;
  DeviceProblem& operator=(const DeviceProblem&) = delete;

  /// The largest difference of the outputs to those of the first code that was asked for, as a share of the largest element.
  double difference(const tc::engine::Executable& code);
  /// Seconds of a run, of the fastest of some groups of runs one right behind the other.
  double measure(const tc::engine::Executable& code);

 private:
  std::vector<Memory> tensors_;
  std::size_t first_output_ = 0;
  std::vector<tc::cuda::Driver::Pointer> blocks_;
  std::vector<void*> pointers_;
  std::vector<std::vector<float>> first_;  ///< outputs of the first code
};
