#pragma once

/// Throughputs of one core that stand for all machines, in a cycle.
namespace tc::strategy {

inline constexpr double loads_a_cycle = 2, stores_a_cycle = 1, vector_operations_a_cycle = 2;
/// Cycles until a multiply-add may be added to.
inline constexpr double operation_latency = 4;
/// Bytes from the second cache, the third, and memory.
inline constexpr double l2_bytes_a_cycle = 32, l3_bytes_a_cycle = 12, memory_bytes_a_cycle = 4;
/// Cores that take all that memory gives.
inline constexpr int cores_that_fill_memory = 2;

}  // namespace tc::strategy
