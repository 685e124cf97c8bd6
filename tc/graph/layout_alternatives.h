#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tc/lang/check/inline.h"
#include "tc/layout/map/layout.h"

namespace tc::graph {

/// Layouts for all operands of a node at once: its inputs, then its outputs.
using OperandLayouts = std::vector<layout::Layout>;

struct AlternativeOptions {
  std::int64_t block = 16;               ///< elements of a block: as many of type float32 as a vector has
  std::set<std::size_t> constants = {};  ///< inputs that are converted before a run
  bool mixed = false;                    ///< alternatives in which some operands only have a layout, too
  bool constants_alone = false;          ///< only alternatives in which constants are in panels
};

/// Layouts in which \p def may take and give its tensors, the plain ones first. They come from the access relations alone:
///
/// Dimensions of tensors that are subscripted by the same iterators belong together. Such a class may be moved inwards where
/// all its subscripts are iterators alone, and all its dimensions have one extent. An alternative takes one class of the
/// results and one that is summed over, where there is one, and moves their dimensions inwards in all tensors: whole, or in
/// blocks of options.block, where that divides them; the result's innermost.
///
///   Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s)     classes n; o; c; r; s; of h and w only those of Y
///
///     o and c whole       X: NHWC       K: HWIO          Y: NHWC
///     o and c in blocks   X: NCHW16c    K: OIhw16i16o    Y: NCHW16c
///
/// In a def that does not reduce, a class with an operand in it may be moved as a whole where other subscripts are functions of its
/// iterators, too, and the dimensions of these move with it:
///
///   Y(n,c,h,w) = c < C ? A(n,c,h,w) : B(n,c - C,h,w)          c whole       A, B, Y: NHWC
///
/// Constants alone are laid out in further ones: those, and panels, in which blocks of a class of the result stand behind all
/// dimensions, also where the last block is partial, which a tile reads as it would a packed copy:
///
///     panels of o         K: OIhw16o    X and Y as they are
///
/// Tensors of less than two dimensions stay as they are. A def of one result
/// only, whose subscripts are not read from tensors and whose result begins at index 0, has any.
std::vector<OperandLayouts> layout_alternatives(const lang::InlinedDef& def, const lang::SizeMap& sizes,
                                                const AlternativeOptions& options);

}  // namespace tc::graph
