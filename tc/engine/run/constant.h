#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "tc/base/tensor.h"

namespace tc::engine {

/// A tensor that an executable holds: one that was bound to a parameter when it was compiled, or what parts that read
/// such alone computed then. Nobody may change it while an executable holds it.
struct Constant {
  std::string name;
  TensorSpec spec;
  std::shared_ptr<void> data;            ///< its element with all indices 0; owns the memory
  std::optional<std::size_t> parameter;  ///< its place among the parameters of the def; none of what was computed

  TensorView view() const {
    TensorView result;
    static_cast<TensorSpec&>(result) = spec;
    result.data = data.get();
    return result;
  }
};

/// A dense tensor like \p spec in memory of its own, which is not set.
Constant allocate_constant(const std::string& name, const TensorSpec& spec);

}  // namespace tc::engine
