#include "tc/cpu/machine_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tc/base/fork.h"
#include "tc/cpu/machine/peak_loop.h"

namespace tc::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds from the moment when \p threads threads are ready until all have run \p work(thread).
double seconds_of(int threads, const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back([&, thread] {
      ++ready;
      while (!go) pause_thread();
      work(thread);
    });
  while (ready < threads - 1) std::this_thread::yield();
  auto begin = Clock::now();
  go = true;
  work(0);
  for (auto& other : others) other.join();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The greatest of several rates \p once measures: what disturbs makes a rate smaller only.
double best_rate(double seconds, const std::function<double()>& once) {
  double result = 0;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do result = std::max(result, once());
  while (Clock::now() < end);
  return result;
}

double measure_flops(int threads, DType type) {
  auto loop = peak_loop(type);
  if (!loop.run) return 0;
  return best_rate(0.05, [&] { return threads * loop.flops / seconds_of(threads, [&](int) { loop.run(); }) / 1e9; });
}

using Words = std::uint64_t __attribute__((vector_size(16)));

/// Adds up \p count groups from \p first on, in four chains.
void read_all(const Words* first, std::size_t count) {
  Words sums[4] = {};
  for (std::size_t i = 0; i + 4 <= count; i += 4)
    for (int lane = 0; lane < 4; ++lane) sums[lane] += first[i + lane];
  auto sum = sums[0] + sums[1] + sums[2] + sums[3];
  asm volatile("" : : "m"(sum));
}

void change_all(Words* first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) first[i] += 1;
  asm volatile("" : : : "memory");
}

double measure_bandwidth(int threads, std::int64_t cache_bytes) {
  auto bytes = std::clamp<std::int64_t>(4 * cache_bytes, 64 << 20, 512 << 20);
  auto each = static_cast<std::size_t>(bytes) / sizeof(Words) / static_cast<std::size_t>(threads);
  std::vector<Words> buffer(each * static_cast<std::size_t>(threads), Words{1, 2});
  auto rate = [&](double passes, auto&& pass) {
    return best_rate(0.05, [&] {
      double seconds =
          seconds_of(threads, [&](int thread) { pass(buffer.data() + static_cast<std::size_t>(thread) * each, each); });
      return passes * static_cast<double>(buffer.size() * sizeof(Words)) / seconds / 1e9;
    });
  };
  return std::max(rate(1, read_all), rate(2, change_all));
}

}  // namespace

MachineLimits machine_limits(int threads, DType type, std::int64_t cache_bytes) {
  static auto& mutex = *new ForkMutex;
  static auto& flops = *new std::map<std::pair<int, bool>, double>;
  static auto& bandwidth = *new std::map<int, double>;
  std::lock_guard lock(mutex);
  auto [peak, new_peak] = flops.try_emplace({threads, type == DType::Float64});
  if (new_peak) peak->second = measure_flops(threads, type);
  auto [rate, new_rate] = bandwidth.try_emplace(threads);
  if (new_rate) rate->second = measure_bandwidth(threads, cache_bytes);
  return {peak->second, rate->second};
}

}  // namespace tc::cpu
