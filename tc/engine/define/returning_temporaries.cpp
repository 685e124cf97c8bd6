#include "tc/engine/define/returning_temporaries.h"

#include <set>

#include "tc/lang/syntax/print.h"

namespace tc::engine {

std::shared_ptr<const Function> returning_temporaries(const std::shared_ptr<const Function>& function) {
  lang::Def def = inlined(function)->def;
  const auto count = def.returns.size();
  std::set<std::string> seen;
  for (const auto& statement : def.statements) {
    const auto& target = std::get<lang::Assignment>(statement.node).target;
    const auto& info = def.tensors.at(target);
    if (info.role != lang::Role::Temporary || !seen.insert(target).second) continue;
    def.returns.push_back({target, std::nullopt, std::nullopt, info.range});
  }
  if (def.returns.size() == count) return function;
  return define(lang::print(def), function->file->name).function(function->name());
}

}  // namespace tc::engine
