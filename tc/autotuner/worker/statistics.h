#pragma once

#include <vector>

namespace tc::autotuner {

/// The value below which \p part of \p values lie, the nearest one; there is at least one.
double quantile(std::vector<double> values, double part);

}  // namespace tc::autotuner
