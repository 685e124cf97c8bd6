// gpu_limits RESULT.json [BYTES]
//
// Measures what this machine's GPU can do at most in float32 multiply-adds and in copying memory (BYTES, 1 GiB if not
// given): kernels of plain CUDA, through the runtime that runs compiled defs. Ends with 2 without a GPU.

#include <algorithm>
#include <fstream>
#include <iostream>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/base/target.h"
#include "tc/cuda/device.h"

namespace tc::cuda {
namespace {

constexpr int chains = 16, steps = 4096, threads = 256, blocks_per_multiprocessor = 8, rounds = 12;
constexpr std::size_t usual_bytes = std::size_t{1} << 30;

/// Independent chains of multiply-adds in registers, whose results are used where they are NaN only.
std::string multiply_add_text() {
  return str(
      "extern \"C\" __global__ void __launch_bounds__(", threads,
      ") multiply_add(const float* __restrict__ in, float* __restrict__ out) {\n  float x = in[0], y = in[1], a[",
      chains, "];\n#pragma unroll\n  for (int i = 0; i < ", chains,
      "; ++i) a[i] = in[i] + threadIdx.x;\n  for (int s = 0; s < ", steps,
      "; ++s) {\n#pragma unroll\n    for (int i = 0; i < ", chains,
      "; ++i) a[i] = a[i] * x + y;\n  }\n  float sum = 0;\n#pragma unroll\n  for (int i = 0; i < ", chains,
      "; ++i) sum += a[i];\n  if (sum != sum) out[threadIdx.x] = sum;\n}\n");
}

std::string copy_text() {
  return str("extern \"C\" __global__ void __launch_bounds__(", threads,
             ") copy(const float4* __restrict__ in, float4* __restrict__ out) {\n  const long long i = blockIdx.x * ",
             4 * threads,
             "ll + threadIdx.x;\n  float4 v[4];\n#pragma unroll\n  for (int k = 0; k < 4; ++k) v[k] = in[i + k * ",
             threads, "];\n#pragma unroll\n  for (int k = 0; k < 4; ++k) out[i + k * ", threads, "] = v[k];\n}\n");
}

/// Memory of the device, floats of about 0.75.
class Block {
 public:
  explicit Block(std::size_t bytes) {
    driver().check(driver().allocate(&address_, bytes), str("allocate ", bytes, " bytes"));
    driver().check(driver().fill(address_, 0x3f, bytes, nullptr), "fill memory");
  }
  ~Block() { driver().release(address_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* pointer() const { return reinterpret_cast<void*>(address_); }

 private:
  Driver::Pointer address_ = 0;
};

/// The least seconds of a launch of \p kernel between two blocks.
double least_seconds(const std::string& name, const std::string& text, std::int64_t blocks, const Block& in,
                     const Block& out) {
  KernelText kernel{name, text, {"in", "out"}, {{blocks, 1, 1}, {threads, 1, 1}}, 0, {}};
  LoadedKernels kernels(build_device_code({kernel}, device_architecture(0)));
  void* const pointers[] = {in.pointer(), out.pointer()};
  std::int64_t least = INT64_MAX;
  for (int round = 0; round < rounds; ++round) {
    Timer timer({});
    for (int launch = 0; launch < 5; ++launch) kernels.launch({}, 0, pointers, 2);
    least = std::min(least, timer.stop() / 5);
  }
  return static_cast<double>(least) * 1e-9;
}

int multiprocessors() { return static_cast<int>(Target::parse(device_target(0)).grid->multiprocessors); }

void measure(const std::string& path, std::size_t copied_bytes) {
  InContext context(0);
  Block in(copied_bytes), out(copied_bytes);
  const int blocks = multiprocessors() * blocks_per_multiprocessor;
  const double flops =
      2.0 * chains * steps * threads * blocks / least_seconds("multiply_add", multiply_add_text(), blocks, in, out);
  const auto copy_blocks = static_cast<std::int64_t>(copied_bytes / (threads * 4 * 16));
  const double bytes =
      2.0 * static_cast<double>(copied_bytes) / least_seconds("copy", copy_text(), copy_blocks, in, out);
  auto text = str("{\"ffma_flops\": ", flops, ", \"kernel_copy_bytes_per_second\": ", bytes,
                  ", \"multiprocessors\": ", multiprocessors(), "}\n");
  std::ofstream(path) << text;
  std::cout << text;
}

}  // namespace
}  // namespace tc::cuda

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "gpu_limits RESULT.json [BYTES]\n";
    return 2;
  }
  try {
    tc::cuda::measure(argv[1], argc == 3 ? std::stoull(argv[2]) : tc::cuda::usual_bytes);
    return 0;
  } catch (const tc::Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
