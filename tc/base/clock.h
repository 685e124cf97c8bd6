#pragma once

#include <chrono>

namespace tc {

/// Seconds on a clock that only goes forward.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tc
