#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// A subscript of a read that can be copied: a sum of iterators with factors, and a constant.
struct CopyDimension {
  std::vector<std::pair<int, std::int64_t>> terms;  ///< iterators of the reader and their factors
  int iterator =
      -1;  ///< the one iterator of the subscript, which no other subscript has; -1: a window slides along the tensor

  /// Elements from the first to the last that so many consecutive values of each iterator touch.
  std::int64_t extent(const std::function<std::int64_t(int)>& tile) const;
};

/// The subscripts of read number \p read of \p statement; empty where one is no such sum, or leaves out elements on its
/// way. Of a read through index tensors, the iterators that decide on its element (indirect_reads.h), where they are
/// known: each is a dimension of the copy.
std::vector<CopyDimension> copy_dimensions(const Statement& statement, int read);

}  // namespace tc::polyhedral
