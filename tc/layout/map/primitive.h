#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tc/layout/index/index.h"

/// The steps that layouts are made of: how the index of an element becomes the index of a place (ALT, section 4.1). Dimensions
/// count from 0. Each is known by its text, split(1, 16).
namespace tc::layout {

/// How long each dimension is.
using Extents = std::vector<std::int64_t>;

/// Dimension `dim` as blocks of blocks: i becomes (i / (f1*...*fm), ..., i % fm). Holes where f1*...*fm does not divide
/// its extent.
struct Split {
  std::size_t dim = 0;
  std::vector<std::int64_t> factors;
  bool operator==(const Split&) const = default;
};
/// Dimension d of the result is dimension order[d].
struct Reorder {
  std::vector<std::size_t> order;
  bool operator==(const Reorder&) const = default;
};
/// Dimensions first ... first + count - 1 as one, in row-major order.
struct Fuse {
  std::size_t first = 0, count = 2;
  bool operator==(const Fuse&) const = default;
};
/// Dimension `dim` as tiles of `size` elements that begin every `stride`; where they overlap an element has several places:
/// x becomes all (t, b) with x = stride * t + b. Holes where the last tile ends behind the dimension.
struct Unfold {
  std::size_t dim = 0;
  std::int64_t size = 1, stride = 1;
  bool operator==(const Unfold&) const = default;
};
/// The inverse of Unfold for a dimension of `extent` elements: (t, b) becomes stride * t + b.
struct Fold {
  std::size_t dim = 0;
  std::int64_t size = 1, stride = 1, extent = 1;
  bool operator==(const Fold&) const = default;
};
/// Holes before and behind dimension `dim`.
struct Pad {
  std::size_t dim = 0;
  std::int64_t low = 0, high = 0;
  bool operator==(const Pad&) const = default;
};
/// The inverse of Pad: the first `low` and last `high` elements have no place.
struct Unpad {
  std::size_t dim = 0;
  std::int64_t low = 0, high = 0;
  bool operator==(const Unpad&) const = default;
};
/// The tensor as slice `index` of a new dimension `dim` of `extent`, the others of which are another tensor's.
struct StoreAt {
  std::size_t dim = 0;
  std::int64_t index = 0, extent = 1;
  bool operator==(const StoreAt&) const = default;
};
/// The inverse of StoreAt: only slice `index` of dimension `dim` has a place.
struct DecoupleAt {
  std::size_t dim = 0;
  std::int64_t index = 0;
  bool operator==(const DecoupleAt&) const = default;
};

using Primitive = std::variant<Split, Reorder, Fuse, Unfold, Fold, Pad, Unpad, StoreAt, DecoupleAt>;

/// "split(1, 16)", which parse_layout() reads.
std::string to_string(const Primitive& primitive);

/// The extents behind \p primitive. Throws OptionsError that says what of \p primitive does not fit \p extents.
Extents extents_behind(const Primitive& primitive, const Extents& extents);

/// \p primitive for dimensions of \p extents as text of an isl map from indices to places, both in their boxes.
///
///   split(0, 4), 6     { [i0] -> [o0, o1] : o0 = floor(i0/4) and o1 = i0 - 4*o0 and 0 <= i0 < 6 }
std::string relation(const Primitive& primitive, const Extents& extents);

/// What takes the places of \p primitive, for dimensions of \p extents, back to indices.
///
///   split(1, 16), extent 20      gives    fuse(1, 2) unpad(1, 0, 12)
std::vector<Primitive> inverse(const Primitive& primitive, const Extents& extents);

/// A place of the element at \p indices: of several the one whose subscripts are simplest. A window that moves over an
/// unfolded dimension stays in one tile where that can be (ALT, equation 1).
std::vector<Index> place(const Primitive& primitive, const Extents& extents, std::vector<Index> indices,
                         const IteratorRanges& ranges);

/// low <= index < high.
struct Condition {
  Index index;
  std::int64_t low = 0, high = 0;
};
/// The element at a place, and when there is one.
struct Origin {
  std::vector<Index> indices;
  std::vector<Condition> conditions;  ///< those that ranges do not imply
};
/// The element at \p places behind \p primitive for dimensions of \p extents.
Origin origin(const Primitive& primitive, const Extents& extents, std::vector<Index> places,
              const IteratorRanges& ranges);

/// Names for the dimensions behind \p primitive: c becomes co, ci.
std::vector<std::string> names_behind(const Primitive& primitive, std::vector<std::string> names);

/// Must a window of \p window elements that starts at \p step * i lie in one tile of \p tiles for every i?
/// Throws OptionsError that names the condition if it does not: equation 1 of ALT holds for such windows only, where \p step
/// divides the stride and size >= stride - step + window.
void require_window(const Unfold& tiles, std::int64_t step, std::int64_t window);

}  // namespace tc::layout
