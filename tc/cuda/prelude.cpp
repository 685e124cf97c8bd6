#include "tc/cuda/prelude.h"

#include "tc/base/str.h"
#include "tc/cuda/group_products.h"

namespace tc::cuda {
namespace {

constexpr PreludeFunction functions[] = {
    {"tc_barrier", "void tc_barrier()", "all threads of the block wait for each other and see each other's writes"},
    {"tc_warp_barrier", "void tc_warp_barrier()", "the same for the threads of a warp"},
    {"tc_fence", "void tc_fence()", "writes before it are seen by other blocks before writes after it"},

    {"tc_shuffle_xor", "T tc_shuffle_xor(T value, int mask)",
     "value of lane (lane ^ mask) of the warp; all 32 lanes call; T a number of up to 64 bits or bool"},
    {"tc_shuffle_down", "T tc_shuffle_down(T value, int delta)",
     "value of lane (lane + delta), the own one where there is no such lane; all 32 lanes call"},
    {"tc_shuffle", "T tc_shuffle(T value, int lane)", "value of that lane; all 32 lanes call"},

    {"tc_shared_memory", "T* tc_shared_memory<T>(int offset, int count)",
     "count elements at that byte of the block's dynamic shared memory, which begins at a multiple of 1024; "
     "offset is a multiple of 128"},

    {"tc_atomic_add", "void tc_atomic_add(T* at, T value)", "*at += value at once; T of 32 or 64 bits"},
    {"tc_atomic_mul", "void tc_atomic_mul(T* at, T value)", "*at *= value at once; T of 32 or 64 bits"},
    {"tc_atomic_min", "void tc_atomic_min(T* at, T value)", "*at = tc_nan_min(*at, value) at once; T of 32 or 64 bits"},
    {"tc_atomic_max", "void tc_atomic_max(T* at, T value)", "*at = tc_nan_max(*at, value) at once; T of 32 or 64 bits"},
    {"tc_last_block", "bool tc_last_block(unsigned* ticket, unsigned blocks)",
     "true in all threads of the block that calls last of so many; it then sees the writes the others made before "
     "their "
     "calls. All threads of each block call. *ticket is 0 before and again after the last call"},
    {"tc_grid_barrier", "void tc_grid_barrier(unsigned* word)",
     "all threads of all blocks of a cooperative launch wait for each other and see each other's writes. *word is 0 "
     "before the first launch, and no kernel writes it"},

    {"tc_copy_async_16", "void tc_copy_async_16(void* shared, const void* global)",
     "begins to copy 16 bytes, both aligned to 16; done after tc_copy_wait, seen by other threads after a barrier"},
    {"tc_copy_async_8", "void tc_copy_async_8(void* shared, const void* global)", "the same for 8 bytes, aligned to 8"},
    {"tc_copy_async_4", "void tc_copy_async_4(void* shared, const void* global)", "the same for 4 bytes, aligned to 4"},
    {"tc_copy_async_16_if", "void tc_copy_async_16_if(void* shared, const void* global, bool holds)",
     "as tc_copy_async_16; writes zeros and reads nothing where the condition does not hold"},
    {"tc_copy_async_4_if", "void tc_copy_async_4_if(void* shared, const void* global, bool holds)",
     "as tc_copy_async_4; writes zeros and reads nothing where the condition does not hold"},
    {"tc_copy_async_16_part", "void tc_copy_async_16_part(void* shared, const void* global, int bytes)",
     "as tc_copy_async_16; reads the first bytes (0 to 16) only and writes zeros behind them"},
    {"tc_copy_commit", "void tc_copy_commit()", "closes this thread's group of asynchronous copies"},
    {"tc_copy_wait", "void tc_copy_wait<N>()", "waits until at most N of this thread's groups are under way"},

    {"tc_vector", "struct tc_vector<T, N>", "N elements, aligned to their size; v[i] is element i"},
    {"tc_load", "tc_vector<T, N> tc_load<N>(const T* from)", "N elements at once, from aligned to N elements"},
    {"tc_store", "void tc_store(T* to, const tc_vector<T, N>& value)", "N elements at once, to aligned to N elements"},

    {"tc_store_exchanged", "void tc_store_exchanged(T* to, const T* words)",
     "lane x of four neighbouring ones has 4 words of two elements of 16 bits and stores word x of all four, in their "
     "order, at to, aligned to 16. All 32 lanes call"},

    {"tc_load_matrix_4", "void tc_load_matrix_4(unsigned* to, const void* row)",
     "to[i], i < 4, is word lane % 4 of row lane / 4 of matrix i of 8 rows of 16 bytes; row, in shared memory and "
     "aligned "
     "to 16, is row lane % 8 of matrix lane / 8. All 32 lanes call; sm_80"},
    {"tc_load_matrix_2", "void tc_load_matrix_2(unsigned* to, const void* row)",
     "the same for 2 matrices; rows of lanes above 15 are not looked at"},
    {"tc_load_matrix_4_transposed", "void tc_load_matrix_4_transposed(unsigned* to, const void* row)",
     "as tc_load_matrix_4, but to[i] is halves 2 (lane % 4) and 2 (lane % 4) + 1 of column lane / 4 of matrix i of "
     "16-bit "
     "elements"},
    {"tc_load_matrix_2_transposed", "void tc_load_matrix_2_transposed(unsigned* to, const void* row)",
     "the same for 2 matrices"},
    {"tc_multiply_m16n8k16_bf16",
     "void tc_multiply_m16n8k16_bf16(float& c0, float& c1, float& c2, float& c3, const unsigned* a, const unsigned* b)",
     "C += A B of 16 x 16 by 16 x 8 bfloat16; a lane holds 4 elements of C, 4 words of A, 2 of B, as fragment_lanes.h "
     "has "
     "them. All 32 lanes call; sm_80"},
    {"tc_multiply_m16n8k16_f16",
     "void tc_multiply_m16n8k16_f16(float& c0, float& c1, float& c2, float& c3, const unsigned* a, const unsigned* b)",
     "the same for float16"},
    {"tc_multiply_m16n8k8_tf32",
     "void tc_multiply_m16n8k8_tf32(float& c0, float& c1, float& c2, float& c3, const unsigned* a, const unsigned* b)",
     "the same for 8 steps of float32 without their lowest 13 bits"},
    {"tc_multiply_m16n8k32_s8",
     "void tc_multiply_m16n8k32_s8(int& c0, int& c1, int& c2, int& c3, const unsigned* a, const unsigned* b)",
     "the same for 32 steps of int8; sums wrap"},
    {"tc_multiply_m16n8k32_u8",
     "void tc_multiply_m16n8k32_u8(int& c0, int& c1, int& c2, int& c3, const unsigned* a, const unsigned* b)",
     "the same for uint8"},

    {"tc_uniform", "int tc_uniform(int value)",
     "the value, which is the same in all 32 lanes of the warp; all of them call"},
    {"tc_proxy_fence", "void tc_proxy_fence()",
     "what this thread wrote to shared memory is seen by products of groups that begin behind a barrier; sm_90a"},
    {"tc_unit_begin", "void tc_unit_begin()",
     "stands before the products of a group: they see what ordinary instructions wrote to registers. All threads of 4 "
     "warps call, the first of which is a multiple of 4; sm_90a"},
    {"tc_unit_commit", "void tc_unit_commit()", "closes the group of products that the 4 warps have begun; sm_90a"},
    {"tc_unit_wait", "void tc_unit_wait<N>()", "waits until at most N groups of products are under way; sm_90a"},
    {"tc_matrix", "unsigned long long tc_matrix(const void* at, int leading, int stride)",
     "describes an operand in shared memory in the 128-byte swizzled layout (shared_banks.h), which begins at a "
     "multiple of 1024 bytes: pieces of 8 rows of 128 bytes are stride bytes apart; where rows lie along m or n, "
     "the next 64 elements of a row leading bytes. One more is 16 bytes further; sm_90a"},
    {"tc_multiply_m64n64k16_bf16",
     "void tc_multiply_m64n64k16_bf16<P, TA, TB>(float* sums, unsigned long long a, unsigned long long b)",
     "begins C += A B of 64 x 16 by 16 x 64 bfloat16 in shared memory, tc_matrix a and b, whose rows lie along k "
     "or, with TA or TB 1, along m or n. Row m and column n of C is of thread 4 (m % 8) + n / 2 % 4 of warp m / "
     "16, in sums[m / 8 % 2 * P + n / 8 * 2 + n % 2], which nobody touches before the wait; sm_90a"},
    {"tc_multiply_m64n128k16_bf16",
     "void tc_multiply_m64n128k16_bf16<P, TA, TB>(float* sums, unsigned long long a, unsigned long long b)",
     "the same for 128 columns"},
    {"tc_multiply_m64n192k16_bf16",
     "void tc_multiply_m64n192k16_bf16<P, TA, TB>(float* sums, unsigned long long a, unsigned long long b)",
     "the same for 192 columns"},
    {"tc_multiply_m64n256k16_bf16",
     "void tc_multiply_m64n256k16_bf16<P, TA, TB>(float* sums, unsigned long long a, unsigned long long b)",
     "the same for 256 columns"},
    {"tc_multiply_m64n64k16_f16",
     "void tc_multiply_m64n64k16_f16<P, TA, TB>(float* sums, unsigned long long a, unsigned long long b)",
     "the same for 64 columns of float16"},
    {"tc_multiply_m64n128k16_f16",
     "void tc_multiply_m64n128k16_f16<P, TA, TB>(float* sums, unsigned long long a, unsigned long long b)",
     "the same for 128 columns"},
    {"tc_multiply_m64n192k16_f16",
     "void tc_multiply_m64n192k16_f16<P, TA, TB>(float* sums, unsigned long long a, unsigned long long b)",
     "the same for 192 columns"},
    {"tc_multiply_m64n256k16_f16",
     "void tc_multiply_m64n256k16_f16<P, TA, TB>(float* sums, unsigned long long a, unsigned long long b)",
     "the same for 256 columns"},

    {"tc_div", "T tc_div(T a, T b)",
     "the Euclidean quotient (rounds down for b > 0), 0 for b = 0; wraps; T an integer"},
    {"tc_mod", "T tc_mod(T a, T b)", "the Euclidean remainder, in [0, |b|), 0 for b = 0; T an integer"},
    {"tc_bits", "To tc_bits<To>(From value)", "the bits of value as a type of the same size"},
    {"tc_nan_min", "T tc_nan_min(T a, T b)", "the smaller; a NaN in either is the result"},
    {"tc_nan_max", "T tc_nan_max(T a, T b)", "the larger; a NaN in either is the result"},
    {"tc_isnan", "bool tc_isnan(T x)", "is x a NaN; T is float or double"},
    {"tc_isinf", "bool tc_isinf(T x)", "is x an infinity; T is float or double"},
    {"tc_from_half", "float tc_from_half(unsigned short bits)", "the float16 of these bits"},
    {"tc_to_half", "unsigned short tc_to_half(float value)", "the bits of the nearest float16, ties to even"},
    {"tc_from_bfloat", "float tc_from_bfloat(unsigned short bits)", "the bfloat16 of these bits"},
    {"tc_to_bfloat", "unsigned short tc_to_bfloat(float value)", "the bits of the nearest bfloat16, ties to even"},

    {"tc_sigmoid", "T tc_sigmoid(T x)", "1 / (1 + exp(-x)); T is float or double"},
    {"tc_silu", "T tc_silu(T x)", "x sigmoid(x)"},
    {"tc_softplus", "T tc_softplus(T x)", "log(1 + exp(x))"},
    {"tc_gelu", "T tc_gelu(T x)", "x normcdf(x)"},
    {"tc_round", "T tc_round(T x)", "the nearest whole number, the even one of two; T is float or double"},
};

constexpr std::string_view natives[] = {
    "acos",  "acosh",    "asin",   "asinh",   "atan",       "atanh",     "cbrt",   "ceil",          "cos",
    "cosh",  "cospi",    "erf",    "erfc",    "erfcinv",    "erfcx",     "erfinv", "exp",           "exp10",
    "exp2",  "expm1",    "fabs",   "floor",   "j0",         "j1",        "lgamma", "log",           "log10",
    "log1p", "log2",     "logb",   "normcdf", "normcdfinv", "rcbrt",     "sin",    "sinh",          "sinpi",
    "sqrt",  "tan",      "tanh",   "tgamma",  "trunc",      "y0",        "y1",     "cyl_bessel_i0", "cyl_bessel_i1",
    "atan2", "copysign", "fdim",   "fmod",    "hypot",      "nextafter", "pow",    "remainder",     "rhypot",
    "fma",   "norm3d",   "norm4d", "rnorm3d", "rnorm4d",    "fmin",      "fmax",
};

constexpr std::string_view words[] = {
    "__global__", "__launch_bounds__", "__restrict__", "blockIdx", "threadIdx", "gridDim", "blockDim", "min", "max",
    "__popc",     "__popcll",
};

constexpr std::string_view common_text = R"cuda(
#define TC_INLINE static __device__ __forceinline__

TC_INLINE void tc_barrier() { __syncthreads(); }
TC_INLINE void tc_warp_barrier() { __syncwarp(); }
TC_INLINE void tc_fence() { __threadfence(); }

template <typename T>
TC_INLINE T tc_shuffle_xor(T value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
template <typename T>
TC_INLINE T tc_shuffle_down(T value, int delta) { return __shfl_down_sync(0xffffffffu, value, delta); }
template <typename T>
TC_INLINE T tc_shuffle(T value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }

extern __shared__ __align__(1024) unsigned char tc_dynamic_shared_memory[];
template <typename T>
TC_INLINE T* tc_shared_memory(int offset, int) { return reinterpret_cast<T*>(tc_dynamic_shared_memory + offset); }

template <typename To, typename From>
TC_INLINE To tc_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "tc_bits keeps the size");
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}

template <typename T>
TC_INLINE T tc_nan_min(T a, T b) { return a != a || a < b ? a : b; }
template <typename T>
TC_INLINE T tc_nan_max(T a, T b) { return a != a || a > b ? a : b; }
#if __CUDA_ARCH__ >= 800
TC_INLINE float tc_nan_min(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
TC_INLINE float tc_nan_max(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
#endif

template <typename T>
TC_INLINE bool tc_isnan(T x) { return x != x; }
template <typename T>
TC_INLINE bool tc_isinf(T x) { return x == x && x - x != T(0); }

template <typename Bits, typename T, typename F>
TC_INLINE void tc_atomic_update(T* at, F combine) {
  Bits* place = reinterpret_cast<Bits*>(at);
  Bits seen = *place;
  for (;;) {
    const Bits before = seen;
    seen = atomicCAS(place, before, tc_bits<Bits>(combine(tc_bits<T>(before))));
    if (seen == before) return;
  }
}
template <int Bytes> struct tc_word;
template <> struct tc_word<4> { using type = unsigned; };
template <> struct tc_word<8> { using type = unsigned long long; };
template <typename T>
TC_INLINE void tc_atomic_add(T* at, T value) { atomicAdd(at, value); }
TC_INLINE void tc_atomic_add(long long* at, long long value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
}
template <typename T>
TC_INLINE void tc_atomic_mul(T* at, T value) {
  tc_atomic_update<typename tc_word<sizeof(T)>::type>(at, [=](T old) { return old * value; });
}
template <typename T>
TC_INLINE void tc_atomic_min(T* at, T value) {
  tc_atomic_update<typename tc_word<sizeof(T)>::type>(at, [=](T old) { return tc_nan_min(old, value); });
}
template <typename T>
TC_INLINE void tc_atomic_max(T* at, T value) {
  tc_atomic_update<typename tc_word<sizeof(T)>::type>(at, [=](T old) { return tc_nan_max(old, value); });
}

TC_INLINE bool tc_last_block(unsigned* ticket, unsigned blocks) {
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    __threadfence();
    is_last = atomicInc(ticket, blocks - 1) == blocks - 1;
    __threadfence();
  }
  __syncthreads();
  return is_last;
}

// The additions of all blocks together change the highest bit of the word, and no other.
TC_INLINE void tc_grid_barrier(unsigned* word) {
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    const unsigned turn = 0x80000000u, others = gridDim.x * gridDim.y * gridDim.z - 1;
    const bool is_first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
    __threadfence();
    const unsigned before = atomicAdd(word, is_first ? turn - others : 1u);
    while (((*static_cast<volatile unsigned*>(word) ^ before) & turn) == 0) continue;
    __threadfence();
  }
  __syncthreads();
}

TC_INLINE int tc_uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

#if __CUDA_ARCH__ >= 800
#define TC_SHARED_ADDRESS(p) static_cast<unsigned>(__cvta_generic_to_shared(p))
TC_INLINE void tc_copy_async_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(TC_SHARED_ADDRESS(shared)), "l"(global) : "memory");
}
TC_INLINE void tc_copy_async_8(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(TC_SHARED_ADDRESS(shared)), "l"(global) : "memory");
}
TC_INLINE void tc_copy_async_4(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(TC_SHARED_ADDRESS(shared)), "l"(global) : "memory");
}
TC_INLINE void tc_copy_async_16_if(void* shared, const void* global, bool holds) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(TC_SHARED_ADDRESS(shared)), "l"(global),
               "r"(holds ? 16 : 0) : "memory");
}
TC_INLINE void tc_copy_async_4_if(void* shared, const void* global, bool holds) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(TC_SHARED_ADDRESS(shared)), "l"(global),
               "r"(holds ? 4 : 0) : "memory");
}
TC_INLINE void tc_copy_async_16_part(void* shared, const void* global, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(TC_SHARED_ADDRESS(shared)), "l"(global),
               "r"(bytes) : "memory");
}
TC_INLINE void tc_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
TC_INLINE void tc_copy_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

#define TC_LOAD_MATRIX_4(name, order)                                                                 \
  TC_INLINE void name(unsigned* to, const void* row) {                                                \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" order ".shared.b16 {%0, %1, %2, %3}, [%4];"          \
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(TC_SHARED_ADDRESS(row))); \
  }
#define TC_LOAD_MATRIX_2(name, order)                                                   \
  TC_INLINE void name(unsigned* to, const void* row) {                                  \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" order ".shared.b16 {%0, %1}, [%2];"    \
                 : "=r"(to[0]), "=r"(to[1]) : "r"(TC_SHARED_ADDRESS(row)));             \
  }
TC_LOAD_MATRIX_4(tc_load_matrix_4, "")
TC_LOAD_MATRIX_2(tc_load_matrix_2, "")
TC_LOAD_MATRIX_4(tc_load_matrix_4_transposed, ".trans")
TC_LOAD_MATRIX_2(tc_load_matrix_2_transposed, ".trans")

#define TC_MULTIPLY(name, T, letter, kind)                                                                       \
  TC_INLINE void name(T& c0, T& c1, T& c2, T& c3, const unsigned* a, const unsigned* b) {                        \
    asm volatile("mma.sync.aligned." kind " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"     \
                 : "+" letter(c0), "+" letter(c1), "+" letter(c2), "+" letter(c3)                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                            \
  }
TC_MULTIPLY(tc_multiply_m16n8k16_bf16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
TC_MULTIPLY(tc_multiply_m16n8k16_f16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
TC_MULTIPLY(tc_multiply_m16n8k8_tf32, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
TC_MULTIPLY(tc_multiply_m16n8k32_s8, int, "r", "m16n8k32.row.col.s32.s8.s8.s32")
TC_MULTIPLY(tc_multiply_m16n8k32_u8, int, "r", "m16n8k32.row.col.s32.u8.u8.s32")
#else
template <typename Word>
TC_INLINE void tc_copy_word(void* shared, const void* global) {
  *static_cast<Word*>(shared) = *static_cast<const Word*>(global);
}
TC_INLINE void tc_copy_async_16(void* shared, const void* global) { tc_copy_word<uint4>(shared, global); }
TC_INLINE void tc_copy_async_8(void* shared, const void* global) { tc_copy_word<uint2>(shared, global); }
TC_INLINE void tc_copy_async_4(void* shared, const void* global) { tc_copy_word<unsigned>(shared, global); }
TC_INLINE void tc_copy_async_16_if(void* shared, const void* global, bool holds) {
  *static_cast<uint4*>(shared) = holds ? *static_cast<const uint4*>(global) : make_uint4(0, 0, 0, 0);
}
TC_INLINE void tc_copy_async_4_if(void* shared, const void* global, bool holds) {
  *static_cast<unsigned*>(shared) = holds ? *static_cast<const unsigned*>(global) : 0u;
}
TC_INLINE void tc_copy_async_16_part(void* shared, const void* global, int bytes) {
  for (int i = 0; i < 16; ++i)
    static_cast<unsigned char*>(shared)[i] = i < bytes ? static_cast<const unsigned char*>(global)[i] : 0;
}
TC_INLINE void tc_copy_commit() {}
template <int N>
TC_INLINE void tc_copy_wait() {}
#endif

template <typename T, int N>
struct alignas(sizeof(T) * N) tc_vector {
  T lane[N];
  __device__ __forceinline__ T& operator[](int i) { return lane[i]; }
  __device__ __forceinline__ const T& operator[](int i) const { return lane[i]; }
};
template <int Bytes> struct tc_packet;
template <> struct tc_packet<2> { using type = unsigned short; };
template <> struct tc_packet<4> { using type = unsigned; };
template <> struct tc_packet<8> { using type = uint2; };
template <> struct tc_packet<16> { using type = uint4; };
template <int N, typename T>
TC_INLINE tc_vector<T, N> tc_load(const T* from) {
  if constexpr (sizeof(T) * N <= 16) {
    return tc_bits<tc_vector<T, N>>(*reinterpret_cast<const typename tc_packet<sizeof(T) * N>::type*>(from));
  } else {
    tc_vector<T, N> result;
    const tc_vector<T, N / 2> low = tc_load<N / 2>(from), high = tc_load<N / 2>(from + N / 2);
#pragma unroll
    for (int i = 0; i < N / 2; ++i) result[i] = low[i], result[i + N / 2] = high[i];
    return result;
  }
}
template <typename T, int N>
TC_INLINE void tc_store(T* to, const tc_vector<T, N>& value) {
  if constexpr (sizeof(T) * N <= 16) {
    using Packet = typename tc_packet<sizeof(T) * N>::type;
    *reinterpret_cast<Packet*>(to) = tc_bits<Packet>(value);
  } else {
    tc_vector<T, N / 2> low, high;
#pragma unroll
    for (int i = 0; i < N / 2; ++i) low[i] = value[i], high[i] = value[i + N / 2];
    tc_store(to, low);
    tc_store(to + N / 2, high);
  }
}

template <typename T>
TC_INLINE void tc_store_exchanged(T* to, const T* words) {
  static_assert(sizeof(T) == 2, "a word is two elements");
  const bool odd = threadIdx.x & 1, high = threadIdx.x & 2;
  unsigned word[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    word[i] = static_cast<unsigned short>(words[2 * i]) | static_cast<unsigned>(static_cast<unsigned short>(words[2 * i + 1])) << 16;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const unsigned other = tc_shuffle_xor(odd ? word[i] : word[i + 1], 1);
    if (odd) word[i] = other; else word[i + 1] = other;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned other = tc_shuffle_xor(high ? word[i] : word[i + 2], 2);
    if (high) word[i] = other; else word[i + 2] = other;
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
}

template <typename T>
TC_INLINE T tc_div(T a, T b) {
  if (b == 0) return 0;
  if (T(-1) < T(0) && b == T(-1)) return T(0ull - static_cast<unsigned long long>(a));
  const T quotient = a / b;
  return a % b < 0 ? (b < 0 ? quotient + 1 : quotient - 1) : quotient;
}
template <typename T>
TC_INLINE T tc_mod(T a, T b) {
  if (b == 0 || (T(-1) < T(0) && b == T(-1))) return 0;
  const T rest = a % b;
  return rest < 0 ? (b < 0 ? rest - b : rest + b) : rest;
}

TC_INLINE float tc_from_half(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
TC_INLINE unsigned short tc_to_half(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
TC_INLINE float tc_from_bfloat(unsigned short bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
TC_INLINE unsigned short tc_to_bfloat(float value) {
#if __CUDA_ARCH__ >= 800
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  const unsigned bits = __float_as_uint(value);
  if (value != value) return static_cast<unsigned short>(bits >> 16 | 0x40u);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}

TC_INLINE float tc_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
TC_INLINE double tc_sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
TC_INLINE float tc_silu(float x) { return x / (1.0f + expf(-x)); }
TC_INLINE double tc_silu(double x) { return x / (1.0 + exp(-x)); }
TC_INLINE float tc_softplus(float x) { return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x))); }
TC_INLINE double tc_softplus(double x) { return fmax(x, 0.0) + log1p(exp(-fabs(x))); }
TC_INLINE float tc_gelu(float x) { return x * normcdff(x); }
TC_INLINE double tc_gelu(double x) { return x * normcdf(x); }
TC_INLINE float tc_round(float x) { return rintf(x); }
TC_INLINE double tc_round(double x) { return rint(x); }
)cuda";

}  // namespace

std::span<const PreludeFunction> prelude_functions() { return functions; }
std::span<const std::string_view> native_functions() { return natives; }
std::span<const std::string_view> native_words() { return words; }

std::string_view device_prelude() {
  static const auto& text = *new std::string(str(common_text, group_products()));
  return text;
}

}  // namespace tc::cuda
