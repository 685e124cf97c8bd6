#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/graph/graph.h"

namespace tc::graph {

/// Defs that are made for nodes of a graph, beside those of its text.
class NewDefs {
 public:
  /// \p taken: names that no new def may have, besides those of \p known.
  NewDefs(std::shared_ptr<const Defs> known, std::set<std::string> taken);

  /// The name by which \p def, whose sizes are numbers and which calls nothing, is called: its own, or where that is taken
  /// one with a number behind it. Defs that differ in nothing else are one. Tensors and iterators that are called as another
  /// def is get such names, too.
  std::string add(lang::Def def);

  /// All defs, those that were added checked and with their ranges; places in them are those of a text that holds the
  /// known text and then what was added. The known ones themselves where nothing was. Throws SemanticError.
  std::shared_ptr<const Defs> all() const;

 private:
  std::shared_ptr<const Defs> known_;
  std::set<std::string> taken_, defs_;        ///< by anything, and by defs
  std::map<std::string, std::string> names_;  ///< by the text without its name
  std::vector<std::string> texts_;
};

/// A call of def \p callee of \p defs as a node of \p graph that reads tensors \p inputs and writes \p outputs.
Node call_node(const Graph& graph, const Defs& defs, const std::string& callee, std::vector<std::size_t> inputs,
               std::vector<std::size_t> outputs);

/// A graph of one node: a call of def \p name of \p defs, which holds no calls, for \p inputs. Throws ArgumentError for inputs that
/// do not fit.
Graph graph_of_call(const std::shared_ptr<const Defs>& defs, const std::string& name,
                    const std::vector<TensorSpec>& inputs);

/// \p graph with producers and consumers of its tensors as its nodes are.
Graph with_edges(Graph graph);

}  // namespace tc::graph
