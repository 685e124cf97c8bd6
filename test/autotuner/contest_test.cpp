#include "tc/autotuner/contest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tc/autotuner/worker/random_source.h"

namespace tc::autotuner {
namespace {

/// A machine of which other programs take cores for a while, by phases: what executables take on it, on a clock of its
/// own.
class BusyMachine {
 public:
  /// Entrants take \p costs seconds of one core; at most \p rivals other programs wait for it at a time.
  BusyMachine(std::vector<double> costs, int rivals, std::uint64_t seed)
      : costs_(std::move(costs)), rivals_(rivals), random_(seed) {}

  /// A new process: where its memory lies makes each entrant a little faster or slower for as long as it lives.
  void start_process() {
    placement_.clear();
    for (std::size_t i = 0; i < costs_.size(); ++i) placement_.push_back(std::exp(0.004 * normal()));
  }
  double now() const { return now_; }

  /// A sample of entrant \p i: slices of the core, between which others have it, with cold caches after each.
  Timing run(std::size_t i) {
    contention_ = 0.98 * contention_ + 0.003 * normal();
    const double begin = now_;
    Timing result;
    double left = costs_[i] * placement_[i] * std::exp(contention_);
    while (left > 0) {
      const double slice = std::min(left, slice_left_);
      now_ += slice;
      result.cpu += slice;
      left -= slice;
      slice_left_ -= slice;
      if (slice_left_ > 1e-12) continue;
      slice_left_ = slice_seconds;
      const auto waiting = waiting_programs();
      now_ += waiting * slice_seconds * (0.5 + random_.unit());
      if (waiting > 0) left += 2e-5;
    }
    result.wall = now_ - begin;
    result.longest = result.own = result.cpu;
    return result;
  }

  /// Entrants of these numbers in turns for \p seconds.
  std::vector<Timings> session(const std::vector<std::size_t>& which, double seconds, std::uint64_t seed) {
    start_process();
    const double end = now_ + seconds;
    return measure_in_rounds(
        which.size(), [&](std::size_t i) { return run(which[i]); },
        [&](int rounds) { return rounds >= 101 || (rounds >= 5 && now_ > end); }, seed);
  }

  /// Finals of all entrants, of which the first is the reference.
  std::optional<Winner> finals(double seconds) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < costs_.size(); ++i) all.push_back(i);
    std::uint64_t seed = 0;
    const Rematch rematch = [&](std::size_t entrant) {
      auto timings = session({entrant, 0}, seconds / 2 / (5 + telling_rematches), ++seed);
      return std::optional(std::pair{timings[0], timings[1]});
    };
    return find_winner(session(all, seconds / 2, 0), 0, 5, rematch);
  }

 private:
  static constexpr double slice_seconds = 3e-3;

  double normal() {
    const double u = 1 - random_.unit();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random_.unit());
  }
  int waiting_programs() {
    if (now_ > phase_end_) {
      phase_end_ = now_ + 0.3 * random_.unit();
      waiting_ = static_cast<int>(random_.below(static_cast<std::size_t>(rivals_) + 1));
    }
    return waiting_;
  }

  std::vector<double> costs_;
  int rivals_;
  RandomSource random_;
  std::vector<double> placement_;
  double now_ = 0, slice_left_ = slice_seconds, phase_end_ = 0, contention_ = 0;
  int waiting_ = 0;
};

TEST(FindWinner, FindsNoneAmongEqualsOnABusyMachine) {
  constexpr int tunings = 400;
  int winners = 0;
  for (int seed = 0; seed < tunings; ++seed)
    winners += BusyMachine({2e-3, 2e-3, 2e-3, 2e-3}, 10, static_cast<std::uint64_t>(seed)).finals(3).has_value();
  EXPECT_LE(winners, tunings / 100);
}

TEST(FindWinner, TellsTheGainOnABusyMachine) {
  constexpr int tunings = 100;
  int found = 0;
  for (int seed = 0; seed < tunings; ++seed)
    if (const auto winner =
            BusyMachine({2e-3, 1.9e-3, 2.2e-3, 1.6e-3}, 10, static_cast<std::uint64_t>(seed)).finals(3)) {
      ++found;
      EXPECT_EQ(winner->entrant, 3u);
      EXPECT_NEAR(winner->ratio, 0.8, 0.04) << seed;
    }
  EXPECT_GE(found, 95);
}

TEST(FindWinner, TellsSmallGainsOnAQuietMachine) {
  int found = 0;
  for (int seed = 0; seed < 100; ++seed)
    if (const auto winner = BusyMachine({2e-3, 1.94e-3}, 0, static_cast<std::uint64_t>(seed)).finals(3)) {
      ++found;
      EXPECT_NEAR(winner->ratio, 0.97, 0.02) << seed;
    }
  EXPECT_GE(found, 90);
}

/// Who wins by chance is told by measurements that did not choose it: on a machine where processes differ by a fifth, gains are
/// told right on average, though only the luckiest are found.
TEST(FindWinner, TellsGainsThatDidNotChooseIt) {
  constexpr double truth = 0.9;
  RandomSource random(1);
  const auto timings = [](double seconds) { return Timings(5, {seconds, seconds, seconds, seconds}); };
  const Rematch rematch = [&](std::size_t) {
    const double noise = 0.4 * (random.unit() + random.unit() + random.unit() - 1.5);
    return std::optional(std::pair{timings(truth * std::exp(noise)), timings(1)});
  };
  double sum = 0;
  int found = 0;
  for (int tuning = 0; tuning < 20000; ++tuning)
    if (const auto winner = find_winner({timings(1), timings(truth)}, 0, 5, rematch)) {
      sum += std::log(winner->ratio);
      ++found;
    }
  EXPECT_GT(found, 100);
  EXPECT_NEAR(std::exp(sum / found), truth, 0.05);
}

TEST(FindWinner, NeedsRematchesThatEnd) {
  const Timings slow(5, {1, 1, 1, 1}), fast(5, {0.5, 0.5, 0.5, 0.5});
  int asked = 0;
  const auto winner = [&](std::vector<Timings> first, int fails_at) {
    asked = 0;
    return find_winner(first, 0, 3, [&](std::size_t) -> std::optional<std::pair<Timings, Timings>> {
      if (asked++ == fails_at) return std::nullopt;
      return std::pair{fast, slow};
    });
  };
  constexpr int all = 3 + telling_rematches;
  EXPECT_EQ(winner({slow, slow, {}, fast}, all)->entrant, 3u);
  EXPECT_EQ(asked, all);
  EXPECT_FALSE(winner({slow, fast}, 2));
  EXPECT_FALSE(winner({slow, fast}, all - 1));
  EXPECT_FALSE(winner({slow, slow}, 3)) << "as fast as the reference";
  EXPECT_FALSE(winner({{}, fast}, 3)) << "the reference failed";
  EXPECT_FALSE(winner({slow}, 3));
  EXPECT_EQ(asked, 0);
}

TEST(GreatestMean, GrowsWithTheNoise) {
  EXPECT_DOUBLE_EQ(greatest_mean({0.9, 0.9, 0.9}), 0.9);
  EXPECT_GT(greatest_mean({0.89, 0.9, 0.91}), 0.93);
  EXPECT_LT(greatest_mean({0.89, 0.9, 0.91, 0.9, 0.89, 0.91}), 0.92);
  EXPECT_GT(greatest_mean({0.5, 1.1, 0.9}), 1);
}

}  // namespace
}  // namespace tc::autotuner
