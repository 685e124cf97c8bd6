#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tc/autotuner/worker/results.h"

namespace tc::autotuner {

/// What a tuning has found so far. Listeners, which may be null, are called in the thread that adds.
class Record {
 public:
  Record(std::function<void(const Candidate&)> on_candidate, std::function<void(const Progress&)> on_progress);

  /// The default options, measured: goes before all others.
  void add_default(Candidate candidate, Progress clock);
  /// A candidate of an earlier tuning that this one goes on with: listeners know it already.
  void restore(Candidate candidate);
  /// Another candidate. Counts, the limits and the time come from \p clock.
  void add(Candidate candidate, Progress clock);

  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Hands the candidates over; the record is empty then.
  std::vector<Candidate> take() { return std::move(candidates_); }
  /// Seconds of the fastest, 0 before there is one.
  double best() const { return best_; }
  /// The candidate that was measured with this machine code, null for none.
  const Candidate* find(const std::string& code) const;

 private:
  void take_in(const Candidate& candidate);
  void report(const Candidate& candidate, Progress clock);

  std::function<void(const Candidate&)> on_candidate_;
  std::function<void(const Progress&)> on_progress_;
  std::vector<Candidate> candidates_;
  std::map<std::string, Candidate> by_code_;
  Progress progress_;
  double best_ = 0;
};

}  // namespace tc::autotuner
