#include "tc/halide_bridge/laws/lock_step.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

/// What threads do, one letter each: lower case alone, upper case with the others of the block, digits with a neighbour.
struct Words {
  std::vector<std::string> words;
  std::string log = {};
  std::vector<std::size_t> at = std::vector<std::size_t>(words.size());
  static constexpr char places[128] = {};

  std::optional<Meeting> advance(std::int64_t thread) {
    auto i = static_cast<std::size_t>(thread);
    while (at[i] < words[i].size()) {
      char letter = words[i][at[i]++];
      if (letter >= 'A' && letter <= 'Z')
        return Meeting{&places[static_cast<std::size_t>(letter)], static_cast<std::int64_t>(words.size())};
      if (letter >= '0' && letter <= '9') return Meeting{&places[static_cast<std::size_t>(letter)], 2};
      log += str(letter, thread, " ");
    }
    return std::nullopt;
  }

  bool run() {
    return run_in_lock_step(static_cast<std::int64_t>(words.size()),
                            {[this](auto thread) { return advance(thread); },
                             [this](auto first, auto last) { log += str("(", first, "-", last - 1, ") "); }});
  }
};

TEST(LockStep, RunsThreadsInTurnsBetweenMeetings) {
  Words words{{"aAb", "cAd"}};
  EXPECT_TRUE(words.run());
  EXPECT_EQ(words.log, "a0 c1 (0-1) b0 d1 ");
}

TEST(LockStep, LetsPairsGoOnAlone) {
  Words words{{"1aA", "1bA", "A", "A"}};
  EXPECT_TRUE(words.run());
  EXPECT_EQ(words.log, "(0-1) a0 b1 (0-3) ");
}

TEST(LockStep, TellsThreadsThatWaitForEver) {
  EXPECT_FALSE((Words{{"A", ""}}.run()));
  EXPECT_FALSE((Words{{"A", "B"}}.run()));
  EXPECT_FALSE((Words{{"", "1", "", ""}}.run()));
  EXPECT_TRUE((Words{{"", ""}}.run()));
}

TEST(LockStep, NumbersThreadsAlongXFirst) {
  ThreadGrid grid{{2, 3, 1}, {4, 2, 1}, 4};
  auto at = grid.coordinates(3, 5);
  EXPECT_EQ(at["block_x"], 1);
  EXPECT_EQ(at["block_y"], 1);
  EXPECT_EQ(at["thread_x"], 1);
  EXPECT_EQ(at["thread_y"], 1);
  EXPECT_EQ(at["thread_z"], 0);
}

}  // namespace
}  // namespace tc::halide_bridge
