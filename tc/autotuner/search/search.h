#pragma once

#include <string>
#include <vector>

#include "tc/options/mapping_options.h"

namespace tc::autotuner {

/// What became of options that were asked for: seconds of a run, infinity where they were of no use.
struct Trial {
  options::MappingOptions options;
  double seconds = 0;
};

/// A way to search. Laws:
///
///   ask() gives no options twice, and fewer than asked for only when it finds no others;
///   what it gives depends on the seed and on what it was told only;
///   a search that restores the state() of another one goes on as that would.
class Search {
 public:
  virtual ~Search() = default;

  /// Options to be measured next.
  virtual std::vector<options::MappingOptions> ask(int count) = 0;
  /// What became of them; also of options that were not asked for.
  virtual void tell(const std::vector<Trial>& trials) = 0;

  /// What restore() takes to go on from here, in another process too.
  virtual std::string state() const = 0;
  /// Throws ArgumentError for a text that is no state of such a search.
  virtual void restore(const std::string& state) = 0;
};

}  // namespace tc::autotuner
