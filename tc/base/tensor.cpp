#include "tc/base/tensor.h"

#include <algorithm>
#include <limits>
#include <ostream>

#include "tc/base/str.h"

namespace tc {
namespace {

/// a * b; the largest number where that is none.
std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

}  // namespace

std::int64_t TensorSpec::element_count() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (auto extent : shape) count = saturating_product(count, extent);
  return count;
}

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step = saturating_product(step, std::max<std::int64_t>(shape[i], 1));
  }
  return strides;
}

TensorSpec contiguous(DType dtype, std::vector<std::int64_t> shape) {
  auto strides = row_major_strides(shape);
  return {dtype, std::move(shape), std::move(strides)};
}

ElementSpan element_span(const TensorSpec& spec) {
  ElementSpan span{0, 0};
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.shape[i] == 0) return {0, -1};
    auto reach = (spec.shape[i] - 1) * spec.strides[i];
    (reach < 0 ? span.low : span.high) += reach;
  }
  return span;
}

bool may_overlap_itself(const TensorSpec& spec) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.shape[i] == 0) return false;
    if (spec.shape[i] > 1) dims.emplace_back(std::abs(spec.strides[i]), spec.shape[i]);
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t reach = 0;
  for (auto [stride, extent] : dims) {
    if (stride <= reach) return true;
    reach += stride * (extent - 1);
  }
  return false;
}

std::ostream& operator<<(std::ostream& out, const TensorSpec& spec) {
  out << spec.dtype << "(" << join(spec.shape) << ")";
  if (spec.strides != row_major_strides(spec.shape)) out << " strides (" << join(spec.strides) << ")";
  return out;
}

}  // namespace tc
