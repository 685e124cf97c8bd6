#include "tc/engine/parts/linear_groups.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tc/derive/form/fill.h"
#include "tc/derive/form/from_def.h"
#include "tc/derive/form/refusal.h"
#include "tc/graph/constant_nodes.h"

namespace tc::engine {
namespace {

/// What a node is to a group.
enum class Linearity : std::uint8_t {
  Other,
  Sum,  ///< of scaled tensors: copies are sums of one
  Product,
};

bool is_number(const lang::ExprPtr& expr, DType type) { return derive::literal_value(expr, type).has_value(); }

/// Is \p part of the reduction \p scope a sum of products of reads and numbers?
bool is_product(const derive::Scope& scope, const derive::Case& part) {
  for (const auto& term : derive::terms(part.body, *scope.op))
    for (const auto& factor : derive::factors(term, derive::product_operator(term, *scope.op)))
      if (!derive::read_number(factor) && !is_number(factor, scope.type)) return false;
  return true;
}

/// Is \p body a sum of elements, each times numbers and elements of \p constants?
bool is_sum(const derive::Scope& scope, const derive::Case& part, const lang::ExprPtr& body,
            const std::set<std::string>& constants) {
  if (const auto* unary = std::get_if<lang::Unary>(&body->node); unary && unary->op == lang::UnaryOp::Negate)
    return is_sum(scope, part, unary->value, constants);
  if (const auto* binary = std::get_if<lang::Binary>(&body->node)) {
    if (binary->op == lang::BinaryOp::Add || binary->op == lang::BinaryOp::Sub)
      return is_sum(scope, part, binary->left, constants) && is_sum(scope, part, binary->right, constants);
    if (binary->op == lang::BinaryOp::Div)
      return is_number(binary->right, scope.type) && is_sum(scope, part, binary->left, constants);
  }
  int varying = 0;
  for (auto factor : derive::factors(body, "*")) {
    if (const auto* unary = std::get_if<lang::Unary>(&factor->node); unary && unary->op == lang::UnaryOp::Negate)
      factor = lang::ExprPtr(unary->value);
    const auto read = derive::read_number(factor);
    if (!read && !is_number(factor, scope.type)) return false;
    if (read && part.reads[*read].tensor.empty()) return false;
    varying += read && !constants.count(part.reads[*read].tensor);
  }
  return varying <= 1;
}

Linearity kind_of(const graph::Graph& graph, const graph::Node& node, const std::set<std::string>& constants) try {
  std::vector<TensorSpec> inputs;
  for (const auto tensor : node.inputs) inputs.push_back(graph.tensors[tensor].spec);
  const auto program = derive::from_def(*node.def, inputs, std::make_shared<polyhedral::Context>());
  auto result = Linearity::Sum;
  for (const auto& scope : program.scopes) {
    if (!scope->uniform) return Linearity::Other;
    for (const auto& part : scope->cases)
      if (!(scope->op ? is_product(*scope, part) : is_sum(*scope, part, part.body, constants))) return Linearity::Other;
    if (scope->op) result = Linearity::Product;
  }
  return result;
} catch (const derive::Refusal&) {
  return Linearity::Other;
}

class Grouping {
 public:
  Grouping(const graph::Graph& graph, const std::set<std::string>& constants)
      : graph_(graph), decided_(graph::decided_nodes(graph, constants)), parent_(graph.nodes.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    held_ = graph::held_tensors(graph, constants, decided_);
    std::map<std::pair<const void*, std::set<std::string>>, Linearity> known;
    for (const auto& node : graph.nodes) {
      const auto held = held_parameters(node);
      const auto [entry, is_new] = known.emplace(std::pair(node.def.get(), held), Linearity::Other);
      kinds_.push_back(is_new || node.callee.empty() ? entry->second = kind_of(graph, node, held) : entry->second);
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
      for (auto& group : cut(nodes)) {
        const bool any =
            std::any_of(group.begin(), group.end(), [&](auto n) { return kinds_[n] == Linearity::Product; });
        if (group.size() > 1 && any) result.push_back(std::move(group));
      }
    return result;
  }

 private:
  /// The names in the def of \p node of tensors that never change.
  std::set<std::string> held_parameters(const graph::Node& node) const {
    std::set<std::string> result;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (held_.count(node.inputs[i])) result.insert(node.def->def.params[i].name);
    return result;
  }

  /// \p nodes in parts of most_products_together products, and the sums before the next one.
  std::vector<std::vector<std::size_t>> cut(const std::vector<std::size_t>& nodes) const {
    std::vector<std::vector<std::size_t>> result(1);
    std::size_t products = 0;
    for (const auto node : nodes) {
      const bool is_product = kinds_[node] == Linearity::Product;
      if (is_product && products == most_products_together) {
        result.emplace_back();
        products = 0;
      }
      products += is_product;
      result.back().push_back(node);
    }
    return result;
  }

  bool is_member(std::size_t node) const { return kinds_[node] != Linearity::Other && !decided_.count(node); }

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
  std::vector<Linearity> kinds_;
  std::vector<std::size_t> levels_, parent_;
};

}  // namespace

std::vector<std::vector<std::size_t>> linear_groups(const graph::Graph& graph, const std::set<std::string>& constants) {
  return Grouping(graph, constants).run();
}

}  // namespace tc::engine
