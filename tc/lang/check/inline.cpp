#include "tc/lang/check/inline.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/str.h"
#include "tc/lang/check/free_names.h"
#include "tc/lang/check/growing_inlined_def.h"
#include "tc/lang/check/inlined_statements.h"
#include "tc/lang/check/name_versions.h"
#include "tc/lang/check/short_forms.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::lang {
namespace {

bool is_zero(const ExprPtr& expr) {
  auto* literal = std::get_if<IntLiteral>(&expr->node);
  if (auto* cast = std::get_if<Cast>(&expr->node); cast && cast->implicit) return is_zero(cast->value);
  return literal && literal->value == 0;
}
bool starts_at_zero(const std::vector<Range>& ranges) {
  return std::all_of(ranges.begin(), ranges.end(), [](const Range& range) { return is_zero(range.min); });
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

/// The mins of \p box over what \p sizes makes of its sizes.
std::vector<ExprPtr> mins_of(const std::vector<Range>& box, const Substitution& sizes) {
  std::vector<ExprPtr> mins;
  for (const auto& range : box) mins.push_back(is_zero(range.min) ? nullptr : substitute(range.min, sizes));
  return mins;
}

/// The identifiers of \p def that are no iterators or lets.
std::set<std::string> value_names(const Def& def) {
  std::set<std::string> names(def.sizes.begin(), def.sizes.end());
  for (const auto& [name, info] : def.tensors) names.insert(name);
  return names;
}

bool is_size(const ExprPtr& expr) { return std::holds_alternative<Name>(expr->node); }

/// Is every dimension of \p params a size or a number?
bool has_plain_sizes(const std::vector<TensorDecl>& params) {
  auto is_plain = [](const ExprPtr& dim) { return is_size(dim) || std::holds_alternative<IntLiteral>(dim->node); };
  return std::all_of(params.begin(), params.end(), [&](const TensorDecl& param) {
    return !param.dims || std::all_of(param.dims->begin(), param.dims->end(), is_plain);
  });
}

/// Has \p statement a subscript that is not an iterator alone? How far it bounds an iterator is a question of what can be
/// proved of sizes.
bool has_computed_subscripts(const Assignment& statement) {
  bool found = false;
  auto look = [&](const ExprPtr& expr) {
    if (auto* access = std::get_if<Access>(&expr->node))
      for (const auto& subscript : access->subscripts) found = found || !std::holds_alternative<Name>(subscript->node);
  };
  for_each_expr(statement.rhs, look);
  for (const auto& clause : statement.clauses)
    if (auto* exists = std::get_if<ExistsClause>(&clause.node)) for_each_expr(exists->value, look);
  return found;
}

/// Has \p statement an iterator on the left, of a dimension that \p decl gives a size, that stands in subscripts of reads among
/// others, and never alone?
bool takes_declared_size(const Assignment& statement, const TensorDecl* decl) {
  if (!decl || !decl->dims) return false;
  const auto names = left_iterators(statement);
  std::set<std::string> left(names.begin(), names.end());
  std::set<std::string> alone;
  auto look = [&](const ExprPtr& expr) {
    if (auto* access = std::get_if<Access>(&expr->node))
      for (const auto& subscript : access->subscripts)
        if (auto* name = std::get_if<Name>(&subscript->node)) alone.insert(name->id);
  };
  for_each_expr(statement.rhs, look);
  for (const auto& id : alone) left.erase(id);
  return !left.empty();
}

/// Gives each iterator of \p statement without a `where` range the one that \p ranges, of its own def, has for it.
void write_out_ranges(Assignment& statement, const std::map<std::string, Range>& ranges) {
  for (const auto& [iterator, range] : ranges) {
    const bool given = std::any_of(statement.clauses.begin(), statement.clauses.end(), [&](const Clause& clause) {
      auto* known = std::get_if<RangeClause>(&clause.node);
      return known && known->index == iterator;
    });
    const Clause clause = range_clause(iterator, range, statement.target_range);
    if (!given) statement.clauses.push_back(clause);
  }
}

/// \p size as a value of the type that sizes have: a number alone is of a smaller one.
ExprPtr typed_size(const ExprPtr& size) {
  if (!size || !std::holds_alternative<IntLiteral>(size->node)) return size;
  return make_expr(Cast{DType::Int64, size, false}, size->range);
}

/// \p statement with \p substitution made in it, in values with sizes as int64.
///
///   before  S(i) = N * N where i in 0:N      after, N = 4  S(i) = int64(4) * int64(4) where i in 0:4
Assignment with_sizes_of_type(const Assignment& statement, const Substitution& substitution) {
  Substitution typed = substitution;
  for (auto& [name, value] : typed.values) value = typed_size(value);
  if (substitution.size_of)
    typed.size_of = [&](const std::string& tensor, int d) { return typed_size(substitution.size_of(tensor, d)); };
  Assignment result = substitute(statement, typed);
  const Assignment plain = substitute(statement, substitution);
  for (std::size_t c = 0; c < result.clauses.size(); ++c)
    if (std::holds_alternative<RangeClause>(result.clauses[c].node)) result.clauses[c] = plain.clauses[c];
  return result;
}

/// A call while it is expanded.
struct InlinedCall {
  const CallStatement& statement;
  SourceRange range;
  const Def& callee;  ///< without calls and lets
  const Ranges& ranges;
  Substitution substitution = {};
  bool renames_sizes = true;  ///< each size of the callee is another one of the caller, of which as little is known
  std::map<int, OrderedLoop> loops = {};  ///< of the callee, as they are written out
  std::vector<SizeEquation> after = {};   ///< to be checked behind the callee's statements
  /// \p from is copied to \p to behind those.
  struct Copy {
    Side to, from;
    int rank;
    DType type;
  };
  std::vector<Copy> copies = {};
};

/// Builds the inlined def statement by statement.
class Inliner {
 public:
  Inliner(const Def& def, const File& file, const InlineContext& context)
      : def_(def),
        context_(context),
        names_(identifiers(def), value_names(def), &file),
        versions_(def, [&](const std::string& name) -> const Def& { return context.callee(name).def; }),
        result_(def, file, context) {}

  Def run() {
    for (const auto& statement : def_.statements) {
      context_.cancellation.check("the inliner");
      place_ = statement.range;
      loops_ = statement.loops;
      for (auto& loop : loops_) {
        const auto [known, is_new] = own_loops_.try_emplace(loop.id, next_loop_);
        if (is_new) ++next_loop_;
        loop.id = known->second;
      }
      if (auto* assignment = std::get_if<Assignment>(&statement.node))
        emit_own(*assignment, statement.range);
      else
        inline_call(std::get<CallStatement>(statement.node), statement.range);
    }
    return result_.checked();
  }

 private:
  const std::string& current(const std::string& name) { return versions_.current(name, names_); }

  void emit(Assignment assignment, SourceRange range, std::optional<DType> type) {
    result_.add(std::move(assignment), range, type, place_, loops_);
  }
  void emit_copy(const Side& target, const Side& source, int rank, DType type, std::optional<DType> cast,
                 SourceRange range) {
    emit(copy_statement(target, source, rank, cast, range, names_), range, type);
  }
  void emit_equation(const SizeEquation& equation, SourceRange range) {
    if (equal(equation.expected, equation.actual)) return;
    emit(equation_statement(equation, range, names_), range, DType::Bool);
  }
  void emit_own(const Assignment& statement, SourceRange range);
  void emit_renamed(const Assignment& statement, const Substitution& substitution, const TensorDecl* decl, DType type,
                    SourceRange range);
  void inline_statement(InlinedCall& call, std::size_t s);
  void enter_loops(InlinedCall& call, const Statement& statement);
  void give_first_values(const InlinedCall& call, std::size_t s);
  std::optional<DType> pinned_type(const Assignment& statement, const std::string& target);
  void inline_call(const CallStatement& statement, SourceRange range);
  void map_arguments(InlinedCall& call);
  void map_results(InlinedCall& call);
  void map_result(InlinedCall& call, std::size_t r);
  void equate_sizes(InlinedCall& call, std::size_t r, const std::string& target, const std::string& holder, bool fixed);
  std::string argument_from_zero(const std::string& argument, int rank, DType type, SourceRange range);

  const Def& def_;
  const InlineContext& context_;
  FreeNames names_;
  NameVersions versions_;
  std::map<int, int> own_loops_;         ///< the numbers of the def's own loops
  std::map<std::string, DType> pinned_;  ///< tensors whose first assignment must give this type
  SourceRange place_;                    ///< of the statement of def_ at hand
  std::vector<OrderedLoop> loops_;       ///< around it
  int next_loop_ = 0;                    ///< above the numbers of all loops so far
  GrowingInlinedDef result_;
};

/// \p argument, or a copy that starts at 0 if its inferred mins are others.
std::string Inliner::argument_from_zero(const std::string& argument, int rank, DType type, SourceRange range) {
  if (result_.param(argument) || rank == 0) return argument;
  const auto* box = result_.box_of(argument);
  if (!box || starts_at_zero(*box)) return argument;
  std::string copy = names_.tensor(argument);
  emit_copy({copy}, {argument, mins_of(*box, {})}, rank, type, {}, range);
  return copy;
}

/// Parameters become arguments, sizes become their dimensions, and scalars that are sizes the arguments.
void Inliner::map_arguments(InlinedCall& call) {
  std::vector<SizeEquation> equations;
  std::set<std::string> own_sizes;
  call.renames_sizes = has_plain_sizes(def_.params);
  for (std::size_t p = 0; p < call.callee.params.size(); ++p) {
    const TensorDecl& param = call.callee.params[p];
    int rank = param.dims ? static_cast<int>(param.dims->size()) : 0;
    const std::string& given = call.statement.arguments.at(p);
    std::string argument = argument_from_zero(current(given), rank, def_.tensors.at(given).type, call.range);
    call.substitution.tensors[param.name] = argument;
    const auto& sizes = call.callee.sizes;
    if (rank == 0 && std::find(sizes.begin(), sizes.end(), param.name) != sizes.end())
      call.substitution.values[param.name] = make_expr(Name{argument});
    for (int d = 0; d < rank; ++d) {
      const ExprPtr& dim = (*param.dims)[static_cast<std::size_t>(d)];
      auto* name = std::get_if<Name>(&dim->node);
      ExprPtr actual = result_.dimension_of(argument, d);
      if (name && call.substitution.values.emplace(name->id, actual).second) {
        const ExprPtr size = result_.extent_of(argument, d);
        call.renames_sizes =
            call.renames_sizes && size && is_size(size) && own_sizes.insert(std::get<Name>(size->node).id).second;
        continue;
      }
      equations.push_back({argument, d, substitute(dim, call.substitution), actual});
    }
  }
  for (const auto& equation : equations) {
    call.renames_sizes = call.renames_sizes && equal(equation.expected, equation.actual);
    emit_equation(equation, call.range);
  }
  auto renamed = call.substitution.tensors;
  call.substitution.size_of = [this, renamed](const std::string& tensor, int d) -> ExprPtr {
    auto found = renamed.find(tensor);
    return found == renamed.end() ? nullptr : result_.dimension_of(found->second, d);
  };
}

void Inliner::map_results(InlinedCall& call) {
  for (std::size_t r = 0; r < call.callee.returns.size(); ++r) map_result(call, r);
}

/// A result becomes the caller's tensor itself where that is the same, else a fresh tensor to be copied.
void Inliner::map_result(InlinedCall& call, std::size_t r) {
  const TensorDecl& decl = call.callee.returns[r];
  const TensorInfo& info = call.callee.tensors.at(decl.name);
  const std::string& name = call.statement.results.at(r);
  if (result_.is_assigned(current(name)) && versions_.begins(name, call.callee, r)) versions_.begin(name, names_);
  const std::string result = current(name);
  const bool is_new = !result_.is_assigned(result);
  const auto& mapped = call.substitution.tensors;
  const bool is_argument = std::any_of(call.callee.params.begin(), call.callee.params.end(),
                                       [&](const TensorDecl& param) { return mapped.at(param.name) == result; });
  TensorDecl* caller = result_.declared_return(result);
  const auto& box = call.ranges.tensors.at(decl.name);
  const auto* held = is_new ? nullptr : result_.box_of(result);
  const bool direct = !is_argument && starts_at_zero(box) && (!held || starts_at_zero(*held));
  if (direct && caller && is_new && decl.type && !caller->type) caller->type = decl.type;
  const bool typed_by_caller = caller && caller->type;
  const std::string target = direct ? result : names_.tensor(result);
  call.substitution.tensors[decl.name] = target;
  if (!direct) {
    const Side inner{target, mins_of(box, call.substitution)};
    const Side outer{result, held ? mins_of(*held, {}) : std::vector<ExprPtr>{}};
    call.copies.push_back({outer, inner, info.rank, info.type});
    if (info.role == Role::InOut) emit_copy(inner, outer, info.rank, info.type, {}, call.range);
  }
  const bool needs_type = decl.type && !(direct && (typed_by_caller || !is_new));
  if (needs_type && info.role != Role::InOut) pinned_[target] = info.type;
  equate_sizes(call, r, target, result, !is_new);
}

/// Has the result's sizes compared, behind the callee's statements, with those that the callee declares and, where it is
/// \p fixed already, with those of \p holder, the caller's tensor.
void Inliner::equate_sizes(InlinedCall& call, std::size_t r, const std::string& target, const std::string& holder,
                           bool fixed) {
  const TensorDecl& decl = call.callee.returns[r];
  const auto& box = call.ranges.tensors.at(decl.name);
  for (int d = 0; d < static_cast<int>(box.size()); ++d) {
    auto inferred = substitute(box[static_cast<std::size_t>(d)].extent, call.substitution);
    if (fixed) call.after.push_back({holder, d, inferred, make_expr(SizeOf{holder, d})});
    if (!decl.dims) continue;
    auto expected = substitute((*decl.dims)[static_cast<std::size_t>(d)], call.substitution);
    if (!equal(inferred, expected)) call.after.push_back({target, d, expected, make_expr(SizeOf{target, d})});
  }
}

/// A statement of the def itself.
void Inliner::emit_own(const Assignment& statement, SourceRange range) {
  const std::string target = current(statement.target);
  const Substitution& substitution = versions_.substitution();
  const DType type = def_.tensors.at(statement.target).type;
  if (target == statement.target) return emit(substitute(statement, substitution), range, type);
  if (!result_.is_assigned(target)) pinned_.emplace(target, type);
  emit_renamed(statement, substitution, find_decl(def_.returns, statement.target), type, range);
}

/// What the value of \p statement is to be cast to, as the first assignment of \p target if that is pinned to a type.
std::optional<DType> Inliner::pinned_type(const Assignment& statement, const std::string& target) {
  auto pinned = pinned_.find(target);
  if (pinned == pinned_.end()) return std::nullopt;
  const DType type = pinned->second;
  pinned_.erase(pinned);
  const bool differs = natural_type(statement.rhs) != type || has_literal_type(statement.rhs);
  return differs ? std::optional(type) : std::nullopt;
}

/// \p statement under new names. The first assignment of a pinned tensor gives it that type: by a cast of the value,
/// or, where a reduction would round each of its terms, by a cast of the wider result. A first assignment whose
/// iterators nothing bounds takes the sizes that \p decl, if there is one, declares for the tensor.
void Inliner::emit_renamed(const Assignment& statement, const Substitution& substitution, const TensorDecl* decl,
                           DType type, SourceRange range) {
  Assignment renamed = with_sizes_of_type(statement, substitution);
  const auto cast = pinned_type(statement, renamed.target);
  for (std::size_t d = 0; decl && decl->dims && d < renamed.subscripts.size(); ++d) {
    if (result_.is_assigned(renamed.target)) break;
    std::string id = std::get<Name>(renamed.subscripts[d]->node).id;
    if (constrains(renamed, id)) continue;
    renamed.clauses.push_back(range_clause(id, substitute((*decl->dims)[d], substitution), range));
  }
  const DType natural = natural_type(statement.rhs);
  bool narrows = cast && statement.reduction && is_float(*cast) && is_float(natural) &&
                 !has_literal_type(statement.rhs) && byte_size(*cast) <= byte_size(natural);
  if (narrows) {
    std::string target = renamed.target, wide = names_.tensor(target);
    renamed.target = wide;
    if (is_half(natural)) renamed.rhs = make_expr(Cast{DType::Float32, renamed.rhs, false});
    emit(std::move(renamed), range, std::nullopt);
    emit_copy({target}, {wide}, static_cast<int>(statement.subscripts.size()), type, cast, range);
    return;
  }
  if (cast) renamed.rhs = make_expr(Cast{*cast, renamed.rhs, false}, renamed.rhs->range);
  emit(std::move(renamed), range, type);
}

/// Statement \p s of the callee. It means what it means there: where less or more can be proved of the caller's sizes than
/// of its own, or a size that the callee declares decides, iterators take the callee's ranges.
void Inliner::inline_statement(InlinedCall& call, std::size_t s) {
  auto assignment = std::get<Assignment>(call.callee.statements[s].node);
  const TensorDecl* decl = find_decl(call.callee.returns, assignment.target);
  const bool is_in_loop = !call.callee.statements[s].loops.empty();
  if (is_in_loop ||
      (has_computed_subscripts(assignment) && (!call.renames_sizes || takes_declared_size(assignment, decl))))
    write_out_ranges(assignment, call.ranges.statements.at(s));
  auto iterators = left_iterators(assignment);
  iterators.insert(iterators.end(), assignment.reduction_iterators.begin(), assignment.reduction_iterators.end());
  for (const auto& id : iterators) call.substitution.values[id] = make_expr(Name{names_.iterator(id)});
  if (is_in_loop) give_first_values(call, s);
  enter_loops(call, call.callee.statements[s]);
  for (std::size_t k = 0; k < loops_.size(); ++k)
    call.substitution.values[call.callee.statements[s].loops[k].iterator] = make_expr(Name{loops_[k].iterator});
  emit_renamed(assignment, call.substitution, decl, call.callee.tensors.at(assignment.target).type,
               call.callee.statements[s].range);
  for (const auto& id : iterators) call.substitution.values.erase(id);
}

/// Writes on in the loops around \p statement of the callee, under numbers and indices of their own.
void Inliner::enter_loops(InlinedCall& call, const Statement& statement) {
  loops_.clear();
  for (const auto& loop : statement.loops) {
    const auto [known, is_new] = call.loops.try_emplace(loop.id);
    if (is_new) known->second = {next_loop_++, names_.iterator(loop.iterator)};
    loops_.push_back(known->second);
  }
}

/// Before the loop around statement \p s of the callee, its first: returns that the loop reads, or to which their declaration gives a type,
/// get zeros, as a statement of the loop would give them neither type nor sizes before it reads them.
void Inliner::give_first_values(const InlinedCall& call, std::size_t s) {
  const auto& statements = call.callee.statements;
  if (s > 0 && common_loops(statements[s - 1], statements[s]) > 0) return;
  std::set<std::string> read;
  for (std::size_t i = s; i < statements.size() && (i == s || common_loops(statements[i], statements[s]) > 0); ++i) {
    const auto& assignment = std::get<Assignment>(statements[i].node);
    for_each_expr(assignment.rhs, [&](const ExprPtr& part) {
      if (const auto* access = std::get_if<Access>(&part->node)) read.insert(access->tensor);
    });
  }
  for (const auto& decl : call.callee.returns) {
    const std::string& target = call.substitution.tensors.at(decl.name);
    if (result_.is_assigned(target) || !(read.count(decl.name) || pinned_.count(target))) continue;
    const DType type = call.callee.tensors.at(decl.name).type;
    const auto& box = call.ranges.tensors.at(decl.name);
    Assignment zeros;
    zeros.target = target;
    zeros.target_range = call.range;
    for (const std::string& id : names_.iterators(static_cast<int>(box.size()))) {
      const Range& own = box[zeros.subscripts.size()];
      const Range range{substitute(own.min, call.substitution), substitute(own.extent, call.substitution)};
      const Clause clause = range_clause(id, range, call.range);
      zeros.clauses.push_back(clause);
      zeros.subscripts.push_back(make_expr(Name{id}));
    }
    zeros.rhs = make_expr(Cast{type, make_expr(IntLiteral{0}), false});
    pinned_.erase(target);
    loops_.clear();
    emit(std::move(zeros), call.range, type);
  }
}

void Inliner::inline_call(const CallStatement& statement, SourceRange range) {
  const InlinedDef& callee = context_.callee(statement.def);
  InlinedCall call{statement, range, callee.def, callee.ranges};
  names_.take(identifiers(call.callee));
  map_arguments(call);
  map_results(call);
  for (const auto& [name, info] : call.callee.tensors)
    if (info.role == Role::Temporary) call.substitution.tensors[name] = names_.tensor(name);
  for (std::size_t s = 0; s < call.callee.statements.size(); ++s) inline_statement(call, s);
  loops_.clear();
  for (const auto& equation : call.after) emit_equation(equation, range);
  for (const auto& copy : call.copies) emit_copy(copy.to, copy.from, copy.rank, copy.type, {}, range);
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

Def inline_calls(const Def& def, const File& file, const InlineContext& context) {
  const Def plain = without_short_forms(def);
  return needs_inlining(def) ? Inliner(plain, file, context).run() : plain;
}

}  // namespace tc::lang
