#include "tc/autotuner/candidate_ranking.h"

#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

using Options = options::MappingOptions;

Candidate candidate(const char* text, double predicted) {
  Candidate result;
  result.options = Options::parse(text);
  result.predicted = predicted;
  return result;
}

std::vector<Options> options_of(const std::vector<Candidate>& candidates) {
  std::vector<Options> result;
  for (const auto& each : candidates) result.push_back(each.options);
  return result;
}

TEST(CandidateRanking, WithoutOneAllAreMeasured) {
  auto all = space();
  std::vector<Options> starts;
  CandidateRanking ranking(all, Ranking::None, starts);
  std::vector<Candidate> asked{candidate("tile=8", 2), candidate("tile=16", 1)};
  EXPECT_EQ(ranking.most_promising(asked, 1).size(), 2u);
  EXPECT_FALSE(ranking.has_passed_over());
}

TEST(CandidateRanking, TheCheapestGoFirstAndOthersMayFollow) {
  auto all = space();
  std::vector<Options> starts;
  CandidateRanking ranking(all, Ranking::Model, starts);
  auto first = ranking.most_promising({candidate("tile=8", 3), candidate("tile=16", 1), candidate("tile=32", 2)}, 1);
  EXPECT_EQ(options_of(first), std::vector<Options>{Options::parse("tile=16")});
  EXPECT_TRUE(ranking.has_passed_over());
  EXPECT_EQ(options_of(ranking.most_promising({}, 1)), std::vector<Options>{Options::parse("tile=32")});
}

TEST(CandidateRanking, WhatATuningStartsWithIsMeasured) {
  auto all = space();
  std::vector<Options> starts{Options::parse("tile=8")};
  CandidateRanking ranking(all, Ranking::Model, starts);
  auto first = ranking.most_promising({candidate("tile=8", 3), candidate("tile=16", 1)}, 1);
  EXPECT_EQ(options_of(first), std::vector<Options>{Options::parse("tile=8")});
}

}  // namespace
}  // namespace tc::autotuner
