// The machine's own limits, for ratios: multiply-add peaks and copy bandwidth. Loaded by suite/limits.py through
// ctypes.

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr long trips = 100'000;
constexpr int chains = 12;

/// One loop of independent multiply-adds and the operations of one of its instructions.
struct Loop {
  void (*run)();
  double operations;
};

#define TC_PEAK_LOOP(name, isa, vector, broadcast, instruction, constraint)                                     \
  [[gnu::target(isa)]] void name() {                                                                            \
    vector b = broadcast(0.7f), a[chains];                                                                      \
    for (auto& x : a) x = b;                                                                                    \
    for (long i = 0; i < trips; ++i)                                                                            \
      _Pragma("GCC unroll 12") for (auto& x : a) asm volatile(instruction : "+" constraint(x) : constraint(b)); \
  }

TC_PEAK_LOOP(fma512, "avx512f", __m512, _mm512_set1_ps, "vfmadd231ps %1, %1, %0", "v")
TC_PEAK_LOOP(fma256, "avx2,fma", __m256, _mm256_set1_ps, "vfmadd231ps %1, %1, %0", "x")
TC_PEAK_LOOP(multiply128, "sse2", __m128, _mm_set1_ps, "mulps %1, %0", "x")
TC_PEAK_LOOP(bf16_512, "avx512f", __m512, _mm512_set1_ps, "vdpbf16ps %1, %1, %0", "v")
TC_PEAK_LOOP(u8s8_512, "avx512f", __m512, _mm512_set1_ps, "vpdpbusd %1, %1, %0", "v")
TC_PEAK_LOOP(u8s8_256, "avx2", __m256, _mm256_set1_ps, "%{vex%} vpdpbusd %1, %1, %0", "x")

/// Products of tiles of 16 rows of 64 bytes, into four of them: the others feed them.
#define TC_TILE_LOOP(name, isa, instruction)                                                 \
  [[gnu::target("amx-tile," isa)]] void name() {                                             \
    alignas(64) unsigned char shapes[64] = {1};                                              \
    for (int tile = 0; tile < 8; ++tile) shapes[16 + 2 * tile] = 64, shapes[48 + tile] = 16; \
    asm volatile("" : : "r"(shapes) : "memory");                                             \
    _tile_loadconfig(shapes);                                                                \
    for (long i = 0; i < trips / 10; ++i) {                                                  \
      instruction(0, 4, 6);                                                                  \
      instruction(1, 4, 7);                                                                  \
      instruction(2, 5, 6);                                                                  \
      instruction(3, 5, 7);                                                                  \
    }                                                                                        \
    _tile_release();                                                                         \
  }

TC_TILE_LOOP(bf16_tiles, "amx-bf16", _tile_dpbf16ps)
TC_TILE_LOOP(u8s8_tiles, "amx-int8", _tile_dpbusd)

/// Operations of one trip of these loops, as if it had `chains` instructions.
constexpr double tile_trip = 4 * 16 * 16 * 16 * 2 / 10.0 / chains;

/// Whether the machine multiplies tiles and the kernel lets this process do it.
bool has_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  static const bool result = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned all = 1u << 22 | 1u << 24 | 1u << 25;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & all) == all &&
           syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return result;
}

/// The loop of a kind on this machine; operations 0 where it has no instruction for it.
Loop loop_of(int kind) {
  bool avx512 = __builtin_cpu_supports("avx512f");
  if (kind == 3) return has_tiles() ? Loop{bf16_tiles, 2 * tile_trip} : Loop{nullptr, 0};
  if (kind == 4) return has_tiles() ? Loop{u8s8_tiles, 4 * tile_trip} : Loop{nullptr, 0};
  if (kind == 1) return avx512 && __builtin_cpu_supports("avx512bf16") ? Loop{bf16_512, 64} : Loop{nullptr, 0};
  if (kind == 2) {
    if (avx512 && __builtin_cpu_supports("avx512vnni")) return {u8s8_512, 128};
    return __builtin_cpu_supports("avxvnni") ? Loop{u8s8_256, 64} : Loop{nullptr, 0};
  }
  if (avx512) return {fma512, 32};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {fma256, 16};
  return {multiply128, 4};
}

/// Seconds from the moment when all threads are ready until all have run \p work(thread), which happens \p times times.
template <typename Work>
double in_parallel(int threads, int times, Work work) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  auto run = [&](int thread) {
    for (int i = 0; i < times; ++i) work(thread);
  };
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back([&, thread] {
      ++ready;
      while (!go) _mm_pause();
      run(thread);
    });
  while (ready < threads - 1) std::this_thread::yield();
  double begin = seconds();
  go = true;
  run(0);
  for (auto& other : others) other.join();
  return seconds() - begin;
}

[[gnu::target("avx2")]] void stream_copy(char* to, const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i + 32 <= bytes; i += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
  _mm_sfence();
}

}  // namespace

/// Operations a second, in units of 10^9, of independent multiply-adds in \p threads threads at the widest vectors the
/// machine has. Kinds: 0 float32, 1 bfloat16 pairs into float32, 2 unsigned by signed bytes into int32, 3 and 4 the
/// same in tiles. 0: no such instruction.
extern "C" __attribute__((visibility("default"))) double tc_bench_peak(int kind, int threads, int times) {
  Loop loop = loop_of(kind);
  if (loop.run == nullptr) return 0;
  double elapsed = in_parallel(threads, times, [&](int) { loop.run(); });
  return threads * times * (trips * chains * loop.operations) / elapsed / 1e9;
}

/// GB/s read plus written by copying \p bytes from \p from to \p to (both aligned by 64) in \p threads threads, \p
/// times times. With \p stream the stores pass by the caches.
extern "C" __attribute__((visibility("default"))) double tc_bench_copy(char* to, const char* from, std::size_t bytes,
                                                                       int threads, int times, int stream) {
  if (stream && !__builtin_cpu_supports("avx2")) return 0;
  std::size_t part = bytes / threads / 64 * 64;
  double elapsed = in_parallel(threads, times, [&](int thread) {
    if (stream)
      stream_copy(to + thread * part, from + thread * part, part);
    else
      std::memcpy(to + thread * part, from + thread * part, part);
  });
  return 2.0 * threads * part * times / elapsed / 1e9;
}
