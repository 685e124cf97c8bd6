#pragma once

#include <string>

namespace tc::derive {

/// Why a def, a step or a text is not taken; caught where one is tried.
struct Refusal {
  std::string why;
};

}  // namespace tc::derive
