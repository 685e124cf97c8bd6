// gpu_units RESULT.jsonl [--dry-run]
//
// Measures what the matrix units of this machine's GPU do: instructions of each type on registers, loads of fragments, and
// products of matrices by kernels written by hand, whose tiles the mapping of grids may choose too. A line of JSON for each,
// as soon as it is there. A fault costs the case that made it only: the others run in a new process. Ends with 0, 1
// where a case failed or is wrong, 2 without a GPU.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "tc/base/dtype.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/base/target.h"
#include "tc/cuda/device.h"

namespace tc::cuda {
namespace {

constexpr int no_device = 2, faulted = 3, rounds = 8;

/// Memory of the device.
class Block {
 public:
  explicit Block(std::size_t bytes) : bytes_(bytes) {
    driver().check(driver().allocate(&address_, bytes), str("allocate ", bytes, " bytes"));
    driver().check(driver().fill(address_, 0x3f, bytes, nullptr), "fill memory");
  }
  template <typename T>
  explicit Block(const std::vector<T>& values) : Block(values.size() * sizeof(T)) {
    driver().check(driver().copy_to_device(address_, values.data(), bytes_, nullptr), "copy to the device");
  }
  ~Block() { driver().release(address_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* pointer() const { return reinterpret_cast<void*>(address_); }
  template <typename T>
  std::vector<T> values() const {
    std::vector<T> result(bytes_ / sizeof(T));
    driver().check(driver().copy_to_host(result.data(), address_, bytes_, nullptr), "copy to the host");
    synchronise({});
    return result;
  }

 private:
  Driver::Pointer address_ = 0;
  std::size_t bytes_;
};

/// The least seconds of a launch of \p kernel on \p blocks.
double least_seconds(const KernelText& kernel, const std::vector<const Block*>& blocks) {
  LoadedKernels kernels(build_device_code({kernel}, device_architecture(0)));
  std::vector<void*> pointers;
  for (const auto* block : blocks) pointers.push_back(block->pointer());
  std::int64_t least = INT64_MAX;
  for (int round = 0; round < rounds; ++round) {
    Timer timer({});
    for (int launch = 0; launch < 3; ++launch) kernels.launch({}, 0, pointers.data(), pointers.size());
    least = std::min(least, timer.stop() / 3);
  }
  return std::max(static_cast<double>(least), 1.0) * 1e-9;
}

int multiprocessors() { return static_cast<int>(Target::parse(device_target(0)).grid->multiprocessors); }

struct Case {
  std::string name;
  KernelText kernel;
  double operations = 0;  ///< multiplications and additions of a launch; of loads, bytes
  int edge = 0;           ///< of the matrices of a product
  bool transposed_b = false;
  DType type = DType::BFloat16;
};

/// Independent chains of instructions on registers, or loads of four matrices without conflicts of banks, by 8 warps.
Case on_registers(const std::string& function, const std::string& sum, int steps, int processors) {
  constexpr int trips = 2048, chains = 8, warps = 8;
  const bool loads = steps == 0;
  const std::string call = loads ? str(function, "(word[i], rows + (threadIdx.x % 32 ^ i) * 8)")
                                 : str(function, "(sums[i][0], sums[i][1], sums[i][2], sums[i][3], a, b)");
  KernelText kernel;
  kernel.name = "peak";
  kernel.buffers = {"in", "out"};
  kernel.shape.grid[0] = 2 * processors;
  kernel.shape.block[0] = 32 * warps;
  kernel.text =
      str("extern \"C\" __global__ void __launch_bounds__(", 32 * warps,
          ") peak(const unsigned* __restrict__ in, unsigned* __restrict__ out) {\n"
          "  __shared__ __align__(128) unsigned short rows[256];\n  rows[threadIdx.x] = threadIdx.x;\n  tc_barrier();\n"
          "  unsigned a[4] = {in[0], in[1], in[2], in[3]}, b[2] = {in[4], in[5]}, word[",
          chains, "][4] = {};\n  ", sum, " sums[", chains, "][4] = {};\n  for (int trip = 0; trip < ", trips,
          "; ++trip) {\n#pragma unroll\n    for (int i = 0; i < ", chains, "; ++i) ", call, ";\n  }\n  ", sum,
          " total = 0;\n#pragma unroll\n  for (int i = 0; i < ", chains,
          "; ++i) total += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3] + word[i][0] + word[i][1] + word[i][2] + "
          "word[i][3];\n"
          "  if (total == static_cast<",
          sum, ">(123)) out[threadIdx.x] = 1;\n}\n");
  const double each = loads ? 512 : 2.0 * 16 * 8 * steps;
  return {function, kernel, each * chains * trips * warps * 2.0 * processors, 0, false, DType::BFloat16};
}

/// How a kernel tiles a product.
struct Tiles {
  int edge, rows, columns, warp_rows, warp_columns, slots;
  bool transposed_b = false;
  DType type = DType::BFloat16;
};

const char* const text_of_products = R"(
__device__ __forceinline__ int swizzle_steps(int p) { return p ^ ((p >> 6 & 3) << 3); }
__device__ __forceinline__ int swizzle_columns(int p) { return p ^ ((p / COLUMNS & 7) << 3); }
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) product(const unsigned short* __restrict__ A, const unsigned short* __restrict__ B, float* __restrict__ C) {
  constexpr int width = WARP_COLUMNS / 4, along = COLUMNS / WARP_COLUMNS;
  const int block_x = blockIdx.x, block_y = blockIdx.y, thread_x = threadIdx.x, thread_y = threadIdx.y, thread_z = threadIdx.z;
  const int thread = thread_x + 4 * thread_y + 32 * thread_z;
  unsigned short* const block_A = tc_shared_memory<unsigned short>(0, SLOTS * ROWS * 32);
  unsigned short* const block_B = tc_shared_memory<unsigned short>(SLOTS * ROWS * 64, SLOTS * COLUMNS * 32);
  float acc[WARP_ROWS / 8 * width];   // [m/8][2 (n/8) + n%2]
#pragma unroll
  for (int i = 0; i < WARP_ROWS / 8 * width; ++i) acc[i] = 0;
  auto copies = [&](int k_outer) {
    const int slot = k_outer % SLOTS;
#pragma unroll
    for (int i = 0; i < ROWS * 4 / THREADS; ++i) {
      const int piece = thread + THREADS * i, row = piece / 4, k = piece % 4 * 8;
      tc_copy_async_16(block_A + slot * (ROWS * 32) + swizzle_steps(row * 32 + k), A + (block_y * ROWS + row) * EDGE + k_outer * 32 + k);
    }
#pragma unroll
    for (int i = 0; i < COLUMNS * 4 / THREADS; ++i) {
      const int piece = thread + THREADS * i;
#if TRANSPOSED_B
      const int row = piece / 4, k = piece % 4 * 8;
      tc_copy_async_16(block_B + slot * (COLUMNS * 32) + swizzle_steps(row * 32 + k), B + (block_x * COLUMNS + row) * EDGE + k_outer * 32 + k);
#else
      const int k = piece / (COLUMNS / 8), n = piece % (COLUMNS / 8) * 8;
      tc_copy_async_16(block_B + slot * (COLUMNS * 32) + swizzle_columns(k * COLUMNS + n), B + (k_outer * 32 + k) * EDGE + block_x * COLUMNS + n);
#endif
    }
  };
#pragma unroll
  for (int k = 0; k < SLOTS - 1; ++k) { copies(k); tc_copy_commit(); }
  for (int k_outer = 0; k_outer < EDGE / 32; ++k_outer) {
    tc_copy_wait<SLOTS - 2>();
    tc_barrier();
    if (k_outer + SLOTS - 1 < EDGE / 32) copies(k_outer + SLOTS - 1);
    tc_copy_commit();
    const int slot = k_outer % SLOTS;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      unsigned fragment_A[WARP_ROWS / 4], fragment_B[WARP_COLUMNS / 4];
      const int row = thread_y % 2 * 4 + thread_x, matrix = thread_y / 2;
#pragma unroll
      for (int i = 0; i < WARP_ROWS / 16; ++i)
        tc_load_matrix_4(fragment_A + 4 * i, block_A + slot * (ROWS * 32) + swizzle_steps((thread_z / along * WARP_ROWS + 16 * i + row + matrix % 2 * 8) * 32 + k * 16 + matrix / 2 * 8));
#pragma unroll
      for (int j = 0; j < WARP_COLUMNS / 16; ++j)
#if TRANSPOSED_B
        tc_load_matrix_4(fragment_B + 4 * j, block_B + slot * (COLUMNS * 32) + swizzle_steps((thread_z % along * WARP_COLUMNS + 16 * j + row + matrix / 2 * 8) * 32 + k * 16 + matrix % 2 * 8));
#else
        tc_load_matrix_4_transposed(fragment_B + 4 * j, block_B + slot * (COLUMNS * 32) + swizzle_columns((k * 16 + row + matrix % 2 * 8) * COLUMNS + thread_z % along * WARP_COLUMNS + 16 * j + matrix / 2 * 8));
#endif
#pragma unroll
      for (int i = 0; i < WARP_ROWS / 16; ++i)
#pragma unroll
        for (int j = 0; j < WARP_COLUMNS / 8; ++j) {
          float* c = acc + 2 * i * width + 2 * j;
          MULTIPLY(c[0], c[1], c[width], c[width + 1], fragment_A + 4 * i, fragment_B + 2 * j);
        }
    }
  }
#pragma unroll
  for (int m = 0; m < WARP_ROWS / 8; ++m)
#pragma unroll
    for (int n = 0; n < WARP_COLUMNS / 8; ++n)
      *reinterpret_cast<float2*>(C + (block_y * ROWS + thread_z / along * WARP_ROWS + 8 * m + thread_y) * EDGE + block_x * COLUMNS + thread_z % along * WARP_COLUMNS + 8 * n + 2 * thread_x) =
          make_float2(acc[m * width + 2 * n], acc[m * width + 2 * n + 1]);
}
)";

Case product(const Tiles& t) {
  const int warps = t.rows / t.warp_rows * (t.columns / t.warp_columns), threads = 32 * warps;
  const int blocks = std::max(1, 256 / threads);
  const bool halves = t.type == DType::Float16;
  KernelText kernel;
  kernel.name = "product";
  kernel.buffers = {"A", "B", "C"};
  kernel.shape.grid = {t.edge / t.columns, t.edge / t.rows, 1};
  kernel.shape.block = {4, 8, warps};
  kernel.shared_bytes = std::int64_t{64} * t.slots * (t.rows + t.columns);
  kernel.text =
      str("#define EDGE ", t.edge, "\n#define ROWS ", t.rows, "\n#define COLUMNS ", t.columns, "\n#define WARP_ROWS ",
          t.warp_rows, "\n#define WARP_COLUMNS ", t.warp_columns, "\n#define SLOTS ", t.slots, "\n#define THREADS ",
          threads, "\n#define BLOCKS ", blocks, "\n#define TRANSPOSED_B ", t.transposed_b ? 1 : 0,
          "\n#define MULTIPLY tc_multiply_m16n8k16_", halves ? "f16" : "bf16", text_of_products);
  auto name = str(halves ? "f16-" : "bf16-", t.transposed_b ? "nt-" : "nn-", t.edge, " tile ", t.rows, "x", t.columns,
                  " warp ", t.warp_rows, "x", t.warp_columns, " slots ", t.slots);
  return {name, kernel, 2.0 * t.edge * t.edge * t.edge, t.edge, t.transposed_b, t.type};
}

std::vector<Case> all_cases(int processors) {
  std::vector<Case> cases;
  for (const Tiles& tiles :
       {Tiles{4096, 128, 256, 64, 64, 4}, Tiles{4096, 128, 256, 64, 64, 4, true}, Tiles{4096, 128, 128, 64, 64, 4},
        Tiles{4096, 128, 128, 64, 32, 4}, Tiles{4096, 256, 128, 64, 64, 4}, Tiles{4096, 128, 256, 64, 64, 3},
        Tiles{4096, 128, 256, 64, 64, 4, true, DType::Float16}, Tiles{2048, 128, 256, 64, 64, 4},
        Tiles{2048, 128, 128, 64, 64, 4}, Tiles{2048, 128, 128, 64, 32, 4}, Tiles{1024, 64, 128, 32, 64, 4},
        Tiles{1024, 64, 64, 32, 32, 4}, Tiles{1024, 128, 64, 32, 32, 4}})
    cases.push_back(product(tiles));
  cases.push_back(on_registers("tc_multiply_m16n8k16_bf16", "float", 16, processors));
  cases.push_back(on_registers("tc_multiply_m16n8k16_f16", "float", 16, processors));
  cases.push_back(on_registers("tc_multiply_m16n8k8_tf32", "float", 8, processors));
  cases.push_back(on_registers("tc_multiply_m16n8k32_s8", "int", 32, processors));
  cases.push_back(on_registers("tc_load_matrix_4", "float", 0, processors));
  cases.push_back(on_registers("tc_load_matrix_4_transposed", "float", 0, processors));
  return cases;
}

/// Small whole numbers, -4 to 4.
int whole(std::size_t i, std::size_t seed) { return static_cast<int>(((i * 2654435761u >> 7) + seed) % 9) - 4; }

std::vector<std::uint16_t> matrix(const Case& one, std::size_t seed) {
  std::vector<std::uint16_t> values(static_cast<std::size_t>(one.edge) * static_cast<std::size_t>(one.edge));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(whole(i, seed));
    values[i] = one.type == DType::Float16 ? float_to_half(value) : float_to_bfloat(value);
  }
  return values;
}

/// Is each of some hundred elements of \p c what the inputs give?
bool is_right(const Case& one, const std::vector<float>& c) {
  const auto edge = static_cast<std::size_t>(one.edge);
  for (std::size_t at = 0; at < c.size(); at += c.size() / 211) {
    const auto m = at / edge, n = at % edge;
    int sum = 0;
    for (std::size_t k = 0; k < edge; ++k)
      sum += whole(m * edge + k, 1) * whole(one.transposed_b ? n * edge + k : k * edge + n, 5);
    if (c[at] != static_cast<float>(sum)) return false;
  }
  return true;
}

/// A line about \p one.
std::string measured(const Case& one, bool compare) {
  double seconds = 0;
  bool right = true;
  if (one.edge > 0) {
    Block a(matrix(one, 1)), b(matrix(one, 5)),
        c(sizeof(float) * static_cast<std::size_t>(one.edge) * static_cast<std::size_t>(one.edge));
    seconds = least_seconds(one.kernel, {&a, &b, &c});
    right = !compare || is_right(one, c.values<float>());
  } else {
    Block in(4096), out(4096);
    seconds = least_seconds(one.kernel, {&in, &out});
  }
  return str("{\"case\": \"", one.name, "\", \"status\": \"", right ? "ok" : "wrong", "\", \"seconds\": ", seconds,
             ", \"operations\": ", one.operations, "}");
}

/// What the processes that run cases share.
struct Progress {
  std::size_t next = 0;
  bool bad = false;
};

int run_cases(const std::string& path, bool compare, Progress& progress) {
  std::ofstream out(path, std::ios::app);
  std::vector<Case> cases;
  try {
    device_architecture(0);
    InContext context(0);
    cases = all_cases(multiprocessors());
  } catch (const Error& error) {
    std::cerr << error.what() << std::endl;
    return no_device;
  }
  InContext context(0);
  while (progress.next < cases.size()) {
    const auto& one = cases[progress.next++];
    std::string line;
    bool lost = false;
    try {
      line = measured(one, compare);
    } catch (const Error& error) {
      std::cerr << one.name << ": " << error.what() << std::endl;
      line = str("{\"case\": \"", one.name, "\", \"status\": \"failed, see the log\"}");
      lost = dynamic_cast<const DeviceError*>(&error) != nullptr;
    }
    progress.bad = progress.bad || line.find("\"ok\"") == std::string::npos;
    out << line << std::endl;
    std::cout << line << std::endl;
    if (lost) return faulted;
  }
  return 0;
}

int measure(const std::string& path, bool compare) {
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return no_device;
  auto& progress = *new (shared) Progress;
  std::ofstream(path).close();
  for (std::size_t before = 0;; before = progress.next) {
    const auto child = fork();
    if (child < 0) return no_device;
    if (child == 0) _exit(run_cases(path, compare, progress));
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == no_device) return no_device;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return progress.bad ? 1 : 0;
    progress.bad = true;
    if (progress.next == before) return 1;
  }
}

}  // namespace
}  // namespace tc::cuda

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "gpu_units RESULT.jsonl [--dry-run]\n";
    return 2;
  }
  return tc::cuda::measure(argv[1], argc == 2);
}
