#include "tc/autotuner/record.h"

#include <gtest/gtest.h>

namespace tc::autotuner {
namespace {

Candidate candidate(Status status, double seconds, const std::string& code, int generation = 1) {
  Candidate result;
  result.status = status;
  result.seconds = seconds;
  result.code = code;
  result.generation = generation;
  return result;
}

TEST(Record, CountsAndTellsTheBestAndTheMedianOfAGeneration) {
  Progress seen;
  int told = 0;
  Record record([&](const Candidate&) { ++told; }, [&](const Progress& progress) { seen = progress; });
  Progress clock;
  clock.elapsed = 7;
  clock.budget = 60;
  record.add_default(candidate(Status::Ok, 4, "a", 0), clock);
  clock.generation = 1;
  record.add(candidate(Status::Ok, 2, "b"), clock);
  record.add(candidate(Status::Ok, 3, "c"), clock);
  record.add(candidate(Status::Ok, 9, "d"), clock);
  record.add(candidate(Status::Same, 2, "b"), clock);
  record.add(candidate(Status::Slow, 30, "e"), clock);
  record.add(candidate(Status::Wrong, 0, "f"), clock);
  record.add(candidate(Status::Rejected, 0, ""), clock);
  EXPECT_EQ(told, 8);
  EXPECT_EQ(seen.tried, 7);
  EXPECT_EQ(seen.usable, 4);
  EXPECT_EQ(seen.same, 1);
  EXPECT_EQ(seen.slow, 1);
  EXPECT_EQ(seen.failed, 2);
  EXPECT_EQ(seen.default_seconds, 4);
  EXPECT_EQ(seen.best_seconds, 2);
  EXPECT_EQ(seen.median_seconds, 3);
  EXPECT_EQ(seen.elapsed, 7);
  EXPECT_EQ(seen.budget, 60);
  EXPECT_EQ(record.best(), 2);
  EXPECT_EQ(record.candidates().size(), 8u);
  EXPECT_EQ(record.candidates().front().seconds, 4);
}

TEST(Record, RemembersCodeThatWasMeasured) {
  Record record(nullptr, nullptr);
  record.add(candidate(Status::Ok, 2, "b"), {});
  record.add(candidate(Status::Same, 2, "b"), {});
  record.add(candidate(Status::Crashed, 0, "c"), {});
  ASSERT_TRUE(record.find("b"));
  EXPECT_EQ(record.find("b")->status, Status::Ok);
  ASSERT_TRUE(record.find("c"));
  EXPECT_EQ(record.find("c")->status, Status::Crashed);
  EXPECT_FALSE(record.find("a"));
  EXPECT_FALSE(record.find(""));
}

}  // namespace
}  // namespace tc::autotuner
