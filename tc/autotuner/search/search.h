#pragma once

#include <string>
#include <vector>

#include "tc/options/mapping_options.h"

namespace tc::autotuner {

/// The outcome of proposed options: seconds of a run, infinity for unusable ones.
struct Trial {
  options::MappingOptions options;
  double seconds = 0;
};

/// A search. Its invariants:
///
/// ask() returns no options twice, and fewer than requested only if it finds no others;
/// its results depend only on the seed and on the trials it was told;
/// a search that restores the state() of another one continues like it.
class Search {
 public:
  virtual ~Search() = default;

  /// Options to be measured next.
  virtual std::vector<options::MappingOptions> ask(int count) = 0;
  /// Reports outcomes, also of options that were not proposed.
  virtual void tell(const std::vector<Trial>& trials) = 0;

  /// Options to ask for at once, behind which it learns; \p population where it does not matter.
  virtual int generation(int population) const { return population; }

  /// The predicted seconds of \p options that ask() returned; 0 without a prediction.
  virtual double predicted(const options::MappingOptions&) const { return 0; }

  /// The text from which restore() continues, also in another process.
  virtual std::string state() const = 0;
  /// Throws ArgumentError for a text that is not a state of such a search.
  virtual void restore(const std::string& state) = 0;
};

}  // namespace tc::autotuner
