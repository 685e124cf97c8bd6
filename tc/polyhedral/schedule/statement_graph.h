#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// One member of a band: for each statement (by index) sign * iterator + shift.
struct Row {
  struct Term {
    int iterator;
    int sign = 1;
    std::int64_t shift = 0;
  };
  std::map<int, Term> terms;
};
using Rows = std::vector<Row>;

/// What the scheduler needs to know of a statement and of the dependences between two statements, as numbers.
class StatementGraph {
 public:
  struct Node {
    std::string id;
    isl::set domain;
    bool accumulates = false;
    bool padded = false;                        ///< Statement::padded
    std::vector<Statement::OrderedLoop> loops;  ///< Statement::loops
    std::set<std::string> reads;                ///< names of tensors
    std::vector<int> order;                 ///< iterators: those of the left-hand side in its order, then the others
    std::vector<std::int64_t> min, extent;  ///< of each iterator
    std::vector<bool> coincident;           ///< all of the statement's own dependences have distance 0
    std::vector<bool> forward;              ///< its own validity dependences have no negative distance
    /// Number of statements.
    int size() const { return static_cast<int>(order.size()); }
  };
  struct Edge {
    int source, sink;
    /// shift[d][e]: every sink instance has e-th iterator = d-th iterator of the source instance + shift.
    std::vector<std::vector<std::optional<std::int64_t>>> shift;
  };

  StatementGraph(const Scop& scop, const Dependences& dependences);

  std::vector<Node> nodes;  ///< in program order
  std::vector<Edge> edges;  ///< between different statements

 private:
  void add_self_dependence(Node& node, const isl::map& pairs, bool validity);
};

/// The iterators of each statement that no outer band has used yet.
using Free = std::vector<std::vector<bool>>;

/// The members of a common band of \p statements, at most one free iterator a statement, along which all dependences
/// among them have distance 0: coincident members. In the left-hand order of the statement with the fewest candidates.
/// Statements without a dependence between them are aligned by position and need equal ranges.
///
///   C(m, n) +=! A(m, k) * B(k, n); D(n, m) = C(m, n)      [m; m; j2], [n; n; j1]
Rows align(const StatementGraph& graph, const std::vector<int>& statements, const Free& free);

}  // namespace tc::polyhedral
