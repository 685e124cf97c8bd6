#pragma once

#include "tc/layout/rewrite/reindex.h"

namespace tc::layout {

/// \p statement with new iterators and with the places of what it reads and writes, as the parser gives it. Where a place
/// holds no element its value is chosen so that holes hold what their layout says and nothing else changes.
///
///   O(n,k) +=! X(n,c) * W(k,c)        X: split(1, 16), O: split(1, 16), 20 channels k
///
///   O(n,ko,ki) +=! 16*ko + ki < 20 ? X(n,co,ci) * W(16*ko + ki, 16*co + ci) : 0
///     where n in 0:4, ko in 0:2, ki in 0:16, co in 0:4, ci in 0:16
///
/// There is no condition where all that is read lies inside of its tensor and holes of what is written may hold anything,
/// nor where all factors of a sum's product are 0 in the holes of what they read.
/// Throws OptionsError for a statement that cannot be said so: one that initialises a part of a tensor with a layout.
lang::Statement rewrite_statement(const SizedStatement& statement, const Reindexing& reindexing,
                                  const PlacedTensors& tensors);

}  // namespace tc::layout
