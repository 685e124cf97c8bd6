#include "tc/autotuner/worker/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tc/autotuner/worker/element.h"
#include "tc/base/ceil_div.h"
#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

constexpr std::size_t guard = 4096, alignment = 64;
constexpr char guard_byte = 0x5c;

double epsilon(DType type) {
  switch (type) {
    case DType::Float16:
      return 0x1p-10;
    case DType::BFloat16:
      return 0x1p-7;
    case DType::Float32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

/// Calls visit(byte offset from the first element) for each element, until it returns false.
template <typename Visit>
void for_each_element(const TensorSpec& spec, Visit&& visit) {
  auto count = spec.element_count();
  std::vector<std::int64_t> index(spec.shape.size(), 0);
  std::int64_t offset = 0, size = byte_size(spec.dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    if (!visit(offset * size)) return;
    for (int d = spec.rank() - 1; d >= 0; --d) {
      offset += spec.strides[d];
      if (++index[d] < spec.shape[d]) break;
      offset -= spec.strides[d] * spec.shape[d];
      index[d] = 0;
    }
  }
}

/// Of the finite values; relative to the largest one, whose square may be too large for a double.
double root_mean_square(const TensorSpec& spec, const char* values) {
  double largest = 0, squares = 0;
  std::int64_t count = 0;
  auto for_each_finite = [&](auto&& use) {
    for_each_element(spec, [&](std::int64_t at) {
      if (double value = load_float(spec.dtype, values + at); std::isfinite(value)) use(value);
      return true;
    });
  };
  for_each_finite([&](double value) { largest = std::max(largest, std::abs(value)); });
  if (largest == 0) return 0;
  for_each_finite([&](double value) { squares += value / largest * (value / largest), ++count; });
  return largest * std::sqrt(squares / static_cast<double>(count));
}

std::string float_difference(const TensorSpec& spec, const char* got, const char* want, const Tolerance& tolerance) {
  double scale = root_mean_square(spec, want);
  double relative =
      8 * epsilon(spec.dtype) + 32 * epsilon(accumulator_type(spec.dtype)) * std::sqrt(tolerance.summands);
  std::string result;
  std::int64_t element = 0;
  for_each_element(spec, [&](std::int64_t at) {
    double a = load_float(spec.dtype, got + at), b = load_float(spec.dtype, want + at);
    bool near = std::isfinite(b) && std::abs(a - b) <= relative * (std::abs(b) + scale);
    bool same = a == b || (std::isnan(a) && std::isnan(b)) || near;
    if (!same) result = str("element ", element, " is ", a, " instead of ", b);
    ++element;
    return same;
  });
  return result;
}

std::string exact_difference(const TensorSpec& spec, const char* got, const char* want) {
  std::string result;
  std::int64_t element = 0;
  for_each_element(spec, [&](std::int64_t at) {
    bool same = std::memcmp(got + at, want + at, static_cast<std::size_t>(byte_size(spec.dtype))) == 0;
    if (!same) result = str("element ", element, " differs");
    ++element;
    return same;
  });
  return result;
}

}  // namespace

Tolerance tolerance_of(const engine::Function& function, const std::vector<TensorSpec>& inputs) {
  auto sizes = engine::bind_inputs(function, inputs);
  Tolerance result;
  for (std::size_t i = 0; i < function.def.statements.size(); ++i) {
    const auto* assignment = std::get_if<lang::Assignment>(&function.def.statements[i].node);
    if (!assignment || !assignment->reduction) continue;
    double summands = 1;
    for (const auto& name : assignment->reduction_iterators)
      summands *= static_cast<double>(lang::evaluate_box({function.ranges.statements[i].at(name)}, sizes)[0].extent);
    result.summands += summands;
  }
  return result;
}

std::string difference(const TensorSpec& spec, const char* got, const char* want, const Tolerance& tolerance) {
  return is_float(spec.dtype) ? float_difference(spec, got, want, tolerance) : exact_difference(spec, got, want);
}

Tensors::Tensors(const std::vector<engine::Argument>& arguments, const Layout& layout, const char* shared,
                 Inputs inputs)
    : arguments_(arguments), layout_(layout), shared_(shared), inputs_(inputs) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& part = layout.parts[i];
    if (is_shared(i)) {
      memory_.emplace_back();
      starts_.push_back(const_cast<char*>(shared) + part.offset);
      pointers_.push_back(starts_.back() + part.origin);
      continue;
    }
    memory_.emplace_back(part.bytes + 2 * guard + alignment, guard_byte);
    auto start = reinterpret_cast<std::uintptr_t>(memory_.back().data()) + guard;
    starts_.push_back(reinterpret_cast<char*>(round_up(start, alignment)));
    pointers_.push_back(starts_.back() + part.origin);
    if (!arguments[i].output) std::memcpy(starts_.back(), shared + part.offset, part.bytes);
  }
  poison();
}

void Tensors::poison() {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const auto& spec = arguments_[i].spec;
    if (!arguments_[i].output) continue;
    std::memset(starts_[i], is_float(spec.dtype) ? 0xff : 0xa5, layout_.parts[i].bytes);
    if (!arguments_[i].read) continue;
    auto* first = static_cast<char*>(pointers_[i]);
    for_each_element(spec, [&](std::int64_t at) { return store_element(spec.dtype, 1, first + at), true; });
  }
}

bool Tensors::is_shared(std::size_t argument) const {
  return inputs_ == Inputs::Shared && !arguments_[argument].output;
}

std::vector<std::span<char>> Tensors::blocks() {
  std::vector<std::span<char>> result;
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    result.emplace_back(starts_[i] - guard, layout_.parts[i].bytes + 2 * guard);
  return result;
}

std::vector<TensorView> Tensors::outputs() const {
  std::vector<TensorView> result;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].output) continue;
    TensorView view;
    static_cast<TensorSpec&>(view) = arguments_[i].spec;
    view.data = pointers_[i];
    result.push_back(std::move(view));
  }
  return result;
}

std::string Tensors::check(const Tolerance& tolerance) const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (is_shared(i)) continue;
    const auto& part = layout_.parts[i];
    const auto& argument = arguments_[i];
    const auto& memory = memory_[i];
    auto is_guard = [](char byte) { return byte == guard_byte; };
    auto begin = static_cast<std::ptrdiff_t>(starts_[i] - memory.data());
    bool intact = std::all_of(memory.begin(), memory.begin() + begin, is_guard) &&
                  std::all_of(memory.begin() + begin + static_cast<std::ptrdiff_t>(part.bytes), memory.end(), is_guard);
    if (!intact) return str("'", argument.name, "': memory beside it was written");
    const char* want = shared_ + part.offset;
    if (!argument.output && std::memcmp(starts_[i], want, part.bytes) != 0)
      return str("input '", argument.name, "' was changed");
    auto wrong = argument.output
                     ? difference(argument.spec, static_cast<const char*>(pointers_[i]), want + part.origin, tolerance)
                     : std::string();
    if (!wrong.empty()) return str("'", argument.name, "': ", wrong);
  }
  return "";
}

void Tensors::store(char* shared) const {
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    if (arguments_[i].output) std::memcpy(shared + layout_.parts[i].offset, starts_[i], layout_.parts[i].bytes);
}

}  // namespace tc::autotuner
