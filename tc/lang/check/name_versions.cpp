#include "tc/lang/check/name_versions.h"

#include <set>

namespace tc::lang {

NameVersions::NameVersions(const Def& def, const std::function<const Def&(const std::string&)>& callee_of) : def_(def) {
  std::set<std::string> assigned;
  for (const auto& statement : def.statements) {
    if (auto* assignment = std::get_if<Assignment>(&statement.node)) {
      assigned.insert(assignment->target);
      continue;
    }
    const auto& call = std::get<CallStatement>(statement.node);
    const Def& callee = callee_of(call.def);
    for (std::size_t r = 0; r < call.results.size(); ++r)
      if (!assigned.insert(call.results[r]).second && begins(call.results[r], callee, r)) ++to_come_[call.results[r]];
  }
}

bool NameVersions::begins(const std::string& name, const Def& callee, std::size_t r) const {
  return callee.tensors.at(callee.returns.at(r).name).role != Role::InOut && def_.tensors.at(name).role != Role::InOut;
}

const std::string& NameVersions::current(const std::string& name, FreeNames& names) {
  auto found = current_.tensors.find(name);
  if (found == current_.tensors.end())
    found = current_.tensors.emplace(name, to_come_.count(name) ? names.tensor(name) : name).first;
  return found->second;
}

void NameVersions::begin(const std::string& name, FreeNames& names) {
  current_.tensors[name] = --to_come_.at(name) ? names.tensor(name) : name;
}

}  // namespace tc::lang
