#pragma once

#include <llvm/Support/Error.h>

#include <utility>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::cpu {

/// What LLVM was asked for, or that it did it. Throws InternalError with its message instead.
template <typename T>
T check(llvm::Expected<T> value) {
  if (!value) throw InternalError(str("LLVM: ", llvm::toString(value.takeError())));
  return std::move(*value);
}
inline void check(llvm::Error error) {
  if (error) throw InternalError(str("LLVM: ", llvm::toString(std::move(error))));
}

}  // namespace tc::cpu
