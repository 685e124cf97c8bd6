#pragma once

#include <set>

#include "tc/autotuner/search/search.h"
#include "tc/autotuner/search/search_space.h"

namespace tc::autotuner {

struct GeneticSettings {
  int population = 24;          ///< of the fastest so far, from which parents are taken
  double crossover_rate = 0.8;  ///< of children of three parents; the others are copies of one before they mutate
  double mutation_rate = 0.07;  ///< of each gene
};

/// An individual that has been measured.
struct Individual {
  Choice choice;
  double seconds = 0;
};

/// The index of one of \p parents: each with a probability proportional to 1 / seconds. There is at least one.
std::size_t roulette(const std::vector<Individual>& parents, RandomSource& random);

/// The genetic search of the paper: roulette selection, uniform crossover of three parents, mutation. It asks for the
/// starts first, then for random options until three individuals are of use.
class GeneticSearch : public Search {
 public:
  GeneticSearch(const SearchSpace& space, std::uint64_t seed, const std::vector<options::MappingOptions>& starts = {},
                const GeneticSettings& settings = {});

  std::vector<options::MappingOptions> ask(int count) override;
  void tell(const std::vector<Trial>& trials) override;
  std::string state() const override;
  void restore(const std::string& state) override;

  /// The fastest so far, best first.
  const std::vector<Individual>& population() const { return population_; }

 private:
  Choice child();

  const SearchSpace& space_;
  RandomSource random_;
  std::vector<options::MappingOptions> starts_;
  GeneticSettings settings_;
  std::set<std::string> asked_;
  std::vector<Individual> population_;
};

}  // namespace tc::autotuner
