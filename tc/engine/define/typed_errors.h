#pragma once

#include <functional>
#include <span>
#include <string>

#include "tc/base/tensor.h"

namespace tc::engine {

/// Writes what a person needs to see a failure again.
using Reproduction = std::function<std::string()>;

/// Throws the exception that is being handled as an Error; called from a catch clause only. An Error stays what it is,
/// an InternalError gets \p reproduction's text behind its own, once. Want of memory becomes a ResourceError; all else
/// (exceptions of Halide, isl and the standard library) an InternalError that says what was at work, \p where.
[[noreturn]] void rethrow_typed(const char* where, const Reproduction& reproduction);

/// The result of \p work, out of which nothing comes but an Error: see rethrow_typed(). \p reproduction is called only
/// when it is needed.
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
