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
/// Where the first batch has shown that others than the default are faster, nests near the fastest join the pool. The correction
/// is a ridge regression of log(measured / price) on the terms of the price.
class PriceSearch : public Search {
 public:
  /// Nests near what options choose, with their prices (engine::nest_candidates()).
  using Propose = std::function<std::vector<engine::NestCandidate>(const options::MappingOptions&)>;

  /// \p starts are asked for first.
  PriceSearch(Propose propose, std::vector<options::MappingOptions> starts);

  std::vector<options::MappingOptions> ask(int count) override;
  void tell(const std::vector<Trial>& trials) override;
  double predicted(const options::MappingOptions& options) const override;  ///< the price of its nests
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  struct Known {
    engine::NestCandidate candidate;
    bool asked = false;
    double seconds = 0;  ///< measured; 0: not yet, or of no use
  };
  void grow();
  std::vector<double> costs() const;
  double distance(const Known& a, const Known& b) const;
  double novelty(const Known& known, const std::vector<std::size_t>& taken) const;
  std::vector<std::size_t> next(int count) const;

  Propose propose_;
  std::vector<options::MappingOptions> starts_;
  std::map<std::string, double> told_;  ///< seconds of options, by their text
  std::vector<Known> pool_;
  std::string centre_ = "none";  ///< text of the options near which nests were proposed last
  options::MappingOptions best_;
  double best_seconds_ = 0;
};

}  // namespace tc::autotuner
