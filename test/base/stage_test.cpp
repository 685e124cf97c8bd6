#include "tc/base/stage.h"

#include <gtest/gtest.h>
#include "test/support/expect_error.h"

namespace tc {
namespace {

std::vector<Stage<int>> counting_stages() {
  Stage<int> add{"add",
                 {},
                 [](int& x) { x += 1; },
                 [](const int& x) { return std::to_string(x); },
                 [](int& x, const std::string& text) { x = std::stoi(text); },
                 [](const int& x) {
                   if (x < 0) throw InternalError("negative");
                 }};
  Stage<int> twice{"twice", {}, [](int& x) { x *= 2; }};
  return {add, twice};
}

TEST(Stages, RunInOrderAndKeepTexts) {
  int x = 3;
  StageOptions<int> options;
  options.keep_text = true;
  auto records = run_stages(counting_stages(), x, options);
  EXPECT_EQ(x, 8);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].name, "add");
  EXPECT_EQ(records[0].text, "4");
  EXPECT_EQ(records[1].text, "");
}

TEST(Stages, AReplacementTakesTheStagesPlace) {
  int x = 3;
  StageOptions<int> options;
  options.replace["add"] = "10";
  run_stages(counting_stages(), x, options);
  EXPECT_EQ(x, 20);
  options.replace = {{"twice", "1"}};
  EXPECT_ERROR(run_stages(counting_stages(), x, options), OptionsError, "stage 'twice' cannot be replaced by a text");
  options.replace = {{"unknown", "1"}};
  EXPECT_ERROR(run_stages(counting_stages(), x, options), OptionsError, "stage 'unknown' cannot be replaced by a text");
}

TEST(Stages, LawsSeeWhatAMutationBroke) {
  int x = 3;
  StageOptions<int> options;
  options.mutate = [](const std::string& stage, int& value) {
    if (stage == "add") value = -1;
  };
  run_stages(counting_stages(), x, options);
  EXPECT_EQ(x, -2);
  options.verify = true;
  EXPECT_ERROR(run_stages(counting_stages(), x, options), InternalError, "behind stage 'add': negative");
}

TEST(Stages, ACancelledRunStopsBeforeTheNextStage) {
  int x = 3;
  StageOptions<int> options;
  auto stages = counting_stages();
  stages[0].run = [&](int&) { options.cancellation.cancel(); };
  EXPECT_ERROR(run_stages(stages, x, options), CancelledError, "cancelled in twice");
  EXPECT_EQ(x, 3);
  StageOptions<int> late;
  late.cancellation.set_time_limit(1e-9);
  EXPECT_ERROR(run_stages(counting_stages(), x, late), ResourceError, "the time limit was reached in add");
}

}  // namespace
}  // namespace tc
