#include "tc/autotuner/record.h"

#include <algorithm>

#include "tc/autotuner/worker/statistics.h"

namespace tc::autotuner {

Record::Record(std::function<void(const Candidate&)> on_candidate, std::function<void(const Progress&)> on_progress)
    : on_candidate_(std::move(on_candidate)), on_progress_(std::move(on_progress)) {}

const Candidate* Record::find(const std::string& code) const {
  auto found = by_code_.find(code);
  return found == by_code_.end() ? nullptr : &found->second;
}

void Record::take_in(const Candidate& candidate) {
  if (candidate.usable()) best_ = best_ > 0 ? std::min(best_, candidate.seconds) : candidate.seconds;
  if (!candidate.code.empty() && candidate.status != Status::Same) by_code_.emplace(candidate.code, candidate);
}

void Record::add_default(Candidate candidate, Progress clock) {
  progress_.default_seconds = candidate.seconds;
  take_in(candidate);
  candidates_.insert(candidates_.begin(), candidate);
  report(candidate, clock);
}

void Record::add(Candidate candidate, Progress clock) {
  restore(candidate);
  report(candidate, clock);
}

void Record::restore(Candidate candidate) {
  take_in(candidate);
  ++progress_.tried;
  progress_.usable += candidate.usable();
  progress_.same += candidate.status == Status::Same;
  progress_.slow += candidate.status == Status::Slow;
  progress_.failed += !candidate.usable() && candidate.status != Status::Slow;
  candidates_.push_back(std::move(candidate));
}

void Record::report(const Candidate& candidate, Progress clock) {
  if (on_candidate_) on_candidate_(candidate);
  if (!on_progress_) return;
  std::vector<double> times;
  for (const auto& each : candidates_)
    if (each.usable() && each.generation == clock.generation) times.push_back(each.seconds);
  if (!times.empty()) progress_.median_seconds = quantile(std::move(times), 0.5);
  progress_.best_seconds = best_;
  progress_.generation = clock.generation;
  progress_.elapsed = clock.elapsed;
  progress_.budget = clock.budget;
  progress_.candidates = clock.candidates;
  on_progress_(progress_);
}

}  // namespace tc::autotuner
