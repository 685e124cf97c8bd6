#pragma once

#include <cstdint>

namespace tc::cpu {

/// How many iterations ahead data is asked for; 0: the default for what is read.
struct PrefetchOptions {
  std::int64_t distance = 0;
};

}  // namespace tc::cpu
