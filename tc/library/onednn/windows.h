#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/library/description/call.h"

namespace tc::library {

/// The numbers that \p call has for \p name of each of \p dimensions spatial dimensions: name0, name1, ...
std::vector<std::int64_t> numbers_of(const Call& call, const std::string& name, int dimensions);

/// What oneDNN is told of windows along each spatial dimension; 0 is a dilation of neighbours.
struct Windows {
  std::vector<std::int64_t> strides, dilations, left, right;
  /// May some window have no element but padding?
  bool may_be_empty = false;
};

/// Those of a call of a def with inputs I<d>, windows R<d> of stride S<d>, dilation D<d> and padding P<d> on the left, and
/// results O<d>.
Windows windows_of(const Call& call, int dimensions);

}  // namespace tc::library
