#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/autotuner/tuner.h"
#include "tc/autotuner/worker/results.h"
#include "tc/autotuner/worker/worker_process.h"

namespace tc::autotuner {

/// The entry of the cache whose options calls take that run as \p settings say; nothing where there is none.
std::optional<cache::OptionsEntry> entry_in_use(const engine::Function& function,
                                                const std::vector<engine::Argument>& arguments,
                                                const TuneSettings& settings);

/// How the code of the winner is made.
struct Finish {
  Workers& workers;
  int device = no_gpu;  ///< that measured the winner
  Limits limits;
  Workers::Stop stop;  ///< gives up compiling with all laws
  /// The machine code with which a finalist was measured, "" where there is none any more.
  std::function<std::string(const options::MappingOptions&)> image;
};

/// Compiles result.best for \p arguments with all laws of the compiler, in a worker, into result.executable; where a
/// law does not hold, result.standard in its place. Where there is no time for this, it is the code that was measured.
/// Throws InternalError where the default options fail too, ResourceError where there is no code.
///
/// Puts the options with their time, and the code, into the cache of \p settings, if it takes them: then result.kept is
/// set. Where \p before, the entry in use, was measured like them, their time is told in terms of its own, by the ratio
/// of both in the finals, so that times of a busy hour compare with those of a quiet one, and calls take the winner.
void keep_winner(const std::shared_ptr<const engine::Function>& function,
                 const std::vector<engine::Argument>& arguments, const TuneSettings& settings,
                 const std::optional<cache::OptionsEntry>& before, const Finish& finish, TuneResult& result);

}  // namespace tc::autotuner
