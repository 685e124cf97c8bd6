#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tc/autotuner/worker/results.h"

namespace tc::autotuner {

/// What a tuning that goes on later has to know.
struct Checkpoint {
  std::string identity;  ///< of what is tuned and how: another one is not gone on with
  std::string search;    ///< Search::state()
  double elapsed = 0;    ///< seconds
  int generation = 0;
  std::vector<Candidate> candidates;
};

/// Puts \p checkpoint into \p file, whole or not at all. A file that is there is replaced only if it is empty or a
/// checkpoint. Throws ResourceError if it cannot.
void save(const Checkpoint& checkpoint, const std::string& file);
/// The inverse: nothing where there is no file, or one that is damaged or something else.
std::optional<Checkpoint> load_checkpoint(const std::string& file);

}  // namespace tc::autotuner
