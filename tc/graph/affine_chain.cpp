#include "tc/graph/affine_chain.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/graph/statement/rewrite_statement.h"
#include "tc/graph/statement/split_affine.h"
#include "tc/graph/versioned_def.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {
namespace {

using lang::ExprPtr;

ExprPtr name(const std::string& id) { return lang::make_expr(lang::Name{id}); }

const lang::Assignment& statement_of(const Node& node) {
  return std::get<lang::Assignment>(node.def->def.statements.front().node);
}

bool is_single(const Node& node) {
  return node.def->def.statements.size() == 1 && node.outputs.size() == 1 && node.def->ranges.data_dependent.empty();
}

bool begins_at_zero(const Graph& graph, std::size_t tensor) {
  const auto& mins = graph.tensors[tensor].mins;
  return std::all_of(mins.begin(), mins.end(), [](auto min) { return min == 0; });
}

/// The tensors of \p graph by what \p node calls them.
std::map<std::string, std::string> names_in(const Node& node) {
  std::map<std::string, std::string> result;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    result[node.def->def.params[i].name] = tensor_name(node.inputs[i]);
  for (std::size_t o = 0; o < node.outputs.size(); ++o)
    result[node.def->def.returns[o].name] = tensor_name(node.outputs[o]);
  return result;
}

ExprPtr with_iterators(const ExprPtr& expr, const std::map<std::string, ExprPtr>& values) {
  return replaced(expr, [&](const ExprPtr& part) -> ExprPtr {
    const auto* id = std::get_if<lang::Name>(&part->node);
    const auto found = id ? values.find(id->id) : values.end();
    return found == values.end() ? nullptr : found->second;
  });
}

/// The iterator v in v / m or v % m, where \p op is that operator; "" in others.
std::string digit_of(const ExprPtr& expr, lang::BinaryOp op, std::uint64_t m) {
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  const auto* id = binary ? std::get_if<lang::Name>(&binary->left->node) : nullptr;
  const auto* by = binary ? std::get_if<lang::IntLiteral>(&binary->right->node) : nullptr;
  return id && by && binary->op == op && by->value == m ? id->id : "";
}

/// Values of iterators of \p extents by which elements are read: what \p at, their subscripts, say of them where the element is
/// \p element; null where nothing is known of that. Only those that run through all of a dimension of \p shape.
///
///   at (i, 0, j/8, j%8, k*3 + l), element (a, b, c, d, e)        i = a, j = c*8 + d
std::map<std::string, ExprPtr> inverse(const std::vector<ExprPtr>& at, const std::vector<ExprPtr>& element,
                                       const std::vector<std::int64_t>& shape,
                                       const std::map<std::string, std::int64_t>& extents) {
  std::map<std::string, ExprPtr> result;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (!element[d]) continue;
    if (const auto* id = std::get_if<lang::Name>(&at[d]->node); id && extents.at(id->id) == shape[d])
      result[id->id] = element[d];
    if (d == 0 || !element[d - 1]) continue;
    const auto m = static_cast<std::uint64_t>(shape[d]);
    const auto low = digit_of(at[d], lang::BinaryOp::Mod, m);
    if (low.empty() || digit_of(at[d - 1], lang::BinaryOp::Div, m) != low) continue;
    if (extents.at(low) != shape[d - 1] * shape[d]) continue;
    const auto high =
        lang::make_expr(lang::Binary{lang::BinaryOp::Mul, element[d - 1], lang::make_expr(lang::IntLiteral{m})});
    result[low] = lang::make_expr(lang::Binary{lang::BinaryOp::Add, high, element[d]});
  }
  return result;
}

bool names_any(const ExprPtr& expr, const std::set<std::string>& ids) {
  bool found = false;
  lang::for_each_expr(expr, [&](const ExprPtr& part) {
    const auto* id = std::get_if<lang::Name>(&part->node);
    found = found || (id && ids.count(id->id));
  });
  return found;
}

/// Does \p statement, of floats of one type, sum products?
bool is_sum(const lang::Assignment& statement, const Node& node) {
  const auto type = node.def->def.tensors.at(statement.target).type;
  return statement.reduction == ReductionOp::Sum && statement.initialise && is_float(type) && !is_half(type) &&
         statement.rhs->type == type && !statement.reduction_iterators.empty();
}

/// The factors of the sum \p statement that are elements of constants, of its type.
std::vector<ExprPtr> constant_factors(const lang::Assignment& statement, const std::set<std::string>& constants) {
  std::vector<ExprPtr> result;
  for (const auto& factor : factors_of(statement.rhs))
    if (constants.count(std::get<lang::Access>(factor->node).tensor) && factor->type == statement.rhs->type)
      result.push_back(factor);
  return result;
}

std::vector<std::int64_t> shape_of(const Graph& graph, const Node& node, const std::string& param) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.def->def.params[i].name == param) return graph.tensors[node.inputs[i]].spec.shape;
  return {};
}

/// Follows a sum from reader to reader.
class Following {
 public:
  Following(const Graph& graph, const std::set<std::size_t>& held, AffineChain chain)
      : graph_(graph), held_(held), chain_(std::move(chain)) {
    last_ = graph.nodes[chain_.nodes.front()].outputs.front();
    for (std::size_t d = 0; d < graph.tensors[last_].spec.shape.size(); ++d) {
      element_.push_back(name(sum_iterator(d)));
      chain_.at.push_back(name(result_iterator(d)));
    }
  }

  AffineChain run() {
    while (step()) {
    }
    return chain_;
  }

 private:
  /// Goes on to what reads the last tensor alone, if that is affine in it and its scales can be moved.
  bool step() {
    const auto& tensor = graph_.tensors[last_];
    if (tensor.role != lang::Role::Temporary || tensor.consumers.size() != 1 || !begins_at_zero(graph_, last_))
      return false;
    const auto& node = graph_.nodes[tensor.consumers.front()];
    if (!is_single(node) || statement_of(node).reduction || !is_like_last(node.outputs.front()) ||
        !others_are_held(node))
      return false;
    const auto place = std::find(node.inputs.begin(), node.inputs.end(), last_) - node.inputs.begin();
    const auto steps = affine_steps(statement_of(node).rhs, node.def->def.params[static_cast<std::size_t>(place)].name);
    return steps && add(node, *steps);
  }

  bool is_like_last(std::size_t tensor) const {
    const auto &spec = graph_.tensors[tensor].spec, &last = graph_.tensors[last_].spec;
    return begins_at_zero(graph_, tensor) && spec.dtype == last.dtype && spec.element_count() == last.element_count();
  }
  bool others_are_held(const Node& node) const {
    return std::count(node.inputs.begin(), node.inputs.end(), last_) == 1 &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](auto input) { return input == last_ || held_.count(input); });
  }

  bool add(const Node& node, std::vector<AffineStep> steps) {
    const auto names = numeric_names(graph_, node, names_in(node));
    const auto statement = numeric_statement(graph_, node, 0, names);
    const auto iterators = lang::left_iterators(statement);
    const auto at = read_at(statement.rhs);
    const auto& shape = graph_.tensors[node.outputs.front()].spec.shape;
    std::map<std::string, std::int64_t> extents;
    for (std::size_t d = 0; d < iterators.size(); ++d) extents[iterators[d]] = shape[d];
    auto values = inverse(at, element_, graph_.tensors[last_].spec.shape, extents);
    std::set<std::string> unknown;
    for (const auto& iterator : iterators)
      if (extents.at(iterator) == 1)
        values[iterator] = literal(0);
      else if (!values.count(iterator))
        unknown.insert(iterator);
    for (auto& step : steps) {
      if (!step.operand) continue;
      step.operand = lang::substitute(step.operand, names);
      if (names_any(step.operand, unknown)) return false;
      step.operand = with_iterators(step.operand, values);
      const bool multiplies = step.op == lang::BinaryOp::Mul || step.op == lang::BinaryOp::Div;
      if (multiplies && !reaches_all(over_factor(step.operand, chain_.factor_at))) return false;
    }
    chain_.steps.insert(chain_.steps.end(), steps.begin(), steps.end());
    move_on(node, iterators, at, values);
    return true;
  }

  /// Has \p operand, over the subscripts of the factor, a value for each of its elements, also those that the sum does not read?
  bool reaches_all(const ExprPtr& operand) const {
    bool inside = operand != nullptr;
    for (const auto& access : operand ? accesses_in(operand) : std::vector<const lang::Access*>())
      for (std::size_t d = 0; d < access->subscripts.size(); ++d)
        inside = inside && reaches_all(access->subscripts[d], graph_.tensors[number_of(access->tensor)].spec.shape[d]);
    return inside;
  }
  bool reaches_all(const ExprPtr& subscript, std::int64_t extent) const {
    const auto* id = std::get_if<lang::Name>(&subscript->node);
    if (!id) return std::holds_alternative<lang::IntLiteral>(subscript->node);
    for (std::size_t d = 0; d < chain_.factor_shape.size(); ++d)
      if (id->id == factor_iterator(d)) return chain_.factor_shape[d] <= extent;
    return false;
  }
  static std::vector<const lang::Access*> accesses_in(const ExprPtr& expr) {
    std::vector<const lang::Access*> result;
    lang::for_each_expr(expr, [&](const ExprPtr& part) {
      if (const auto* access = std::get_if<lang::Access>(&part->node)) result.push_back(access);
    });
    return result;
  }
  static std::size_t number_of(const std::string& tensor) { return std::stoul(tensor.substr(1)); }

  std::vector<ExprPtr> read_at(const ExprPtr& expr) const {
    std::vector<ExprPtr> result;
    lang::for_each_expr(expr, [&](const ExprPtr& part) {
      const auto* access = std::get_if<lang::Access>(&part->node);
      if (access && access->tensor == tensor_name(last_)) result = access->subscripts;
    });
    return result;
  }

  void move_on(const Node& node, const std::vector<std::string>& iterators, const std::vector<ExprPtr>& at,
               const std::map<std::string, ExprPtr>& values) {
    std::map<std::string, ExprPtr> here, before;
    std::vector<ExprPtr> element;
    for (std::size_t d = 0; d < iterators.size(); ++d) {
      here[iterators[d]] = name(result_iterator(d));
      const auto found = values.find(iterators[d]);
      element.push_back(found == values.end() ? nullptr : found->second);
    }
    for (std::size_t d = 0; d < at.size(); ++d) before[result_iterator(d)] = with_iterators(at[d], here);
    for (auto& subscript : chain_.at) subscript = with_iterators(subscript, before);
    element_ = std::move(element);
    chain_.nodes.push_back(*graph_.tensors[node.outputs.front()].producer);
    last_ = node.outputs.front();
  }

  const Graph& graph_;
  const std::set<std::size_t>& held_;
  AffineChain chain_;
  std::size_t last_ = 0;          ///< the tensor that the last node of the chain writes
  std::vector<ExprPtr> element_;  ///< its subscripts over those of the sum; null where they do not decide one
};

}  // namespace

std::set<std::string> constant_names(const Node& node, const std::set<std::size_t>& held) {
  std::set<std::string> result;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (held.count(node.inputs[i])) result.insert(node.def->def.params[i].name);
  return result;
}

std::string sum_iterator(std::size_t dimension) { return str("i", dimension); }
std::string result_iterator(std::size_t dimension) { return str("u", dimension); }
std::string factor_iterator(std::size_t dimension) { return str("w", dimension); }
std::string tensor_name(std::size_t tensor) { return str("X", tensor); }

ExprPtr over_factor(const ExprPtr& expr, const std::vector<ExprPtr>& factor_at) {
  const auto result = replaced(expr, [&](const ExprPtr& part) -> ExprPtr {
    for (std::size_t d = 0; d < factor_at.size(); ++d) {
      const bool is_number = std::holds_alternative<lang::IntLiteral>(part->node);
      if (!is_number && lang::equal(part, factor_at[d])) return name(factor_iterator(d));
    }
    return nullptr;
  });
  bool left = false;
  lang::for_each_expr(result, [&](const ExprPtr& part) {
    const auto* id = std::get_if<lang::Name>(&part->node);
    left = left || (id && id->id[0] == sum_iterator(0)[0]);
  });
  return left ? nullptr : result;
}

std::optional<AffineChain> affine_chain(const Graph& graph, std::size_t first, const std::set<std::size_t>& held) {
  const auto& node = graph.nodes[first];
  if (!is_single(node) || held.count(node.outputs.front()) || !is_sum(statement_of(node), node)) return std::nullopt;
  const auto& statement = statement_of(node);
  std::map<std::string, ExprPtr> values;
  const auto iterators = lang::left_iterators(statement);
  for (std::size_t d = 0; d < iterators.size(); ++d) values[iterators[d]] = name(sum_iterator(d));
  for (const auto& iterator : statement.reduction_iterators) values[iterator] = name(str("r_", iterator));
  const auto names = numeric_names(graph, node, {});
  std::optional<AffineChain> best;
  for (const auto& factor : constant_factors(statement, constant_names(node, held))) {
    AffineChain chain{{first}, factor, {}, {}, {}, {}};
    chain.factor_shape = shape_of(graph, node, std::get<lang::Access>(factor->node).tensor);
    for (const auto& subscript : std::get<lang::Access>(factor->node).subscripts)
      chain.factor_at.push_back(with_iterators(lang::substitute(subscript, names), values));
    chain = Following(graph, held, std::move(chain)).run();
    const bool scales = std::any_of(chain.steps.begin(), chain.steps.end(), [](const auto& s) { return s.scales(); });
    if (scales && (!best || chain.nodes.size() > best->nodes.size())) best = std::move(chain);
  }
  return best;
}

bool has_affine_statement(const Node& node, const std::set<std::size_t>& held) {
  auto constants = constant_names(node, held);
  for (const auto& any : node.def->def.statements) {
    const auto& statement = std::get<lang::Assignment>(any.node);
    std::set<std::string> others;
    for (const auto& tensor : tensors_in(statement.rhs))
      if (!constants.count(tensor)) others.insert(tensor);
    if (others.empty() && (!statement.reduction || statement.initialise)) {
      constants.insert(statement.target);
      continue;
    }
    if (is_sum(statement, node) && !constant_factors(statement, constants).empty()) return true;
    if (!statement.reduction && others.size() == 1 && affine_steps(statement.rhs, *others.begin())) return true;
    if (split_affine(statement, constants, statement.target)) return true;
  }
  return false;
}

}  // namespace tc::graph
