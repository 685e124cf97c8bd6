#include "tc/library/match/post_ops.h"

#include "tc/library/match/expression.h"

namespace tc::library {
namespace {

bool holds_reduction(const NodePtr& node) {
  bool result = false;
  for_each_node(node, [&](const Node& n) { result = result || std::holds_alternative<Reduce>(n.value); });
  return result;
}

/// The condition of "?" of \p apply is that its value \p then is positive, and it is 0 otherwise.
bool is_written_out_relu(const Apply& apply) {
  if (apply.function != "?" || !is_constant(apply.arguments[2], 0)) return false;
  const auto* condition = std::get_if<Apply>(&apply.arguments[0]->value);
  if (!condition || (condition->function != ">" && condition->function != ">=")) return false;
  return is_constant(condition->arguments[1], 0) && is_same(condition->arguments[0], apply.arguments[1]);
}

/// The factors of \p node, a product however it is bracketed, added to \p factors.
void add_factors(const NodePtr& node, std::vector<NodePtr>& factors) {
  const auto* apply = std::get_if<Apply>(&node->value);
  if (!apply || apply->function != "*") return factors.push_back(node);
  for (const auto& argument : apply->arguments) add_factors(argument, factors);
}

bool is_instance(const NodePtr& node, const NodePtr& pattern, NodePtr& value);

/// Is each of \p nodes from \p first on an instance of one of \p patterns from there on, in any order?
bool are_instances(const std::vector<NodePtr>& nodes, std::vector<NodePtr> patterns, std::size_t first,
                   NodePtr& value) {
  if (first == nodes.size()) return true;
  for (std::size_t p = first; p < patterns.size(); ++p) {
    auto own = value;
    std::swap(patterns[first], patterns[p]);
    if (is_instance(nodes[first], patterns[first], own) && are_instances(nodes, patterns, first + 1, own)) {
      value = own;
      return true;
    }
    std::swap(patterns[first], patterns[p]);
  }
  return false;
}

/// Is \p node what \p pattern is, with one expression where the pattern reads its input? \p value is that expression, null if
/// none is known yet. Numbers are compared as float32; factors and summands may be in any order.
bool is_instance(const NodePtr& node, const NodePtr& pattern, NodePtr& value) {
  if (std::holds_alternative<Read>(pattern->value)) {
    if (!value) value = node;
    return is_same(value, node);
  }
  if (const auto* number = std::get_if<Constant>(&pattern->value)) {
    const auto* own = std::get_if<Constant>(&node->value);
    return own && static_cast<float>(own->value) == static_cast<float>(number->value);
  }
  const auto *apply = std::get_if<Apply>(&node->value), *other = std::get_if<Apply>(&pattern->value);
  if (!apply || !other || apply->function != other->function) return false;
  auto nodes = apply->arguments, patterns = other->arguments;
  if (apply->function == "*") {
    nodes.clear();
    patterns.clear();
    add_factors(node, nodes);
    add_factors(pattern, patterns);
  }
  return nodes.size() == patterns.size() && are_instances(nodes, patterns, 0, value);
}

/// The expression whose gelu, with tanh, \p node is; null if it is none.
NodePtr argument_of_gelu(const NodePtr& node) {
  static const auto& pattern = *new NodePtr(
      understand_routine("def gelu(float(N) X) -> (Y) { Y(n) = 0.5 * X(n) * (1 + tanh(0.7978845608028654 * (X(n) + "
                         "0.044715 * X(n) * X(n) * X(n)))) }")
          .value);
  NodePtr value;
  return is_instance(node, pattern, value) && holds_reduction(value) ? value : nullptr;
}

/// The last operation of \p node, if it is a post-op, and what it is done to.
std::optional<std::pair<NodePtr, PeeledOp>> last_op(const NodePtr& node) {
  const auto* apply = std::get_if<Apply>(&node->value);
  if (!apply) return std::nullopt;
  const auto relu = [](bool drops_nan) { return PeeledOp{PostOp::Kind::Relu, {}, drops_nan}; };
  if (auto argument = argument_of_gelu(node)) return std::pair{std::move(argument), PeeledOp{PostOp::Kind::Gelu}};
  if (is_written_out_relu(*apply)) return std::pair{apply->arguments[1], relu(true)};
  if (apply->arguments.size() != 2) return std::nullopt;
  for (int side : {0, 1}) {
    const auto& value = apply->arguments[static_cast<std::size_t>(side)];
    const auto& other = apply->arguments[static_cast<std::size_t>(1 - side)];
    if (!holds_reduction(value)) continue;
    if (is_constant(other, 0) && (apply->function == "max" || apply->function == "fmax"))
      return std::pair{value, relu(apply->function == "fmax")};
    if (const auto* limit = std::get_if<Constant>(&other->value);
        limit && (apply->function == "min" || apply->function == "fmin"))
      return std::pair{value, PeeledOp{PostOp::Kind::AtMost, {}, false, limit->value}};
    if (const auto* read = std::get_if<Read>(&other->value); read && apply->function == "+")
      return std::pair{value, PeeledOp{PostOp::Kind::Add, *read}};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Peeled> peel(const NodePtr& value) {
  std::vector<Peeled> result{{value, {}}};
  while (auto op = last_op(result.back().core)) {
    if (!holds_reduction(op->first)) break;
    Peeled next{op->first, result.back().ops};
    next.ops.insert(next.ops.begin(), op->second);
    result.push_back(std::move(next));
  }
  return result;
}

}  // namespace tc::library
