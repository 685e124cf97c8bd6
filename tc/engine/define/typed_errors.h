#pragma once

#include <functional>
#include <span>
#include <string>

#include "tc/base/tensor.h"

namespace tc::engine {

/// Returns the text that is needed to reproduce a failure.
using Reproduction = std::function<std::string()>;

/// Throws the exception that is being handled as an Error; called from a catch clause only. An Error is rethrown
/// unchanged, except that the text of \p reproduction is appended to an InternalError once. Lack of memory becomes a
/// ResourceError. Every other exception (of Halide, isl and the standard library) becomes an InternalError that names
/// the work, \p where.
[[noreturn]] void rethrow_typed(const char* where, const Reproduction& reproduction);

/// The result of \p work; exceptions are converted to an Error: see rethrow_typed(). \p reproduction is called only
/// if needed.
template <typename Work, typename Reproduce>
auto with_typed_errors(const char* where, Reproduce&& reproduction, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    rethrow_typed(where, reproduction);
  }
}

/// "name float32(3,4); ..." and the rest of a reproduction, the text last.
std::string reproduction_of(const std::string& text, std::span<const TensorSpec> tensors = {},
                            const std::string& target = {}, const std::string& options = {});

}  // namespace tc::engine
