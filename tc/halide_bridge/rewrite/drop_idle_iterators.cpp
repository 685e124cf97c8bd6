#include "tc/halide_bridge/rewrite/drop_idle_iterators.h"

#include "tc/halide_bridge/lower/variable_names.h"

namespace tc::halide_bridge {
namespace {

bool is_idempotent(ReductionOp op) { return op != ReductionOp::Sum && op != ReductionOp::Product; }

ProgramStatement without_idle_iterators(ProgramStatement statement, const std::set<std::string>& named) {
  if (statement.kind != ProgramStatement::Kind::Update || !is_idempotent(statement.op)) return statement;
  auto used = variable_names(statement.subscripts);
  used.merge(variable_names({statement.value}));
  used.merge(variable_names(statement.conditions));
  used.insert(named.begin(), named.end());
  for (std::size_t i = statement.iterators.size(); i-- > 0;) {
    if (used.count(statement.iterators[i]) || statement.domain[i].extent <= 0) continue;
    statement.iterators.erase(statement.iterators.begin() + static_cast<std::ptrdiff_t>(i));
    statement.domain.erase(statement.domain.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return statement;
}

}  // namespace

Program drop_idle_iterators(const Program& program, const std::set<std::string>& named) {
  Program result = program;
  for (auto& launch : result.launches)
    for (auto& statement : launch.statements) statement = without_idle_iterators(std::move(statement), named);
  return result;
}

}  // namespace tc::halide_bridge
