#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tc/engine/engine.h"

namespace tc::engine {

/// A tensor that owns its memory.
template <typename T>
struct Array : TensorView {
  explicit Array(std::vector<std::int64_t> extents, T fill = 0) {
    static_cast<TensorSpec&>(*this) = contiguous(type(), std::move(extents));
    values.assign(static_cast<std::size_t>(element_count()), fill);
    data = values.data();
  }
  static DType type() {
    if (std::is_same_v<T, float>) return DType::Float32;
    if (std::is_same_v<T, double>) return DType::Float64;
    return std::is_same_v<T, std::int32_t> ? DType::Int32 : DType::Int64;
  }
  std::vector<T> values;
};
using Floats = Array<float>;

inline Floats count_up(std::vector<std::int64_t> shape) {
  Floats array(std::move(shape));
  for (std::size_t i = 0; i < array.values.size(); ++i) array.values[i] = static_cast<float>(i % 7) - 3;
  return array;
}

inline std::vector<float> product(const Floats& a, const Floats& b) {
  auto m = a.shape[0], k = a.shape[1], n = b.shape[1];
  std::vector<float> c(m * n, 0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l) c[i * n + j] += a.values[i * k + l] * b.values[l * n + j];
  return c;
}

/// The laws run in every compile of the tests.
inline CompileOptions checked() {
  CompileOptions options;
  options.stages.verify = true;
  return options;
}

inline const char* const mm = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

template <typename E, typename F>
std::string message(F&& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace tc::engine
