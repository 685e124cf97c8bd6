#include "test/cuda_emulator/units/group_kernels.h"

#include "tc/base/str.h"

namespace tc::emulator {
namespace {

constexpr std::size_t group_rows_here = 128, steps_here = 320;

const char* const text_of_groups = R"(
__device__ inline int swizzle(int place) { return place ^ ((place >> 6 & 7) << 3); }
extern "C" __global__ void __launch_bounds__(256) product(const unsigned short* __restrict__ A, const unsigned short* __restrict__ B, float* __restrict__ C) {
  unsigned short* const block_A = tc_shared_memory<unsigned short>(0, SLOTS * ROWS * 64);
  unsigned short* const block_B = tc_shared_memory<unsigned short>(2 * SLOTS * ROWS * 64, SLOTS * COLUMNS * 64);
  const int thread_x = threadIdx.x, thread_y = threadIdx.y, thread = thread_x + 4 * thread_y;
  const int group = tc_uniform(thread_y / 32);
  float acc[COLUMNS / 2] = {};   // [m/8 mod 2][2 (n/8) + n%2]
  auto copies = [&](int block) {
    const int slot = block % SLOTS;
    if (block < STEPS / 64) {
#pragma unroll
      for (int piece = thread; piece < ROWS * 8; piece += 256) {
#if TRANSPOSED_A
        const int panel = piece / 512, row = piece / 8 % 64, column = piece % 8 * 8;
        tc_copy_async_16(block_A + swizzle(panel * SLOTS * 4096 + (slot * 64 + row) * 64 + column), A + (block * 64 + row) * ROWS + panel * 64 + column);
#else
        const int row = piece / 8, column = piece % 8 * 8;
        tc_copy_async_16(block_A + swizzle((slot * ROWS + row) * 64 + column), A + row * STEPS + block * 64 + column);
#endif
      }
#pragma unroll
      for (int piece = thread; piece < COLUMNS * 8; piece += 256) {
#if TRANSPOSED_B
        const int panel = piece / 512, row = piece / 8 % 64, column = piece % 8 * 8;
        tc_copy_async_16(block_B + swizzle(panel * SLOTS * 4096 + (slot * 64 + row) * 64 + column), B + (block * 64 + row) * COLUMNS + panel * 64 + column);
#else
        const int row = piece / 8, column = piece % 8 * 8;
        tc_copy_async_16(block_B + swizzle((slot * COLUMNS + row) * 64 + column), B + row * STEPS + block * 64 + column);
#endif
      }
    }
    tc_copy_commit();
  };
#if TRANSPOSED_A
  const unsigned long long at_A = tc_matrix(block_A, 0, 1024) + group * (SLOTS * 8192 / 16);
#else
  const unsigned long long at_A = tc_matrix(block_A, 0, 1024) + group * (8192 / 16);
#endif
  const unsigned long long at_B = tc_matrix(block_B, TRANSPOSED_B * SLOTS * 8192, 1024);
  copies(0);
  copies(1);
  for (int block = 0; block < STEPS / 64; ++block) {
    tc_copy_wait<1>();
    tc_proxy_fence();
    tc_barrier();
    tc_unit_begin();
    const int slot = block % SLOTS;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      MULTIPLY<COLUMNS / 4, TRANSPOSED_A, TRANSPOSED_B>(acc, at_A + slot * ((TRANSPOSED_A ? 64 : ROWS) * 8) + k * (TRANSPOSED_A ? 128 : 2), at_B + slot * ((TRANSPOSED_B ? 64 : COLUMNS) * 8) + k * (TRANSPOSED_B ? 128 : 2));
    tc_unit_commit();
    copies(block + 2);
    tc_unit_wait<1>();
  }
  tc_unit_wait<0>();
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        C[(thread_y / 8 * 16 + 8 * h + thread_y % 8) * COLUMNS + 8 * j + 2 * thread_x + e] = acc[h * COLUMNS / 4 + 2 * j + e];
}
)";

std::vector<double> whole_numbers(std::size_t rows, std::size_t columns, std::size_t seed, bool transposed) {
  std::vector<double> values(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      values[transposed ? c * rows + r : r * columns + c] = static_cast<double>((r * 31 + c * 17 + seed) % 9) - 4;
  return values;
}

}  // namespace

Sample group_product(const GroupProductKernel& product) {
  const auto columns = static_cast<std::size_t>(product.columns);
  Sample sample;
  sample.kernel.name = "product";
  sample.kernel.text =
      str("#include \"tc_prelude.h\"\n#define ROWS ", group_rows_here, "\n#define COLUMNS ", columns,
          "\n#define STEPS ", steps_here, "\n#define SLOTS 4\n#define TRANSPOSED_A ", product.transposed_a ? 1 : 0,
          "\n#define TRANSPOSED_B ", product.transposed_b ? 1 : 0, "\n#define MULTIPLY tc_multiply_m64n", columns,
          "k16_", product.operand == DType::BFloat16 ? "bf16" : "f16", text_of_groups);
  sample.shape = {{1, 1, 1}, {4, 64, 1}, static_cast<std::size_t>(2 * 4 * 64 * (group_rows_here + columns))};
  sample.names = {"A", "B", "C"};
  const auto spec = [](DType type, std::size_t rows, std::size_t width) {
    return contiguous(type, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(width)});
  };
  sample.specs = {spec(product.operand, group_rows_here, steps_here), spec(product.operand, columns, steps_here),
                  spec(DType::Float32, group_rows_here, columns)};
  const auto a = whole_numbers(group_rows_here, steps_here, 1, false);
  const auto b = whole_numbers(columns, steps_here, 5, false);
  for (std::size_t m = 0; m < group_rows_here; ++m)
    for (std::size_t n = 0; n < columns; ++n) {
      double total = 0;
      for (std::size_t k = 0; k < steps_here; ++k) total += a[m * steps_here + k] * b[n * steps_here + k];
      sample.want.push_back(total);
    }
  sample.values = {product.transposed_a ? whole_numbers(group_rows_here, steps_here, 1, true) : a,
                   product.transposed_b ? whole_numbers(columns, steps_here, 5, true) : b,
                   {}};
  return sample;
}

}  // namespace tc::emulator
