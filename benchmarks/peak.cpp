// The machine's own limits, for ratios: FMA peak of one core and copy bandwidth. Loaded by bench.py through ctypes.

#include <immintrin.h>

#include <chrono>
#include <cstddef>
#include <cstring>

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr long trips = 2'000'000;
constexpr int chains = 12;

[[gnu::target("avx512f")]] double peak_avx512() {
  __m512 b = _mm512_set1_ps(0.999f), c = _mm512_set1_ps(1e-4f), a[chains];
  for (auto& x : a) x = b;
  double begin = seconds();
  for (long i = 0; i < trips; ++i)
#pragma GCC unroll 12
    for (auto& x : a) asm volatile("vfmadd213ps %2, %1, %0" : "+v"(x) : "v"(b), "v"(c));
  return trips * chains * 32.0 / (seconds() - begin) / 1e9;
}

[[gnu::target("avx2,fma")]] double peak_avx2() {
  __m256 b = _mm256_set1_ps(0.999f), c = _mm256_set1_ps(1e-4f), a[chains];
  for (auto& x : a) x = b;
  double begin = seconds();
  for (long i = 0; i < trips; ++i)
#pragma GCC unroll 12
    for (auto& x : a) asm volatile("vfmadd213ps %2, %1, %0" : "+x"(x) : "x"(b), "x"(c));
  return trips * chains * 16.0 / (seconds() - begin) / 1e9;
}

double peak_plain() {
  __m128 b = _mm_set1_ps(0.999f), a[chains];
  for (auto& x : a) x = b;
  double begin = seconds();
  for (long i = 0; i < trips; ++i)
#pragma GCC unroll 12
    for (auto& x : a) asm volatile("mulps %1, %0" : "+x"(x) : "x"(b));
  return trips * chains * 4.0 / (seconds() - begin) / 1e9;
}

}  // namespace

/// float32 GFLOP/s of independent fused multiply-adds in the calling thread, at the widest vectors the machine has.
extern "C" __attribute__((visibility("default"))) double tc_bench_fma_peak() {
  if (__builtin_cpu_supports("avx512f")) return peak_avx512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak_avx2();
  return peak_plain();
}

/// GB/s read plus written by memcpy of \p bytes in the calling thread.
extern "C" __attribute__((visibility("default"))) double tc_bench_copy_bandwidth(void* to, const void* from, std::size_t bytes) {
  double begin = seconds();
  std::memcpy(to, from, bytes);
  return 2.0 * static_cast<double>(bytes) / (seconds() - begin) / 1e9;
}
