#pragma once

#include <cstddef>
#include <vector>

#include "tc/engine/run/executable.h"

namespace tc::engine {

/// Memory for all arguments of an executable that runs on a processor, in order to measure it without tensors: floats between 0.5
/// and 1.25, integers 0, which are valid indices of all tensors but empty ones.
class FilledTensors {
 public:
  explicit FilledTensors(const std::vector<Argument>& arguments);
  /// The first elements of the arguments, for Executable::run_unchecked().
  void* const* pointers() { return pointers_.data(); }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<void*> pointers_;
};

}  // namespace tc::engine
