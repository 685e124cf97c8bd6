#include "tc/lang/check/check_measure.h"

#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/lang/syntax/limits.h"

namespace tc::lang {
namespace {

/// Reports that \p part, at \p range of \p assignment, is beyond a limit.
void report_measure(const Assignment& assignment, SourceRange range, const Measure& part, Scope& scope) {
  const std::string with = assignment.clauses.empty() ? "" : " with the names of 'where' written out";
  if (part.depth > max_depth)
    scope.diagnostics.add({.code = "TC006",
                           .range = range,
                           .message = str("the expression is nested too deeply", with),
                           .note = str("its tree may be ", max_depth, " levels high"),
                           .help = "split the statement into several with temporaries"});
  else
    scope.diagnostics.add({.code = "TC008",
                           .range = range,
                           .message = str("the statement is too large", with),
                           .note = str("a statement may hold ", max_statement_nodes, " operators, names and numbers"),
                           .help = "split it into several with temporaries"});
}

}  // namespace

bool check_measure(const Assignment& assignment, Scope& scope) {
  std::map<std::string, Measure> lets;
  Measure all;
  bool good = true;
  const auto take = [&](const ExprPtr& value, bool is_let = false) {
    const Measure part = measure(value, lets);
    if (!is_let) all.add(part);
    if (good && (part.depth > max_depth || std::max(part.nodes, all.nodes) > max_statement_nodes)) {
      report_measure(assignment, value->range, part, scope);
      good = false;
    }
    return part;
  };
  for (const auto& clause : assignment.clauses)
    std::visit(overloaded{[&](const RangeClause& x) {
                            take(x.low);
                            take(x.high);
                          },
                          [&](const LetClause& x) { lets[x.name] = take(x.value, true); },
                          [&](const ExistsClause& x) { take(x.value); }},
               clause.node);
  take(assignment.rhs);
  return good;
}

}  // namespace tc::lang
