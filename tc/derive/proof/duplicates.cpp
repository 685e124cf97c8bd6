#include "tc/derive/proof/duplicates.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

namespace {

bool is_same(const Read& a, const Read& b) { return a.tensor == b.tensor && a.at.as_map().is_equal(b.at.as_map()); }

bool is_same(const Case& a, const Case& b) {
  return lang::equal(a.body, b.body) && a.domain.is_equal(b.domain) &&
         std::equal(a.reads.begin(), a.reads.end(), b.reads.begin(), b.reads.end(),
                    [](const Read& x, const Read& y) { return is_same(x, y); });
}

bool is_same(const Scope& a, const Scope& b) {
  return a.type == b.type && a.box == b.box && a.op == b.op && a.fill == b.fill && !a.loop && !b.loop &&
         std::equal(a.cases.begin(), a.cases.end(), b.cases.begin(), b.cases.end(),
                    [](const Case& x, const Case& y) { return is_same(x, y); });
}

/// \p scope with reads of the originals in place of their duplicates; itself where it reads none.
ScopePtr with_originals(const ScopePtr& scope, const std::map<std::string, std::string>& originals) {
  auto made = *scope;
  bool changed = false;
  for (auto& part : made.cases)
    for (auto& read : part.reads)
      if (const auto found = originals.find(read.tensor); found != originals.end()) {
        read.tensor = found->second;
        changed = true;
      }
  return changed ? std::make_shared<const Scope>(std::move(made)) : scope;
}

}  // namespace

Program without_duplicates(const Program& program, const std::map<std::string, std::string>& duplicates) {
  if (duplicates.empty()) return program;
  auto result = program;
  result.scopes.clear();
  std::map<std::string, std::string> known;
  for (const auto& scope : program.scopes) {
    const auto own = with_originals(scope, known);
    const auto found = duplicates.find(scope->tensor);
    if (found == duplicates.end()) {
      result.scopes.push_back(own);
      continue;
    }
    const auto original = result.find(found->second);
    if (!original || program.is_output(scope->tensor) || !is_same(*original, *own))
      throw Refusal{str("'", scope->tensor, "' has another definition than '", found->second, "'")};
    known.insert(*found);
  }
  return result;
}

}  // namespace tc::derive
