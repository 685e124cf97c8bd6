#pragma once

#include <string_view>

#include "tc/layout/map/layout.h"

namespace tc::layout {

/// Could \p text be the name of a layout: letters, and numbers with a letter behind them, the first one upper case?
bool is_layout_name(std::string_view text);

/// The layout of \p name: a letter for each dimension, outermost first, then blocks, each a number and the letter of the
/// dimension that is cut in blocks of it. Letters of dimensions may have either case: NCHW16c is nChw16c.
/// \p dims are the letters in the order of the tensor's own dimensions; where it is empty, the order is N C D H W for
/// names with N or C, G O I D H W for names with O or I.
///
///   NHWC            reorder(0, 2, 3, 1)
///   NCHW16c         split(1, 16) reorder(0, 1, 3, 4, 2)
///   OIhw16i16o      split(0, 16) split(2, 16) reorder(0, 2, 4, 5, 3, 1)
///   OIhw4i16o4i     split(0, 16) split(2, 4, 4) reorder(...): blocks of blocks, the outer ones first
///
/// Throws OptionsError that says what in \p name has no meaning.
Layout named_layout(std::string_view name, std::string_view dims = {});

}  // namespace tc::layout
