#include "tc/autotuner/finals.h"

#include <gtest/gtest.h>

namespace tc::autotuner {
namespace {

Candidate candidate(const char* options, Status status, double seconds, double spread, int generation) {
  Candidate result;
  result.options = options::MappingOptions::parse(options);
  result.status = status;
  result.seconds = seconds;
  result.spread = spread;
  result.code = options;
  result.generation = generation;
  return result;
}

TEST(UnplayedFinals, TakeTheFastestThatWasRightIfThatIsBeyondNoise) {
  const auto standard = candidate("", Status::Ok, 1, 0.1, 0);
  auto fast = [](double seconds, double spread, Status status = Status::Ok) {
    return candidate("tile=8", status, seconds, spread, 1);
  };
  struct Row {
    std::vector<Candidate> candidates;
    const char* finalists;
  };
  const Row rows[] = {
      {{standard}, "()"},
      {{standard, fast(0.7, 0.1)}, "(tile=8)()"},
      {{standard, fast(0.7, 0.25)}, "()(tile=8)"},
      {{standard, fast(1.2, 0)}, "()(tile=8)"},
      {{standard, fast(0, 0, Status::Wrong)}, "()"},
      {{standard, fast(0.2, 0, Status::Slow)}, "()"},
      {{standard, fast(0.7, 0.1), candidate("pack=0", Status::Ok, 0.6, 0.1, 2)}, "(pack=0)()"},
      {{candidate("", Status::Ok, 1, 0, 0), fast(0.995, 0)}, "()(tile=8)"},
  };
  for (const auto& row : rows) {
    std::string text;
    for (const auto& finalist : unplayed_finals(row.candidates)) {
      text += "(" + finalist.options.to_text() + ")";
      EXPECT_EQ(finalist.runs, 0);
    }
    EXPECT_EQ(text, row.finalists);
  }
}

/// What calls take stays unless something is faster than it, however it compares with the default options.
TEST(UnplayedFinals, LeaveTheIncumbentUnlessSomethingIsFaster) {
  const auto standard = candidate("", Status::Ok, 1, 0, 0), incumbent = candidate("pack=0", Status::Ok, 0.8, 0, 1);
  auto fast = [](double seconds) { return candidate("tile=8", Status::Ok, seconds, 0, 1); };
  auto failed = candidate("pack=0", Status::Crashed, 0, 0, 1), slower = candidate("pack=0", Status::Ok, 1.2, 0, 1);
  struct Row {
    std::vector<Candidate> candidates;
    const char* finalists;
  };
  const Row rows[] = {
      {{standard}, "()"},
      {{standard, incumbent}, "(pack=0)()"},
      {{standard, incumbent, fast(0.9)}, "(pack=0)()"},
      {{standard, incumbent, fast(0.796)}, "(pack=0)()(tile=8)"},
      {{standard, incumbent, fast(0.7)}, "(tile=8)(pack=0)()"},
      {{standard, failed, fast(0.9)}, "(tile=8)()"},
      {{standard, slower}, "()(pack=0)"},
      {{standard, slower, fast(1.1)}, "()(pack=0)"},
  };
  for (const auto& row : rows) {
    std::string text;
    for (const auto& finalist : unplayed_finals(row.candidates, incumbent.options))
      text += "(" + finalist.options.to_text() + ")";
    EXPECT_EQ(text, row.finalists);
  }
}

}  // namespace
}  // namespace tc::autotuner
