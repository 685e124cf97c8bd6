#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tc/base/tensor.h"
#include "test/support/guarded_buffer.h"

namespace tc::test {

/// A tensor that owns its memory, with any strides (negative ones too). On one side of it begins a page that nobody may
/// touch: reading there ends the test. On the other, and between elements, lies a guard zone that shows what was written.
class HostTensor {
 public:
  explicit HostTensor(TensorSpec spec);

  const TensorSpec& spec() const { return spec_; }
  TensorView view();
  /// Element number \p flat in row-major order of the indices, as float64 (64-bit integers lose bits beyond 2^53).
  double at(std::int64_t flat) const;
  /// The stored bits of the element, for exact comparison.
  std::uint64_t bits_at(std::int64_t flat) const;
  void set(std::int64_t flat, double value);
  /// All bytes, guards included, and where in them the first element begins: for copies in other memories.
  std::span<std::uint8_t> storage() { return bytes_; }
  std::size_t origin() const { return origin_; }
  /// Are the bytes outside the elements what they were?
  bool guards_intact() const;

 private:
  std::size_t byte_offset(std::int64_t flat) const;

  TensorSpec spec_;
  std::size_t origin_ = 0;
  GuardedBuffer<std::uint8_t> bytes_;
  std::vector<bool> element_;
};

/// A tensor of integers in [low, high), stored in the spec's type.
HostTensor random_integers(const TensorSpec& spec, std::int64_t low, std::int64_t high, std::mt19937_64& random);

/// A tensor of integers in [low, high) that ascend in row-major order of the indices.
HostTensor ascending_integers(const TensorSpec& spec, std::int64_t low, std::int64_t high, std::mt19937_64& random);

/// The first difference of two tensors of one spec as text, or nothing. tolerance 0: the same values, NaN equal to NaN,
/// else |got - want| <= tolerance * (1 + |want|), equal infinities, NaN where NaN.
std::optional<std::string> difference(const HostTensor& got, const HostTensor& want, double tolerance);

}  // namespace tc::test
