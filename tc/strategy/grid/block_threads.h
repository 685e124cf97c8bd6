#pragma once

#include <cstdint>

#include "tc/base/target.h"
#include "tc/polyhedral/core/options.h"

namespace tc::strategy {

/// Threads of a block that hide each other's waiting, few enough to leave registers for each.
inline constexpr std::int64_t usual_threads = 256;

/// Warps of a block from which on no second loop is spread over threads.
inline constexpr std::int64_t enough_warps = 4;

/// Threads of a block at most: as many as the options say, else as usual. Throws OptionsError for a block that a machine
/// with \p limits does not have.
std::int64_t most_threads(const GridLimits& limits, const polyhedral::MappingOptions& options);

/// Threads for \p count iterations along \p dimension of a block that has room for \p room more: those that the options
/// say, as far as there are iterations; else a power of two.
///
///   20 iterations, room 256      32        the option block=8x8      8
std::int64_t threads_for(std::int64_t count, int dimension, std::int64_t room, const GridLimits& limits,
                         const polyhedral::MappingOptions& options);

/// Bytes that the threads of a block may share: what the options say, up to what the machine has; else what it gives
/// without asking.
std::int64_t shared_bytes(const GridLimits& limits, const polyhedral::MappingOptions& options);

}  // namespace tc::strategy
