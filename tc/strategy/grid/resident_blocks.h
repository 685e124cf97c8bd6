#pragma once

#include <array>
#include <cstdint>

#include "tc/base/target.h"

namespace tc::strategy {

/// Blocks of \p threads threads with \p shared_bytes each that one multiprocessor runs at once, if each thread has
/// \p thread_registers; at least one.
std::int64_t resident_blocks(const GridLimits& limits, std::int64_t threads, std::int64_t shared_bytes,
                             std::int64_t thread_registers);

/// \p grid with at most \p most blocks: x keeps as many as there may be, then y, then z.
///
///   before  32 x 128 x 2, at most 1000      after  32 x 31 x 1
std::array<std::int64_t, 3> fit_grid(const std::array<std::int64_t, 3>& grid, std::int64_t most);

}  // namespace tc::strategy
