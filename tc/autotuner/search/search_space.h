#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/autotuner/search/genes.h"
#include "tc/autotuner/worker/random_source.h"
#include "tc/options/mapping_options.h"

namespace tc::autotuner {

/// For each gene the index of its value.
using Choice = std::vector<int>;

/// What can be chosen for a def, the sizes of its tensors and a machine: genes_of(), and what choices of them mean.
class SearchSpace {
 public:
  /// Values of \p starts join those of the genes.
  SearchSpace(const engine::Function& function, const std::vector<engine::Argument>& arguments, const Target& target,
              const std::vector<options::MappingOptions>& starts = {});

  const std::vector<Gene>& genes() const { return genes_; }
  /// The number of choices, legal or not, as far as a double holds it.
  double size() const;

  /// \p choice with genes that change nothing beside the others set to 0, for example columns without rows, and numbers
  /// lowered until the registers hold a register tile, and a GPU the threads of a block.
  Choice normalised(Choice choice) const;
  options::MappingOptions options(const Choice& choice) const;
  /// The choice nearest to \p options, which is that of options(choice) for what they return. Options without genes are
  /// lost.
  Choice choice(const options::MappingOptions& options) const;

  /// Any choice; each option is left to the strategy with probability 3/4: most changes make code slower.
  Choice random(RandomSource& random) const;
  /// \p choice with each gene changed with probability \p rate: half the time to a value beside it, else to any.
  Choice mutated(Choice choice, double rate, RandomSource& random) const;
  /// Each gene from one of three parents.
  static Choice crossed(const Choice& a, const Choice& b, const Choice& c, RandomSource& random);

  /// Genes and values, a line each: equal for equal spaces.
  std::string text() const;

 private:
  int find(const std::string& option, int position) const;
  const std::string& value(const Choice& choice, const std::string& option, int position = 0) const;
  void clear(Choice& choice, const std::string& option, int from = 0) const;
  void limit(Choice& choice, const std::string& option, std::int64_t most) const;
  void add_start(const options::MappingOptions& start);

  std::vector<Gene> genes_;
  std::int64_t accumulators_ = 0;   ///< the product of the numbers of a register tile at most
  std::int64_t block_threads_ = 0;  ///< that of a block of threads
};

}  // namespace tc::autotuner
