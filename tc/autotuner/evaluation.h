#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tc/autotuner/record.h"
#include "tc/autotuner/worker/worker_process.h"

namespace tc::autotuner {

struct EvaluationSettings {
  int compilers = 1;
  std::vector<int> devices = {no_gpu};  ///< that measure, one candidate at a time each
  double measure_seconds = 0.1;         ///< for timing a candidate
  Limits compile, run;
  std::size_t images = 4;  ///< of the fastest candidates, which are kept beside that of the first
};

/// Takes candidates through the queues of worker processes:
///
///   predict queue -> processes             seconds by the analytic model
///   compile queue -> processes             images; code that was measured before ends here, as `same`
///   profile queue -> devices               right or wrong, and seconds
class Evaluation {
 public:
  using Stop = std::function<bool()>;
  using Ended = std::function<void(const Candidate&)>;

  Evaluation(Workers& workers, const Record& record, EvaluationSettings settings);

  /// Fills Candidate::predicted of \p candidates, 0 where that fails; returns whether all have been done before \p
  /// stop.
  bool predict(std::vector<Candidate>& candidates, const Stop& stop);
  /// Compiles and measures \p candidates and calls \p ended with each as it ends, which must add it to the record.
  /// Returns those that ended before \p stop.
  std::vector<Candidate> measure(std::vector<Candidate> candidates, const Ended& ended, const Stop& stop);
  /// Candidates of a call of measure() that have not been compiled so many seconds later are given up from now on, once
  /// there are some, so that those which are slow to compile do not keep the others from being measured.
  void limit_compiles(double seconds) { compile_seconds_ = seconds; }
  /// The machine code with the identity \p code, "" unless it was measured first, or is among the fastest.
  std::string image(const std::string& code) const;

 private:
  /// A candidate on its way.
  struct Item {
    Candidate candidate;
    std::string image;
    bool ended = false;
  };
  bool compile(std::vector<Item>& items, const Ended& ended, const Stop& stop);
  void profile(std::vector<Item>& items, const Ended& ended, const Stop& stop);
  std::vector<Item*> of_new_code(std::vector<Item>& items) const;
  bool take_known(Item& item) const;
  void keep_image(const Item& item);

  Workers& workers_;
  const Record& record_;
  EvaluationSettings settings_;
  struct Image {
    std::string code, bytes;
    double seconds = 0;
  };
  double compile_seconds_ = std::numeric_limits<double>::infinity();
  std::vector<Image> images_;  ///< the first, then the others by time
};

}  // namespace tc::autotuner
