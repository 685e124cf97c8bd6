#pragma once

#include <memory>

#include "tc/autotuner/results.h"
#include "tc/autotuner/tuner.h"

namespace tc::autotuner {

/// Compiles result.best for \p arguments with all laws of the compiler, or, where that fails, result.standard in its
/// place, into result.executable. Puts the options with their time, and the code, into the cache of \p settings, if it
/// takes them: then result.kept is set. \p device is the GPU that measured it, if one did. Throws what a compile throws where the default options fail too.
void keep_winner(const std::shared_ptr<const engine::Function>& function,
                 const std::vector<engine::Argument>& arguments, const TuneSettings& settings, int device, TuneResult& result);

}  // namespace tc::autotuner
