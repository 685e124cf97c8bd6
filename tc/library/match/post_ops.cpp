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

/// The last operation of \p node, if it is a post-op, and what it is done to.
std::optional<std::pair<NodePtr, PeeledOp>> last_op(const NodePtr& node) {
  const auto* apply = std::get_if<Apply>(&node->value);
  if (!apply) return std::nullopt;
  const auto relu = [](bool drops_nan) { return PeeledOp{PostOp::Kind::Relu, {}, drops_nan}; };
  if (is_written_out_relu(*apply)) return std::pair{apply->arguments[1], relu(true)};
  if (apply->arguments.size() != 2) return std::nullopt;
  for (int side : {0, 1}) {
    const auto& value = apply->arguments[static_cast<std::size_t>(side)];
    const auto& other = apply->arguments[static_cast<std::size_t>(1 - side)];
    if (!holds_reduction(value)) continue;
    if (is_constant(other, 0) && (apply->function == "max" || apply->function == "fmax"))
      return std::pair{value, relu(apply->function == "fmax")};
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
