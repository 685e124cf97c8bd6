#pragma once

#include <set>

#include "tc/autotuner/search/search.h"
#include "tc/autotuner/search/search_space.h"

namespace tc::autotuner {

/// The starts, then options drawn at random.
class RandomSearch : public Search {
 public:
  RandomSearch(const SearchSpace& space, std::uint64_t seed, const std::vector<options::MappingOptions>& starts = {});

  std::vector<options::MappingOptions> ask(int count) override;
  void tell(const std::vector<Trial>& trials) override;
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  const SearchSpace& space_;
  RandomSource random_;
  std::vector<options::MappingOptions> starts_;
  std::set<std::string> asked_;  ///< in the text form
};

}  // namespace tc::autotuner
