#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "tc/base/dtype.h"

namespace tc {

/// What a tensor is without its data. Strides count elements, may be zero or negative.
struct TensorSpec {
  DType dtype = DType::Float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< same length as shape

  /// Number of dimensions, and of elements.
  int rank() const { return static_cast<int>(shape.size()); }
  std::int64_t element_count() const;
  bool operator==(const TensorSpec&) const = default;
};

/// A dense row-major tensor of \p shape.
TensorSpec contiguous(DType dtype, std::vector<std::int64_t> shape);
/// Row-major strides of \p shape, in elements.
std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape);
/// Elements from the lowest to the highest address, both relative to the first element: [low, high].
/// {0, -1} for a tensor without elements.
struct ElementSpan {
  std::int64_t low = 0, high = -1;
};
ElementSpan element_span(const TensorSpec& spec);
/// Do two different index tuples of \p spec share an address? Conservative where strides interleave.
bool may_overlap_itself(const TensorSpec& spec);

/// A borrowed tensor: `data` points at the element with all indices 0.
struct TensorView : TensorSpec {
  void* data = nullptr;
};

/// For example "float32(3, 4)" or "float32(3, 4) strides (1, 3)".
std::ostream& operator<<(std::ostream& out, const TensorSpec& spec);

}  // namespace tc
