#include "tc/autotuner/search/policy_search.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/support/expect_error.h"

namespace tc::autotuner::policy_search_test {
namespace {

using Options = options::MappingOptions;

Options tile(int size) { return Options::parse(str("tile=", size)); }

/// Proposes sizes of tiles in steps of what was fastest so far, each twice; \p told counts its calls of tell.
Policy counting(const std::shared_ptr<int>& told) {
  struct State {
    int next = 2, step = 1;
    double best = std::numeric_limits<double>::infinity();
  };
  auto state = std::make_shared<State>();
  return {[state](int count) {
            std::vector<Options> result;
            for (int i = 0; i < count; ++i) {
              result.push_back(tile(state->next));
              if (i % 2 == 1) state->next += state->step;
            }
            return result;
          },
          [state, told](const std::vector<Trial>& trials) {
            ++*told;
            for (const auto& trial : trials)
              if (trial.seconds < state->best) state->best = trial.seconds, ++state->step;
          }};
}

PolicySearch search_of(std::vector<Options> starts = {}, std::shared_ptr<int> told = std::make_shared<int>(0)) {
  return {[told] { return counting(told); }, std::move(starts)};
}

TEST(PolicySearch, StartsGoFirstAndNothingIsAskedTwice) {
  auto search = search_of({Options(), tile(2)});
  search.tell({{Options(), 1}});
  const auto batch = search.ask(3);
  ASSERT_EQ(batch.size(), 3u);
  EXPECT_EQ(batch[0], tile(2)) << "the default was measured before";
  EXPECT_EQ(batch[1], tile(4)) << "2 was a start";
  EXPECT_EQ(batch[2], tile(6));
}

TEST(PolicySearch, ThePolicyIsTold) {
  auto told = std::make_shared<int>(0);
  auto search = search_of({}, told);
  search.tell({{Options(), 1}});
  search.tell({{tile(2), 0.5}});
  EXPECT_EQ(*told, 2);
}

TEST(PolicySearch, GoesOnFromAState) {
  auto search = search_of({tile(64)}), other = search_of();
  search.tell({{Options(), 1}});
  for (double seconds : {0.7, 0.6}) {
    std::vector<Trial> trials;
    for (const auto& options : search.ask(4)) trials.push_back({options, seconds});
    search.tell(trials);
  }
  other.restore(search.state());
  EXPECT_EQ(other.ask(8), search.ask(8));
  EXPECT_EQ(other.state(), search.state());
}

TEST(PolicySearch, AStateOfAnotherPolicyIsRefused) {
  auto search = search_of();
  search.tell({{Options(), 1}});
  search.ask(4);
  const auto state = search.state();
  PolicySearch other(
      [] { return Policy{[](int) { return std::vector<Options>{tile(100)}; }, [](const std::vector<Trial>&) {}}; }, {});
  EXPECT_ERROR(other.restore(state), ArgumentError, "the policy proposes other candidates");
  for (const std::string& text : {std::string("nonsense"), state.substr(0, state.size() / 2)})
    EXPECT_ERROR(search.restore(text), ArgumentError, "this is no state of a search by a policy");
  EXPECT_EQ(search.state(), state);
}

TEST(PolicySearch, EndsWhereThePolicyHasNoMore) {
  PolicySearch search([] { return Policy{[](int) { return std::vector<Options>(); }, [](const auto&) {}}; }, {});
  EXPECT_TRUE(search.ask(4).empty());
}

}  // namespace
}  // namespace tc::autotuner::policy_search_test
