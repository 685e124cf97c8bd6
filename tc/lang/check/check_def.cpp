#include "tc/lang/check/check_def.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/check/check_loops.h"
#include "tc/lang/check/check_statement.h"
#include "tc/lang/check/free_names.h"
#include "tc/lang/check/scattered_store.h"
#include "tc/lang/check/short_forms.h"
#include "tc/lang/check/type_expr.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {

/// Checks one def under the assumption that the tensors of `adapted` have those types.
class DefChecker {
 public:
  DefChecker(const Def& def, const std::set<std::string>& defs, const FindDef& find, const TypeMap& adapted,
             Diagnostics& diagnostics)
      : def_(def), find_(find), adapted_(adapted), scope_{diagnostics, defs, {}, {}, {}, {}, {}, {}} {}

  Def run(TypeMap& wanted, const Cancellation& cancellation) {
    declare();
    taken_ = text_identifiers(def_);
    for (const auto& statement : def_.statements) announce(statement);
    for (const auto& statement : def_.statements) {
      cancellation.check("the checker");
      if (scope_.diagnostics.full()) break;
      for (const auto& plain : without_scattered_store(statement, scope_, taken_))
        result_.statements.push_back(add(plain, wanted));
    }
    for (const auto& decl : def_.returns) check_assigned(decl);
    finish();
    if (scope_.diagnostics.errors().size() == errors_before_) check_loops(result_, scope_.diagnostics);
    return std::move(result_);
  }

  /// Parameters and returns.
  void declare() {
    result_ = def_;
    result_.statements.clear();
    for (auto& param : result_.params) declare_param(param);
    for (auto& decl : result_.returns) declare_return(decl);
  }

  /// Makes the targets of \p statement known as tensors.
  void announce(const Statement& statement) {
    declare_targets(statement);
    const auto* assignment = std::get_if<Assignment>(&statement.node);
    if (assignment && !statement.loops.empty()) carried_[statement.loops[0].id].insert(assignment->target);
  }

  Statement add(const Statement& statement, TypeMap& wanted) {
    announce(statement);
    return check(statement, {scope_, find_, adapted_, wanted});
  }

 private:
  void report(Report report) { scope_.diagnostics.add(report); }

  Statement check(const Statement& statement, const StatementContext& context) {
    Statement result = statement;
    scope_.carried = statement.loops.empty() ? std::set<std::string>() : carried_[statement.loops[0].id];
    scope_.loop_indices.clear();
    for (const auto& loop : statement.loops) scope_.loop_indices.insert(loop.iterator);
    scope_.statement = std::get_if<Assignment>(&statement.node);
    if (const auto* assignment = std::get_if<Assignment>(&statement.node))
      result.node = check_assignment(*assignment, context);
    else
      result.node = check_call(std::get<CallStatement>(statement.node), statement.range, context);
    scope_.statement = nullptr;
    return result;
  }

  /// Is \p name a size and nothing else? A tensor with dimensions may have that name too: W is the size, W(i) an element.
  bool is_only_size(const std::string& name) const {
    return scope_.is_size(name) && !scope_.defs.count(name) && !scope_.tensors.count(name);
  }

  /// Reports a name that cannot be declared as \p what; true if it can. \p is_tensor: one with dimensions.
  bool is_free(const std::string& name, SourceRange range, const std::string& what, bool is_tensor = false) {
    const std::string taken = taken_as(scope_, name);
    if (taken.empty() || (is_tensor && is_only_size(name))) return true;
    const bool function = scope_.defs.count(name);
    Report message{.code = function ? "TC103" : "TC102",
                   .range = range,
                   .message = str(taken, " and cannot be ", function ? "redefined as " : "declared again as ", what),
                   .help = "choose another name"};
    const auto tensor = scope_.tensors.find(name);
    if (!function && tensor != scope_.tensors.end()) message.also = {{tensor->second.range, "first declared here"}};
    report(message);
    return false;
  }

  /// The sizes of a declaration as int64 expressions; a new name in a parameter declares a size.
  void check_dims(TensorDecl& decl, bool declares) {
    if (!decl.dims) return;
    for (auto& dim : *decl.dims) {
      const auto* name = std::get_if<Name>(&dim->node);
      if (declares && name && !scope_.is_size(name->id) && is_free(name->id, dim->range, "a size"))
        scope_.sizes.push_back(name->id);
      if (const auto* tensor = name && !scope_.is_size(name->id) ? find_tensor(name->id) : nullptr; tensor && declares)
        continue;
      if (declares && reports_unknown_size(dim)) continue;
      const std::string what = str("a size of '", decl.name, "'");
      ExprPtr typed = type_index(declares ? dim : with_parameter_values(dim, scope_), scope_, what);
      if (typed && check_size_expr(typed, scope_, what)) dim = without_short_forms(typed);
      const auto* unary = std::get_if<Unary>(&dim->node);
      if (unary && std::holds_alternative<IntLiteral>(unary->value->node))
        report({.code = "TC114", .range = dim->range, .message = str(what, " is negative")});
    }
  }

  /// Reports the first name of \p dim, an expression over sizes of a parameter, that no dimension before it declares; false
  /// if there is none.
  bool reports_unknown_size(const ExprPtr& dim) {
    bool found = false;
    for_each_expr(dim, [&](const ExprPtr& part) {
      const auto* name = std::get_if<Name>(&part->node);
      if (found || !name || scope_.is_size(name->id) || !taken_as(scope_, name->id).empty()) return;
      found = true;
      report({.code = "TC101",
              .range = part->range,
              .message = str("the size '", name->id, "' is not known in '", print(dim), "'"),
              .note = "a size is known behind the first dimension that is its name alone",
              .help = str("declare a parameter with the dimension ", name->id,
                          " before this one, or give the dimension '", print(dim), "' a name of its own")});
    });
    return found;
  }

  const TensorState* find_tensor(const std::string& name) const {
    const auto found = scope_.tensors.find(name);
    return found == scope_.tensors.end() ? nullptr : &found->second;
  }

  void declare_param(TensorDecl& decl) {
    check_dims(decl, true);
    if (!is_free(decl.name, decl.range, "a parameter", decl.dims.has_value())) return;
    TensorState state;
    state.kind = TensorState::Kind::Param;
    state.type = decl.type;
    state.rank = decl.dims ? static_cast<int>(decl.dims->size()) : 0;
    state.dims = decl.dims ? decl.dims : std::vector<ExprPtr>{};
    state.range = decl.range;
    scope_.tensors[decl.name] = state;
  }

  /// Reports a return that is a parameter too, and makes it a tensor that may be assigned.
  bool reports_parameter(const TensorDecl& decl) {
    const auto found = scope_.tensors.find(decl.name);
    if (found == scope_.tensors.end() || found->second.kind != TensorState::Kind::Param) return false;
    const auto param = std::find_if(def_.params.begin(), def_.params.end(),
                                    [&](const TensorDecl& each) { return each.name == decl.name; });
    std::vector<std::string> sizes;
    for (const auto& dim : param->dims.value_or(std::vector<ExprPtr>{})) sizes.push_back(print(dim));
    const std::string type(param->type ? name(*param->type) : std::string_view(param->type_name));
    report({.code = "TC102",
            .range = decl.range,
            .message = str("'", decl.name, "' is a tensor and cannot be declared again as a return"),
            .also = {{found->second.range, "first declared here"}},
            .help = str("choose another name; a tensor of the caller that is updated in place is a return alone, with "
                        "type and sizes: -> (",
                        type, sizes.empty() ? "" : str("(", join(sizes, ","), ")"), " ", decl.name,
                        "), called with out=", decl.name)});
    found->second.kind = TensorState::Kind::Return;
    found->second.assigned = true;
    return true;
  }

  void declare_return(TensorDecl& decl) {
    check_dims(decl, false);
    if (reports_parameter(decl)) return;
    if (!is_free(decl.name, decl.range, "a return")) return;
    TensorState state;
    state.kind = TensorState::Kind::Return;
    state.type = decl.type;
    state.declared_type = decl.type.has_value();
    if (decl.dims) state.rank = static_cast<int>(decl.dims->size());
    state.dims = decl.dims;
    state.range = decl.range;
    scope_.tensors[decl.name] = state;
  }

  /// Makes every target known as a tensor, so that a read of it is never taken for an index.
  void declare_targets(const Statement& statement) {
    const auto declare = [&](const std::string& name, SourceRange range) {
      if (scope_.tensors.count(name) || !is_free(name, range, "a tensor")) return;
      scope_.tensors[name].range = range;
    };
    if (const auto* assignment = std::get_if<Assignment>(&statement.node))
      return declare(assignment->target, assignment->target_range);
    const auto& call = std::get<CallStatement>(statement.node);
    for (std::size_t i = 0; i < call.results.size(); ++i)
      declare(call.results[i], place(call.result_ranges, i, statement.range));
  }

  void check_assigned(const TensorDecl& decl) {
    const TensorState* state = find_tensor(decl.name);
    if (!state || state->kind != TensorState::Kind::Return || state->assigned) return;
    std::vector<std::string> temporaries;
    for (const auto& [name, tensor] : scope_.tensors)
      if (tensor.kind == TensorState::Kind::Temporary) temporaries.push_back(name);
    report({.code = "TC116",
            .range = decl.range,
            .message = str("the return '", decl.name, "' is never assigned"),
            .help = did_you_mean(decl.name, temporaries)});
  }

  /// Fills the tables of the def.
  void finish() {
    result_.tensors.clear();
    for (const auto& [name, state] : scope_.tensors) {
      TensorInfo info;
      info.type = state.type.value_or(DType::Float32);
      info.rank = state.rank.value_or(0);
      info.role = state.kind == TensorState::Kind::Param       ? Role::Input
                  : state.kind == TensorState::Kind::Temporary ? Role::Temporary
                  : state.accumulates_into_caller              ? Role::InOut
                                                               : Role::Output;
      info.dims = state.dims;
      info.range = state.range;
      result_.tensors[name] = info;
    }
    result_.sizes = scope_.sizes;
    result_.sizes.insert(result_.sizes.end(), scope_.valued.begin(), scope_.valued.end());
  }

  const Def& def_;
  std::set<std::string> taken_;  ///< by names of the text, and of tensors that were made
  const FindDef& find_;
  const TypeMap& adapted_;
  Scope scope_;
  Def result_;
  const std::size_t errors_before_ = scope_.diagnostics.errors().size();
  std::map<int, std::set<std::string>> carried_;  ///< by outermost loop, the tensors that its statements write
};

GrowingDefChecker::GrowingDefChecker(const Def& head, const TypeMap& types, Diagnostics& diagnostics)
    : find_none_([](const std::string&, const std::vector<Operand>&) { return nullptr; }),
      checker_(std::make_unique<DefChecker>(head, no_defs_, find_none_, types, diagnostics)) {
  checker_->declare();
}

GrowingDefChecker::~GrowingDefChecker() = default;

void GrowingDefChecker::announce(const Statement& statement) { checker_->announce(statement); }

Statement GrowingDefChecker::add(const Statement& statement) { return checker_->add(statement, wanted_); }

Def check_def(const Def& def, const std::set<std::string>& defs, const FindDef& find, Diagnostics& diagnostics,
              const Cancellation& cancellation) {
  TypeMap adapted;
  while (true) {
    const std::size_t known = adapted.size();
    Diagnostics own = diagnostics;
    Def result = DefChecker(def, defs, find, adapted, own).run(adapted, cancellation);
    if (adapted.size() != known) continue;
    diagnostics = own;
    return result;
  }
}

}  // namespace tc::lang
