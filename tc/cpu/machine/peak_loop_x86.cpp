#include <immintrin.h>

#include "tc/cpu/machine/peak_loop.h"

namespace tc::cpu {
namespace {

constexpr long trips = 100'000;
constexpr int chains = 12;

#define TC_PEAK_LOOP(name, isa, vector, zero, instruction, constraint)                                          \
  [[gnu::target(isa)]] void name() {                                                                            \
    vector b = zero(), a[chains];                                                                               \
    for (auto& x : a) x = b;                                                                                    \
    for (long i = 0; i < trips; ++i)                                                                            \
      _Pragma("GCC unroll 12") for (auto& x : a) asm volatile(instruction : "+" constraint(x) : constraint(b)); \
  }

TC_PEAK_LOOP(multiply_add_16_floats, "avx512f", __m512, _mm512_setzero_ps, "vfmadd231ps %1, %1, %0", "v")
TC_PEAK_LOOP(multiply_add_8_doubles, "avx512f", __m512d, _mm512_setzero_pd, "vfmadd231pd %1, %1, %0", "v")
TC_PEAK_LOOP(multiply_add_8_floats, "avx2,fma", __m256, _mm256_setzero_ps, "vfmadd231ps %1, %1, %0", "x")
TC_PEAK_LOOP(multiply_add_4_doubles, "avx2,fma", __m256d, _mm256_setzero_pd, "vfmadd231pd %1, %1, %0", "x")

}  // namespace

PeakLoop peak_loop(DType type) {
  bool doubles = type == DType::Float64;
  constexpr double calls = static_cast<double>(trips) * chains * 2;
  if (__builtin_cpu_supports("avx512f"))
    return doubles ? PeakLoop{multiply_add_8_doubles, calls * 8} : PeakLoop{multiply_add_16_floats, calls * 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return doubles ? PeakLoop{multiply_add_4_doubles, calls * 4} : PeakLoop{multiply_add_8_floats, calls * 8};
  return {};
}

void pause_thread() { _mm_pause(); }

}  // namespace tc::cpu
