#include "tc/lang/inline.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/check.h"
#include "tc/lang/substitute.h"

namespace tc::lang {
namespace {

ExprPtr name_expr(const std::string& id) { return make_expr(Name{id}); }
ExprPtr int_expr(std::uint64_t value) { return make_expr(IntLiteral{value}); }
ExprPtr binary_expr(BinaryOp op, ExprPtr left, ExprPtr right) {
  return make_expr(Binary{op, std::move(left), std::move(right)});
}

/// index in 0:high
Clause range_clause(const std::string& index, const ExprPtr& high, SourceRange range) {
  Clause clause;
  clause.node = RangeClause{index, int_expr(0), high};
  clause.range = range;
  return clause;
}

bool is_zero(const ExprPtr& expr) {
  auto* literal = std::get_if<IntLiteral>(&expr->node);
  if (auto* cast = std::get_if<Cast>(&expr->node); cast && cast->implicit) return is_zero(cast->value);
  return literal && literal->value == 0;
}
bool starts_at_zero(const std::vector<Range>& ranges) {
  return std::all_of(ranges.begin(), ranges.end(), [](const Range& range) { return is_zero(range.min); });
}

const TensorDecl* find_decl(const std::vector<TensorDecl>& decls, const std::string& name) {
  for (const auto& decl : decls)
    if (decl.name == name) return &decl;
  return nullptr;
}

/// The type of a value before the conversion to its target.
DType natural_type(ExprPtr expr) {
  while (auto* cast = std::get_if<Cast>(&expr->node)) {
    if (!cast->implicit) break;
    expr = cast->value;
  }
  return *expr->type;
}

/// Does the expression, range or value of \p statement mention the iterator \p id outside the left-hand side?
bool constrains(const Assignment& statement, const std::string& id) {
  bool found = false;
  auto scan = [&](const ExprPtr& root) {
    for_each_expr(root, [&](const ExprPtr& e) {
      auto* name = std::get_if<Name>(&e->node);
      found = found || (name && name->id == id);
    });
  };
  scan(statement.rhs);
  for (const auto& clause : statement.clauses)
    std::visit(overloaded{[&](const RangeClause& x) { found = found || x.index == id; },
                          [&](const LetClause& x) { scan(x.value); }, [&](const ExistsClause& x) { scan(x.value); }},
               clause.node);
  return found;
}

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

/// Two expressions that must be one number.
struct SizeEquation {
  std::string tensor;
  int dimension;
  ExprPtr expected, actual;
};

/// Builds the inlined def statement by statement.
class Inliner {
 public:
  Inliner(const Def& def, const File& file, const std::function<Ranges(const Def&)>& ranges_of)
      : def_(def), file_(file), ranges_of_(ranges_of), taken_(identifiers(def)) {
    for (const auto& d : file.defs) values_.insert(d.name);
    for (const auto& [name, info] : def.tensors) values_.insert(name);
    values_.insert(def.sizes.begin(), def.sizes.end());
    taken_.insert(values_.begin(), values_.end());
    result_.name = def.name;
    result_.params = raw(def.params);
    result_.returns = raw(def.returns);
    result_.range = def.range;
  }

  Def run() {
    for (const auto& statement : def_.statements) {
      if (auto* assignment = std::get_if<Assignment>(&statement.node))
        emit(substitute(*assignment, {}), statement.range);
      else
        inline_call(std::get<CallStatement>(statement.node), statement.range);
    }
    return checked(result_);
  }

 private:
  struct Call;

  static std::vector<TensorDecl> raw(std::vector<TensorDecl> decls) {
    for (auto& decl : decls)
      if (decl.dims)
        for (auto& dim : *decl.dims) dim = substitute(dim, {});
    return decls;
  }

  Def checked(const Def& def) const {
    File file{file_.text, file_.name, {def}};
    return check(file).defs.at(0);
  }

  void emit(Assignment assignment, SourceRange range) {
    assigned_.insert(assignment.target);
    result_.statements.push_back({std::move(assignment), range});
  }

  /// A name that nothing has: base_1, base_2, ...
  std::string fresh(const std::string& base) {
    for (int k = 1;; ++k) {
      std::string name = str(base, "_", k);
      if (!taken_.insert(name).second) continue;
      values_.insert(name);
      return name;
    }
  }
  /// The iterator \p base, or another name if a tensor or size is called so.
  std::string free_iterator(const std::string& base) {
    if (!values_.count(base)) {
      taken_.insert(base);
      return base;
    }
    for (int k = 1;; ++k)
      if (std::string name = str(base, "_", k); taken_.insert(name).second) return name;
  }
  std::vector<std::string> free_iterators(int rank) {
    static const char* names[] = {"i", "j", "k", "l", "m", "n"};
    std::vector<std::string> result;
    for (int d = 0; d < rank; ++d) result.push_back(free_iterator(d < 6 ? names[d] : str("i", d)));
    return result;
  }

  /// target(i, ...) = source(i + min, ...); \p mins holds ranges whose mins are not all 0, or null.
  void emit_copy(const std::string& target, const std::string& source, int rank, const std::vector<Range>* mins,
                 const Substitution& sizes, std::optional<DType> type, SourceRange range);
  void emit_equation(const SizeEquation& equation, SourceRange range);
  void emit_callee_statement(Call& call, const Assignment& statement, SourceRange range);
  void inline_call(const CallStatement& statement, SourceRange range);
  void map_arguments(Call& call);
  void map_results(Call& call);
  void copy_results(Call& call);
  std::string argument_from_zero(const std::string& argument, SourceRange range);
  ExprPtr dimension_of(const std::string& tensor, int dimension) const;

  const Def& def_;
  const File& file_;
  const std::function<Ranges(const Def&)>& ranges_of_;
  std::set<std::string> taken_;     ///< every identifier in use
  std::set<std::string> values_;    ///< those that are no iterators or lets
  std::set<std::string> assigned_;  ///< tensors written so far
  Def result_;
};

/// A call while it is expanded.
struct Inliner::Call {
  const CallStatement& statement;
  SourceRange range;
  Def callee;  ///< without calls and lets
  Ranges ranges;
  Substitution substitution;
  std::vector<SizeEquation> after;      ///< to be checked behind the callee's statements
  std::map<std::string, DType> pinned;  ///< callee tensors whose first assignment must give this type
  std::vector<std::pair<std::string, std::string>> copies;  ///< callee's result, caller's tensor
};

ExprPtr Inliner::dimension_of(const std::string& tensor, int dimension) const {
  auto* param = find_decl(result_.params, tensor);
  if (param && param->dims) return param->dims->at(static_cast<std::size_t>(dimension));
  return make_expr(SizeOf{tensor, dimension});
}

void Inliner::emit_copy(const std::string& target, const std::string& source, int rank, const std::vector<Range>* mins,
                        const Substitution& sizes, std::optional<DType> type, SourceRange range) {
  Assignment copy;
  copy.target = target;
  copy.bare = rank == 0;
  copy.target_range = range;
  std::vector<ExprPtr> subscripts;
  std::vector<std::string> iterators = free_iterators(rank);
  for (int d = 0; d < rank; ++d) {
    ExprPtr iterator = name_expr(iterators[static_cast<std::size_t>(d)]);
    copy.subscripts.push_back(iterator);
    if (mins && !is_zero((*mins)[static_cast<std::size_t>(d)].min)) {
      auto min = substitute((*mins)[static_cast<std::size_t>(d)].min, sizes);
      subscripts.push_back(binary_expr(BinaryOp::Add, iterator, min));
      const std::string& index = iterators[static_cast<std::size_t>(d)];
      copy.clauses.push_back(range_clause(index, make_expr(SizeOf{source, d}), range));
    } else {
      subscripts.push_back(iterator);
    }
  }
  copy.rhs = rank == 0 ? name_expr(source) : make_expr(Access{source, subscripts, false}, range);
  if (type) copy.rhs = make_expr(Cast{*type, copy.rhs, false}, range);
  emit(std::move(copy), range);
}

/// A tensor whose extents are expected - actual and actual - expected: negative, thus refused at the call, unless
/// equal.
void Inliner::emit_equation(const SizeEquation& equation, SourceRange range) {
  if (equal(equation.expected, equation.actual)) return;
  Assignment statement;
  statement.target = fresh(str(equation.tensor, "_size_", equation.dimension));
  statement.target_range = range;
  std::vector<std::string> iterators = free_iterators(2);
  for (const auto& iterator : iterators) statement.subscripts.push_back(name_expr(iterator));
  statement.rhs = make_expr(BoolLiteral{false}, range);
  auto more = binary_expr(BinaryOp::Sub, equation.actual, equation.expected);
  auto less = binary_expr(BinaryOp::Sub, equation.expected, equation.actual);
  statement.clauses.push_back(range_clause(iterators[0], more, range));
  statement.clauses.push_back(range_clause(iterators[1], less, range));
  emit(std::move(statement), range);
}

/// \p argument, or a copy that starts at 0 if its inferred mins are others.
std::string Inliner::argument_from_zero(const std::string& argument, SourceRange range) {
  if (find_decl(result_.params, argument) || def_.tensors.at(argument).rank == 0) return argument;
  Def prefix = result_;
  std::erase_if(prefix.returns, [&](const TensorDecl& decl) { return !assigned_.count(decl.name); });
  if (!find_decl(prefix.returns, argument)) prefix.returns.push_back({argument, {}, {}, range});
  Def def = checked(prefix);
  Ranges ranges = ranges_of_(def);
  const auto& box = ranges.tensors.at(argument);
  if (starts_at_zero(box)) return argument;
  std::string copy = fresh(argument);
  emit_copy(copy, argument, static_cast<int>(box.size()), &box, {}, {}, range);
  return copy;
}

/// Parameters become arguments, sizes become their dimensions.
void Inliner::map_arguments(Call& call) {
  std::vector<SizeEquation> equations;
  for (std::size_t p = 0; p < call.callee.params.size(); ++p) {
    const TensorDecl& param = call.callee.params[p];
    std::string argument = argument_from_zero(call.statement.arguments.at(p), call.range);
    call.substitution.tensors[param.name] = argument;
    int rank = param.dims ? static_cast<int>(param.dims->size()) : 0;
    for (int d = 0; d < rank; ++d) {
      const ExprPtr& dim = (*param.dims)[static_cast<std::size_t>(d)];
      auto* name = std::get_if<Name>(&dim->node);
      ExprPtr actual = dimension_of(argument, d);
      if (name && call.substitution.values.emplace(name->id, actual).second) continue;
      equations.push_back({argument, d, substitute(dim, call.substitution), actual});
    }
  }
  for (const auto& equation : equations) emit_equation(equation, call.range);
  auto renamed = call.substitution.tensors;
  call.substitution.size_of = [this, renamed](const std::string& tensor, int d) -> ExprPtr {
    auto found = renamed.find(tensor);
    return found == renamed.end() ? nullptr : dimension_of(found->second, d);
  };
}

/// Each result becomes the caller's tensor itself where that is the same, else a fresh tensor to be copied.
void Inliner::map_results(Call& call) {
  const auto& arguments = call.statement.arguments;
  for (std::size_t r = 0; r < call.callee.returns.size(); ++r) {
    const TensorDecl& decl = call.callee.returns[r];
    const TensorInfo& info = call.callee.tensors.at(decl.name);
    const std::string& result = call.statement.results.at(r);
    bool is_argument = std::find(arguments.begin(), arguments.end(), result) != arguments.end();
    bool is_new = !assigned_.count(result);
    auto caller = std::find_if(result_.returns.begin(), result_.returns.end(),
                               [&](const TensorDecl& d) { return d.name == result; });
    bool is_return = caller != result_.returns.end();
    DType caller_type = def_.tensors.at(result).type;
    bool direct = !is_argument && caller_type == info.type && starts_at_zero(call.ranges.tensors.at(decl.name));
    if (direct && is_return && is_new && decl.type && !caller->type) caller->type = decl.type;
    bool typed_by_caller = is_return && caller->type;
    std::string target = direct ? result : fresh(result);
    call.substitution.tensors[decl.name] = target;
    if (!direct) {
      call.copies.emplace_back(decl.name, result);
      std::optional<DType> type = caller_type == info.type ? std::nullopt : std::optional(info.type);
      if (info.role == Role::InOut) emit_copy(target, result, info.rank, nullptr, {}, type, call.range);
    }
    bool needs_type = decl.type && !(direct && (typed_by_caller || !is_new));
    if (needs_type && info.role != Role::InOut) call.pinned[decl.name] = info.type;
    for (int d = 0; decl.dims && d < info.rank; ++d) {
      auto expected = substitute((*decl.dims)[static_cast<std::size_t>(d)], call.substitution);
      const auto& inferred = call.ranges.tensors.at(decl.name)[static_cast<std::size_t>(d)].extent;
      if (!equal(substitute(inferred, call.substitution), expected))
        call.after.push_back({target, d, expected, make_expr(SizeOf{target, d})});
    }
  }
}

/// One statement of the callee under its new names. The first assignment of a tensor with a declared type gives it that
/// type: by a cast of the value, or, where a reduction would round each of its terms, by a cast of the wider result.
void Inliner::emit_callee_statement(Call& call, const Assignment& statement, SourceRange range) {
  auto it = call.pinned.find(statement.target);
  std::optional<DType> type;
  if (it != call.pinned.end()) {
    DType natural = natural_type(statement.rhs);
    if (natural != it->second || has_literal_type(statement.rhs)) type = it->second;
    call.pinned.erase(it);
  }
  Substitution substitution = call.substitution;
  for (auto names = left_iterators(statement); const auto& id : names)
    substitution.values[id] = name_expr(free_iterator(id));
  for (const auto& id : statement.reduction_iterators) substitution.values[id] = name_expr(free_iterator(id));
  Assignment renamed = substitute(statement, substitution);
  auto* decl = find_decl(call.callee.returns, statement.target);
  for (std::size_t d = 0; decl && decl->dims && d < renamed.subscripts.size(); ++d) {
    std::string id = std::get<Name>(renamed.subscripts[d]->node).id;
    if (assigned_.count(renamed.target) || constrains(renamed, id)) continue;
    auto high = substitute((*decl->dims)[d], call.substitution);
    renamed.clauses.push_back(range_clause(id, high, range));
  }
  bool narrows = type && statement.reduction && is_float(*type) && is_float(natural_type(statement.rhs)) &&
                 !has_literal_type(statement.rhs) && byte_size(*type) <= byte_size(natural_type(statement.rhs));
  if (narrows) {
    std::string target = renamed.target, wide = fresh(target);
    renamed.target = wide;
    if (is_half(natural_type(statement.rhs))) renamed.rhs = make_expr(Cast{DType::Float32, renamed.rhs, false});
    emit(std::move(renamed), range);
    emit_copy(target, wide, static_cast<int>(statement.subscripts.size()), nullptr, {}, type, range);
    return;
  }
  if (type) renamed.rhs = make_expr(Cast{*type, renamed.rhs, false}, renamed.rhs->range);
  emit(std::move(renamed), range);
}

void Inliner::copy_results(Call& call) {
  for (const auto& [callee_name, result] : call.copies) {
    const auto& box = call.ranges.tensors.at(callee_name);
    emit_copy(result, call.substitution.tensors.at(callee_name), static_cast<int>(box.size()), &box, call.substitution,
              {}, call.range);
  }
}

void Inliner::inline_call(const CallStatement& statement, SourceRange range) {
  auto callee =
      std::find_if(file_.defs.begin(), file_.defs.end(), [&](const Def& d) { return d.name == statement.def; });
  if (callee == file_.defs.end()) throw InternalError(str("no def '", statement.def, "'"));
  Def inlined = inline_calls(*callee, file_, ranges_of_);
  Ranges ranges = ranges_of_(inlined);
  Call call{statement, range, std::move(inlined), std::move(ranges), {}, {}, {}, {}};
  for (const auto& name : identifiers(call.callee)) taken_.insert(name);
  map_arguments(call);
  map_results(call);
  for (const auto& [name, info] : call.callee.tensors)
    if (info.role == Role::Temporary) call.substitution.tensors[name] = fresh(name);
  for (const auto& s : call.callee.statements) emit_callee_statement(call, std::get<Assignment>(s.node), s.range);
  for (const auto& equation : call.after) emit_equation(equation, range);
  copy_results(call);
}

/// Does \p def hold a call or a let?
bool needs_inlining(const Def& def) {
  for (const auto& statement : def.statements) {
    auto* assignment = std::get_if<Assignment>(&statement.node);
    if (!assignment) return true;
    for (const auto& clause : assignment->clauses)
      if (std::holds_alternative<LetClause>(clause.node)) return true;
  }
  return false;
}

}  // namespace

Def inline_calls(const Def& def, const File& file, const std::function<Ranges(const Def&)>& ranges_of) {
  return needs_inlining(def) ? Inliner(def, file, ranges_of).run() : def;
}

}  // namespace tc::lang
