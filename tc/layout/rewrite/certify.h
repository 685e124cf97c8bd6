#pragma once

#include <string>
#include <vector>

#include "tc/layout/rewrite/reindex.h"

namespace tc::layout {

/// What isl proved of a statement in new layouts.
struct StatementProof {
  std::string instances;              ///< the isl map from its instances to those of the statement it stands for
  std::vector<std::string> unproved;  ///< reads whose subscripts data decide, as they are written in the def
};

/// A statement and what it became.
struct RewrittenStatement {
  const SizedStatement& before;
  const Reindexing& reindexing;
  const lang::Assignment& after;  ///< as the parser gives it
  const PlacedTensors& tensors;
};

/// Proves that a statement in new layouts stands for the old one:
///
/// 1. Its value is the old value with iterators replaced, in conditions of its own perhaps.
/// 2. For every place of every element that is written, its instances under these conditions are, one to one, the old
///    instances that write the element: none is lost, none is there twice, all copies are written.
/// 3. Each read, there, is at a place of the element that the old instance reads.
/// 4. What other instances give is written to holes only, or changes nothing; holes become 0 where the layout says so.
///
/// It looks at the two texts and at the relations of the layouts alone, not at how the text was made. Throws OptionsError for a
/// read of an element without a place, InternalError for anything else that does not hold.
StatementProof certify(const RewrittenStatement& statement);

}  // namespace tc::layout
