#pragma once

#include "tc/base/dtype.h"

namespace tc::autotuner {

/// Stores \p value, rounded, as an element of \p type at \p at.
void store_element(DType type, double value, char* at);
/// The element of the type of floats \p type at \p at.
double load_float(DType type, const char* at);

}  // namespace tc::autotuner
