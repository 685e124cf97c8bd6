#pragma once

#include <optional>

#include "tc/strategy/grid/contraction_view.h"

/// Copies of operands in shared memory, for a contraction whose tile is chosen.
namespace tc::strategy {

/// \p mapping, which has the tile of \p view, with its reduction cut into blocks, and copies of the reads that several
/// threads share, as long as there is room.
///
///   C(m, n) +=! A(m, k) B(k, n), tile 128x128      blocks of 16 k, copies of A and B
polyhedral::GridClusterMapping choose_copies(const ContractionView& view,
                                             const polyhedral::GridClusterMapping& mapping);

/// Would each thread follow subscripts that depend on data, though its block shares what they lead to?
bool leaves_gathers(const ContractionView& view, const polyhedral::GridClusterMapping& mapping);

/// \p mapping with copies that run ahead by as many blocks as hide the way from memory behind what is computed, where
/// there is room for them, and with shorter blocks where threads would hold too much meanwhile.
///
///   before  blocks of 16 k      after  blocks of 16 k, 3 slots
polyhedral::GridClusterMapping choose_slots(const ContractionView& view, const polyhedral::GridClusterMapping& mapping);

/// \p mapping, whose reduction is cut into blocks with several slots, with an asynchronous copy of each read, of 16 bytes at
/// once, as the operand lies in memory. Nothing where an operand does not lie so, or where memory that blocks may ask for
/// does not suffice.
std::optional<polyhedral::GridClusterMapping> with_asynchronous_copies(const ContractionView& view,
                                                                       polyhedral::GridClusterMapping mapping);

/// \p mapping with copies of what stands in the subscripts of copies, where they use it often and are not made ahead: it
/// would have to be there a block earlier.
polyhedral::GridClusterMapping copy_subscripts(const ContractionView& view,
                                               const polyhedral::GridClusterMapping& mapping);

}  // namespace tc::strategy
