#pragma once

#include "cuda_builtins.h"

/// The functions of tc/cuda/prelude.h on the host, in the same order and with the same meaning.

inline void tc_barrier(int line = __builtin_LINE()) { tc_emulator_barrier(0, line); }
inline void tc_warp_barrier(int line = __builtin_LINE()) { tc_emulator_warp_barrier(0xffffffffu, line); }
inline void tc_fence() { tc_emulator_fence(1); }
inline void tc_grid_barrier(unsigned* word, int line = __builtin_LINE()) { tc_emulator_grid_barrier(word, line); }

template <typename T>
inline T tc_shuffle_xor(T value, int mask, int line = __builtin_LINE()) {
  return tc_emulator_exchange(tc_emulator_xor, 0xffffffffu, value, mask, 32, line);
}
template <typename T>
inline T tc_shuffle_down(T value, int delta, int line = __builtin_LINE()) {
  return tc_emulator_exchange(tc_emulator_from_above, 0xffffffffu, value, delta, 32, line);
}
template <typename T>
inline T tc_shuffle(T value, int lane, int line = __builtin_LINE()) {
  return tc_emulator_exchange(tc_emulator_from_lane, 0xffffffffu, value, lane, 32, line);
}

template <typename T>
inline T* tc_shared_memory(int offset, int count) {
  return static_cast<T*>(tc_emulator_shared_array(offset, count, sizeof(T)));
}

template <typename To, typename From>
inline To tc_bits(From value) {
  return __builtin_bit_cast(To, value);
}

template <typename T>
inline T tc_nan_min(T a, T b) {
  return a != a || a < b ? a : b;
}
template <typename T>
inline T tc_nan_max(T a, T b) {
  return a != a || a > b ? a : b;
}

template <typename T>
inline bool tc_isnan(T x) {
  return x != x;
}
template <typename T>
inline bool tc_isinf(T x) {
  return x == x && x - x != T(0);
}

#define TC_EMULATOR_UPDATE(name, next)                                                                            \
  template <typename T>                                                                                           \
  TC_EMULATOR_UNCHECKED void name(T* at, typename tc_emulator_same<T>::type value, int line = __builtin_LINE()) { \
    tc_emulator_atomic(at, sizeof(T), line);                                                                      \
    *at = next;                                                                                                   \
  }
TC_EMULATOR_UPDATE(tc_atomic_add, *at + value)
TC_EMULATOR_UPDATE(tc_atomic_mul, *at* value)
TC_EMULATOR_UPDATE(tc_atomic_min, tc_nan_min(*at, value))
TC_EMULATOR_UPDATE(tc_atomic_max, tc_nan_max(*at, value))

/// The barrier before it makes the writes of the block those of the thread that takes the ticket; its fences make them
/// the last block's.
inline bool tc_last_block(unsigned* ticket, unsigned blocks, int line = __builtin_LINE()) {
  tc_emulator_barrier(0, line);
  bool last = false;
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    tc_emulator_fence(1);
    last = atomicInc(ticket, blocks - 1, line) == blocks - 1;
    tc_emulator_fence(1);
  }
  return tc_emulator_barrier(last, line) != 0;
}

inline void tc_copy_async_16(void* shared, const void* global, int line = __builtin_LINE()) {
  tc_emulator_copy_async(shared, global, 16, 16, line);
}
inline void tc_copy_async_8(void* shared, const void* global, int line = __builtin_LINE()) {
  tc_emulator_copy_async(shared, global, 8, 8, line);
}
inline void tc_copy_async_4(void* shared, const void* global, int line = __builtin_LINE()) {
  tc_emulator_copy_async(shared, global, 4, 4, line);
}
inline void tc_copy_async_16_if(void* shared, const void* global, bool holds, int line = __builtin_LINE()) {
  tc_emulator_copy_async(shared, global, 16, holds ? 16 : 0, line);
}
inline void tc_copy_async_4_if(void* shared, const void* global, bool holds, int line = __builtin_LINE()) {
  tc_emulator_copy_async(shared, global, 4, holds ? 4 : 0, line);
}
inline void tc_copy_async_16_part(void* shared, const void* global, int bytes, int line = __builtin_LINE()) {
  tc_emulator_copy_async(shared, global, 16, bytes, line);
}
inline void tc_copy_commit() { tc_emulator_commit_copies(); }
template <int N>
inline void tc_copy_wait() {
  tc_emulator_wait_copies(N);
}

template <typename T, int N>
struct alignas(sizeof(T) * N) tc_vector {
  T lane[N];
  inline T& operator[](int i) { return lane[i]; }
  inline const T& operator[](int i) const { return lane[i]; }
};
template <int N, typename T>
inline tc_vector<T, N> tc_load(const T* from) {
  if constexpr (sizeof(T) * N <= 16) {
    return *reinterpret_cast<const tc_vector<T, N>*>(from);
  } else {
    tc_vector<T, N> result;
    const tc_vector<T, N / 2> low = tc_load<N / 2>(from), high = tc_load<N / 2>(from + N / 2);
    for (int i = 0; i < N / 2; ++i) result[i] = low[i], result[i + N / 2] = high[i];
    return result;
  }
}
template <typename T, int N>
inline void tc_store(T* to, const tc_vector<T, N>& value) {
  if constexpr (sizeof(T) * N <= 16) {
    *reinterpret_cast<tc_vector<T, N>*>(to) = value;
  } else {
    tc_vector<T, N / 2> low, high;
    for (int i = 0; i < N / 2; ++i) low[i] = value[i], high[i] = value[i + N / 2];
    tc_store(to, low);
    tc_store(to + N / 2, high);
  }
}

/// The words of four neighbouring lanes, transposed.
template <typename T>
inline void tc_store_exchanged(T* to, const T* words, int line = __builtin_LINE()) {
  const int first = threadIdx.x % 4;
  tc_vector<T, 8> row;
  for (int other = 0; other < 4; ++other) {
    // In round `other`, each lane gives the word that lane (own ^ other) stores.
    const int partner = first ^ other;
    unsigned word = static_cast<unsigned short>(words[2 * partner]) |
                    static_cast<unsigned>(static_cast<unsigned short>(words[2 * partner + 1])) << 16;
    word = tc_shuffle_xor(word, other, line);
    row[2 * partner] = static_cast<T>(word & 0xffff);
    row[2 * partner + 1] = static_cast<T>(word >> 16);
  }
  tc_store(to, row);
}

#define TC_EMULATOR_LOAD_MATRIX(name, count, transposed)                         \
  inline void name(unsigned* to, const void* row, int line = __builtin_LINE()) { \
    unsigned words[4];                                                           \
    tc_emulator_load_matrices(words, row, count, transposed, line);              \
    for (int i = 0; i < count; ++i) to[i] = words[i];                            \
  }
TC_EMULATOR_LOAD_MATRIX(tc_load_matrix_4, 4, 0)
TC_EMULATOR_LOAD_MATRIX(tc_load_matrix_2, 2, 0)
TC_EMULATOR_LOAD_MATRIX(tc_load_matrix_4_transposed, 4, 1)
TC_EMULATOR_LOAD_MATRIX(tc_load_matrix_2_transposed, 2, 1)

#define TC_EMULATOR_MULTIPLY(name, T, kind)                                                                         \
  inline void name(T& c0, T& c1, T& c2, T& c3, const unsigned* a, const unsigned* b, int line = __builtin_LINE()) { \
    const unsigned words_of_a[] = {a[0], a[1], a[2], a[3]}, words_of_b[] = {b[0], b[1]};                            \
    unsigned sums[] = {tc_bits<unsigned>(c0), tc_bits<unsigned>(c1), tc_bits<unsigned>(c2), tc_bits<unsigned>(c3)}; \
    tc_emulator_multiply_matrices(kind, sums, words_of_a, words_of_b, line);                                        \
    c0 = tc_bits<T>(sums[0]), c1 = tc_bits<T>(sums[1]), c2 = tc_bits<T>(sums[2]), c3 = tc_bits<T>(sums[3]);         \
  }
TC_EMULATOR_MULTIPLY(tc_multiply_m16n8k16_bf16, float, tc_emulator_bfloat16)
TC_EMULATOR_MULTIPLY(tc_multiply_m16n8k16_f16, float, tc_emulator_float16)
TC_EMULATOR_MULTIPLY(tc_multiply_m16n8k8_tf32, float, tc_emulator_tfloat32)
TC_EMULATOR_MULTIPLY(tc_multiply_m16n8k32_s8, int, tc_emulator_int8)
TC_EMULATOR_MULTIPLY(tc_multiply_m16n8k32_u8, int, tc_emulator_uint8)

inline int tc_uniform(int value, int line = __builtin_LINE()) { return tc_shuffle(value, 0, line); }
inline void tc_proxy_fence() { tc_emulator_proxy_fence(); }
inline void tc_unit_begin() { tc_emulator_begin_group(); }
inline void tc_unit_commit() { tc_emulator_commit_group(); }
template <int N>
inline void tc_unit_wait(int line = __builtin_LINE()) {
  tc_emulator_wait_groups(N, line);
}
inline unsigned long long tc_matrix(const void* at, int leading, int stride, int line = __builtin_LINE()) {
  return tc_emulator_matrix(at, leading, stride, line);
}
#define TC_EMULATOR_MULTIPLY_GROUP(name, columns, kind)                                                    \
  template <int P, int TA, int TB>                                                                         \
  inline void name(float* sums, unsigned long long a, unsigned long long b, int line = __builtin_LINE()) { \
    tc_emulator_multiply_group(kind, columns, sums, P, a, b, TA, TB, line);                                \
  }
#define TC_EMULATOR_MULTIPLY_GROUPS(columns)                                                     \
  TC_EMULATOR_MULTIPLY_GROUP(tc_multiply_m64n##columns##k16_bf16, columns, tc_emulator_bfloat16) \
  TC_EMULATOR_MULTIPLY_GROUP(tc_multiply_m64n##columns##k16_f16, columns, tc_emulator_float16)
TC_EMULATOR_MULTIPLY_GROUPS(64)
TC_EMULATOR_MULTIPLY_GROUPS(128)
TC_EMULATOR_MULTIPLY_GROUPS(192)
TC_EMULATOR_MULTIPLY_GROUPS(256)

template <typename T>
inline T tc_div(T a, T b) {
  if (b == 0) return 0;
  if (T(-1) < T(0) && b == T(-1)) return T(0ull - static_cast<unsigned long long>(a));
  const T quotient = a / b;
  return a % b < 0 ? (b < 0 ? quotient + 1 : quotient - 1) : quotient;
}
template <typename T>
inline T tc_mod(T a, T b) {
  if (b == 0 || (T(-1) < T(0) && b == T(-1))) return 0;
  const T rest = a % b;
  return rest < 0 ? (b < 0 ? rest - b : rest + b) : rest;
}

inline float tc_from_half(unsigned short bits) { return tc_emulator_from_half(bits); }
inline unsigned short tc_to_half(float value) { return tc_emulator_to_half(value); }
inline float tc_from_bfloat(unsigned short bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
inline unsigned short tc_to_bfloat(float value) { return tc_emulator_to_bfloat(value); }

inline float tc_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
inline double tc_sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
inline float tc_silu(float x) { return x / (1.0f + expf(-x)); }
inline double tc_silu(double x) { return x / (1.0 + exp(-x)); }
inline float tc_softplus(float x) { return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x))); }
inline double tc_softplus(double x) { return fmax(x, 0.0) + log1p(exp(-fabs(x))); }
inline float tc_gelu(float x) { return x * normcdff(x); }
inline double tc_gelu(double x) { return x * normcdf(x); }
/// The nearest whole number, the even one of two.
inline float tc_round(float x) { return rintf(x); }
inline double tc_round(double x) { return rint(x); }
