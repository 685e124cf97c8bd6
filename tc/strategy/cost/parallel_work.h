#pragma once

#include <cstdint>

namespace tc::strategy {

/// Element operations of a cluster below which starting threads costs more than it saves.
constexpr std::int64_t parallel_cluster = 64 << 10;

}  // namespace tc::strategy
