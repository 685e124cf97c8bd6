#include "tc/autotuner/search/cost_model.h"

#include <algorithm>
#include <cmath>

#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

using Options = options::MappingOptions;

Options parse(const char* text) { return Options::parse(text); }

TEST(CostModel, IsTheAnalyticModelBeforeItHasLearnt) {
  auto all = space();
  CostModel model(all);
  EXPECT_NEAR(model.estimate(parse("tile=8"), 2e-3), 2e-3, 1e-9);
  EXPECT_EQ(model.estimate(parse("tile=8"), 0), model.estimate(parse("pack=0"), 0));
}

TEST(CostModel, KeepsTheOrderOfTheAnalyticModelWhereNothingWasMeasured) {
  auto all = space();
  CostModel model(all);
  model.learn(Options(), 1e-3, 5e-3);
  EXPECT_LT(model.estimate(parse("tile=8"), 1e-3), model.estimate(parse("tile=16"), 1.1e-3));
  EXPECT_NEAR(model.estimate(Options(), 1e-3), 5e-3, 1e-4);
}

TEST(CostModel, LearnsWhatTheAnalyticModelDoesNotSee) {
  auto all = space();
  CostModel model(all);
  RandomSource random(1);
  auto seconds = [&](const Options& options) {
    double tile =
        options.values().tile.empty() ? 64 : static_cast<double>(std::max<std::int64_t>(options.values().tile[0], 1));
    return 1e-3 * (options.values().pack ? 1 : 3) * (1 + std::abs(std::log2(tile) - 4));
  };
  for (int i = 0; i < 150; ++i) {
    auto options = all.options(all.random(random));
    model.learn(options, 1e-3, seconds(options));
  }
  EXPECT_GT(model.estimate(parse("pack=0"), 1e-3), 2 * model.estimate(Options(), 1e-3));
  EXPECT_LT(model.estimate(parse("tile=16"), 1e-3), model.estimate(parse("tile=64"), 1e-3));
  EXPECT_LT(model.estimate(parse("tile=16"), 1e-3), model.estimate(parse("tile=4"), 1e-3));
}

TEST(CostModel, RanksUnseenCandidatesMuchBetterThanChance) {
  auto all = space();
  CostModel model(all);
  RandomSource random(2);
  auto seconds = [](const Options& options) {
    return 1e-3 * (options.values().promote ? 1 : 4) * (options.values().prefetch ? 1 : 1.5) *
           (options.values().vector_bytes == 16 ? 2 : 1);
  };
  for (int i = 0; i < 60; ++i) {
    auto options = all.options(all.random(random));
    model.learn(options, 0, seconds(options));
  }
  int right = 0, pairs = 0;
  for (int i = 0; i < 500; ++i) {
    auto a = all.options(all.random(random)), b = all.options(all.random(random));
    if (seconds(a) == seconds(b)) continue;
    ++pairs;
    right += (seconds(a) < seconds(b)) == (model.estimate(a, 0) < model.estimate(b, 0));
  }
  EXPECT_GT(right, 0.9 * pairs) << pairs;
}

TEST(Promising, TakesTheCheapestSomeOthersAndAllThatAreKept) {
  using Indices = std::vector<std::size_t>;
  struct Row {
    std::vector<double> costs;
    std::size_t count, kept;
    Indices taken;
  };
  const Row rows[] = {
      {{8, 7, 6, 5, 4, 3, 2, 1}, 4, 0, {0, 5, 6, 7}},
      {{8, 7, 6, 5, 4, 3, 2, 1}, 5, 1, {0, 1, 5, 6, 7}},
      {{1, 2, 3}, 9, 0, {0, 1, 2}},
      {{5, 5, 5, 5}, 2, 0, {0, 1}},
      {{3, 2, 1}, 1, 3, {0, 1, 2}},
      {{}, 4, 2, {}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(promising(row.costs, row.count, row.kept), row.taken) << testing::PrintToString(row.costs);
}

}  // namespace
}  // namespace tc::autotuner
