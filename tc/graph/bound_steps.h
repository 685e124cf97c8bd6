#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/graph/flatten.h"
#include "tc/lang/interpret/ranges.h"

namespace tc::graph {

/// Steps [first, end).
struct StepGroup {
  std::size_t first = 0, end = 0;
};

/// The steps of \p flat in groups, in order: those that write one tensor, and what stands between them, are one.
///
///   A(i) = ...   B(i) = A(i)   A(i) += ...   C(i) = A(i)        { A, B, A }, { C }
std::vector<StepGroup> group_steps(const FlatDef& flat);

/// A flat def whose sizes are fixed node by node, as far as that has come.
struct BoundSteps {
  BoundSteps(const std::shared_ptr<const Defs>& defs, const std::string& name, FlatDef flat_def);

  FlatDef flat;
  Graph graph;                       ///< the nodes there are, and all tensors of `flat`
  std::vector<lang::SizeMap> sizes;  ///< of each frame that has begun
  std::vector<SizeExprs> symbolic;   ///< those of them that are symbolic
  std::vector<char> known;           ///< for each tensor: is its shape known?
  std::set<std::string> tensor_names;
  std::map<std::size_t, std::size_t> assigning_frame;  ///< of the tensors that assignments write
  std::vector<std::size_t> last_reader;                ///< for each tensor: behind this step, none reads it

  /// The shapes of \p tensors, which are known.
  std::vector<std::vector<std::int64_t>> shapes(const std::vector<std::size_t>& tensors) const;
  /// Their dimensions.
  std::vector<Dims> dims(const std::vector<std::size_t>& tensors) const;
  /// Fixes the shape of \p tensor, whose first element has the indices \p mins, 0 where they are too few.
  void set(std::size_t tensor, const TensorSpec& spec, std::vector<std::int64_t> mins, Dims dims = {});
  /// Is \p tensor, written in \p group, wanted behind it?
  bool is_seen(std::size_t tensor, const StepGroup& group) const;
};

}  // namespace tc::graph
