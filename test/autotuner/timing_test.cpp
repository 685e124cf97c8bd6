#include "tc/autotuner/worker/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

namespace tc::autotuner {
namespace {

void work(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(TimeCalls, TellsWhatThreadsRan) {
  const auto timing = time_calls([] { work(0.02); }, 2);
  EXPECT_GE(timing.wall, 0.01);
  EXPECT_LE(timing.own, timing.wall * 1.01);
  EXPECT_LE(timing.own, timing.cpu * 1.01);
  EXPECT_LE(timing.longest, timing.cpu);
  const auto asleep = time_calls([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, 1);
  EXPECT_TRUE(asleep.disturbed()) << "the thread did not run";
  EXPECT_LT(asleep.cpu, asleep.wall / 2);
}

TEST(TimeCalls, FindsTheThreadThatRanLongest) {
  const auto timing = time_calls(
      [] {
        std::thread other([] { work(0.03); });
        other.join();
      },
      1);
  EXPECT_LT(timing.own, timing.cpu) << "the other ran";
}

/// One of three took a slice of another program: what threads ran is compared.
TEST(RatioOf, ComparesWhatThreadsRanWhereARoundWasDisturbed) {
  const Timing quick{1, 1, 1, 1}, slow{2, 2, 2, 2}, waited{9, 1, 1, 1}, cold{9, 1.1, 1.1, 1.1};
  EXPECT_DOUBLE_EQ(ratio_of({quick, quick, quick}, {slow, slow, slow}), 0.5);
  EXPECT_DOUBLE_EQ(ratio_of({quick, waited, waited}, {slow, slow, slow}), 0.5);
  EXPECT_DOUBLE_EQ(ratio_of({waited, waited, waited}, {cold, cold, cold}), 1 / 1.1);
  EXPECT_EQ(seconds_of(Timings{quick, waited, cold}), (std::vector<double>{1, 1, 1.1}));
}

/// Two threads that run half as long as one are as good on a busy machine, and count as two.
TEST(RatioOf, CountsThreadsThatRanAtATime) {
  const Timing serial{4, 1, 1, 1}, parallel{4, 1, 0.5, 0.5}, uneven{4, 1, 0.52, 0.5};
  EXPECT_DOUBLE_EQ(ratio_of({parallel, parallel}, {serial, serial}), 0.5);
  EXPECT_DOUBLE_EQ(ratio_of({serial, serial}, {parallel, parallel}), 2);
  EXPECT_DOUBLE_EQ(ratio_of({uneven, uneven}, {parallel, parallel}), 1);
  EXPECT_EQ(seconds_of(Timings{parallel}), std::vector<double>{0.5});
}

TEST(MeasureInRounds, DrawsAnOrderForEach) {
  std::vector<std::size_t> order;
  const auto measure = [&](std::size_t i) {
    order.push_back(i);
    return Timing{static_cast<double>(i), 0, 0, 0};
  };
  const auto timings = measure_in_rounds(3, measure, [](int rounds) { return rounds == 60; }, 1);
  ASSERT_EQ(timings.size(), 3u);
  std::set<std::vector<std::size_t>> orders;
  for (std::size_t i = 0; i < order.size(); i += 3) orders.insert({order[i], order[i + 1], order[i + 2]});
  EXPECT_EQ(orders.size(), 6u) << "all of them";
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(timings[i].size(), 60u);
    EXPECT_EQ(timings[i].back().wall, static_cast<double>(i));
  }
}

}  // namespace
}  // namespace tc::autotuner
