#include "tc/autotuner/search/price_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/support/expect_error.h"

namespace tc::autotuner::price_search_test {
namespace {

using Options = options::MappingOptions;

/// A nest of a made-up machine: its number, what its price says, and of what.
engine::NestCandidate nest(int number, double seconds, double memory) {
  return {Options().with_nest(str("nest ", number)), seconds, {1 - memory, memory}};
}

/// Nests that are alike in pairs, dearer by their number; every second pair waits for memory.
std::vector<engine::NestCandidate> nests(const Options&) {
  std::vector<engine::NestCandidate> result;
  for (int i = 0; i < 64; ++i) result.push_back(nest(i, 1 + 0.1 * (i / 2) + 0.001 * i, i / 2 % 2 == 0 ? 0.1 : 0.9));
  return result;
}

int number_of(const Options& options) {
  const auto& line = options.values().nest;
  return line.empty() ? 0 : std::stoi(line.substr(5));
}

/// Memory takes a fourth of what the price says.
double seconds_of(const Options& options) {
  const auto& all = nests({});
  const auto& nest = all[static_cast<std::size_t>(number_of(options))];
  return nest.seconds * (nest.terms[1] > 0.5 ? 0.25 : 1);
}

std::vector<Trial> measured(const std::vector<Options>& batch) {
  std::vector<Trial> result;
  for (const auto& options : batch) result.push_back({options, seconds_of(options)});
  return result;
}

PriceSearch search_of(const std::vector<Options>& starts = {}) { return PriceSearch(nests, starts); }

TEST(PriceSearch, AsksForStartsThenForCheapNestsThatDiffer) {
  auto search = search_of({Options(), Options::parse("pack=0")});
  search.tell({{Options(), 1}});
  const auto batch = search.ask(5);
  ASSERT_EQ(batch.size(), 5u);
  EXPECT_EQ(batch[0].to_text(), "pack=0");
  EXPECT_EQ(number_of(batch[1]), 2) << "nest 1 is like nest 0, which was measured as the default";
  EXPECT_EQ(number_of(batch[2]), 4);
  EXPECT_EQ(number_of(batch[3]), 6);
  EXPECT_DOUBLE_EQ(search.predicted(batch[1]), 1.102);
  EXPECT_EQ(search.predicted(batch[0]), 0) << "no nest of the pool";
}

TEST(PriceSearch, LearnsForWhatPricesAreWrong) {
  auto search = search_of();
  search.tell({{Options(), 1}});
  search.tell(measured(search.ask(8)));
  int of_memory = 0;
  for (const auto& options : search.ask(8)) of_memory += number_of(options) / 2 % 2 == 1;
  EXPECT_GE(of_memory, 6);
}

TEST(PriceSearch, FindsTheBestOfAllInSixteen) {
  auto search = search_of();
  search.tell({{Options(), 1}});
  double best = std::numeric_limits<double>::infinity(), best_of_all = best;
  for (int round = 0; round < 2; ++round) {
    const auto trials = measured(search.ask(8));
    for (const auto& trial : trials) best = std::min(best, trial.seconds);
    search.tell(trials);
  }
  for (const auto& each : nests({})) best_of_all = std::min(best_of_all, seconds_of(each.options));
  EXPECT_LE(best, 1.01 * best_of_all);
}

TEST(PriceSearch, NeverAsksTwiceAndEnds) {
  auto search = search_of();
  std::set<std::string> seen;
  search.tell({{Options(), 1}});
  for (int round = 0; round < 20; ++round) {
    const auto batch = search.ask(7);
    for (const auto& options : batch) EXPECT_TRUE(seen.insert(options.to_text()).second) << options.to_text();
    search.tell(measured(batch));
  }
  EXPECT_EQ(seen.size(), 63u);
  EXPECT_TRUE(search.ask(1).empty());
}

/// The cache may hold a nest that is proposed again.
TEST(PriceSearch, DoesNotAskAgainForANestItBeganWith) {
  auto search = search_of({nests({})[2].options});
  search.tell({{Options(), 1}});
  search.tell(measured(search.ask(1)));
  for (const auto& options : search.ask(63)) EXPECT_NE(number_of(options), 2);
}

TEST(PriceSearch, ProposesNearTheFastestAnew) {
  std::vector<std::string> centres;
  PriceSearch search(
      [&](const Options& centre) {
        centres.push_back(centre.to_text());
        return nests(centre);
      },
      {});
  search.tell({{Options(), 1}});
  auto batch = search.ask(4);
  search.tell(measured(batch));
  search.ask(4);
  ASSERT_EQ(centres.size(), 2u);
  EXPECT_EQ(centres[0], "");
  EXPECT_EQ(number_of(Options::parse(centres[1])), 2) << "memory takes less than its price says";
}

TEST(PriceSearch, GoesOnFromAState) {
  auto search = search_of(), other = search_of();
  search.tell({{Options(), 1}});
  search.tell(measured(search.ask(8)));
  other.restore(search.state());
  EXPECT_EQ(other.state(), search.state());
  EXPECT_EQ(other.ask(8), search.ask(8));
  const auto before = search.state();
  for (const std::string& text : {std::string("nonsense"), before.substr(0, before.size() / 2)})
    EXPECT_ERROR(search.restore(text), ArgumentError, "this is no state of a search by price");
  EXPECT_EQ(search.state(), before);
}

TEST(PriceSearch, FailuresAreNotAskedForAgainAndTeachNothing) {
  auto search = search_of();
  search.tell({{Options(), 1}});
  const auto batch = search.ask(4);
  std::vector<Trial> failed;
  for (const auto& options : batch) failed.push_back({options, std::numeric_limits<double>::infinity()});
  search.tell(failed);
  for (const auto& options : search.ask(8)) EXPECT_EQ(std::count(batch.begin(), batch.end(), options), 0);
}

}  // namespace
}  // namespace tc::autotuner::price_search_test
