#include "tc/cuda/nvrtc.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tc/base/error.h"
#include "test/cuda/compiled.h"
#include "test/support/expect_error.h"

namespace tc::cuda {
namespace {

TEST(Nvrtc, CompilesAKernelForEachArchitecture) {
  TC_NEEDS_NVRTC();
  for (const char* architecture : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    auto cubin = compile_cubin("extern \"C\" __global__ void f(float* a) { a[0] = 1; }", architecture);
    EXPECT_EQ(cubin.bytes.substr(1, 3), "ELF") << architecture;
    EXPECT_EQ(cubin.log, "") << architecture;
  }
}

TEST(Nvrtc, GivesTheSameBytesForTheSameText) {
  TC_NEEDS_NVRTC();
  const char* text = "#include \"tc_prelude.h\"\nextern \"C\" __global__ void f(float* a) { a[0] = tc_gelu(a[0]); }";
  EXPECT_EQ(compile_cubin(text, "sm_90").bytes, compile_cubin(text, "sm_90").bytes);
}

TEST(Nvrtc, NamesAnArchitectureThatItDoesNotKnow) {
  TC_NEEDS_NVRTC();
  try {
    compile_cubin("", "sm_33");
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("does not compile for 'sm_33'"), std::string::npos) << error.what();
  }
}

TEST(Nvrtc, ShowsTheLogAndTheTextOfARefusedKernel) {
  TC_NEEDS_NVRTC();
  try {
    compile_cubin("extern \"C\" __global__ void f() { no_such_name(); }", "sm_80");
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("\"no_such_name\" is undefined"), std::string::npos) << error.what();
  }
}

TEST(Nvrtc, IsCancelled) {
  TC_NEEDS_NVRTC();
  Cancellation cancellation;
  cancellation.cancel();
  EXPECT_ERROR(compile_cubin("extern \"C\" __global__ void f() {}", "sm_80", cancellation), CancelledError,
               "cancelled in NVRTC");
}

TEST(Nvrtc, IsCancelledWhileItCompiles) {
  TC_NEEDS_NVRTC();
  std::string text = "extern \"C\" __global__ void f(float* a) {\n  float x = a[0];\n";
  for (int i = 0; i < 4000; ++i) text += "  x = sinf(x) * a[" + std::to_string(i) + "] + powf(x, a[1]);\n";
  text += "  a[0] = x;\n}";
  Cancellation cancellation;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancellation.cancel();
  });
  auto start = std::chrono::steady_clock::now();
  EXPECT_ERROR(compile_cubin(text, "sm_80", cancellation), CancelledError, "cancelled in NVRTC");
  other.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

/// Every wrapper is used: the compiler does not look at those that are not.
TEST(Nvrtc, CompilesEachFunctionOfThePrelude) {
  TC_NEEDS_NVRTC();
  const char* text = R"cuda(#include "tc_prelude.h"
extern "C" __global__ void all(float* A, int* I, unsigned short* H, unsigned* ticket, double* D, long long* L) {
  float* S = tc_shared_memory<float>(128, 64);
  const int t = threadIdx.x;
  S[t] = A[t];
  tc_barrier(); tc_warp_barrier(); tc_fence();
  A[t] = tc_shuffle_xor(S[t ^ 1], 4) + tc_shuffle_down(A[t], 2) + tc_shuffle(A[t], 3);
  D[t] = tc_shuffle_xor(D[t], 4); L[t] = tc_shuffle_down(L[t], 4); H[t] = tc_shuffle(H[t], 4);
  tc_atomic_add(A, 1.0f); tc_atomic_mul(A, 2.0f); tc_atomic_min(I, 3); tc_atomic_max(A, 2.0f);
  tc_atomic_add(L, 3ll); tc_atomic_add(D, 1.0); tc_atomic_max(D, 2.0); tc_atomic_min(L, 2ll);
  if (tc_last_block(ticket, 4)) A[3] = 3;
  tc_copy_async_16(S, A); tc_copy_async_8(S, A); tc_copy_async_4(S, A);
  tc_copy_async_16_if(S, A, t < 3); tc_copy_async_4_if(S, A, t < 3);
  tc_copy_commit(); tc_copy_wait<0>();
  auto v = tc_load<4>(A + 4 * t); v[0] = 3; tc_store(A + 4 * t, v);
  auto w = tc_load<8>(A + 8 * t); w[0] = 3; tc_store(A + 8 * t, w);
  auto b = tc_load<4>(H + 4 * t); tc_store(H + 4 * t, b);
  auto d = tc_load<2>(D + 2 * t); tc_store(D + 2 * t, d);
  I[t] = tc_div(I[t], I[t + 1]) + tc_mod(I[t], 7) + tc_div((signed char)I[4], (signed char)3);
  L[t] = tc_div(L[t], L[t + 1]) + (long long)tc_div((unsigned long long)L[2], 3ull);
  A[t] = tc_bits<float>(I[t]) + tc_nan_min(A[0], A[1]) + tc_nan_max(A[0], A[2]) + tc_from_half(H[0]) + tc_from_bfloat(H[1]);
  A[t] = tc_isnan(A[t]) || tc_isinf(D[t]) ? 1.0f : 2.0f;
  H[t] = tc_to_half(A[t]); H[t + 1] = tc_to_bfloat(A[t]);
  A[t] = tc_sigmoid(A[t]) + tc_silu(A[t]) + tc_softplus(A[t]) + tc_gelu(A[t]);
  D[t] = tc_sigmoid(D[t]) + tc_silu(D[t]) + tc_softplus(D[t]) + tc_gelu(D[t]);
}
)cuda";
  for (const char* architecture : {"sm_75", "sm_80", "sm_90"})
    EXPECT_EQ(compile_cubin(text, architecture).log, "") << architecture;
}

}  // namespace
}  // namespace tc::cuda
