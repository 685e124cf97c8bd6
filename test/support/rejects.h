#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tc/base/error.h"

namespace tc {

/// Rejected with an InternalError that contains \p message.
template <typename Law>
testing::AssertionResult rejects(const Law& law, const std::string& message) {
  try {
    law();
  } catch (const InternalError& e) {
    if (std::string(e.what()).find(message) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "rejected with another message: " << e.what();
  }
  return testing::AssertionFailure() << "accepted";
}

}  // namespace tc
