#include "tc/engine/parts/library_parts.h"

namespace tc::engine {
namespace {

/// A routine takes at most so many nodes before the one that makes it one: copies, padding.
constexpr std::size_t most_before = 2;

using Nodes = std::vector<std::size_t>;

/// How many nodes of \p nodes from \p first on are one call; 0: none.
std::size_t nodes_of_call(const graph::Graph& graph, const Nodes& nodes, std::size_t first,
                          const IsLibraryCall& is_call) {
  std::size_t found = 0;
  for (std::size_t count = 1; first + count <= nodes.size(); ++count) {
    const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(first);
    if (is_call(graph::make_part(graph, Nodes(begin, begin + static_cast<std::ptrdiff_t>(count)))))
      found = count;
    else if (found > 0 || count > most_before)
      break;
  }
  return found;
}

/// The pieces of \p nodes; one where no library takes any.
std::vector<Nodes> cut(const graph::Graph& graph, const Nodes& nodes, const IsLibraryCall& is_call) {
  std::vector<Nodes> pieces;
  Nodes between;
  auto end_between = [&] {
    if (!between.empty()) pieces.push_back(std::move(between));
    between.clear();
  };
  for (std::size_t i = 0; i < nodes.size();) {
    const auto count = nodes_of_call(graph, nodes, i, is_call);
    if (count == 0) {
      between.push_back(nodes[i++]);
      continue;
    }
    end_between();
    const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(i);
    pieces.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
    i += count;
  }
  end_between();
  return pieces;
}

}  // namespace

std::vector<graph::Part> cut_for_libraries(const graph::Graph& graph, const std::vector<graph::Part>& parts,
                                           const IsLibraryCall& is_call, const CutPays& pays) {
  std::vector<graph::Part> result;
  for (const auto& part : parts) {
    std::vector<graph::Part> pieces;
    if (part.nodes.size() > 1 && !is_call(part))
      for (const auto& nodes : cut(graph, part.nodes, is_call)) pieces.push_back(graph::make_part(graph, nodes));
    if (pieces.size() > 1 && pays(part, pieces))
      result.insert(result.end(), pieces.begin(), pieces.end());
    else
      result.push_back(part);
  }
  return result;
}

}  // namespace tc::engine
