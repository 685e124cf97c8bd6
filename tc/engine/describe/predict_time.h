#pragma once

#include "tc/engine/describe/describe_work.h"

namespace tc::engine {

/// Seconds that a run of what \p report describes may take on \p target with \p threads, without measuring anything: the
/// sum of the prices of its clusters (tc/strategy/price/price.h) or kernels (tc/strategy/grid_price/grid_price.h). 0 where
/// there are none.
double predict_seconds(const WorkReport& report, const Target& target, int threads);

}  // namespace tc::engine
