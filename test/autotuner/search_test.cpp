#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tc/autotuner/search/genetic_search.h"
#include "tc/autotuner/search/random_search.h"
#include "tc/autotuner/worker/message.h"
#include "tc/base/error.h"
#include "test/support/expect_error.h"
#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

using Options = options::MappingOptions;

/// Seconds that a made-up machine takes: least for tile=16x8 with pack=0, none for promote=0.
double seconds_of(const Options& options) {
  const auto& values = options.values();
  if (!values.promote) return std::numeric_limits<double>::infinity();
  double result = values.pack ? 2 : 1;
  for (std::size_t i = 0; i < 2; ++i) {
    double tile = i < values.tile.size() ? static_cast<double>(values.tile[i]) : 64;
    result += std::abs(std::log2(std::max(tile, 1.0)) - (i == 0 ? 4 : 3));
  }
  return result;
}

std::vector<Trial> measured(const std::vector<Options>& batch) {
  std::vector<Trial> trials;
  for (const auto& options : batch) trials.push_back({options, seconds_of(options)});
  return trials;
}

std::unique_ptr<Search> make(const std::string& method, const SearchSpace& space, std::uint64_t seed,
                             const std::vector<Options>& starts = {}) {
  if (method == "random") return std::make_unique<RandomSearch>(space, seed, starts);
  return std::make_unique<GeneticSearch>(space, seed, starts, GeneticSettings{8, 0.8, 0.1});
}

/// The options asked for in \p rounds, one after another.
std::string walk(Search& search, int rounds) {
  std::string result;
  for (int i = 0; i < rounds; ++i) {
    auto batch = search.ask(8);
    for (const auto& options : batch) result += options.to_text() + "\n";
    search.tell(measured(batch));
  }
  return result;
}

class Searches : public testing::TestWithParam<const char*> {};

TEST_P(Searches, AskForTheStartsFirst) {
  auto all = space();
  std::vector<Options> starts = {Options(), Options::parse("tile=8"), Options::parse("tile=8"),
                                 Options::parse("pack=0")};
  auto batch = make(GetParam(), all, 1, starts)->ask(4);
  ASSERT_EQ(batch.size(), 4u);
  EXPECT_EQ(batch[0].to_text() + ";" + batch[1].to_text() + ";" + batch[2].to_text(), ";tile=8;pack=0");
}

TEST_P(Searches, NeverAskTwice) {
  auto all = space();
  auto search = make(GetParam(), all, 2);
  std::set<std::string> seen;
  for (int i = 0; i < 30; ++i) {
    auto batch = search->ask(8);
    EXPECT_EQ(batch.size(), 8u);
    for (const auto& options : batch) EXPECT_TRUE(seen.insert(options.to_text()).second) << options.to_text();
    search->tell(measured(batch));
  }
}

TEST_P(Searches, DoNotAskForWhatTheyWereTold) {
  auto all = space();
  auto search = make(GetParam(), all, 2, {Options::parse("tile=8")});
  search->tell({{Options::parse("tile=8"), 1}});
  for (const auto& options : search->ask(20)) EXPECT_NE(options.to_text(), "tile=8");
}

TEST_P(Searches, AreTheSameForASeedOnly) {
  auto all = space();
  auto first = walk(*make(GetParam(), all, 7), 10);
  EXPECT_EQ(first, walk(*make(GetParam(), all, 7), 10));
  EXPECT_NE(first, walk(*make(GetParam(), all, 8), 10));
}

TEST_P(Searches, GoOnFromAState) {
  auto all = space();
  auto search = make(GetParam(), all, 9), other = make(GetParam(), all, 1234);
  walk(*search, 5);
  other->restore(search->state());
  EXPECT_EQ(other->state(), search->state());
  EXPECT_EQ(walk(*other, 5), walk(*search, 5));
}

TEST_P(Searches, RefuseWhatIsNoState) {
  auto all = space();
  auto search = make(GetParam(), all, 9);
  auto before = search->state();
  for (const std::string& text :
       {std::string(), std::string("nonsense"), before.substr(0, before.size() / 2), encode({"other", ""})})
    EXPECT_ERROR(search->restore(text), ArgumentError, "this is no state of a ");
  EXPECT_EQ(search->state(), before);
}

TEST_P(Searches, UseUpASmallSpaceAndEnd) {
  auto function = function_of("def f(float(N) A) -> (B) { B(i) = A(i) }");
  SearchSpace small(*function, engine::make_arguments(*function, {contiguous(DType::Float32, {4})}, {}),
                    Target::parse("cpu:plain,cores=1"));
  auto search = make(GetParam(), small, 1);
  std::set<std::string> seen;
  for (int i = 0; i < 20; ++i) {
    auto batch = search->ask(16);
    for (const auto& options : batch) EXPECT_TRUE(seen.insert(options.to_text()).second);
    search->tell(measured(batch));
  }
  EXPECT_TRUE(search->ask(1).empty());
  EXPECT_EQ(seen.size(), 42u);
}

INSTANTIATE_TEST_SUITE_P(All, Searches, testing::Values("random", "genetic"),
                         [](const auto& row) { return std::string(row.param); });

TEST(GeneticSearch, FindsWhatRandomSearchDoesNot) {
  auto all = space();
  int better = 0;
  for (std::uint64_t seed = 0; seed < 9; ++seed) {
    auto best = [&](const std::string& method) {
      auto search = make(method, all, seed);
      double result = 100;
      for (int i = 0; i < 20; ++i) {
        auto trials = measured(search->ask(8));
        for (const auto& trial : trials) result = std::min(result, trial.seconds);
        search->tell(trials);
      }
      return result;
    };
    better += best("genetic") < best("random");
  }
  EXPECT_GE(better, 5);
}

TEST(GeneticSearch, KeepsTheFastestAndForgetsFailures) {
  auto all = space();
  GeneticSearch search(all, 1, {}, GeneticSettings{2, 0.8, 0.1});
  search.tell({{Options::parse("tile=4"), 3},
               {Options::parse("tile=8"), 1},
               {Options::parse("tile=16"), 2},
               {Options::parse("pack=0"), std::numeric_limits<double>::infinity()}});
  ASSERT_EQ(search.population().size(), 2u);
  EXPECT_EQ(search.population()[0].seconds, 1);
  EXPECT_EQ(search.population()[1].seconds, 2);
}

TEST(Roulette, TakesParentsInProportionToTheirSpeed) {
  const std::vector<Individual> parents = {{{}, 1}, {{}, 2}, {{}, 4}};
  RandomSource random(6);
  std::vector<int> taken(3);
  for (int i = 0; i < 7000; ++i) ++taken[roulette(parents, random)];
  EXPECT_NEAR(taken[0], 4000, 200);
  EXPECT_NEAR(taken[1], 2000, 200);
  EXPECT_NEAR(taken[2], 1000, 200);
  EXPECT_EQ(roulette({{{}, 5}}, random), 0u);
}

TEST(RandomSource, IsTheSameEverywhere) {
  RandomSource random(5489);
  EXPECT_EQ(random.below(1000000), 14514284786278117030u % 1000000);
}

}  // namespace
}  // namespace tc::autotuner
