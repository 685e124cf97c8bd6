#include "tc/graph/versioned_def.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/graph/lay_out.h"
#include "tc/graph/make_def.h"
#include "tc/graph/statement/affine_statement.h"
#include "tc/graph/statement/rewrite_statement.h"
#include "tc/graph/statement/split_affine.h"

namespace tc::graph {
namespace {

const lang::Assignment& assignment(const Node& node, std::size_t index) {
  return std::get<lang::Assignment>(node.def->def.statements[index].node);
}

/// Does \p statement make each element of its tensor from that element alone?
bool overwrites_itself(const lang::Assignment& statement) {
  if (statement.reduction) return false;
  bool same = true;
  lang::for_each_expr(statement.rhs, [&](const lang::ExprPtr& part) {
    const auto* access = std::get_if<lang::Access>(&part->node);
    if (!access || access->tensor != statement.target) return;
    same = same && std::equal(access->subscripts.begin(), access->subscripts.end(), statement.subscripts.begin(),
                              [](const auto& a, const auto& b) { return lang::equal(a, b); });
  });
  return same;
}

/// Does statement number \p index of \p node write all of its tensor?
bool writes_all(const Graph& graph, const Node& node, std::size_t index) {
  const auto sizes = sizes_of(graph, node);
  const auto& statement = assignment(node, index);
  const auto& ranges = node.def->ranges;
  const auto box = lang::evaluate_box(ranges.tensors.at(statement.target), sizes);
  const auto iterators = lang::left_iterators(statement);
  for (std::size_t d = 0; d < box.size(); ++d)
    if (lang::evaluate_box({ranges.statements[index].at(iterators[d])}, sizes).front() != box[d]) return false;
  return true;
}

std::string new_name(const lang::Def& def, std::string name) {
  while (def.tensors.count(name)) name += "_";
  return name;
}

bool may_be_versioned(const Graph& graph, const Node& node) {
  if (!node.def->ranges.data_dependent.empty() || lang::has_loops(node.def->def)) return false;
  std::set<std::string> written;
  for (std::size_t s = 0; s < node.def->def.statements.size(); ++s) {
    const auto& statement = assignment(node, s);
    if (statement.reduction && !statement.initialise) return false;
    if (!written.insert(statement.target).second && !overwrites_itself(statement)) return false;
    if (!writes_all(graph, node, s)) return false;
  }
  return true;
}

}  // namespace

lang::Substitution numeric_names(const Graph& graph, const Node& node,
                                 const std::map<std::string, std::string>& tensors) {
  const auto sizes = sizes_of(graph, node);
  lang::Substitution names;
  names.tensors = tensors;
  for (const auto& [name, other] : tensors) names.values[name] = lang::make_expr(lang::Name{other});
  for (const auto& [name, value] : sizes) names.values[name] = size_value(value);
  names.size_of = [&node, sizes](const std::string& tensor, int d) {
    const auto box = lang::evaluate_box(node.def->ranges.tensors.at(tensor), sizes);
    return size_value(box.at(static_cast<std::size_t>(d)).extent);
  };
  return names;
}

lang::Assignment numeric_statement(const Graph& graph, const Node& node, std::size_t index,
                                   const lang::Substitution& names) {
  const auto sizes = sizes_of(graph, node);
  auto result = lang::substitute(assignment(node, index), names);
  auto is_range = [](const lang::Clause& clause) { return std::holds_alternative<lang::RangeClause>(clause.node); };
  result.clauses.erase(std::remove_if(result.clauses.begin(), result.clauses.end(), is_range), result.clauses.end());
  for (const auto& [iterator, range] : node.def->ranges.statements[index]) {
    const auto box = lang::evaluate_box({range}, sizes).front();
    result.clauses.push_back({lang::RangeClause{iterator, literal(box.min), literal(box.min + box.extent)}, {}});
  }
  return result;
}

std::optional<lang::Def> versioned_def(const Graph& graph, const Node& node,
                                       const std::optional<std::set<std::string>>& constants) {
  if (!may_be_versioned(graph, node)) return std::nullopt;
  const auto& def = node.def->def;
  std::map<std::string, std::size_t> writes_left;
  for (std::size_t s = 0; s < def.statements.size(); ++s) ++writes_left[assignment(node, s).target];
  DefSketch sketch{def.name, {}, {}, {}};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto& spec = graph.tensors[node.inputs[i]].spec;
    sketch.params.push_back({def.params[i].name, spec.dtype, spec.shape, {}});
  }
  for (std::size_t o = 0; o < node.outputs.size(); ++o)
    sketch.returns.push_back({def.returns[o].name, graph.tensors[node.outputs[o]].spec.dtype, {}, {}});
  std::map<std::string, std::string> versions;
  auto known = constants.value_or(std::set<std::string>());
  for (std::size_t s = 0; s < def.statements.size(); ++s) {
    const auto& target = assignment(node, s).target;
    auto statement = numeric_statement(graph, node, s, numeric_names(graph, node, versions));
    const auto left = --writes_left[target];
    statement.target = left == 0 ? target : new_name(def, str(target, "_v", left));
    versions[target] = statement.target;
    if (constants) {
      const auto read = tensors_in(statement.rhs);
      if (std::all_of(read.begin(), read.end(), [&](const auto& tensor) { return known.count(tensor) > 0; }))
        known.insert(statement.target);
      if (auto two = split_affine(statement, known, new_name(def, str(statement.target, "_affine")))) {
        sketch.statements.push_back({std::move(two->first), {}});
        statement = std::move(two->second);
      }
    }
    sketch.statements.push_back({std::move(statement), {}});
  }
  return make_def(sketch);
}

}  // namespace tc::graph
