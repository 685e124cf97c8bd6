#include "tc/engine/run/in_place.h"

#include <map>

namespace tc::engine {
namespace {

using lang::Assignment;

/// Is every read of \p tensor in \p statement at the subscripts that the statement writes?
bool reads_as_written(const Assignment& statement, const std::string& tensor) {
  bool same = true;
  lang::for_each_expr(statement.rhs, [&](const lang::ExprPtr& expr) {
    const auto* access = std::get_if<lang::Access>(&expr->node);
    if (!access || access->tensor != tensor) return;
    same = same && access->subscripts.size() == statement.subscripts.size();
    for (std::size_t i = 0; same && i < access->subscripts.size(); ++i)
      same = lang::equal(access->subscripts[i], statement.subscripts[i]);
  });
  return same;
}

bool reads(const Assignment& statement, const std::string& tensor) {
  bool found = false;
  lang::for_each_expr(statement.rhs, [&](const lang::ExprPtr& expr) {
    const auto* access = std::get_if<lang::Access>(&expr->node);
    found = found || (access && access->tensor == tensor);
  });
  return found;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> in_place_pairs(const lang::Def& def) {
  std::map<std::string, std::vector<const Assignment*>> readers, writers;
  for (const auto& statement : def.statements) {
    const auto* assignment = std::get_if<Assignment>(&statement.node);
    if (!assignment) return {};
    writers[assignment->target].push_back(assignment);
    for (const auto& param : def.params)
      if (reads(*assignment, param.name)) readers[param.name].push_back(assignment);
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& ret : def.returns) {
    const auto& writes = writers[ret.name];
    if (writes.size() != 1 || writes[0]->reduction) continue;
    for (const auto& param : def.params) {
      const auto& uses = readers[param.name];
      bool nowhere_else = uses.empty() || (uses.size() == 1 && uses[0] == writes[0]);
      if (nowhere_else && !uses.empty() && reads_as_written(*writes[0], param.name))
        pairs.emplace_back(param.name, ret.name);
    }
  }
  return pairs;
}

}  // namespace tc::engine
