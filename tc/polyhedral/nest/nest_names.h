#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest.h"

namespace tc::polyhedral {

/// How the text of a nest calls the indices and reads of a cluster.
struct NestNames {
  struct OfStatement {
    std::string id;
    std::vector<std::string> iterators;
    std::vector<std::string> reads;  ///< "W", or "W#2" of read number 2 where the statement reads W more than once
  };
  std::vector<std::string> members;
  std::vector<OfStatement> statements;
  /// Of the loops around a strip (fuse_in_strips.h), outermost first: "h", "i_part". The nest is of one strip.
  std::vector<std::string> around = {};
  /// Of tensors that are called otherwise than in the scop: their names there, and in the text.
  std::vector<std::pair<std::string, std::string>> tensors = {};

  /// The name of \p index in the branch of statement number \p branch, or in the trunk (-1), where iterators of
  /// statements are qualified: "k", "S1.k".
  std::string name(const NestIndex& index, int branch) const;
  /// The index called \p name there; nothing where none is.
  std::optional<NestIndex> find(const std::string& name, int branch) const;
  /// Position of the statement called \p id; -1 without one.
  int position(const std::string& id) const;
  /// What the text calls the tensor \p name, and the inverse.
  std::string shown(const std::string& name) const;
  std::string tensor(const std::string& shown) const;
};

/// Members are called like the iterator of the first statement that has them; a second member of the same name gets its
/// number behind it.
NestNames nest_names(const Scop& scop, const ClusterView& cluster);

/// Names by position, the same for programs that differ in names alone: members m0, m1, iterators i0, i1, reads r0, r1, tensors
/// t0, t1 in the order of the scop.
NestNames positional_nest_names(const Scop& scop, const ClusterView& cluster);

}  // namespace tc::polyhedral
