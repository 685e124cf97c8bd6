#include "tc/autodiff/tangent.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/autodiff/forward/forward.h"
#include "tc/autodiff/terms/expressions.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_of.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// \p def with tensors renamed.
Def renamed(Def def, const std::map<std::string, std::string>& names) {
  const auto rename = [&](std::string& name) {
    if (const auto found = names.find(name); found != names.end()) name = found->second;
  };
  for (auto* decls : {&def.params, &def.returns})
    for (TensorDecl& decl : *decls) rename(decl.name);
  for (Statement& statement : def.statements) {
    auto& assignment = std::get<Assignment>(statement.node);
    rename(assignment.target);
    assignment.rhs = rename_tensors(assignment.rhs, names);
  }
  return def;
}

/// \p def without the parameters \p dropped, which it does not read.
Def without_parameters(Def def, const std::vector<std::string>& dropped) {
  const std::set<std::string> names(dropped.begin(), dropped.end());
  for (const Statement& statement : def.statements)
    for (const auto& read : tensors_in(std::get<Assignment>(statement.node).rhs))
      if (names.count(read)) throw InternalError(str("a gradient is not linear in '", read, "':\n", print(def)));
  std::erase_if(def.params, [&](const TensorDecl& decl) { return names.count(decl.name) != 0; });
  return def;
}

}  // namespace

Tangent tangent(const InlinedDef& function, const std::string& text, const Options& options) {
  Options whole = options;
  whole.save_outputs = false;
  const Gradient backward = differentiate(function, text, whole);
  Options of_seeds{.wrt = backward.seeds, .of = names_of(backward.def().returns), .save_outputs = false};
  const Gradient twice = differentiate({backward.def(), backward.ranges}, backward.file.text, of_seeds);

  Tangent result;
  result.wrt = backward.wrt;
  result.of = options.of;
  if (result.of.empty())
    for (const TensorDecl& decl : function.def.returns)
      if (is_float(function.def.tensors.at(decl.name).type)) result.of.push_back(decl.name);
  FreshNames names(twice.def());
  std::map<std::string, std::string> renaming;
  for (std::size_t i = 0; i < twice.seeds.size(); ++i) {
    result.tangents.push_back(names.take(str("t_", result.wrt[i])));
    renaming[twice.seeds[i]] = result.tangents.back();
  }
  for (std::size_t i = 0; i < result.of.size(); ++i)
    renaming[twice.def().returns[i].name] = names.take(str("t_", result.of[i]));
  result.def = renamed(without_parameters(twice.def(), backward.seeds), renaming);
  result.def.name = names.take(str(function.def.name, "_jvp"));
  return result;
}

}  // namespace tc::autodiff
