#include "test/cuda_emulator/sample_kernels.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <memory>

#include <cmath>
#include <random>

#include "tc/base/str.h"

namespace tc::emulator {
namespace {

std::vector<double> integers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(count);
  for (auto& value : values) value = static_cast<double>(random() % 9) - 4;
  return values;
}

/// Memory that is given out page by page as it is touched.
struct Memory {
  explicit Memory(std::size_t size) : bytes(size + 4096) {
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Memory() { munmap(data, bytes); }
  std::size_t bytes;
  void* data;
};

std::size_t offset_of(const TensorSpec& spec, std::int64_t flat) {
  std::int64_t offset = 0;
  for (std::size_t d = spec.shape.size(); d-- > 0; flat /= spec.shape[d])
    offset += flat % spec.shape[d] * spec.strides[d];
  return static_cast<std::size_t>(offset);
}

double load(const TensorView& view, std::int64_t flat) {
  const auto at = offset_of(view, flat);
  return view.dtype == DType::Float32 ? static_cast<const float*>(view.data)[at]
                                      : static_cast<const int*>(view.data)[at];
}

void store(const TensorView& view, std::int64_t flat, double value) {
  const auto at = offset_of(view, flat);
  const auto put = [&](auto element) { static_cast<decltype(element)*>(view.data)[at] = element; };
  switch (view.dtype) {
    case DType::Float32:
      return put(static_cast<float>(value));
    case DType::Float16:
      return put(double_to_half(value));
    case DType::BFloat16:
      return put(double_to_bfloat(value));
    case DType::Int8:
      return put(static_cast<std::int8_t>(value));
    case DType::UInt8:
      return put(static_cast<std::uint8_t>(value));
    default:
      return put(static_cast<int>(value));
  }
}

std::optional<std::string> compare(const Sample& sample, const TensorView& got) {
  for (std::size_t i = 0; i < sample.want.size(); ++i) {
    const double value = load(got, static_cast<std::int64_t>(i)), want = sample.want[i];
    if (std::fabs(value - want) <= sample.tolerance * (1 + std::fabs(want))) continue;
    return str(sample.names.back(), "[", i, "] is ", value, ", expected ", want);
  }
  return std::nullopt;
}

}  // namespace

Outcome run_sample(const Sample& sample, std::uint64_t seed) {
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<Argument> arguments;
  TensorView last;
  for (std::size_t t = 0; t < sample.specs.size(); ++t) {
    TensorView view;
    static_cast<TensorSpec&>(view) = sample.specs[t];
    memory.push_back(std::make_unique<Memory>(static_cast<std::size_t>(element_span(view).high + 1) * 4));
    view.data = memory.back()->data;
    if (sample.values[t].empty()) poison(view);
    for (std::size_t i = 0; i < sample.values[t].size(); ++i)
      store(view, static_cast<std::int64_t>(i), sample.values[t][i]);
    const bool input = t == 0 || sample.names[t] == "B";
    arguments.push_back(Buffer{sample.names[t], view, !input});
    last = view;
  }
  for (const auto& scalar : sample.scalars) arguments.emplace_back(scalar);
  RunOptions options;
  options.seed = seed;
  options.max_accesses = 10'000'000;
  Outcome outcome;
  outcome.result = run(sample.kernel, sample.shape, arguments, options);
  outcome.wrong_value = compare(sample, last);
  return outcome;
}

Sample with_change(Sample sample, const std::string& from, const std::string& to) {
  auto& text = sample.kernel.text;
  EXPECT_NE(text.find(from), std::string::npos) << "'" << from << "' does not occur in " << sample.kernel.name;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return sample;
}

Sample softmax() {
  Sample sample;
  sample.kernel.name = "softmax";
  sample.kernel.text = R"(
__device__ float block_max(float value, float* scratch) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = fmaxf(scratch[0], scratch[1]);
  __syncthreads();
  return value;
}
__device__ float block_sum(float value, float* scratch) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  return scratch[0] + scratch[1];
}
extern "C" __global__ void __launch_bounds__(64) softmax(const float* __restrict__ X, float* __restrict__ Y) {
  __shared__ float scratch[2];
  const float* x = X + 100 * blockIdx.x;
  float largest = -3e38f;
  for (int j = threadIdx.x; j < 100; j += 64) largest = fmaxf(largest, x[j]);
  largest = block_max(largest, scratch);
  float sum = 0;
  for (int j = threadIdx.x; j < 100; j += 64) sum += expf(x[j] - largest);
  sum = block_sum(sum, scratch);
  for (int j = threadIdx.x; j < 100; j += 64) Y[100 * blockIdx.x + j] = expf(x[j] - largest) / sum;
}
)";
  sample.shape = {{5, 1, 1}, {64, 1, 1}};
  sample.names = {"X", "Y"};
  sample.specs = {contiguous(DType::Float32, {5, 100}), contiguous(DType::Float32, {5, 100})};
  sample.values = {integers(500, 1), {}};
  for (std::size_t i = 0; i < 5; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 100; ++j) sum += std::exp(sample.values[0][100 * i + j]);
    for (std::size_t j = 0; j < 100; ++j) sample.want.push_back(std::exp(sample.values[0][100 * i + j]) / sum);
  }
  sample.tolerance = 1e-5;
  return sample;
}

Sample sgemm() {
  Sample sample;
  sample.kernel.name = "sgemm";
  sample.kernel.text = R"(
extern "C" __global__ void __launch_bounds__(256) sgemm(const float* __restrict__ A, const float* __restrict__ B,
                                                        float* __restrict__ C, int M, int N, int K) {
  __shared__ float a[16][8];
  __shared__ __align__(16) float b[8][64];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 64 + 4 * tx;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k0 = 0; k0 < K; k0 += 8) {
    if (tx < 8) a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    if (ty < 8)
      for (int c = 0; c < 4; ++c) b[ty][4 * tx + c] = k0 + ty < K && column + c < N ? B[(k0 + ty) * N + column + c] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
      const float4 v = *reinterpret_cast<const float4*>(&b[k][4 * tx]);
      const float f = a[ty][k];
      sum.x += f * v.x, sum.y += f * v.y, sum.z += f * v.z, sum.w += f * v.w;
    }
    __syncthreads();
  }
  const float values[4] = {sum.x, sum.y, sum.z, sum.w};
  if (row < M)
    for (int c = 0; c < 4; ++c)
      if (column + c < N) C[row * N + column + c] = values[c];
}
)";
  const int m = 37, n = 50, k = 41;
  sample.shape = {{1, 3, 1}, {16, 16, 1}};
  sample.names = {"A", "B", "C"};
  sample.specs = {contiguous(DType::Float32, {m, k}), contiguous(DType::Float32, {k, n}),
                  contiguous(DType::Float32, {m, n})};
  sample.values = {integers(m * k, 1), integers(k * n, 2), {}};
  for (int size : {m, n, k}) sample.scalars.push_back(Scalar::of(size));
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < k; ++l) sum += sample.values[0][i * k + l] * sample.values[1][l * n + j];
      sample.want.push_back(sum);
    }
  return sample;
}

Sample transpose() {
  Sample sample;
  sample.kernel.name = "transpose";
  sample.kernel.text = R"(
extern "C" __global__ void __launch_bounds__(256) transpose(const float* __restrict__ X, float* __restrict__ Y) {
  __shared__ float tile[32][33];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    if (y0 + r < 70 && x0 + threadIdx.x < 45) tile[r][threadIdx.x] = X[(y0 + r) * 45 + x0 + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8)
    if (x0 + r < 45 && y0 + threadIdx.x < 70) Y[(x0 + r) * 70 + y0 + threadIdx.x] = tile[threadIdx.x][r];
}
)";
  sample.shape = {{2, 3, 1}, {32, 8, 1}};
  sample.names = {"X", "Y"};
  sample.specs = {contiguous(DType::Float32, {70, 45}), contiguous(DType::Float32, {45, 70})};
  sample.values = {integers(70 * 45, 3), {}};
  for (std::size_t i = 0; i < 45; ++i)
    for (std::size_t j = 0; j < 70; ++j) sample.want.push_back(sample.values[0][j * 45 + i]);
  return sample;
}

Sample neighbours() {
  Sample sample;
  sample.kernel.name = "neighbours";
  sample.kernel.text = R"(#include "tc_prelude.h"
extern "C" __global__ void neighbours(const float* X, float* left, unsigned* word, float* Y) {
  __shared__ float own[64];
  const int b = blockIdx.x, t = threadIdx.x, before = (b + 4) % 5, after = (b + 1) % 5;
  own[t] = X[b * 64 + t];
  left[b * 64 + t] = own[t];
  for (int round = 0; round < 2; ++round) {
    tc_grid_barrier(word);
    own[63 - t] += left[before * 64 + 63 - t] + left[after * 64 + 63 - t];
    tc_grid_barrier(word);
    left[b * 64 + t] = own[t];
  }
  Y[b * 64 + t] = own[t];
}
)";
  sample.shape = {{5, 1, 1}, {64, 1, 1}, 0, true};
  sample.names = {"X", "left", "word", "Y"};
  sample.specs = {contiguous(DType::Float32, {320}), contiguous(DType::Float32, {320}), contiguous(DType::Int32, {}),
                  contiguous(DType::Float32, {320})};
  sample.values = {integers(320, 9), {}, {0}, {}};
  auto sums = sample.values[0];
  for (int round = 0; round < 2; ++round) {
    auto last = sums;
    for (std::size_t i = 0; i < 320; ++i) sums[i] += last[(i + 64) % 320] + last[(i + 256) % 320];
  }
  sample.want = sums;
  return sample;
}

Sample two_stage_sum() {
  Sample sample;
  sample.kernel.name = "two_stage_sum";
  sample.kernel.text = R"(
extern "C" __global__ void two_stage_sum(const float* __restrict__ X, float* partial, unsigned* ticket, float* total, int n) {
  extern __shared__ float scratch[];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += X[i];
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = scratch[0];
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 0) {
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += partial[b];
    *total = all;
  }
}
)";
  sample.shape = {{7, 1, 1}, {64, 1, 1}, 64 * 4};
  sample.names = {"X", "partial", "ticket", "total"};
  sample.specs = {contiguous(DType::Float32, {3000}), contiguous(DType::Float32, {7}), contiguous(DType::Int32, {}),
                  contiguous(DType::Float32, {})};
  sample.values = {integers(3000, 4), {}, {0}, {}};
  sample.scalars = {Scalar::of(3000)};
  double sum = 0;
  for (double value : sample.values[0]) sum += value;
  sample.want = {sum};
  return sample;
}

Sample pipeline() {
  Sample sample;
  sample.kernel.name = "pipeline";
  sample.kernel.text = R"(
#include "tc_prelude.h"
extern "C" __global__ void __launch_bounds__(64) pipeline(const float* __restrict__ X, float* __restrict__ Y) {
  float* stage = tc_shared_memory<float>(0, 768);
  const int t = threadIdx.x;
  auto fetch = [&](int step) {
    if (step < 6) tc_copy_async_16(&stage[step % 3 * 256 + 4 * t], X + step * 256 + 4 * t);
    tc_copy_commit();
  };
  float sum = 0;
  fetch(0);
  fetch(1);
  for (int step = 0; step < 6; ++step) {
    tc_copy_wait<1>();
    tc_barrier();
    fetch(step + 2);
    for (int row = 0; row < 4; ++row) sum += stage[step % 3 * 256 + 64 * row + t];
  }
  Y[t] = sum;
}
)";
  sample.shape = {{1, 1, 1}, {64, 1, 1}, 3 * 256 * 4};
  sample.names = {"X", "Y"};
  sample.specs = {contiguous(DType::Float32, {24, 64}), contiguous(DType::Float32, {64})};
  sample.values = {integers(24 * 64, 5), {}};
  for (std::size_t j = 0; j < 64; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < 24; ++i) sum += sample.values[0][i * 64 + j];
    sample.want.push_back(sum);
  }
  return sample;
}

Sample far_rows() {
  Sample sample;
  sample.kernel.name = "far_rows";
  sample.kernel.text = R"(
extern "C" __global__ void far_rows(const float* __restrict__ X, float* __restrict__ Y) {
  const int row = blockIdx.x, column = threadIdx.x;
  const long long offset = (long long)row * 1000000000 + column;
  Y[row * 8 + column] = 2 * X[offset];
}
)";
  sample.shape = {{4, 1, 1}, {8, 1, 1}};
  sample.names = {"X", "Y"};
  sample.specs = {{DType::Float32, {4, 8}, {1000000000, 1}}, contiguous(DType::Float32, {4, 8})};
  sample.values = {integers(32, 6), {}};
  for (double value : sample.values[0]) sample.want.push_back(2 * value);
  return sample;
}

Sample carried() {
  Sample sample;
  sample.kernel.name = "carried";
  sample.kernel.text = R"(
extern "C" __global__ void carried(const float* __restrict__ X, float* __restrict__ Y) {
  const int t = threadIdx.x;
  float last = X[t * 10];
  for (int i = 1; i < 10; ++i) {
    const float next = X[t * 10 + i];
    Y[t * 9 + i - 1] = last + next;
    last = next;
  }
}
)";
  sample.shape = {{1, 1, 1}, {33, 1, 1}};
  sample.names = {"X", "Y"};
  sample.specs = {contiguous(DType::Float32, {33, 10}), contiguous(DType::Float32, {33, 9})};
  sample.values = {integers(330, 7), {}};
  for (std::size_t t = 0; t < 33; ++t)
    for (std::size_t i = 1; i < 10; ++i)
      sample.want.push_back(sample.values[0][t * 10 + i - 1] + sample.values[0][t * 10 + i]);
  return sample;
}

}  // namespace tc::emulator
