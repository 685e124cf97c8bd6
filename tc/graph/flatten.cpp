#include "tc/graph/flatten.h"

#include <algorithm>

#include "tc/base/cancellation.h"
#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"

namespace tc::graph {
namespace {

using lang::Assignment;
using lang::CallStatement;
using Names = std::map<std::string, std::size_t>;

/// Names that statements of \p def give to no tensor: iterators, lets, sizes.
void add_other_names(const lang::Def& def, std::set<std::string>& names) {
  names.insert(def.name);
  names.insert(def.sizes.begin(), def.sizes.end());
  for (const auto& statement : def.statements) {
    const auto* assignment = std::get_if<Assignment>(&statement.node);
    if (!assignment) continue;
    for (const auto& iterator : lang::left_iterators(*assignment)) names.insert(iterator);
    names.insert(assignment->reduction_iterators.begin(), assignment->reduction_iterators.end());
    for (const auto& clause : assignment->clauses)
      if (const auto* let = std::get_if<lang::LetClause>(&clause.node)) names.insert(let->name);
  }
}

/// The tensors that the values and clauses of \p statement read, of those that \p def knows, in order of the text.
std::vector<std::string> read_names(const Assignment& statement, const lang::Def& def) {
  std::vector<std::string> names;
  auto add = [&](const std::string& name) {
    if (def.tensors.count(name) && !contains(names, name)) names.push_back(name);
  };
  auto collect = [&](const lang::ExprPtr& root) {
    lang::for_each_expr(root, [&](const lang::ExprPtr& expr) {
      if (const auto* access = std::get_if<lang::Access>(&expr->node)) add(access->tensor);
      if (const auto* size = std::get_if<lang::SizeOf>(&expr->node)) add(size->tensor);
    });
  };
  collect(statement.rhs);
  for (const auto& clause : statement.clauses)
    std::visit(overloaded{[&](const lang::RangeClause& x) {
                            collect(x.low);
                            collect(x.high);
                          },
                          [&](const lang::LetClause& x) { collect(x.value); },
                          [&](const lang::ExistsClause& x) { collect(x.value); }},
               clause.node);
  return names;
}

/// Gives out names of tensors.
class FreeNames {
 public:
  explicit FreeNames(const lang::File& file) {
    for (const auto& def : file.defs) add_other_names(def, taken_);
  }
  void take(const std::string& name) { taken_.insert(name); }
  /// \p base if it is free, else base_1, base_2, ...
  std::string give(const std::string& base) {
    if (!lang::find_builtin(base) && taken_.insert(base).second) return base;
    for (int& k = last_[base];;)
      if (auto name = str(base, "_", ++k); taken_.insert(name).second) return name;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;
};

class Flattener {
 public:
  Flattener(const Defs& defs, const lang::Def& def) : defs_(defs), names_(*defs.file) {
    for (const auto& d : defs.file->defs) index_.emplace(d.name, &d);
    for (const auto* list : {&def.params, &def.returns})
      for (const auto& decl : *list) names_.take(decl.name);
    top_ = &def;
  }

  std::optional<FlatDef> run() {
    std::vector<std::size_t> params;
    for (const auto& param : top_->params) params.push_back(add_tensor(param.name, *top_, param.name));
    result_.inputs = params;
    auto returns = walk(*top_, params, std::vector<std::optional<std::size_t>>(top_->returns.size()));
    if (!good_) return std::nullopt;
    result_.outputs = returns;
    name_tensors();
    return std::move(result_);
  }

 private:
  std::size_t add_tensor(const std::string& base, const lang::Def& def, const std::string& name) {
    const auto& info = def.tensors.at(name);
    result_.tensors.push_back({base, info.type, static_cast<std::size_t>(info.rank), lang::Role::Temporary});
    return result_.tensors.size() - 1;
  }

  /// Adds the steps of \p def, called with \p params; \p held are the tensors that its returns accumulate into. Gives
  /// its returns.
  std::vector<std::size_t> walk(const lang::Def& def, const std::vector<std::size_t>& params,
                                const std::vector<std::optional<std::size_t>>& held) {
    check_cancelled("the graph");
    const auto frame = result_.frames.size();
    result_.frames.push_back({&def, params, {}, result_.steps.size(), 0});
    Names current;
    for (std::size_t i = 0; i < params.size(); ++i) current[def.params[i].name] = params[i];
    for (std::size_t i = 0; i < held.size(); ++i)
      if (held[i]) current[def.returns[i].name] = *held[i];
    for (const auto& statement : def.statements) {
      if (std::holds_alternative<Assignment>(statement.node))
        assign(statement, def, frame, current);
      else
        call(statement, def, frame, current);
      if (!good_) return {};
    }
    std::vector<std::size_t> returns;
    for (const auto& decl : def.returns) returns.push_back(current.at(decl.name));
    result_.frames[frame].returns = returns;
    result_.frames[frame].end_step = result_.steps.size();
    return returns;
  }

  void assign(const lang::Statement& statement, const lang::Def& def, std::size_t frame, Names& current) {
    if (!statement.loops.empty()) good_ = false;
    const auto& assignment = std::get<Assignment>(statement.node);
    Step step{&statement, frame, {}, {}, {}};
    const bool is_new = !current.count(assignment.target);
    if (is_new) current[assignment.target] = add_tensor(assignment.target, def, assignment.target);
    for (const auto& name : read_names(assignment, def)) {
      step.tensors[name] = current.at(name);
      step.reads.push_back(current.at(name));
    }
    const auto target = current.at(assignment.target);
    step.tensors[assignment.target] = target;
    if (assignment.reduction && !assignment.initialise && !contains(step.reads, target)) step.reads.push_back(target);
    step.writes = {target};
    result_.steps.push_back(std::move(step));
  }

  void call(const lang::Statement& statement, const lang::Def& def, std::size_t frame, Names& current) {
    const auto& call = std::get<CallStatement>(statement.node);
    const lang::Def& callee = *index_.at(call.def);
    std::vector<std::size_t> arguments;
    for (const auto& name : call.arguments) arguments.push_back(current.at(name));
    std::vector<std::optional<std::size_t>> held(call.results.size());
    for (std::size_t r = 0; r < held.size(); ++r) {
      const auto& name = call.results[r];
      const bool accumulates = callee.tensors.at(callee.returns[r].name).role == lang::Role::InOut;
      if (accumulates && !current.count(name)) current[name] = add_tensor(name, def, name);
      if (accumulates) held[r] = current.at(name);
      if (accumulates && contains(arguments, *held[r]) && !defs_.call_free.count(call.def)) good_ = false;
      if (!accumulates && current.count(name) && def.tensors.at(name).role == lang::Role::InOut) good_ = false;
    }
    if (!good_) return;
    auto results = defs_.call_free.count(call.def) ? add_call(statement, def, frame, call, arguments, held)
                                                   : walk(callee, arguments, held);
    for (std::size_t r = 0; r < results.size(); ++r) current[call.results[r]] = results[r];
  }

  std::vector<std::size_t> add_call(const lang::Statement& statement, const lang::Def& def, std::size_t frame,
                                    const CallStatement& call, const std::vector<std::size_t>& arguments,
                                    const std::vector<std::optional<std::size_t>>& held) {
    Step step{&statement, frame, {}, arguments, {}};
    for (std::size_t r = 0; r < held.size(); ++r) {
      if (held[r]) step.reads.push_back(*held[r]);
      step.writes.push_back(held[r] ? *held[r] : add_tensor(call.results[r], def, call.results[r]));
    }
    auto results = step.writes;
    result_.steps.push_back(std::move(step));
    return results;
  }

  /// Parameters and returns keep their names, the rest gets others.
  void name_tensors() {
    std::set<std::size_t> named;
    for (std::size_t i = 0; i < result_.inputs.size(); ++i) {
      result_.tensors[result_.inputs[i]].role = lang::Role::Input;
      named.insert(result_.inputs[i]);
    }
    for (std::size_t i = 0; i < result_.outputs.size(); ++i) {
      auto& tensor = result_.tensors[result_.outputs[i]];
      tensor.name = top_->returns[i].name;
      tensor.role = top_->tensors.at(tensor.name).role;
      named.insert(result_.outputs[i]);
    }
    for (std::size_t t = 0; t < result_.tensors.size(); ++t)
      if (!named.count(t)) result_.tensors[t].name = names_.give(result_.tensors[t].name);
  }

  const Defs& defs_;
  const lang::Def* top_ = nullptr;
  std::map<std::string, const lang::Def*> index_;
  FreeNames names_;
  FlatDef result_;
  bool good_ = true;
};

}  // namespace

std::optional<FlatDef> flatten(const Defs& defs, const std::string& name) {
  for (const auto& def : defs.file->defs)
    if (def.name == name) return Flattener(defs, def).run();
  return std::nullopt;
}

}  // namespace tc::graph
