#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/layout/map/layout_map.h"

namespace tc::layout {

/// A tensor of a def for concrete sizes.
struct PlacedTensor {
  DType type = DType::Float32;
  lang::Box box;                   ///< of its indices
  const LayoutMap* map = nullptr;  ///< of index - box.min; null: it stays as it is
  std::string stored_as;           ///< the tensor that holds it, itself or another one
};
using PlacedTensors = std::map<std::string, PlacedTensor>;

/// A statement for concrete sizes, which are numbers in it, and what its iterators range over.
struct SizedStatement {
  lang::Assignment assignment;  ///< as the parser gives it
  IteratorRanges ranges;
};

/// Other iterators for a statement, and the old ones by them.
///
///   O(n,k,h,w), k in 0:20, in NCHW16c       left: n, ko, h, w, ki      k := 16*ko + ki where it is below 20
///   a sum over c of X(n,c,h,w) in NCHW16c   reduced: co, ci            c := 16*co + ci
struct Reindexing {
  std::vector<std::string> left, reduced;
  IteratorRanges ranges;                ///< of the new iterators
  std::map<std::string, Index> values;  ///< of the old ones
  std::vector<Condition> outside;       ///< else the place holds no element that the statement writes
  std::vector<Condition> beyond;        ///< else there is no such instance of the reduction
  /// Does the statement write the whole tensor, so that what is outside is a hole?
  bool whole = true;
};

/// New iterators for \p statement, so that its loops follow the places of what it writes, and reductions the blocks of
/// what they read. A reduction keeps an iterator whose last block would be partial where its operator has no neutral
/// literal (min, max). \p taken: names that are no iterators.
Reindexing reindex(const SizedStatement& statement, const PlacedTensors& tensors, const std::set<std::string>& taken);

/// \p index where a value of type int64 stands.
ExprPtr value_of(const Index& index);

}  // namespace tc::layout
