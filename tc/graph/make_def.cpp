#include "tc/graph/make_def.h"

#include <map>
#include <set>

#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/graph/statement/rewrite_statement.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {
namespace {

using lang::ExprPtr;

/// What parameters declare: numbers, and names of symbolic sizes.
class Declarations {
 public:
  lang::TensorDecl parameter(const Operand& operand) {
    lang::TensorDecl decl;
    decl.name = operand.name;
    decl.type = operand.type;
    if (!operand.shape.empty()) decl.dims.emplace();
    for (std::size_t d = 0; d < operand.shape.size(); ++d)
      decl.dims->push_back(operand.dims.empty() || !operand.dims[d] ? literal(operand.shape[d])
                                                                    : name_of(operand.dims[d]));
    return decl;
  }

 private:
  /// A sum of sizes is a size of its own, as no parameter before may declare these.
  ExprPtr name_of(const ExprPtr& dim) {
    if (std::holds_alternative<lang::Name>(dim->node)) return dim;
    const auto& name = names_.emplace(lang::print(dim), str("size_", names_.size() + 1)).first->second;
    return lang::make_expr(lang::Name{name});
  }

  std::map<std::string, std::string> names_;
};

using Mins = std::map<std::string, std::vector<std::int64_t>>;

/// \p expr with the reads of the tensors of \p mins moved to begin at index 0.
ExprPtr from_zero(const ExprPtr& expr, const Mins& mins) {
  auto parts = lang::children(expr);
  for (auto& part : parts) part = from_zero(part, mins);
  const auto* access = std::get_if<lang::Access>(&expr->node);
  const auto found = access ? mins.find(access->tensor) : mins.end();
  if (found != mins.end())
    for (std::size_t d = 0; d < parts.size(); ++d)
      if (auto min = found->second[d]; min != 0)
        parts[d] = lang::make_expr(lang::Binary{lang::BinaryOp::Sub, parts[d], literal(min)}, parts[d]->range);
  return parts.empty() ? expr : lang::with_children(expr, parts);
}

lang::Assignment from_zero(lang::Assignment statement, const Mins& mins) {
  statement.rhs = from_zero(statement.rhs, mins);
  for (auto& clause : statement.clauses)
    if (auto* exists = std::get_if<lang::ExistsClause>(&clause.node)) exists->value = from_zero(exists->value, mins);
  return statement;
}

bool is_moved(const Operand& operand) {
  for (auto min : operand.mins)
    if (min != 0) return true;
  return false;
}

lang::TensorDecl return_of(const Operand& operand) {
  lang::TensorDecl decl;
  decl.name = operand.name;
  if (operand.declare_type) decl.type = operand.type;
  return decl;
}

}  // namespace

lang::Def make_def(const DefSketch& sketch) {
  lang::Def def;
  def.name = sketch.name;
  Mins mins;
  Declarations declarations;
  for (const auto& operand : sketch.params) {
    def.params.push_back(declarations.parameter(operand));
    if (is_moved(operand)) mins.emplace(operand.name, operand.mins);
  }
  for (const auto& operand : sketch.returns) def.returns.push_back(return_of(operand));
  for (auto statement : sketch.statements) {
    auto* assignment = std::get_if<lang::Assignment>(&statement.node);
    if (assignment && !mins.empty()) statement.node = from_zero(*assignment, mins);
    def.statements.push_back(std::move(statement));
  }
  return def;
}

namespace {

template <typename Visit>
void for_each_expr_of(const lang::Assignment& statement, Visit&& visit) {
  lang::for_each_expr(statement.rhs, visit);
  for (const auto& clause : statement.clauses)
    if (const auto* exists = std::get_if<lang::ExistsClause>(&clause.node)) lang::for_each_expr(exists->value, visit);
}

bool reads_an_element(const ExprPtr& expr) {
  bool found = false;
  lang::for_each_expr(expr, [&](const ExprPtr& e) { found = found || std::holds_alternative<lang::Access>(e->node); });
  return found;
}

/// The identifiers of \p statements that are no tensors: of iterators and calls.
std::set<std::string> other_names(const std::vector<lang::Statement>& statements) {
  std::set<std::string> names;
  for (const auto& statement : statements) {
    const auto* assignment = std::get_if<lang::Assignment>(&statement.node);
    if (!assignment) {
      names.insert(std::get<lang::CallStatement>(statement.node).def);
      continue;
    }
    for (const auto& subscript : assignment->subscripts) names.insert(std::get<lang::Name>(subscript->node).id);
    for (const auto& clause : assignment->clauses)
      if (const auto* range = std::get_if<lang::RangeClause>(&clause.node)) names.insert(range->index);
    for_each_expr_of(*assignment, [&](const ExprPtr& expr) {
      if (const auto* name = std::get_if<lang::Name>(&expr->node)) names.insert(name->id);
    });
  }
  return names;
}

/// Names for the tensors of a sketch.
class PlainNames {
 public:
  explicit PlainNames(const DefSketch& sketch) : taken_(other_names(sketch.statements)) {
    for (const auto& operand : sketch.params)
      for (const auto& dim : operand.dims)
        if (const auto* name = dim ? std::get_if<lang::Name>(&dim->node) : nullptr) taken_.insert(name->id);
    for (const auto& operand : sketch.params) taken_.erase(operand.name), add(operand.name, "X");
    for (const auto& operand : sketch.returns) taken_.erase(operand.name), add(operand.name, "Y");
    for (const auto& statement : sketch.statements) {
      if (const auto* assignment = std::get_if<lang::Assignment>(&statement.node)) add(assignment->target, "T");
      if (const auto* call = std::get_if<lang::CallStatement>(&statement.node))
        for (const auto& result : call->results) add(result, "T");
    }
  }
  const std::string& of(const std::string& name) const { return names_.tensors.at(name); }
  const lang::Substitution& substitution() const { return names_; }

 private:
  void add(const std::string& name, const std::string& kind) {
    if (names_.tensors.count(name)) return;
    std::string plain;
    do plain = str(kind, next_[kind]++);
    while (taken_.count(plain));
    names_.tensors[name] = plain;
    names_.values[name] = lang::make_expr(lang::Name{plain});
  }

  std::set<std::string> taken_;
  lang::Substitution names_;
  std::map<std::string, int> next_;
};

}  // namespace

bool has_indirect_subscript(const std::vector<lang::Statement>& statements) {
  bool found = false;
  for (const auto& statement : statements)
    if (const auto* assignment = std::get_if<lang::Assignment>(&statement.node))
      for_each_expr_of(*assignment, [&](const ExprPtr& expr) {
        if (const auto* access = std::get_if<lang::Access>(&expr->node))
          for (const auto& subscript : access->subscripts) found = found || reads_an_element(subscript);
      });
  return found;
}

DefSketch with_plain_names(const DefSketch& sketch) {
  const PlainNames names(sketch);
  DefSketch result = sketch;
  for (auto* list : {&result.params, &result.returns})
    for (auto& operand : *list) operand.name = names.of(operand.name);
  for (auto& statement : result.statements) {
    if (auto* assignment = std::get_if<lang::Assignment>(&statement.node)) {
      *assignment = lang::substitute(*assignment, names.substitution());
      continue;
    }
    auto& call = std::get<lang::CallStatement>(statement.node);
    for (auto* list : {&call.results, &call.arguments})
      for (auto& name : *list) name = names.of(name);
  }
  return result;
}

namespace {

template <typename Visit>
void for_each_expr_of(const lang::Clause& clause, Visit&& visit) {
  std::visit(overloaded{[&](const lang::RangeClause& x) {
                          lang::for_each_expr(x.low, visit);
                          lang::for_each_expr(x.high, visit);
                        },
                        [&](const auto& x) { lang::for_each_expr(x.value, visit); }},
             clause.node);
}

/// Adds the tensors and iterators of \p assignment to \p names.
void add_identifiers(const lang::Assignment& assignment, std::set<std::string>& names) {
  const auto add = [&](const ExprPtr& part) {
    if (const auto* name = std::get_if<lang::Name>(&part->node)) names.insert(name->id);
    if (const auto* access = std::get_if<lang::Access>(&part->node)) names.insert(access->tensor);
  };
  names.insert(assignment.target);
  lang::for_each_expr(assignment.rhs, add);
  for (const auto& subscript : assignment.subscripts) lang::for_each_expr(subscript, add);
  for (const auto& clause : assignment.clauses) {
    if (const auto* range = std::get_if<lang::RangeClause>(&clause.node)) names.insert(range->index);
    for_each_expr_of(clause, add);
  }
}

/// What is called by a name of its own in \p statement, a call: tensors.
std::vector<std::string*> names_in(lang::CallStatement& call) {
  std::vector<std::string*> result;
  for (auto* list : {&call.results, &call.arguments})
    for (auto& name : *list) result.push_back(&name);
  return result;
}

}  // namespace

std::set<std::string> identifiers(const lang::Def& def) {
  std::set<std::string> names;
  for (const auto* decls : {&def.params, &def.returns})
    for (const auto& decl : *decls) names.insert(decl.name);
  for (auto statement : def.statements) {
    if (const auto* assignment = std::get_if<lang::Assignment>(&statement.node)) add_identifiers(*assignment, names);
    if (auto* call = std::get_if<lang::CallStatement>(&statement.node))
      for (const auto* name : names_in(*call)) names.insert(*name);
  }
  return names;
}

lang::Def with_names_apart(lang::Def def, const std::set<std::string>& taken) {
  const auto own = identifiers(def);
  lang::Substitution renaming;
  for (const auto& name : own) {
    if (!taken.count(name)) continue;
    std::string free = name;
    for (int number = 1; taken.count(free) || own.count(free); ++number) free = str(name, "_", number);
    renaming.tensors[name] = free;
    renaming.values[name] = lang::make_expr(lang::Name{free});
  }
  if (renaming.tensors.empty()) return def;
  const auto rename = [&](std::string& name) {
    if (const auto found = renaming.tensors.find(name); found != renaming.tensors.end()) name = found->second;
  };
  for (auto* decls : {&def.params, &def.returns})
    for (auto& decl : *decls) rename(decl.name);
  for (auto& statement : def.statements) {
    if (const auto* assignment = std::get_if<lang::Assignment>(&statement.node))
      statement.node = lang::substitute(*assignment, renaming);
    else
      for (auto* name : names_in(std::get<lang::CallStatement>(statement.node))) rename(*name);
  }
  return def;
}

lang::InlineContext inline_context(const Defs& defs) {
  lang::InlineContext context;
  context.callee = [&defs](const std::string& name) -> const lang::InlinedDef& {
    auto found = defs.call_free.find(name);
    if (found == defs.call_free.end()) throw InternalError(str("the graph calls '", name, "', which holds calls"));
    return *found->second;
  };
  context.start_ranges = [&defs](const lang::Def& head) {
    static const auto& none = *new Cancellation;
    return std::make_unique<halide_bridge::RangeInference>(head, defs.file->text, defs.file->name, none);
  };
  return context;
}

std::shared_ptr<const lang::InlinedDef> understood(const lang::Def& def, const Defs& defs) {
  check_cancelled("the graph");
  std::set<std::string> names;
  for (const auto& other : defs.file->defs) names.insert(other.name);
  auto result = std::make_shared<lang::InlinedDef>();
  const auto checked = lang::check(with_names_apart(def, names), *defs.file);
  result->def = lang::inline_calls(checked, *defs.file, inline_context(defs));
  result->ranges = halide_bridge::infer_ranges(result->def, defs.file->text, defs.file->name);
  return result;
}

}  // namespace tc::graph
