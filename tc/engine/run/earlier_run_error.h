#pragma once

#include "tc/base/error.h"

namespace tc {

/// An index tensor of an earlier run, which did not wait for its test, had a value outside of the tensor it indexes.
struct EarlierRunError : ArgumentError {
  using ArgumentError::ArgumentError;
};

}  // namespace tc
