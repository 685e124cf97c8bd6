#pragma once

#include <string>

#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

/// What isl says of \p error, for people who gave it a text: what() without the place in isl's sources.
///
///   ../isl-0.25/isl_stream.c:140: syntax error   →   syntax error
std::string message_of(const isl::exception& error);

}  // namespace tc::polyhedral
