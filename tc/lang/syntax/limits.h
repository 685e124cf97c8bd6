#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "tc/lang/syntax/tree.h"

/// How much a text may hold, so that every pass over it ends soon and recursive ones fit any stack.
namespace tc::lang {

constexpr std::size_t max_text_bytes = std::size_t{1} << 22;
constexpr std::size_t max_text_nodes = std::size_t{1} << 20;     ///< expressions and parts of them, as written
constexpr std::size_t max_statement_nodes = 10000;               ///< with the names of `where` written out
constexpr std::size_t max_def_nodes = std::size_t{1} << 17;      ///< with the calls written out
constexpr std::size_t max_inlined_nodes = std::size_t{1} << 20;  ///< of all defs together
constexpr std::size_t max_graph_nodes = std::size_t{1} << 22;    ///< of a def of many calls, which stay calls
constexpr int max_depth = 400;                                   ///< of the tree of an expression
constexpr int max_nesting = max_depth;                           ///< of parentheses and the like as written

/// The size of a tree. Counts of nodes stay where they are beyond max_text_nodes.
struct Measure {
  std::size_t nodes = 0;
  int depth = 0;

  /// Takes in a part that stands beside the others.
  void add(const Measure& part);
};

/// \p expr as a tree, names that \p names holds counting as much as what they stand for. Parts that are shared count at
/// every place; the walk ends beyond \p most nodes.
Measure measure(const ExprPtr& expr, const std::map<std::string, Measure>& names = {},
                std::size_t most = max_text_nodes);
/// All expressions of \p assignment.
Measure measure(const Assignment& assignment, std::size_t most = max_text_nodes);

}  // namespace tc::lang
