#include "tc/lang/syntax/resolve_calls.h"

#include <set>
#include <string>

#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/shadowing.h"

namespace tc::lang {
namespace {

/// The expression f(X, Y) that \p call spells.
ExprPtr value_of(const CallStatement& call, int end) {
  std::vector<ExprPtr> arguments;
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    arguments.push_back(make_expr(Name{call.arguments[i]}, call.argument_ranges[i]));
  const SourceRange range{call.def_range.begin, end};
  if (auto builtin = call_of_builtin(call.def, arguments)) return make_expr(std::move(*builtin), range);
  return make_expr(Access{call.def, std::move(arguments)}, range);
}

void resolve_call(Statement& statement, const std::set<std::string>& defs) {
  if (const auto* call = std::get_if<CallStatement>(&statement.node)) {
    if (call->results.size() != 1 || defs.count(call->def)) return;
    Assignment assignment;
    assignment.target = call->results[0];
    assignment.target_range = call->result_ranges[0];
    assignment.bare = true;
    assignment.rhs = value_of(*call, statement.range.end);
    statement.node = std::move(assignment);
    return;
  }
  const auto& assignment = std::get<Assignment>(statement.node);
  if (!assignment.bare || assignment.reduction || !assignment.clauses.empty()) return;
  const auto* access = std::get_if<Access>(&assignment.rhs->node);
  if (!access || !defs.count(access->tensor)) return;
  CallStatement call;
  for (const auto& argument : access->subscripts) {
    const auto* name = std::get_if<Name>(&argument->node);
    if (!name) return;
    call.arguments.push_back(name->id);
    call.argument_ranges.push_back(argument->range);
  }
  call.results = {assignment.target};
  call.result_ranges = {assignment.target_range};
  call.def = access->tensor;
  call.def_range = {assignment.rhs->range.begin, assignment.rhs->range.begin + static_cast<int>(access->tensor.size())};
  statement.node = std::move(call);
}

}  // namespace

void resolve_calls(std::vector<Def>& defs) {
  std::set<std::string> names;
  for (const auto& def : defs) names.insert(def.name);
  for (auto& def : defs)
    for (auto& statement : def.statements) resolve_call(statement, names);
  for (auto& def : defs) read_shadowing_tensors(def);
}

}  // namespace tc::lang
