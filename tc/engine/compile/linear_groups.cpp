#include "tc/engine/compile/linear_groups.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tc/derive/form/from_def.h"
#include "tc/derive/form/refusal.h"
#include "tc/graph/constant_nodes.h"

namespace tc::engine {
namespace {

/// What a node is to a group.
enum class Kind : std::uint8_t { Other, Copy, Product };

/// Is \p part of \p scope a product of reads, or a single one?
bool is_product_of_reads(const derive::Scope& scope, const derive::Case& part) {
  if (!scope.op) return derive::read_number(part.body).has_value();
  for (const auto& factor : derive::factors(part.body, derive::product_operator(part.body, *scope.op)))
    if (!derive::read_number(factor)) return false;
  return true;
}

Kind kind_of(const graph::Graph& graph, const graph::Node& node) try {
  std::vector<TensorSpec> inputs;
  for (const auto tensor : node.inputs) inputs.push_back(graph.tensors[tensor].spec);
  const auto program = derive::from_def(*node.def, inputs, std::make_shared<polyhedral::Context>());
  auto result = Kind::Copy;
  for (const auto& scope : program.scopes) {
    if (!scope->uniform) return Kind::Other;
    for (const auto& part : scope->cases)
      if (!is_product_of_reads(*scope, part)) return Kind::Other;
    if (scope->op) result = Kind::Product;
  }
  return result;
} catch (const derive::Refusal&) {
  return Kind::Other;
}

class Grouping {
 public:
  Grouping(const graph::Graph& graph, const std::set<std::string>& constants)
      : graph_(graph), decided_(graph::decided_nodes(graph, constants)), parent_(graph.nodes.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    held_ = graph::held_tensors(graph, constants, decided_);
    std::map<const void*, Kind> known;
    for (const auto& node : graph.nodes) {
      const auto [entry, is_new] = known.emplace(node.def.get(), Kind::Other);
      kinds_.push_back(is_new || node.callee.empty() ? entry->second = kind_of(graph, node) : entry->second);
    }
    set_levels();
  }

  std::vector<std::vector<std::size_t>> run() {
    join_members();
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (is_member(n)) groups[root(n)].push_back(n);
    std::vector<std::vector<std::size_t>> result;
    for (const auto& [first, nodes] : groups)
      for (std::size_t begin = 0; begin < nodes.size(); begin += most_nodes_together) {
        const auto end = std::min(begin + most_nodes_together, nodes.size());
        std::vector<std::size_t> group(nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                                       nodes.begin() + static_cast<std::ptrdiff_t>(end));
        const bool any = std::any_of(group.begin(), group.end(), [&](auto n) { return kinds_[n] == Kind::Product; });
        if (group.size() > 1 && any) result.push_back(std::move(group));
      }
    return result;
  }

 private:
  bool is_member(std::size_t node) const { return kinds_[node] != Kind::Other && !decided_.count(node); }

  /// How many nodes that are no members lie on the longest way to each.
  void set_levels() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      std::size_t level = 0;
      for (const auto tensor : graph_.nodes[n].inputs)
        if (const auto& producer = graph_.tensors[tensor].producer; producer && !decided_.count(*producer))
          level = std::max(level, levels_[*producer] + (is_member(*producer) ? 0 : 1));
      levels_.push_back(level);
    }
  }

  void join_members() {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (held_.count(t)) continue;
      const auto& tensor = graph_.tensors[t];
      auto around = tensor.consumers;
      if (tensor.producer) around.push_back(*tensor.producer);
      for (const auto a : around)
        for (const auto b : around)
          if (is_member(a) && is_member(b) && levels_[a] == levels_[b])
            parent_[std::max(root(a), root(b))] = std::min(root(a), root(b));
    }
  }

  std::size_t root(std::size_t node) const {
    while (parent_[node] != node) node = parent_[node];
    return node;
  }

  const graph::Graph& graph_;
  std::set<std::size_t> decided_, held_;
  std::vector<Kind> kinds_;
  std::vector<std::size_t> levels_, parent_;
};

}  // namespace

std::vector<std::vector<std::size_t>> linear_groups(const graph::Graph& graph, const std::set<std::string>& constants) {
  return Grouping(graph, constants).run();
}

}  // namespace tc::engine
