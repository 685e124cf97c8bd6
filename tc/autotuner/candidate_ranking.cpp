#include "tc/autotuner/candidate_ranking.h"

#include <algorithm>
#include <utility>

namespace tc::autotuner {
namespace {

constexpr std::size_t most_passed_over = 10;  ///< candidates, for each of a generation

}  // namespace

std::vector<Candidate> CandidateRanking::most_promising(std::vector<Candidate> asked, std::size_t count) {
  if (ranking_ == Ranking::None) return asked;
  auto is_start = [&](const Candidate& each) {
    return std::find(starts_.begin(), starts_.end(), each.options) != starts_.end();
  };
  auto kept = static_cast<std::size_t>(std::find_if_not(asked.begin(), asked.end(), is_start) - asked.begin());
  asked.insert(asked.end(), passed_over_.begin(), passed_over_.end());
  std::vector<double> costs;
  for (const auto& candidate : asked) costs.push_back(model_.estimate(candidate.options, candidate.predicted));
  auto chosen = promising(costs, count, std::min(kept, count));
  auto most = chosen.size() + most_passed_over * count;
  auto stay = promising(costs, most, 0);
  std::vector<Candidate> result;
  passed_over_.clear();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (std::binary_search(chosen.begin(), chosen.end(), i))
      result.push_back(std::move(asked[i]));
    else if (std::binary_search(stay.begin(), stay.end(), i))
      passed_over_.push_back(std::move(asked[i]));
  }
  return result;
}

void CandidateRanking::learn(const Candidate& candidate) {
  bool timed = candidate.usable() || candidate.status == Status::Slow;
  if (ranking_ == Ranking::Learned && timed && candidate.seconds > 0)
    model_.learn(candidate.options, candidate.predicted, candidate.seconds);
}

}  // namespace tc::autotuner
