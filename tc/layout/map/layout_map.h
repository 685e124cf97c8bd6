#pragma once

#include <string>
#include <vector>

#include "tc/layout/map/layout.h"

namespace tc::layout {

/// What isl proves of a layout for the extents of a tensor.
struct Facts {
  bool functional = false;   ///< an element has one place at most
  bool injective = false;    ///< a place holds one element at most
  bool total = false;        ///< every element has a place
  bool dense = false;        ///< every place holds an element: there are no holes
  bool replicating = false;  ///< some element has several places
};

/// A layout for the extents of a tensor: where each of its elements lies in a tensor of other extents.
///
///   logical (2, 20, 7, 7), NCHW16c       physical (2, 2, 7, 7, 16), functional, injective, total, not dense
class LayoutMap {
 public:
  /// Throws OptionsError that names the step of \p layout that does not fit \p extents.
  LayoutMap(Layout layout, const Extents& extents);

  const Layout& layout() const { return layout_; }
  const Extents& logical() const { return before_.front(); }
  const Extents& physical() const { return before_.back(); }
  Fill fill() const { return layout_.fill(); }

  /// The relation from indices to places as text of an isl map.
  std::string relation() const;
  /// Proved at each call.
  Facts facts() const;

  /// Has each element the same address by \p other, a layout for the same extents, and are there as many places? Dimensions of
  /// one element may stand anywhere, for example. Proved at each call.
  ///
  ///   NHWC and NCHW of extents (1, 64, 1, 1): yes
  bool is_same_memory(const LayoutMap& other) const;
  /// A place of the element at \p indices, one a dimension.
  std::vector<Index> place(std::vector<Index> indices, const IteratorRanges& ranges) const;
  /// The element at \p places; its conditions say where there is one.
  Origin origin(std::vector<Index> places, const IteratorRanges& ranges) const;
  /// Names for physical dimensions, from names of the logical ones.
  std::vector<std::string> names(std::vector<std::string> logical) const;
  /// The sizes of the blocks in which logical dimension \p dim is cut, each a multiple of the next; empty where steps other
  /// than split and reorder touch it.
  std::vector<std::int64_t> blocks(std::size_t dim) const;

 private:
  Layout layout_;
  std::vector<Extents> before_;  ///< each step, and behind the last
};

/// \p facts in words: "one place for each element, holes".
std::string to_string(const Facts& facts);

}  // namespace tc::layout
