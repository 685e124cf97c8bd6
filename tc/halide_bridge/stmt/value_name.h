#pragma once

#include <Halide.h>

#include <string>

namespace tc::halide_bridge {

/// A new name for a value: statements name tensors and values alike, so it has a dot, which no tensor's name has.
inline std::string value_name(const std::string& wish) {
  return Halide::Internal::unique_name(wish.find('.') == std::string::npos ? wish + ".value" : wish);
}

}  // namespace tc::halide_bridge
