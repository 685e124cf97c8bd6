#pragma once

#include <cstdint>
#include <vector>

#include "tc/base/tensor.h"
#include "tc/engine/define/function.h"

namespace tc::autotuner {

/// Tensors to tune with where there are no real ones: floats in [-1, 1), integers from 0 to below the extent of what
/// they index, to 8 where they index nothing.
class SampleTensors {
 public:
  SampleTensors(const engine::Function& function, const std::vector<TensorSpec>& inputs, std::uint64_t seed);
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::vector<std::vector<char>> memory_;
  std::vector<TensorView> views_;
};

}  // namespace tc::autotuner
