#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tc/graph/resolve/branch_and_bound.h"
#include "tc/layout/map/layout.h"

/// Which layout each tensor of a graph has, and where it is converted: resolution and optimisation after VTensor (the
/// paper's DLR, LHO and EWO), over graphs whose nodes say what they need.
namespace tc::graph {

using layout::Layout;

/// A tensor between nodes.
struct LayoutTensor {
  std::string name;
  double weight = 1;                    ///< what a conversion of it costs: 1, bytes, or seconds; 0 of a constant
  std::optional<std::size_t> producer;  ///< a node; none of an input
  Layout given = {};                    ///< of an input
};

/// A way in which a node takes and gives its tensors: layouts of its inputs, then of its outputs, and what it costs, in
/// the unit of the weights of tensors.
struct LayoutAlternative {
  std::vector<Layout> layouts;
  double cost = 0;
};

/// What a node needs of the layouts of its operands.
struct LayoutNode {
  std::string name;
  std::vector<std::size_t> inputs, outputs;  ///< tensors
  /// One an input, then one an output; nothing for any: an input is taken as it is produced, an output is in the layout of the
  /// first input.
  std::vector<std::optional<Layout>> required;
  /// Of an element-wise node: all its operands may be in one of these. Empty: `required` holds.
  std::vector<Layout> candidates = {};
  /// Of a node that computes in several ways: it takes one of these, and neither `required` nor `candidates` is read.
  std::vector<LayoutAlternative> alternatives = {};

  /// Does choose_layouts() decide its layouts?
  bool has_choice() const { return !candidates.empty() || !alternatives.empty(); }
  /// The layout of operand \p operand, inputs before outputs, in choice number \p choice.
  const Layout& chosen(std::size_t choice, std::size_t operand) const {
    return alternatives.empty() ? candidates[choice] : alternatives[choice].layouts[operand];
  }
};

/// Nodes in an order in which each stands behind those whose results it reads.
struct LayoutGraph {
  std::vector<LayoutTensor> tensors;
  std::vector<LayoutNode> nodes;
};

/// A copy of a tensor in another layout, for some of those that read it.
struct LayoutConversion {
  std::size_t tensor = 0;
  Layout to;
  std::vector<std::size_t> consumers;  ///< nodes
};

struct LayoutResolution {
  std::vector<Layout> produced;               ///< of each tensor
  std::vector<std::vector<Layout>> required;  ///< of each node's inputs
  std::vector<LayoutConversion> conversions;
  std::vector<std::optional<std::size_t>>
      choices;  ///< of each node that has any: the number of its candidate, or alternative
  /// What no choice costs less than, if the choice may not be the cheapest one: branch_and_bound.h.
  std::optional<double> bound = {};

  /// The weights of all conversions, and the costs of the alternatives that were chosen.
  double cost(const LayoutGraph& graph) const;
};

/// What the layouts of \p graph are if each node gets what it asks for (the paper's algorithm 1), the first of its alternatives
/// where it has some, and a conversion for each input that asks for another layout than it is produced in. No node runs.
LayoutResolution resolve_layouts(const LayoutGraph& graph);

/// Which conversions of one tensor become one.
enum class Hoisting {
  AllConsumers,  ///< where all consumers ask for one layout, as in the paper
  Common,        ///< those to one layout
};
/// \p resolution with conversions of a tensor before its consumers part.
///
///   before  Y -> conv a, Y -> conv b, Y -> conv c, each through a conversion to NHWC        after   one conversion of Y
LayoutResolution hoist_conversions(const LayoutGraph& graph, LayoutResolution resolution, Hoisting hoisting);

/// What is made small when element-wise nodes choose.
enum class LayoutObjective {
  Edges,   ///< a conversion for each input in another layout, as in the paper
  Shared,  ///< a conversion for each layout that a tensor is asked for
};
/// The resolution of \p graph in which nodes with candidates or alternatives take those of least cost. Conversions are one an
/// input for Edges, shared for Shared. Exact for graphs whose nodes with choices are not too entangled for \p limits; for others a search
/// stops after its steps, and LayoutResolution::bound is set.
LayoutResolution choose_layouts(const LayoutGraph& graph, LayoutObjective objective, const SearchLimits& limits = {});

/// What a program that runs node by node chooses, which does not know those that follow (VTensor, section 7.1): each node takes
/// the candidate or alternative that costs least where its inputs lie, the first of equal ones; a conversion that was made once
/// is there for later nodes. What is chosen for a node does not depend on nodes behind it; it never costs less than choose_layouts()
/// for Shared.
LayoutResolution resolve_greedily(const LayoutGraph& graph);

/// The propagation of one operator's layout to the next, forwards (ALT's FP): in order, each node takes the cheapest alternative that reads its
/// inputs as they are produced, whatever that costs it, and a conversion only if it has none. Constants lie as they are liked.
LayoutResolution resolve_forward(const LayoutGraph& graph);
/// The same backwards (ALT's BP): from the last node on, each takes the cheapest alternative that gives its results as they are read.
LayoutResolution resolve_backward(const LayoutGraph& graph);

}  // namespace tc::graph
