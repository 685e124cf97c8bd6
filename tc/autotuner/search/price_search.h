#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tc/autotuner/search/search.h"
#include "tc/engine/describe/nest_candidates.h"

namespace tc::autotuner {

/// A search for nests by their prices, of which few are measured:
///
///   nests near the fastest options -> price, corrected by what was measured -> the least, unlike nests already measured
///
/// Where the first batch has shown that others than the default are faster, nests near the fastest join the pool.
class PriceSearch : public Search {
 public:
  /// Nests near what options choose, with their prices (engine::nest_candidates()).
  using Propose = std::function<std::vector<engine::NestCandidate>(const options::MappingOptions&)>;

  /// A nest of the pool.
  struct Known {
    engine::NestCandidate candidate;
    bool asked = false;
    double seconds = 0;  ///< measured; 0: not yet, or of no use
  };
  /// For each nest of a pool, its price as corrected by the nests that were measured.
  using Correct = std::function<std::vector<double>(const std::vector<Known>&)>;

  /// \p starts are asked for first.
  PriceSearch(Propose propose, std::vector<options::MappingOptions> starts, Correct correct = nullptr);

  std::vector<options::MappingOptions> ask(int count) override;
  void tell(const std::vector<Trial>& trials) override;
  double predicted(const options::MappingOptions& options) const override;  ///< the price of its nests
  int generation(int) const override { return 8; }
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  void grow();
  double distance(const Known& a, const Known& b) const;
  double novelty(const Known& known, const std::vector<std::size_t>& taken) const;
  std::vector<std::size_t> next(int count) const;

  Propose propose_;
  Correct correct_;
  std::vector<options::MappingOptions> starts_;
  std::map<std::string, double> told_;  ///< seconds of options, by their text
  std::vector<Known> pool_;
  std::string centre_ = "none";  ///< text of the options near which nests were proposed last
  options::MappingOptions best_;
  double best_seconds_ = 0;
};

/// The prices of \p pool, corrected by a ridge regression of log(measured / price) on the terms of the price. Without
/// measurements the prices as they are.
std::vector<double> corrected_by_ridge(const std::vector<PriceSearch::Known>& pool);

}  // namespace tc::autotuner
