#include "collisions.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t way_bytes = 4096, line = 64, columns = way_bytes / sizeof(float);

template <bool Stores>
double nanoseconds_of_an_access(volatile float* first, std::size_t rows, std::size_t row_bytes) {
  double best = 1e9;
  for (int run = 0; run < 7; ++run) {
    auto begin = Clock::now();
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t row = 0; row < rows; ++row) {
        volatile float& element = first[row * row_bytes / sizeof(float) + column];
        if constexpr (Stores)
          element = 1;
        else [[maybe_unused]]
          float value = element;
      }
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return best / static_cast<double>(rows * columns);
}

}  // namespace

void print_collisions() {
  constexpr std::size_t most_rows = 512;
  std::vector<float> memory((most_rows + 1) * 2 * columns, 1.0f);
  for (std::size_t sets = 1; sets <= way_bytes / line; sets *= 2) {
    auto row_bytes = way_bytes + (sets == 1 ? 0 : way_bytes / sets);
    for (std::size_t rows : {8, 12, 16, 24, 32, 64, 128, 256, 512})
      std::printf("{\"sets\": %zu, \"rows\": %zu, \"store_ns\": %.2f, \"load_ns\": %.2f}\n", sets, rows,
                  nanoseconds_of_an_access<true>(memory.data(), rows, row_bytes),
                  nanoseconds_of_an_access<false>(memory.data(), rows, row_bytes));
  }
}
