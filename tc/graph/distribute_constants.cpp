#include "tc/graph/distribute_constants.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tc/base/str.h"
#include "tc/graph/affine_chain.h"
#include "tc/graph/constant_nodes.h"
#include "tc/graph/make_def.h"
#include "tc/graph/new_defs.h"
#include "tc/graph/replace_nodes.h"
#include "tc/graph/statement/rewrite_statement.h"
#include "tc/graph/versioned_def.h"

namespace tc::graph {
namespace {

using lang::ExprPtr;

ExprPtr name(const std::string& id) { return lang::make_expr(lang::Name{id}); }

/// tensor(at), a tensor without dimensions by its name alone.
ExprPtr element(const std::string& tensor, std::vector<ExprPtr> at) {
  return at.empty() ? name(tensor) : lang::make_expr(lang::Access{tensor, std::move(at), false});
}

using Chains = std::map<std::size_t, AffineChain>;  ///< by their last node

Chains chains_of(const Graph& graph, const std::set<std::size_t>& held) {
  Chains result;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (auto chain = affine_chain(graph, n, held)) {
      const auto last = chain->nodes.back();
      result[last] = std::move(*chain);
    }
  return result;
}

/// A graph some of whose nodes were split into their statements.
struct SplitGraph {
  Graph graph;
  std::vector<std::size_t> origin;  ///< of each node, the one of the graph before
};

SplitGraph split(const Graph& graph, const std::map<std::size_t, lang::Def>& defs) {
  SplitGraph result{defs.empty() ? graph : replace_nodes(graph, defs), {}};
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto found = defs.find(n);
    result.origin.insert(result.origin.end(), found == defs.end() ? 1 : found->second.statements.size(), n);
  }
  return result;
}

/// The nodes of several statements that may be a piece of a chain, as defs that split() takes.
std::map<std::size_t, lang::Def> affine_defs(const Graph& graph, const std::set<std::size_t>& held) {
  std::map<std::size_t, lang::Def> result;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    if (!has_affine_statement(node, held)) continue;
    auto def = versioned_def(graph, node, constant_names(node, held));
    if (def && def->statements.size() > 1) result[n] = std::move(*def);
  }
  return result;
}

/// Writes the nodes of chains anew.
class Distributing {
 public:
  Distributing(const Graph& graph, Chains chains)
      : graph_(graph), chains_(std::move(chains)), result_(graph), defs_(graph.defs, names_of(graph)) {
    for (const auto& tensor : graph.tensors) names_.insert(tensor.name);
  }

  Graph run() {
    std::set<std::size_t> gone;
    for (const auto& [last, chain] : chains_) gone.insert(chain.nodes.begin(), chain.nodes.end());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (const auto chain = chains_.find(n); chain != chains_.end())
        add(chain->second);
      else if (!gone.count(n))
        calls_.push_back({"", graph_.nodes[n]});
    result_.defs = defs_.all();
    result_.nodes.clear();
    for (auto& [callee, node] : calls_)
      result_.nodes.push_back(callee.empty() ? std::move(node)
                                             : call_node(result_, *result_.defs, callee, node.inputs, node.outputs));
    return with_edges(std::move(result_));
  }

 private:
  static std::set<std::string> names_of(const Graph& graph) {
    std::set<std::string> names{graph.name};
    for (const auto& tensor : graph.tensors) names.insert(tensor.name);
    return names;
  }

  void add(const AffineChain& chain) {
    const auto& sum = graph_.nodes[chain.nodes.front()];
    const auto shift = shift_of(chain.steps);
    const auto result = graph_.nodes[chain.nodes.back()].outputs.front(), sums = sum.outputs.front();
    const auto factor = add_factor(chain, sum);
    const bool is_result = !shift && is_identity(chain.at) && shape(sums) == shape(result);
    add_sum(chain, sum, factor, is_result ? result : sums);
    if (!is_result) add_result(chain, sums, shift, result);
  }
  const std::vector<std::int64_t>& shape(std::size_t tensor) const { return result_.tensors[tensor].spec.shape; }
  static bool is_identity(const std::vector<ExprPtr>& at) {
    for (std::size_t d = 0; d < at.size(); ++d)
      if (!lang::equal(at[d], name(result_iterator(d)))) return false;
    return true;
  }

  /// The tensor that holds the scaled factor of \p chain.
  std::size_t add_factor(const AffineChain& chain, const Node& sum) {
    const auto tensor = tensor_of(sum, std::get<lang::Access>(chain.factor->node).tensor);
    auto steps = chain.steps;
    for (auto& step : steps)
      if (step.scales() && step.operand) step.operand = over_factor(step.operand, chain.factor_at);
    std::vector<ExprPtr> at;
    for (std::size_t d = 0; d < shape(tensor).size(); ++d) at.push_back(name(factor_iterator(d)));
    const auto value = scaled(element(tensor_name(tensor), at), steps);
    const auto made = new_tensor(str(graph_.tensors[tensor].name, "_scaled"), tensor, shape(tensor));
    add_definition("scaled", made, at, value);
    return made;
  }

  /// The sum of \p chain with \p factor in place of its own, into \p result.
  void add_sum(const AffineChain& chain, const Node& sum, std::size_t factor, std::size_t result) {
    auto node = sum;
    auto def = node.def->def;
    auto& before = std::get<lang::Assignment>(def.statements.front().node);
    std::string own = "V";
    while (mentions(def, own)) own += "_";
    before.rhs = replaced(before.rhs, [&](const ExprPtr& part) -> ExprPtr {
      if (part != chain.factor) return nullptr;
      return lang::make_expr(lang::Access{own, std::get<lang::Access>(part->node).subscripts, false}, {}, part->type);
    });
    const auto with_factor = std::make_shared<lang::InlinedDef>(lang::InlinedDef{def, node.def->ranges});
    with_factor->ranges.tensors[own] =
        with_factor->ranges.tensors.at(std::get<lang::Access>(chain.factor->node).tensor);
    node.def = with_factor;
    const auto statement = numeric_statement(graph_, node, 0, numeric_names(graph_, node, {}));
    DefSketch sketch{str(sum.callee.empty() ? def.name : sum.callee), {}, {}, {{statement, {}}}};
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < sum.inputs.size(); ++i)
      if (reads(sketch.statements.front(), def.params[i].name))
        add_param(sketch, inputs, def.params[i].name, sum.inputs[i]);
    add_param(sketch, inputs, own, factor);
    sketch.returns.push_back({statement.target, graph_.tensors[result].spec.dtype, {}, {}});
    add_call(sketch, std::move(inputs), result);
  }
  static bool mentions(const lang::Def& def, const std::string& id) {
    const auto& statement = std::get<lang::Assignment>(def.statements.front().node);
    const auto iterators = lang::left_iterators(statement);
    return def.tensors.count(id) || bounds(statement, id) || std::count(def.sizes.begin(), def.sizes.end(), id) ||
           std::count(iterators.begin(), iterators.end(), id);
  }

  /// \p result from \p sums, the sum of \p chain, and what is added to it.
  void add_result(const AffineChain& chain, std::size_t sums, const ExprPtr& shift, std::size_t result) {
    std::vector<ExprPtr> left;
    for (std::size_t d = 0; d < shape(result).size(); ++d) left.push_back(name(result_iterator(d)));
    auto value = element(tensor_name(sums), chain.at);
    if (shift) value = lang::make_expr(lang::Binary{lang::BinaryOp::Add, value, shift_at(chain, sums, shift)});
    add_definition("shifted", result, left, value);
  }

  /// \p shift where the sum is read: an element of a tensor that a node makes, unless it reads no tensor.
  ExprPtr shift_at(const AffineChain& chain, std::size_t sums, const ExprPtr& shift) {
    std::vector<ExprPtr> own, at;
    std::vector<std::int64_t> extents;
    std::map<std::string, ExprPtr> places;
    for (std::size_t d = 0; d < shape(sums).size(); ++d) {
      places[sum_iterator(d)] = chain.at[d];
      if (!names(shift, sum_iterator(d))) continue;
      own.push_back(name(sum_iterator(d)));
      at.push_back(chain.at[d]);
      extents.push_back(shape(sums)[d]);
    }
    if (tensors_of(shift).empty())
      return replaced(shift, [&](const ExprPtr& part) -> ExprPtr {
        const auto* id = std::get_if<lang::Name>(&part->node);
        return id && places.count(id->id) ? places.at(id->id) : nullptr;
      });
    const auto made = new_tensor(str(graph_.tensors[sums].name, "_shift"), sums, extents);
    add_definition("shift", made, own, shift);
    return element(tensor_name(made), at);
  }
  static bool names(const ExprPtr& expr, const std::string& id) {
    bool found = false;
    lang::for_each_expr(expr, [&](const ExprPtr& part) {
      const auto* other = std::get_if<lang::Name>(&part->node);
      found = found || (other && other->id == id);
    });
    return found;
  }

  /// The tensors that \p expr names, in order.
  std::set<std::size_t> tensors_of(const ExprPtr& expr) const {
    std::set<std::size_t> result;
    for (std::size_t t = 0; t < result_.tensors.size(); ++t) {
      const auto own = tensor_name(t);
      const auto read = tensors_in(expr);
      if (std::find(read.begin(), read.end(), own) != read.end() || names(expr, own)) result.insert(t);
    }
    return result;
  }

  /// A call that computes tensor(at) = value.
  void add_definition(const std::string& wanted, std::size_t tensor, const std::vector<ExprPtr>& at,
                      const ExprPtr& value) {
    lang::Assignment statement;
    statement.target = "Y";
    statement.bare = at.empty();
    statement.subscripts = at;
    statement.rhs = value;
    for (std::size_t d = 0; d < at.size(); ++d)
      statement.clauses.push_back(
          {lang::RangeClause{std::get<lang::Name>(at[d]->node).id, literal(0), literal(shape(tensor)[d])}, {}});
    DefSketch sketch{wanted, {}, {}, {{statement, {}}}};
    std::vector<std::size_t> inputs;
    for (const auto t : tensors_of(value)) add_param(sketch, inputs, tensor_name(t), t);
    sketch.returns.push_back({"Y", result_.tensors[tensor].spec.dtype, {}, {}});
    add_call(sketch, std::move(inputs), tensor);
  }

  void add_param(DefSketch& sketch, std::vector<std::size_t>& inputs, const std::string& own,
                 std::size_t tensor) const {
    sketch.params.push_back({own, result_.tensors[tensor].spec.dtype, shape(tensor), {}});
    inputs.push_back(tensor);
  }
  void add_call(const DefSketch& sketch, std::vector<std::size_t> inputs, std::size_t output) {
    Node node;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    calls_.push_back({defs_.add(make_def(with_plain_names(sketch))), std::move(node)});
  }

  std::size_t new_tensor(const std::string& wanted, std::size_t like, const std::vector<std::int64_t>& extents) {
    Tensor made;
    made.name = wanted;
    for (int number = 1; !names_.insert(made.name).second; ++number) made.name = str(wanted, "_", number);
    made.spec = contiguous(graph_.tensors[like].spec.dtype, extents);
    made.mins.assign(extents.size(), 0);
    result_.tensors.push_back(std::move(made));
    return result_.tensors.size() - 1;
  }
  static std::size_t tensor_of(const Node& node, const std::string& own) {
    std::size_t place = 0;
    while (node.def->def.params[place].name != own) ++place;
    return node.inputs[place];
  }

  const Graph& graph_;
  Chains chains_;
  Graph result_;
  NewDefs defs_;
  std::set<std::string> names_;
  std::vector<std::pair<std::string, Node>> calls_;  ///< of each new node its def; "": it is as it was
};

}  // namespace

std::optional<DistributedGraph> distribute_constants(const Graph& graph, const std::set<std::string>& constants) {
  const auto held = held_tensors(graph, constants, decided_nodes(graph, constants));
  if (held.empty()) return std::nullopt;
  auto defs = affine_defs(graph, held);
  auto all = split(graph, defs);
  if (all.origin.size() != all.graph.nodes.size()) return std::nullopt;
  std::set<std::size_t> wanted;
  for (const auto& [last, chain] :
       chains_of(all.graph, held_tensors(all.graph, constants, decided_nodes(all.graph, constants))))
    for (const auto node : chain.nodes) wanted.insert(all.origin[node]);
  if (wanted.empty()) return std::nullopt;
  for (auto def = defs.begin(); def != defs.end();) def = wanted.count(def->first) ? std::next(def) : defs.erase(def);
  const auto some = split(graph, defs);
  auto chains = chains_of(some.graph, held_tensors(some.graph, constants, decided_nodes(some.graph, constants)));
  const auto count = chains.size();
  return DistributedGraph{Distributing(some.graph, std::move(chains)).run(), count};
}

}  // namespace tc::graph
