#include "tc/graph/step_statement.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/graph/statement/rewrite_statement.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {
namespace {

using lang::Assignment;
using lang::CallStatement;
using lang::ExprPtr;

using Mins = std::map<std::string, std::vector<std::int64_t>>;

/// Where the tensors that \p step reads begin, of those that another frame has written and that do not at index 0.
Mins mins_of_others(const BoundSteps& steps, const Step& step) {
  Mins result;
  for (auto tensor : step.reads) {
    const auto& known = steps.graph.tensors[tensor];
    const auto writer = steps.assigning_frame.find(tensor);
    if (writer == steps.assigning_frame.end() || writer->second == step.frame || !steps.known[tensor]) continue;
    if (std::any_of(known.mins.begin(), known.mins.end(), [](auto min) { return min != 0; }))
      result.emplace(known.name, known.mins);
  }
  return result;
}

/// Other names for iterators of \p statement that are called as a tensor of the graph, into \p substitution.
void rename_iterators(const BoundSteps& steps, const Assignment& statement, lang::Substitution& substitution) {
  auto iterators = lang::left_iterators(statement);
  iterators.insert(iterators.end(), statement.reduction_iterators.begin(), statement.reduction_iterators.end());
  for (const auto& iterator : iterators) {
    auto name = iterator;
    for (int k = 0; steps.tensor_names.count(name) || (k > 0 && contains(iterators, name)); ++k)
      name = str(iterator, "_i", k);
    if (name != iterator) substitution.values[iterator] = lang::make_expr(lang::Name{name});
  }
}

/// What the names in the text of \p step become.
lang::Substitution substitution_of(const BoundSteps& steps, const Step& step, const std::set<std::size_t>& written) {
  const auto& tensors = steps.graph.tensors;
  lang::Substitution result;
  for (const auto& [name, tensor] : step.tensors) result.tensors[name] = tensors[tensor].name;
  for (const auto& [name, value] : steps.sizes[step.frame]) result.values[name] = size_value(value);
  for (const auto& [name, value] : steps.symbolic[step.frame]) result.values[name] = value;
  rename_iterators(steps, std::get<Assignment>(step.statement->node), result);
  result.size_of = [&tensors, &step, &written](const std::string& name, int d) -> ExprPtr {
    const auto tensor = step.tensors.at(name);
    if (written.count(tensor)) return nullptr;
    const auto dimension = static_cast<std::size_t>(d);
    if (const auto& dims = tensors[tensor].dims; !dims.empty() && dims.at(dimension)) return dims[dimension];
    return size_value(tensors[tensor].spec.shape.at(dimension));
  };
  return result;
}

/// \p statement with its reads of tensors that begin at \p mins moved there.
Assignment moved(Assignment statement, const Mins& mins) {
  if (mins.empty()) return statement;
  statement.rhs = with_moved_reads(statement.rhs, mins);
  for (auto& clause : statement.clauses)
    if (auto* exists = std::get_if<lang::ExistsClause>(&clause.node))
      exists->value = with_moved_reads(exists->value, mins);
  return statement;
}

/// The ranges that the iterators of \p step's statement have in its def, null where they are not known.
const std::map<std::string, lang::Range>* ranges_in_text(const BoundSteps& steps, const Step& step) {
  const auto& defs = *steps.graph.defs;
  const auto& name = steps.flat.frames[step.frame].def->name;
  for (const auto* known : {&defs.call_free, &defs.written_out}) {
    const auto found = known->find(name);
    if (found == known->end()) continue;
    const auto& [def, ranges] = *found->second;
    for (std::size_t s = 0; s < def.statements.size(); ++s) {
      const auto& place = def.statements[s].range;
      if (place.begin == step.statement->range.begin && place.end == step.statement->range.end)
        return &ranges.statements.at(s);
    }
  }
  return nullptr;
}

/// \p size, of the def of \p step, as a number, or over symbolic sizes.
ExprPtr size_in(const BoundSteps& steps, const Step& step, const ExprPtr& size) {
  const auto& sizes = steps.sizes[step.frame];
  const auto symbolic = symbolic_value(size, sizes, steps.symbolic[step.frame]);
  return symbolic ? symbolic : literal(lang::evaluate_size(size, sizes));
}

/// \p statement, that of \p step, with the ranges that its def has for its iterators: of numbers more can be proved than
/// of sizes, and what a condition is proved to keep inside its tensor bounds nothing.
Assignment with_ranges_of_text(const BoundSteps& steps, const Step& step, Assignment statement,
                               const lang::Substitution& substitution) {
  const bool open = has_open_conditions(std::get<Assignment>(step.statement->node));
  const auto* ranges = open ? ranges_in_text(steps, step) : nullptr;
  if (!ranges) return statement;
  for (const auto& [iterator, range] : *ranges) {
    const auto renamed = substitution.values.find(iterator);
    const auto& name = renamed == substitution.values.end() ? iterator : std::get<lang::Name>(renamed->second->node).id;
    if (is_given(statement, name)) continue;
    const auto end = lang::make_expr(lang::Binary{lang::BinaryOp::Add, range.min, range.extent});
    const lang::RangeClause clause{name, size_in(steps, step, range.min), size_in(steps, step, end)};
    statement.clauses.push_back({clause, step.statement->range});
  }
  return statement;
}

/// \p statement, that of \p step, with the range that the text declares for its target for iterators that nothing else
/// bounds.
Assignment bounded(const BoundSteps& steps, const Step& step, Assignment statement) {
  const auto& frame = steps.flat.frames[step.frame];
  const auto& target = std::get<Assignment>(step.statement->node).target;
  for (const auto& decl : frame.def->returns) {
    if (decl.name != target || !decl.dims) continue;
    for (std::size_t d = 0; d < statement.subscripts.size(); ++d) {
      const auto& iterator = std::get<lang::Name>(statement.subscripts[d]->node).id;
      if (bounds(statement, iterator)) continue;
      const auto size = size_in(steps, step, (*decl.dims)[d]);
      statement.clauses.push_back({lang::RangeClause{iterator, literal(0), size}, step.statement->range});
    }
  }
  return statement;
}

}  // namespace

lang::Statement call_statement(const BoundSteps& steps, const Step& step) {
  const auto& tensors = steps.graph.tensors;
  auto statement = *step.statement;
  auto& call = std::get<CallStatement>(statement.node);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) call.arguments[i] = tensors[step.reads[i]].name;
  for (std::size_t r = 0; r < call.results.size(); ++r) call.results[r] = tensors[step.writes[r]].name;
  return statement;
}

lang::Statement step_statement(const BoundSteps& steps, const Step& step, const std::set<std::size_t>& written) {
  const auto* assignment = std::get_if<Assignment>(&step.statement->node);
  if (!assignment) return call_statement(steps, step);
  const auto substitution = substitution_of(steps, step, written);
  auto result = moved(lang::substitute(*assignment, substitution), mins_of_others(steps, step));
  result = with_ranges_of_text(steps, step, std::move(result), substitution);
  for (auto& clause : result.clauses)
    if (auto* range = std::get_if<lang::RangeClause>(&clause.node))
      for (auto* bound : {&range->low, &range->high}) *bound = plain_sizes(*bound);
  auto statement = *step.statement;
  statement.node = bounded(steps, step, std::move(result));
  return statement;
}

}  // namespace tc::graph
