#include "tc/cuda/cubin.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "test/cuda/compiled.h"
#include "test/support/expect_error.h"

namespace tc::cuda {
namespace {

KernelStats stats_of(const std::string& text, const std::string& architecture) {
  auto kernels = read_cubin(compile_cubin("#include \"tc_prelude.h\"\n" + text, architecture).bytes);
  EXPECT_EQ(kernels.size(), 1u);
  return kernels.at(0);
}

TEST(Cubin, CountsTheInstructionsOfTheMainLoop) {
  TC_NEEDS_NVRTC();
  const char* text = R"cuda(
extern "C" __global__ void f(const float* __restrict__ A, float* __restrict__ B, int n) {
  float s[4] = {};
  for (int i = 0; i < n; ++i) {
    auto v = tc_load<4>(A + 4 * i);
#pragma unroll
    for (int j = 0; j < 64; ++j) s[j % 4] = s[j % 4] * v[j % 4] + v[j / 16];
  }
  for (int j = 0; j < 4; ++j) B[j] = s[j];
})cuda";
  for (const char* architecture : {"sm_80", "sm_90"}) {
    auto stats = stats_of(text, architecture);
    EXPECT_GT(stats.main_loop_share("FFMA"), 0.7) << architecture << " " << to_string(stats);
    EXPECT_EQ(stats.main_loop_share("MUFU"), 0) << architecture;
    EXPECT_GT(stats.accesses["LDG.128"], 0) << architecture << " " << to_string(stats);
    EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes + stats.stack_bytes, 0) << architecture;
    EXPECT_GT(stats.registers, 8) << architecture;
  }
}

TEST(Cubin, ReadsSharedMemoryAndBarriers) {
  TC_NEEDS_NVRTC();
  auto stats = stats_of(R"cuda(
extern "C" __global__ void f(float* A) {
  __shared__ float tile[256];
  tile[threadIdx.x] = A[threadIdx.x];
  tc_barrier();
  A[threadIdx.x] = tile[255 - threadIdx.x];
})cuda",
                        "sm_90");
  EXPECT_EQ(stats.shared_bytes, 1024);
  EXPECT_EQ(stats.barriers, 1);
  EXPECT_EQ(stats.count("BAR"), 1);
  EXPECT_EQ(stats.accesses, (KernelStats::Counts{{"LDG.32", 1}, {"LDS.32", 1}, {"STG.32", 1}, {"STS.32", 1}}));
}

TEST(Cubin, LoadsThatGoNowhereAreNoAccesses) {
  TC_NEEDS_NVRTC();
  auto stats = stats_of(R"cuda(
extern "C" __global__ void f(const float* A, float* B) {
  __shared__ __align__(16) float tile[1024];
  tc_copy_async_16(tile + 4 * threadIdx.x, A + 4 * threadIdx.x);
  tc_copy_commit();
  tc_copy_wait<0>();
  tc_barrier();
  B[threadIdx.x] = tile[255 - threadIdx.x];
})cuda",
                        "sm_90");
  EXPECT_EQ(stats.count("LDS"), 1) << to_string(stats);
  EXPECT_EQ(stats.accesses, (KernelStats::Counts{{"LDGSTS.128", 1}, {"LDS.32", 1}, {"STG.32", 1}})) << to_string(stats);
}

TEST(Cubin, NamesMatrixInstructions) {
  TC_NEEDS_NVRTC();
  const std::pair<const char*, const char*> instructions[] = {
      {"bf16 float", "HMMA"}, {"f16 float", "HMMA"}, {"tf32 float", "HMMA"}, {"s8 int", "IMMA"}, {"u8 int", "IMMA"}};
  for (const auto& [words, opcode] : instructions) {
    const std::string type = std::string(words).substr(0, std::string(words).find(' ')),
                      sum = std::string(words).substr(type.size() + 1),
                      steps = type == "tf32"       ? "8"
                              : type.back() == '8' ? "32"
                                                   : "16";
    const auto text = R"cuda(
extern "C" __global__ void f(const unsigned* A, unsigned* B) {
  __shared__ __align__(16) unsigned rows[256];
  for (int i = 0; i < 8; ++i) rows[32 * i + threadIdx.x] = A[32 * i + threadIdx.x];
  tc_barrier();
  unsigned a[4], b[4];
  tc_load_matrix_4(a, rows + 4 * threadIdx.x);
  tc_load_matrix_4_transposed(b, rows + 128 + 4 * threadIdx.x);
  )cuda" + sum + R"cuda( c[4] = {};
  )cuda" + "tc_multiply_m16n8k" +
                      steps + "_" + type + R"cuda((c[0], c[1], c[2], c[3], a, b);
  )cuda" + "tc_multiply_m16n8k" +
                      steps + "_" + type + R"cuda((c[0], c[1], c[2], c[3], a, b + 2);
  for (int i = 0; i < 4; ++i) B[4 * threadIdx.x + i] = tc_bits<unsigned>(c[i]);
})cuda";
    for (const char* architecture : {"sm_80", "sm_90"}) {
      const auto stats = stats_of(text, architecture);
      EXPECT_EQ(stats.count(opcode), 2) << words << " " << architecture << " " << to_string(stats);
      EXPECT_EQ(stats.count("LDSM"), 2) << words << " " << architecture << " " << to_string(stats);
    }
  }
}

TEST(Cubin, AddsUpWhatIsSpilled) {
  TC_NEEDS_NVRTC();
  auto stats = stats_of(R"cuda(
extern "C" __global__ void __launch_bounds__(1024, 2) f(const float* A, float* B) {
  float v[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) v[i] = A[i * 1024 + threadIdx.x];
  tc_barrier();
#pragma unroll
  for (int i = 0; i < 96; ++i) B[i * 1024 + threadIdx.x] = v[95 - i] * v[(i * 7) % 96];
})cuda",
                        "sm_80");
  EXPECT_GT(stats.spill_store_bytes, 0) << to_string(stats);
  EXPECT_GT(stats.spill_load_bytes, 0) << to_string(stats);
  EXPECT_GT(stats.stack_bytes, 0) << to_string(stats);
  EXPECT_LE(stats.registers, 32) << to_string(stats);
}

TEST(Cubin, NamesItsKernels) {
  TC_NEEDS_NVRTC();
  auto kernels = read_cubin(
      compile_cubin(
          "extern \"C\" __global__ void b(int* x) { x[0] = 1; }\nextern \"C\" __global__ void a(int* x) { x[0] = 2; }",
          "sm_90")
          .bytes);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "a");
  EXPECT_EQ(kernels[1].name, "b");
}

TEST(Cubin, RefusesOtherBytes) {
  EXPECT_ERROR(read_cubin("not a cubin"), ArgumentError, "these bytes are not a cubin");
  EXPECT_ERROR(read_cubin(std::string("\x7f"
                                      "ELF\x02",
                                      5)),
               ArgumentError, "these bytes are not a cubin");
  if (!nvrtc_version()) return;
  auto bytes = compile_cubin("extern \"C\" __global__ void f(int* x) { x[0] = 1; }", "sm_90").bytes;
  for (std::size_t size = 0; size < bytes.size() / 2; size += 97)
    EXPECT_ERROR(read_cubin(bytes.substr(0, size)), ArgumentError, "these bytes are not a cubin") << size;
}

}  // namespace
}  // namespace tc::cuda
