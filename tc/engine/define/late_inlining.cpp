#include "tc/engine/define/late_inlining.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "tc/base/cancellation.h"
#include "tc/base/str.h"
#include "tc/graph/make_def.h"
#include "tc/graph/statement/rewrite_statement.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/check/inline.h"
#include "tc/lang/check/short_forms.h"
#include "tc/lang/syntax/call_order.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::engine {

namespace {

/// \p file with ranges that differ by instance as conditions: parts of graphs know ranges of sizes alone.
std::shared_ptr<const lang::File> without_instance_ranges(const std::shared_ptr<const lang::File>& file) {
  if (std::none_of(file->defs.begin(), file->defs.end(), lang::has_instance_ranges)) return file;
  auto result = std::make_shared<lang::File>(*file);
  for (auto& def : result->defs)
    if (lang::has_instance_ranges(def)) def = lang::without_short_forms(std::move(def));
  return result;
}

}  // namespace

std::shared_ptr<const graph::Defs> graph_defs(const std::shared_ptr<const lang::File>& file,
                                              const std::vector<lang::Def>& inlined,
                                              const std::vector<lang::Ranges>& ranges,
                                              const std::set<std::string>& late) {
  auto defs = std::make_shared<graph::Defs>();
  defs->file = without_instance_ranges(file);
  std::set<std::string> calling;
  for (const auto& def : file->defs)
    for (const auto& statement : def.statements)
      if (std::holds_alternative<lang::CallStatement>(statement.node)) calling.insert(def.name);
  for (std::size_t i = 0; i < inlined.size(); ++i) {
    const auto& def = inlined[i];
    if (late.count(def.name)) continue;
    auto& known = calling.count(def.name) ? defs->written_out : defs->call_free;
    known.emplace(def.name, std::make_shared<lang::InlinedDef>(lang::InlinedDef{def, ranges[i]}));
  }
  return defs;
}

std::string program_key(const Function& function) {
  if (!function.late) return function.key;
  std::lock_guard lock(function.late->mutex);
  auto& key = function.late->key;
  if (!key.empty()) return key;
  key = function.key;
  for (const auto* other : called_defs(function.def, *function.file))
    key += str("; ", other->name, ": ", lang::canonical_text(*other));
  return key;
}

std::vector<const lang::Def*> called_defs(const lang::Def& def, const lang::File& file) {
  std::set<std::string> called;
  auto add_calls = [&](const lang::Def& from) {
    for (const auto& statement : from.statements)
      if (const auto* call = std::get_if<lang::CallStatement>(&statement.node)) called.insert(call->def);
  };
  add_calls(def);
  std::vector<const lang::Def*> result;
  if (called.empty()) return result;
  std::vector<lang::CallCycle> cycles;
  const auto order = lang::callees_first(file.defs, cycles);
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const auto& other = file.defs[*i];
    if (!called.count(other.name) || &other == &def) continue;
    add_calls(other);
    result.push_back(&other);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::shared_ptr<const Function> inlined(const std::shared_ptr<const Function>& function) {
  if (!function->late) return function;
  auto& late = *function->late;
  const std::string key = program_key(*function);
  {
    std::lock_guard lock(late.mutex);
    if (late.function) return late.function;
  }
  const auto& file = *function->file;
  std::map<std::string, lang::InlinedDef> known;
  auto context = graph::inline_context(*function->defs);
  std::vector<lang::CallCycle> cycles;
  context.callee = [&](const std::string& name) -> const lang::InlinedDef& {
    auto callee = function->defs->call_free.find(name);
    return callee == function->defs->call_free.end() ? known.at(name) : *callee->second;
  };
  auto result = std::make_shared<Function>();
  for (const std::size_t i : lang::callees_first(file.defs, cycles)) {
    const auto& def = file.defs[i];
    if (function->defs->call_free.count(def.name)) continue;
    check_cancelled("the inliner");
    lang::InlinedDef whole{lang::inline_calls(def, file, context), {}};
    whole.ranges = halide_bridge::infer_ranges(whole.def, file.text, file.name);
    if (def.name == function->name()) {
      *result = {function->file, std::move(whole.def), std::move(whole.ranges), "", function->defs, nullptr};
      break;
    }
    known.emplace(def.name, std::move(whole));
  }
  result->key = key;
  std::lock_guard lock(late.mutex);
  if (!late.function) late.function = std::move(result);
  return late.function;
}

namespace {

/// \p def without its calls: what these give are parameters of sizes of their own. Nothing where it has no statements,
/// or one writes what a call gives.
std::optional<lang::Def> without_calls(const lang::Def& def) {
  lang::Def result = def;
  result.statements.clear();
  std::set<std::string> given, written;
  for (const auto& statement : def.statements) {
    if (const auto* call = std::get_if<lang::CallStatement>(&statement.node)) {
      given.insert(call->results.begin(), call->results.end());
      continue;
    }
    auto own = statement;
    own.node = lang::substitute(std::get<lang::Assignment>(statement.node), {});
    written.insert(std::get<lang::Assignment>(own.node).target);
    result.statements.push_back(std::move(own));
  }
  for (auto* list : {&result.params, &result.returns})
    for (auto& decl : *list)
      if (decl.dims)
        for (auto& dim : *decl.dims) dim = lang::substitute(dim, {});
  std::erase_if(result.returns, [&](const auto& decl) { return !written.count(decl.name); });
  for (const auto& name : given) {
    if (written.count(name)) return std::nullopt;
    lang::TensorDecl decl;
    decl.name = name;
    decl.type = def.tensors.at(name).type;
    if (def.tensors.at(name).rank > 0) decl.dims.emplace();
    for (int d = 0; d < def.tensors.at(name).rank; ++d)
      decl.dims->push_back(lang::make_expr(lang::Name{str(name, "_size_", d)}));
    result.params.push_back(std::move(decl));
  }
  if (result.statements.empty() || result.returns.empty()) return std::nullopt;
  return result;
}

}  // namespace

bool has_doubtful_statements(const lang::Def& def, const lang::File& file) {
  for (const auto& statement : def.statements)
    if (const auto* own = std::get_if<lang::Assignment>(&statement.node); own && graph::has_open_conditions(*own))
      return true;
  const auto own = without_calls(def);
  if (!own) return false;
  try {
    halide_bridge::infer_ranges(lang::inline_calls(lang::check_alone(*own, file), file, {}), file.text, file.name);
    return false;
  } catch (const SemanticError&) {
    return true;
  }
}

}  // namespace tc::engine
