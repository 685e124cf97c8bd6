#include "tc/autotuner/worker/timing.h"

#include <dirent.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "tc/autotuner/worker/random_source.h"
#include "tc/autotuner/worker/statistics.h"

namespace tc::autotuner {
namespace {

/// A calling thread that ran for a smaller part of the time has waited for a core.
constexpr double undisturbed_share = 0.97;
/// Numbers of threads that differ by less are taken to be the same.
constexpr double plain_difference = 1.25;

double seconds_on(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Linux's number of the clock of what thread \p id of this process runs (CPUCLOCK_SCHED of that thread).
clockid_t clock_of(int id) { return static_cast<clockid_t>((~static_cast<unsigned>(id) << 3) | 6u); }

/// Seconds that each thread of this process has run, by its number.
std::map<int, double> thread_seconds() {
  std::map<int, double> result;
  DIR* folder = ::opendir("/proc/self/task");
  if (!folder) return result;
  while (const dirent* entry = ::readdir(folder))
    if (const int id = std::atoi(entry->d_name); id > 0) result[id] = seconds_on(clock_of(id));
  ::closedir(folder);
  return result;
}

/// How many threads of \p timings ran at a time.
double threads_at_a_time(const Timings& timings) {
  double all = 0, longest = 0;
  for (const auto& timing : timings) {
    all += timing.cpu;
    longest += timing.longest;
  }
  return longest > 0 ? std::max(1.0, all / longest) : 1;
}

}  // namespace

bool Timing::disturbed() const { return own > 0 && own < undisturbed_share * wall; }

Timing time_calls(const std::function<void()>& run, int calls) {
  const auto before = thread_seconds();
  Timing result;
  result.cpu = -seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  result.own = -seconds_on(CLOCK_THREAD_CPUTIME_ID);
  result.wall = -seconds_on(CLOCK_MONOTONIC);
  run();
  result.wall += seconds_on(CLOCK_MONOTONIC);
  result.own += seconds_on(CLOCK_THREAD_CPUTIME_ID);
  result.cpu += seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  result.longest = result.own;
  for (const auto& [id, seconds] : thread_seconds()) {
    const auto known = before.find(id);
    result.longest = std::max(result.longest, seconds - (known == before.end() ? 0 : known->second));
  }
  result.longest = std::min(result.longest, result.cpu);
  for (double* seconds : {&result.wall, &result.cpu, &result.longest, &result.own}) *seconds /= calls;
  return result;
}

std::vector<double> seconds_of(const Timings& timings) {
  const double threads = threads_at_a_time(timings);
  std::vector<double> result;
  for (const auto& timing : timings) result.push_back(timing.disturbed() ? timing.cpu / threads : timing.wall);
  return result;
}

double ratio_of(const Timings& of, const Timings& than) {
  double threads = threads_at_a_time(than) / threads_at_a_time(of);
  if (threads < plain_difference && threads > 1 / plain_difference) threads = 1;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(of.size(), than.size()); ++i)
    ratios.push_back(of[i].disturbed() || than[i].disturbed() ? of[i].cpu / than[i].cpu * threads
                                                              : of[i].wall / than[i].wall);
  return quantile(ratios, 0.5);
}

std::vector<Timings> measure_in_rounds(std::size_t count, const std::function<Timing(std::size_t)>& measure,
                                       const std::function<bool(int rounds)>& ended, std::uint64_t seed) {
  std::vector<Timings> result(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomSource random(seed);
  for (int round = 0; !ended(round); ++round) {
    for (std::size_t left = count; left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
    for (const auto which : order) result[which].push_back(measure(which));
  }
  return result;
}

}  // namespace tc::autotuner
