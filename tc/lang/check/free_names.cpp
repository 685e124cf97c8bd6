#include "tc/lang/check/free_names.h"

#include "tc/base/str.h"

namespace tc::lang {

/// Every identifier of \p def.
std::set<std::string> identifiers(const Def& def) {
  std::set<std::string> names(def.sizes.begin(), def.sizes.end());
  for (const auto& [name, info] : def.tensors) names.insert(name);
  for (const auto& statement : def.statements) {
    auto* assignment = std::get_if<Assignment>(&statement.node);
    if (!assignment) continue;
    for (const auto& iterator : left_iterators(*assignment)) names.insert(iterator);
    names.insert(assignment->reduction_iterators.begin(), assignment->reduction_iterators.end());
    for (const auto& clause : assignment->clauses)
      if (auto* let = std::get_if<LetClause>(&clause.node)) names.insert(let->name);
  }
  return names;
}

std::set<std::string> text_identifiers(const Def& def) {
  std::set<std::string> names;
  const auto add = [&](const ExprPtr& root) {
    for_each_expr(root, [&](const ExprPtr& expr) {
      if (const auto* name = std::get_if<Name>(&expr->node)) names.insert(name->id);
      if (const auto* access = std::get_if<Access>(&expr->node)) names.insert(access->tensor);
      if (const auto* size = std::get_if<SizeOf>(&expr->node)) names.insert(size->tensor);
    });
  };
  for (const auto* decls : {&def.params, &def.returns})
    for (const auto& decl : *decls) {
      names.insert(decl.name);
      for (const auto& dim : decl.dims.value_or(std::vector<ExprPtr>())) add(dim);
    }
  for (const auto& statement : def.statements) {
    const auto* assignment = std::get_if<Assignment>(&statement.node);
    if (!assignment) {
      const auto& call = std::get<CallStatement>(statement.node);
      names.insert(call.results.begin(), call.results.end());
      continue;
    }
    names.insert(assignment->target);
    for (const auto& subscript : assignment->subscripts) add(subscript);
    for_each_value(*assignment, add);
    for (const auto& clause : assignment->clauses) {
      if (const auto* range = std::get_if<RangeClause>(&clause.node)) names.insert(range->index);
      if (const auto* let = std::get_if<LetClause>(&clause.node)) names.insert(let->name);
    }
  }
  return names;
}

std::string FreeNames::tensor(const std::string& base) {
  const std::size_t end = base.find_last_not_of("0123456789");
  const bool has_number = end + 1 < base.size() && end > 0 && base[end] == '_';
  return property(has_number ? base.substr(0, end) : base);
}

std::string FreeNames::property(const std::string& base) {
  std::string name = numbered(base);
  values_.insert(name);
  return name;
}

std::string FreeNames::iterator(const std::string& base) {
  if (values_.count(base) || is_def(base)) return numbered(base);
  taken_.insert(base);
  return base;
}

std::vector<std::string> FreeNames::iterators(int rank) {
  static const char* names[] = {"i", "j", "k", "l", "m", "n"};
  std::vector<std::string> result;
  for (int d = 0; d < rank; ++d) result.push_back(iterator(d < 6 ? names[d] : str("i", d)));
  return result;
}

std::string FreeNames::numbered(const std::string& base) {
  for (int& k = last_[base];;)
    if (std::string name = str(base, "_", ++k); !is_def(name) && taken_.insert(name).second) return name;
}

}  // namespace tc::lang
