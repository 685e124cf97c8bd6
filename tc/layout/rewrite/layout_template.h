#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tc/layout/rewrite/apply.h"

namespace tc::layout {

/// A tile size that is free: 1 leaves elements where they are, `extent` moves the whole dimension inwards.
struct TileTunable {
  std::string name;  ///< of the iterator; with the tensor before it, "K.o", of a tensor's own
  std::vector<std::pair<std::string, std::size_t>> places;  ///< tensors, and the dimension of each
  std::int64_t extent = 0;
};

/// What becomes of a dimension of a tensor.
struct TemplateDimension {
  enum class Part { Kept, Tiled, Window } part = Part::Kept;
  std::size_t tunable = 0;             ///< of one that is tiled, or that a window runs over
  std::int64_t step = 1, window = 1;   ///< of a window: it begins at step * iterator and reads so many elements
  int outer_rank = 0, inner_rank = 0;  ///< where its tiles, and its elements in a tile, stand among the others
};
struct TemplateTensor {
  std::string name;
  std::vector<TemplateDimension> dims;
};

/// The layouts of a def's operands with free tile sizes, after ALT (section 5.1).
struct LayoutTemplate {
  std::vector<TileTunable> tunables;
  std::vector<TemplateTensor> tensors;

  /// The layouts for \p tiles, one a tunable, each from 1 to its extent. With \p counts, one a tunable too, tiles have two
  /// levels: so many tiles make a tile of the outer level, whose elements are together; a window is unfolded in the outer tiles.
  ///
  ///   tile 8 of o, count 4     Y: n h w o/32 o%32/8 o%8
  ///
  /// Throws OptionsError for other numbers.
  Layouts layouts(const std::vector<std::int64_t>& tiles, const std::vector<std::int64_t>& counts = {}) const;
};

/// The template of \p function for \p sizes, from the accesses of the statement with most iterators alone:
///
/// 1. Each iterator of the result has a tile size, and each that is reduced over and subscripts a dimension by itself.
/// 2. A dimension that an iterator i subscripts alone is split by the tile size of i.
/// 3. A dimension that a window runs over, step * i + reach * r, is unfolded in the tiles that tiles of i read: that is
///    not free.
/// 4. Where there are windows, operands without one, the weights, have tile sizes of their own; and an iterator that the weights
///    do not have, and that windows do not run along, is a batch, which is not tiled.
/// 5. Tiles stand behind all else: first those of space, then what is summed over, then channels of the result.
///
///   Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s)      tunables o, h, w, c, K.o, K.c
///     Y: n h/h_t w/w_t o/o_t h_t w_t o_t     X: n h/h_t w/w_t c/c_t h_t+2 w_t+2 c_t     K: o/o_t' c/c_t' r s c_t' o_t'
///
/// No tunables where no statement reduces. Throws ArgumentError for \p sizes that the def does not take.
LayoutTemplate layout_template(const lang::InlinedDef& function, const lang::SizeMap& sizes);

}  // namespace tc::layout
