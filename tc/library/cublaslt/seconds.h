#pragma once

#include "tc/base/target.h"
#include "tc/library/description/call.h"

namespace tc::library {

/// Seconds that \p call of cuBLASLt may take on a GPU of \p limits. Nothing is measured: the larger one of the time for
/// the bytes of the operands and the time for tiles of the result, which the multiprocessors compute in rounds.
double cublaslt_seconds(const Call& call, const GridLimits& limits);

}  // namespace tc::library
