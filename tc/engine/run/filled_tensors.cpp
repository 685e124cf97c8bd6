#include "tc/engine/run/filled_tensors.h"

#include <cstdint>
#include <cstring>

#include "tc/base/dtype.h"
#include "tc/base/target.h"

namespace tc::engine {
namespace {

template <typename T>
void fill(std::byte* data, std::size_t bytes, T (*value)(std::size_t)) {
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
    T element = value(i);
    std::memcpy(data + i * sizeof(T), &element, sizeof(T));
  }
}

void fill(std::byte* data, std::size_t bytes, DType type) {
  if (type == DType::Float32)
    fill<float>(data, bytes, [](std::size_t i) { return 0.5f + static_cast<float>(i % 7) / 8; });
  if (type == DType::Float64)
    fill<double>(data, bytes, [](std::size_t i) { return 0.5 + static_cast<double>(i % 7) / 8; });
  if (type == DType::Float16) fill<std::uint16_t>(data, bytes, [](std::size_t) { return float_to_half(1); });
  if (type == DType::BFloat16) fill<std::uint16_t>(data, bytes, [](std::size_t) { return std::uint16_t{0x3F80}; });
}

}  // namespace

FilledTensors::FilledTensors(const std::vector<Argument>& arguments) {
  constexpr std::uintptr_t line = Target::cache_line;
  for (const auto& [name, spec, output, read, mins, aligned] : arguments) {
    const auto span = element_span(spec);
    const auto size = static_cast<std::size_t>(byte_size(spec.dtype));
    const auto bytes = static_cast<std::size_t>(span.high - span.low + 1) * size;
    auto& memory = memory_.emplace_back(bytes + line);
    auto* begin = memory.data() + (line - reinterpret_cast<std::uintptr_t>(memory.data()) % line) % line;
    fill(begin, bytes, spec.dtype);
    pointers_.push_back(begin - span.low * static_cast<std::int64_t>(size));
  }
}

}  // namespace tc::engine
