#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/graph/graph.h"
#include "tc/graph/options/partition_kind.h"

namespace tc::graph {

/// Nodes that are compiled together, in order, and the tensors they read and give to others, as parameters and returns
/// of the def they are. Those that stay inside disappear.
struct Part {
  std::vector<std::size_t> nodes, inputs, outputs;
};

/// What partition() obeys, and whom it asks.
struct PartitionLimits {
  std::size_t statements = 12;       ///< of a part, with its calls written out
  std::set<std::size_t> apart = {};  ///< nodes that are in no part with others than these, see constant_nodes()
  std::set<std::size_t> alone = {};  ///< nodes that are a part each: conversions, whose order of loops is their own
  /// Bytes of a tensor that no cache of a core holds. A product that reads a larger one joins the part that writes it, and any parts join
  /// along a larger one, where one part takes at most `tie` times as long as the two.
  double large = std::numeric_limits<double>::infinity();
  double tie = 1;
  /// Seconds of a run of a part; nothing where nobody knows. Equal parts (key_of) are asked for once.
  std::function<std::optional<double>(const Part& part)> seconds = {};
};

/// The parts of \p graph, each behind those whose results it reads.
///
/// Partition::Auto merges the parts at both ends of a tensor, the largest tensors of a node first: its bytes need no
/// longer be read, and where all its readers are inside, not be written either. A reader that reduces rows, or anything else
/// less than a product, joins where limits.seconds say that one part takes no longer than the two; where these say nothing, if the
/// other part holds no product, which would lose its register tile. So does a product that reads a large tensor, which strips of rows would keep
/// in a cache (polyhedral/map/fuse_in_strips.h). The rest are rules, as a price has nothing to weigh:
///
///   a reader that reduces nothing joins           it computes each element once either way, and saves bytes
///   a product, a convolution joins nothing else   its tile reads copies, many times each: one pass over what it
///                                                 reads is all that could be saved, for the order of its loops
///   what reads elements by index stays alone      its checks are launches of their own
///   a part has limits.statements at most          the scheduler's time is what more would cost
///   a part never waits for itself                 nothing could run it
///
///   before  Z = conv(X, W)  B(i,...) = Z(i,...) + b(i)  Y = relu(B)        after  one part (X, W, b) -> (Y)
std::vector<Part> partition(const Graph& graph, Partition kind = Partition::Auto, const PartitionLimits& limits = {});

/// \p nodes of \p graph, in order, as a part.
Part make_part(const Graph& graph, std::vector<std::size_t> nodes);

/// \p part as a def without calls, its parameters and returns as `inputs` and `outputs`. Throws SemanticError.
std::shared_ptr<const lang::InlinedDef> def_of(const Graph& graph, const Part& part);

/// Equal for parts of \p graph whose defs do the same with tensors of equal types and shapes, and give the same
/// messages.
std::string key_of(const Graph& graph, const Part& part);

/// \p graph as a text of a def for each different part, and one that calls them.
std::string to_text(const Graph& graph, const std::vector<Part>& parts);

}  // namespace tc::graph
