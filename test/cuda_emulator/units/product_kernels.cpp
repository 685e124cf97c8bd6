#include "test/cuda_emulator/units/product_kernels.h"

#include <cmath>
#include <limits>

#include "tc/base/str.h"

namespace tc::emulator {
namespace {

constexpr std::size_t edge = 64, blocks_of_steps = 4, bytes_of_block = 64, missing_steps = 3;

const char* const text_of_products = R"(
__device__ inline int swizzle(int byte) { return byte ^ ((byte >> 7 & 3) << 4); }
extern "C" __global__ void __launch_bounds__(64) product(const T* __restrict__ A, const T* __restrict__ B, SUM* __restrict__ C, int K, int stride) {
  unsigned char* const shared = tc_shared_memory<unsigned char>(0, 12288);
  const int thread_x = threadIdx.x, thread_y = threadIdx.y, thread_z = threadIdx.z, thread = thread_x + 4 * thread_y + 32 * thread_z;
  const int rows = blockIdx.y * 32, columns = blockIdx.x * 32, bytes = K * static_cast<int>(sizeof(T)), blocks = (bytes + 63) / 64;
  SUM acc[2][8] = {};   // [m/8][2 (n/8) + n%2]
  auto copies = [&](int block) {
    unsigned char* const slot = shared + block % 3 * 4096;
    if (block < blocks)
      for (int piece = thread; piece < 128; piece += 64) {
        const int row = piece / 4, byte = piece % 4 * 16, left = max(0, min(16, bytes - 64 * block - byte));
        tc_copy_async_16_part(slot + swizzle(64 * row + byte), reinterpret_cast<const char*>(A + (rows + row) * stride) + 64 * block + byte, left);
#if TRANSPOSED_B
        tc_copy_async_16_part(slot + 2048 + swizzle(64 * row + byte), reinterpret_cast<const char*>(B + (columns + row) * stride) + 64 * block + byte, left);
#else
        tc_copy_async_16_part(slot + 2048 + swizzle(64 * row + byte), reinterpret_cast<const char*>(B + (32 * block + row) * 64 + columns) + byte, 32 * block + row < K ? 16 : 0);
#endif
      }
    tc_copy_commit();
  };
  copies(0);
  copies(1);
  for (int block = 0; block < blocks; ++block) {
    tc_copy_wait<1>();
    tc_barrier();
    copies(block + 2);
    const unsigned char* const slot = shared + block % 3 * 4096;
    const int row = thread_y % 2 * 4 + thread_x, matrix = thread_y / 2;
    for (int half = 0; half < 2; ++half) {
      unsigned a[4], b[8];
      tc_load_matrix_4(a, slot + swizzle(64 * (16 * thread_z + row + matrix % 2 * 8) + 32 * half + matrix / 2 * 16));
      for (int pair = 0; pair < 2; ++pair)
#if TRANSPOSED_B
        tc_load_matrix_4(b + 4 * pair, slot + 2048 + swizzle(64 * (16 * pair + row + matrix / 2 * 8) + 32 * half + matrix % 2 * 16));
#else
        tc_load_matrix_4_transposed(b + 4 * pair, slot + 2048 + swizzle(64 * (16 * half + row + matrix % 2 * 8) + 32 * pair + matrix / 2 * 16));
#endif
      for (int n = 0; n < 4; ++n)
        MULTIPLY(acc[0][2 * n], acc[0][2 * n + 1], acc[1][2 * n], acc[1][2 * n + 1], a, b + 2 * n);
    }
  }
  for (int m = 0; m < 2; ++m)
    for (int n = 0; n < 4; ++n)
      for (int e = 0; e < 2; ++e) C[(rows + 16 * thread_z + 8 * m + thread_y) * 64 + columns + 8 * n + 2 * thread_x + e] = acc[m][2 * n + e];
}
)";

const char* type_name(DType type) {
  switch (type) {
    case DType::Float32:
      return "float";
    case DType::Int8:
      return "signed char";
    case DType::UInt8:
      return "unsigned char";
    default:
      return "unsigned short";
  }
}

/// Row after row of \p width small whole numbers, each row followed by \p padding elements that nobody may use.
std::vector<double> padded(DType type, std::size_t rows, std::size_t width, std::size_t padding, int seed) {
  const double unused = is_float(type) ? std::numeric_limits<double>::quiet_NaN() : 77;
  std::vector<double> values;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < width; ++i) {
      const double value = static_cast<double>((r * 31 + i * 17 + static_cast<std::size_t>(seed)) % 9) - 4;
      values.push_back(type == DType::UInt8 ? std::fabs(value) : value);
    }
    values.insert(values.end(), padding, unused);
  }
  return values;
}

}  // namespace

Sample unit_product(const UnitProduct& product) {
  const auto size = static_cast<std::size_t>(byte_size(product.operand));
  const std::size_t stride = blocks_of_steps * bytes_of_block / size, steps = stride - missing_steps;
  const DType sum = is_float(product.operand) ? DType::Float32 : DType::Int32;
  Sample sample;
  sample.kernel.name = "product";
  sample.kernel.text = str("#include \"tc_prelude.h\"\n#define T ", type_name(product.operand), "\n#define SUM ",
                           sum == DType::Float32 ? "float" : "int", "\n#define MULTIPLY ", product.multiply,
                           "\n#define TRANSPOSED_B ", product.transposed_b ? 1 : 0, text_of_products);
  sample.shape = {{2, 2, 1}, {4, 8, 2}, 12288};
  sample.names = {"A", "B", "C"};
  const auto spec = [](DType type, std::size_t rows, std::size_t columns) {
    return contiguous(type, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
  };
  const auto a = padded(product.operand, edge, steps, missing_steps, 1);
  const auto b = product.transposed_b ? padded(product.operand, edge, steps, missing_steps, 5)
                                      : padded(product.operand, steps, edge, 0, 5);
  sample.specs = {spec(product.operand, edge, stride),
                  product.transposed_b ? spec(product.operand, edge, stride) : spec(product.operand, steps, edge),
                  spec(sum, edge, edge)};
  sample.scalars = {Scalar::of(static_cast<int>(steps)), Scalar::of(static_cast<int>(stride))};
  for (std::size_t m = 0; m < edge; ++m)
    for (std::size_t n = 0; n < edge; ++n) {
      double total = 0;
      for (std::size_t k = 0; k < steps; ++k)
        total += a[m * stride + k] * b[product.transposed_b ? n * stride + k : k * edge + n];
      sample.want.push_back(total);
    }
  sample.values = {a, b, {}};
  return sample;
}

}  // namespace tc::emulator
