#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "test/support/interpret_text.h"

namespace tc::test {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline const double nan = std::nan("");

using Values = std::vector<double>;

inline HostTensor vec(DType type, const Values& values) {
  return dense(type, {static_cast<std::int64_t>(values.size())}, values);
}
inline HostTensor f32(const Values& values) { return vec(DType::Float32, values); }
inline HostTensor i32(const Values& values) { return vec(DType::Int32, values); }
inline HostTensor matrix(std::int64_t rows, std::int64_t columns, const Values& values) {
  return dense(DType::Float32, {rows, columns}, values);
}

/// The text of result `O` of \p text.
inline std::string run(const std::string& text, const Tensors& arguments) {
  return text_of(interpret_text(text, arguments).at("O"));
}

template <typename E, typename F>
std::string message(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace tc::test
