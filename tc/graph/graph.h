#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/base/tensor.h"
#include "tc/graph/statement/symbolic_dims.h"
#include "tc/lang/check/inline.h"
#include "tc/lang/syntax/tree.h"

/// Defs that call defs, and long ones, as graphs.
namespace tc::graph {

/// What a graph is made from: a checked text, and its defs with lets written out and ranges: those that hold no calls,
/// and of the others those that are not too long to have their calls written out.
struct Defs {
  std::shared_ptr<const lang::File> file;
  std::map<std::string, std::shared_ptr<const lang::InlinedDef>> call_free, written_out;
};

/// A tensor of a graph. Between nodes all are dense and begin at index 0.
struct Tensor {
  std::string name;
  TensorSpec spec;
  std::vector<std::int64_t> mins;  ///< the indices of its first element in the statements that write it
  lang::Role role = lang::Role::Temporary;
  std::optional<std::size_t> producer;  ///< the node that writes it; none of an input
  std::vector<std::size_t> consumers;   ///< the nodes that read it, in order
  Dims dims = {};                       ///< over the symbolic sizes of the graph
};

/// A call of a def without calls, or statements that belong together, as they write one tensor.
struct Node {
  /// Over the names of the graph's tensors, as the parser gives them; sizes are numbers.
  std::vector<lang::Statement> statements;
  std::vector<std::size_t> inputs, outputs;  ///< tensors, as parameters and returns of `def`
  /// What it computes; its names are its own. Equal nodes may share one.
  std::shared_ptr<const lang::InlinedDef> def;
  /// Of a node that is a call: the def of the text, else empty.
  std::string callee;
};

/// Has \p def, or what \p node computes, a statement that reduces?
bool reduces(const lang::InlinedDef& def);
inline bool reduces(const Node& node) { return reduces(*node.def); }

/// A def for concrete sizes. Each tensor is written by one node, before the nodes that read it.
///
///   def main(float(N,C) X, float(C,C) W) -> (Y) {        nodes 0: A = fc(X, W)
///     A = fc(X, W)  Y = block(A, W) }                          1: B = fc(A, W)      a call of block, flattened
///   def block(float(N,C) X, float(C,C) W) -> (Y) {             2: Y(i,j) = B(i,j) + A(i,j)
///     B = fc(X, W)  Y(i,j) = B(i,j) + X(i,j) }
struct Graph {
  std::string name;
  std::shared_ptr<const Defs> defs;
  std::vector<Tensor> tensors;
  std::vector<std::size_t> inputs, outputs;  ///< in order of the parameters and the returns
  std::vector<Node> nodes;

  /// The names of the defs that nodes call.
  std::set<std::string> callees() const;
};

/// \p graph as a text of the defs it calls and one def for its sizes, which means the same.
std::string to_text(const Graph& graph);

}  // namespace tc::graph
