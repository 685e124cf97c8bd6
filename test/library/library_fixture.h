#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/graph/compile.h"
#include "tc/library/description/prepare.h"
#include "tc/library/registry.h"

namespace tc::library {

/// A tensor of a test: its own memory, of whatever strides, filled with small whole numbers.
class TestTensor {
 public:
  explicit TestTensor(TensorSpec spec, int seed) : spec_(std::move(spec)) {
    const auto span = element_span(spec_);
    before_ = -span.low;
    memory_.resize(static_cast<std::size_t>((span.high - span.low + 1) * byte_size(spec_.dtype)));
    for (std::size_t i = 0; i < memory_.size() / size(); ++i)
      set(i, static_cast<float>((static_cast<int>(i) * 7 + seed * 5) % 11 - 5));
  }
  /// Makes each \p period-th element infinite, -infinite or NaN, in turns.
  void make_special(std::size_t period) {
    const float values[] = {INFINITY, -INFINITY, NAN};
    for (std::size_t i = period / 2, next = 0; i < memory_.size() / size(); i += period, ++next)
      set(i, values[next % 3]);
  }
  TensorView view() {
    TensorView result;
    static_cast<TensorSpec&>(result) = spec_;
    result.data = memory_.data() + before_ * byte_size(spec_.dtype);
    return result;
  }
  /// Equal numbers in all of the memory; 0 and -0 are, and so are NaN.
  bool operator==(const TestTensor& other) const { return is_near(other, 0); }
  /// The same, but for differences of up to \p tolerance times the number.
  bool is_near(const TestTensor& other, double tolerance) const {
    for (std::size_t i = 0; i < memory_.size() / size(); ++i) {
      const double a = at(i), b = other.at(i);
      if (!(a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * std::abs(b))) return false;
    }
    return true;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(byte_size(spec_.dtype)); }
  void set(std::size_t i, float value) {
    auto* at = memory_.data() + i * size();
    if (spec_.dtype == DType::Float64)
      *reinterpret_cast<double*>(at) = value;
    else if (spec_.dtype == DType::BFloat16)
      *reinterpret_cast<std::uint16_t*>(at) = float_to_bfloat(value);
    else if (spec_.dtype == DType::Float16)
      *reinterpret_cast<std::uint16_t*>(at) = float_to_half(value);
    else
      *reinterpret_cast<float*>(at) = value;
  }
  double at(std::size_t i) const {
    const auto* at = memory_.data() + i * size();
    if (spec_.dtype == DType::Float64) return *reinterpret_cast<const double*>(at);
    if (spec_.dtype == DType::BFloat16) return bfloat_to_float(*reinterpret_cast<const std::uint16_t*>(at));
    if (spec_.dtype == DType::Float16) return half_to_float(*reinterpret_cast<const std::uint16_t*>(at));
    return *reinterpret_cast<const float*>(at);
  }

  TensorSpec spec_;
  std::int64_t before_ = 0;
  std::vector<std::byte> memory_;
};

/// A def and tensors for it; no strides: dense ones.
struct TestCase {
  std::string text;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs = {};
};

inline TensorSpec floats(std::vector<std::int64_t> shape) { return contiguous(DType::Float32, std::move(shape)); }
inline TensorSpec doubles(std::vector<std::int64_t> shape) { return contiguous(DType::Float64, std::move(shape)); }

/// The last def of the text, without calls.
inline std::shared_ptr<const engine::Function> function_of(const TestCase& test) {
  return engine::inlined(engine::define(test.text).functions.back());
}

inline std::vector<TensorSpec> arguments_of(const TestCase& test) {
  std::vector<TensorSpec> result;
  for (const auto& argument : engine::make_arguments(*function_of(test), test.inputs, test.outputs))
    result.push_back(argument.spec);
  return result;
}

/// The best call of \p library for \p test, all values of which are \p finite or may be anything.
inline std::optional<Call> call_of(const TestCase& test, const Library& library, bool finite = false) {
  const auto function = function_of(test);
  const auto given = understand({function->def, function->ranges}, arguments_of(test), finite);
  if (!given) return std::nullopt;
  auto calls = matches(*given, library);
  if (calls.empty()) return std::nullopt;
  return calls.front();
}

/// Equal numbers: what \p call leaves in the output of \p test, and what the interpreter does; elements of the output's
/// memory between its own stay as they were. Of argument \p special each 13th element is infinite or NaN.
inline bool computes_the_same(const TestCase& test, const Call& call, int threads = 2,
                              std::optional<std::size_t> special = std::nullopt) {
  engine::CompileOptions options;
  options.interpret = true;
  const auto oracle = engine::compile(engine::define(test.text).functions.back(), test.inputs, test.outputs, options);
  std::vector<TestTensor> tensors;
  for (const auto& argument : oracle->image().arguments)
    tensors.emplace_back(argument.spec, static_cast<int>(tensors.size()));
  if (special) tensors.at(*special).make_special(13);
  auto mine = tensors;
  std::vector<TensorView> inputs, outputs;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    (oracle->image().arguments[i].output ? outputs : inputs).push_back(tensors[i].view());
  oracle->run(inputs, outputs);
  std::vector<void*> pointers;
  for (auto& tensor : mine) pointers.push_back(tensor.view().data);
  PreparedCall(call, find_library(call.library)).run(pointers.data(), threads);
  return mine.back() == tensors.back();
}

}  // namespace tc::library
