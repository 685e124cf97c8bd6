#pragma once

#include "device_calls.h"

/// What CUDA C++ has without any header, for kernels that run on the host.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __restrict__
#define __align__(n) __attribute__((aligned(n)))
#define __constant__ static
#define __shared__ static __attribute__((section("tc_shared")))
#define __CUDA_ARCH__ 900

#define TC_EMULATOR_API extern "C" __attribute__((visibility("default")))
/// A function whose accesses are reported by itself.
#define TC_EMULATOR_UNCHECKED __attribute__((no_sanitize("thread"), noinline))

/// The shared arrays of the text, between the linker's bounds.
static __attribute__((section("tc_shared"), used, aligned(128))) char tc_emulator_shared_head[128];
extern "C" __attribute__((visibility("hidden"))) char __start_tc_shared[], __stop_tc_shared[];
TC_EMULATOR_API inline __attribute__((used)) char* tc_emulator_shared_begin() { return __start_tc_shared; }
TC_EMULATOR_API inline __attribute__((used)) char* tc_emulator_shared_end() { return __stop_tc_shared; }

template <int... I>
struct tc_emulator_numbers {};
/// Calls \p kernel with the values that \p arguments point at.
template <typename... P, int... I>
TC_EMULATOR_UNCHECKED static void tc_emulator_call(void (*kernel)(P...), void** arguments, tc_emulator_numbers<I...>) {
  kernel(*static_cast<P*>(arguments[I])...);
}
template <typename... P>
TC_EMULATOR_UNCHECKED static void tc_emulator_call(void (*kernel)(P...), void** arguments) {
  tc_emulator_call(kernel, arguments, tc_emulator_numbers<__integer_pack(sizeof...(P))...>());
}

using dim3 = tc_emulator_index;
using uint3 = tc_emulator_index;
#define threadIdx tc_emulator_thread
#define blockIdx tc_emulator_block
#define blockDim tc_emulator_block_size
#define gridDim tc_emulator_grid_size
constexpr int warpSize = 32;

using uchar = unsigned char;
#define TC_EMULATOR_VECTORS(name, T)                                                 \
  struct alignas(sizeof(T) * 2) name##2 { T x, y; };                                 \
  struct name##3 { T x, y, z; };                                                     \
  struct alignas(sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) name##4 { T x, y, z, w; }; \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                 \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define uint3 tc_emulator_uint3
TC_EMULATOR_VECTORS(char, signed char)
TC_EMULATOR_VECTORS(uchar, unsigned char)
TC_EMULATOR_VECTORS(short, short)
TC_EMULATOR_VECTORS(ushort, unsigned short)
TC_EMULATOR_VECTORS(int, int)
TC_EMULATOR_VECTORS(uint, unsigned)
TC_EMULATOR_VECTORS(longlong, long long)
TC_EMULATOR_VECTORS(ulonglong, unsigned long long)
TC_EMULATOR_VECTORS(float, float)
TC_EMULATOR_VECTORS(double, double)
#undef uint3

inline void __syncthreads(int line = __builtin_LINE()) { tc_emulator_barrier(0, line); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return tc_emulator_barrier(predicate != 0, line);
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return tc_emulator_barrier(predicate != 0, line) != 0;
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return tc_emulator_barrier(predicate == 0, line) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  tc_emulator_warp_barrier(mask, line);
}
inline void __threadfence_block() { tc_emulator_fence(0); }
inline void __threadfence() { tc_emulator_fence(1); }
inline unsigned __activemask() { return tc_emulator_active_mask(); }
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return tc_emulator_ballot(mask, predicate, line);
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return tc_emulator_ballot(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return tc_emulator_ballot(mask, !predicate, line) == 0;
}

template <typename T>
inline T tc_emulator_exchange(int mode, unsigned mask, T value, int operand, int width, int line) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = tc_emulator_shuffle(mode, mask, bits, operand, width, line);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
#define TC_EMULATOR_SHUFFLE(name, mode)                                                             \
  template <typename T>                                                                             \
  inline T name(unsigned mask, T value, int operand, int width = 32, int line = __builtin_LINE()) { \
    return tc_emulator_exchange(mode, mask, value, operand, width, line);                           \
  }
TC_EMULATOR_SHUFFLE(__shfl_sync, tc_emulator_from_lane)
TC_EMULATOR_SHUFFLE(__shfl_up_sync, tc_emulator_from_below)
TC_EMULATOR_SHUFFLE(__shfl_down_sync, tc_emulator_from_above)
TC_EMULATOR_SHUFFLE(__shfl_xor_sync, tc_emulator_xor)

/// A value of the parameter's type only, so that the other parameter decides it.
template <typename T>
struct tc_emulator_same {
  using type = T;
};
#define TC_EMULATOR_ATOMIC(name, next)                                                                         \
  template <typename T>                                                                                        \
  TC_EMULATOR_UNCHECKED T name(T* at, typename tc_emulator_same<T>::type value, int line = __builtin_LINE()) { \
    tc_emulator_atomic(at, sizeof(T), line);                                                                   \
    const T old = *at;                                                                                         \
    *at = next;                                                                                                \
    return old;                                                                                                \
  }
TC_EMULATOR_ATOMIC(atomicAdd, old + value)
TC_EMULATOR_ATOMIC(atomicSub, old - value)
TC_EMULATOR_ATOMIC(atomicExch, value)
TC_EMULATOR_ATOMIC(atomicMin, value < old ? value : old)
TC_EMULATOR_ATOMIC(atomicMax, value > old ? value : old)
TC_EMULATOR_ATOMIC(atomicAnd, old& value)
TC_EMULATOR_ATOMIC(atomicOr, old | value)
TC_EMULATOR_ATOMIC(atomicXor, old ^ value)
TC_EMULATOR_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
TC_EMULATOR_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
template <typename T>
TC_EMULATOR_UNCHECKED T atomicCAS(T* at, typename tc_emulator_same<T>::type expected,
                                  typename tc_emulator_same<T>::type value, int line = __builtin_LINE()) {
  tc_emulator_atomic(at, sizeof(T), line);
  const T old = *at;
  if (__builtin_memcmp(&old, &expected, sizeof(T)) == 0) *at = value;
  return old;
}

template <typename T>
inline T __ldg(const T* at) {
  return *at;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }

#define TC_EMULATOR_LIBM1(name)            \
  extern "C" double name(double) noexcept; \
  extern "C" float name##f(float) noexcept
#define TC_EMULATOR_LIBM2(name)                    \
  extern "C" double name(double, double) noexcept; \
  extern "C" float name##f(float, float) noexcept
#define TC_EMULATOR_OWN1(name)                                           \
  extern "C" double name(double) noexcept __asm__("tc_emulator_" #name); \
  extern "C" float name##f(float) noexcept __asm__("tc_emulator_" #name "f")
TC_EMULATOR_LIBM1(acos);
TC_EMULATOR_LIBM1(acosh);
TC_EMULATOR_LIBM1(asin);
TC_EMULATOR_LIBM1(asinh);
TC_EMULATOR_LIBM1(atan);
TC_EMULATOR_LIBM1(atanh);
TC_EMULATOR_LIBM1(cbrt);
TC_EMULATOR_LIBM1(ceil);
TC_EMULATOR_LIBM1(cos);
TC_EMULATOR_LIBM1(cosh);
TC_EMULATOR_LIBM1(erf);
TC_EMULATOR_LIBM1(erfc);
TC_EMULATOR_LIBM1(exp);
TC_EMULATOR_LIBM1(exp10);
TC_EMULATOR_LIBM1(exp2);
TC_EMULATOR_LIBM1(expm1);
TC_EMULATOR_LIBM1(fabs);
TC_EMULATOR_LIBM1(floor);
TC_EMULATOR_LIBM1(j0);
TC_EMULATOR_LIBM1(j1);
TC_EMULATOR_LIBM1(lgamma);
TC_EMULATOR_LIBM1(log);
TC_EMULATOR_LIBM1(log10);
TC_EMULATOR_LIBM1(log1p);
TC_EMULATOR_LIBM1(log2);
TC_EMULATOR_LIBM1(logb);
TC_EMULATOR_LIBM1(rint);
TC_EMULATOR_LIBM1(nearbyint);
TC_EMULATOR_LIBM1(round);
TC_EMULATOR_LIBM1(sin);
TC_EMULATOR_LIBM1(sinh);
TC_EMULATOR_LIBM1(sqrt);
TC_EMULATOR_LIBM1(tan);
TC_EMULATOR_LIBM1(tanh);
TC_EMULATOR_LIBM1(tgamma);
TC_EMULATOR_LIBM1(trunc);
TC_EMULATOR_LIBM1(y0);
TC_EMULATOR_LIBM1(y1);
TC_EMULATOR_LIBM2(atan2);
TC_EMULATOR_LIBM2(copysign);
TC_EMULATOR_LIBM2(fdim);
TC_EMULATOR_LIBM2(fmod);
TC_EMULATOR_LIBM2(hypot);
TC_EMULATOR_LIBM2(nextafter);
TC_EMULATOR_LIBM2(pow);
TC_EMULATOR_LIBM2(remainder);
TC_EMULATOR_LIBM2(fmin);
TC_EMULATOR_LIBM2(fmax);
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
TC_EMULATOR_OWN1(cospi);
TC_EMULATOR_OWN1(sinpi);
TC_EMULATOR_OWN1(cyl_bessel_i0);
TC_EMULATOR_OWN1(cyl_bessel_i1);
TC_EMULATOR_OWN1(erfcinv);
TC_EMULATOR_OWN1(erfcx);
TC_EMULATOR_OWN1(erfinv);
TC_EMULATOR_OWN1(normcdf);
TC_EMULATOR_OWN1(normcdfinv);
inline double rcbrt(double x) { return 1 / cbrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(rcbrt(static_cast<double>(x))); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrtf(float x) { return static_cast<float>(rsqrt(static_cast<double>(x))); }
inline double rhypot(double x, double y) { return 1 / hypot(x, y); }
inline float rhypotf(float x, float y) { return static_cast<float>(rhypot(x, y)); }
inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
inline double norm4d(double x, double y, double z, double w) { return hypot(hypot(x, y), hypot(z, w)); }
inline float norm4df(float x, float y, float z, float w) { return static_cast<float>(norm4d(x, y, z, w)); }
inline double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
inline double rnorm4d(double x, double y, double z, double w) { return 1 / norm4d(x, y, z, w); }
inline float rnorm4df(float x, float y, float z, float w) { return static_cast<float>(rnorm4d(x, y, z, w)); }
#define __expf expf
#define __logf logf
#define __fdividef(a, b) ((a) / (b))

template <typename T>
inline T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
inline T max(T a, T b) {
  return a < b ? b : a;
}
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
