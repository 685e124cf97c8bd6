#include "tc/base/check_tensor.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc {
namespace {

using Wide = __int128;

bool is_empty(const std::vector<std::int64_t>& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

/// Does \p spec, whose shape is checked, stay within so many elements from its lowest to its highest address?
bool reaches_too_far(const TensorSpec& spec) {
  if (is_empty(spec.shape)) return false;
  Wide reach = 0;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    Wide step = spec.strides[i];
    reach += (step < 0 ? -step : step) * (spec.shape[i] - 1);
    if (reach >= most_elements) return true;
  }
  return false;
}

}  // namespace

void check_shape(const std::vector<std::int64_t>& shape, const std::string& what) {
  Wide count = 1;
  for (auto extent : shape) {
    if (extent < 0) throw ArgumentError(str(what, " has a negative size: (", join(shape), ")"));
    count *= std::max<std::int64_t>(extent, 1);
    if (count > most_elements)
      throw ArgumentError(str(what, " of shape (", join(shape), ") has more than 2^47 elements"));
  }
}

void check_tensor(const TensorSpec& spec, const std::string& what) {
  if (spec.dtype > DType::Float64)
    throw ArgumentError(str(what, " has the element type ", static_cast<int>(spec.dtype), ", which is none"));
  check_shape(spec.shape, what);
  if (spec.strides.size() != spec.shape.size())
    throw ArgumentError(str(what, " has ", spec.shape.size(), " sizes and ", spec.strides.size(),
                            " strides: give one stride for each dimension"));
  if (reaches_too_far(spec))
    throw ArgumentError(
        str(what, " with the strides (", join(spec.strides), ") reaches over more than 2^47 elements of memory"));
}

void check_tensor(const TensorView& view, const std::string& what) {
  check_tensor(static_cast<const TensorSpec&>(view), what);
  if (!view.data && !is_empty(view.shape))
    throw ArgumentError(str(what, " has elements but no memory: its data pointer is null"));
}

}  // namespace tc
