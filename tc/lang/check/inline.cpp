#include "tc/lang/check/inline.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/check/check_def.h"
#include "tc/lang/syntax/diagnostics.h"
#include "tc/lang/syntax/limits.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::lang {
namespace {

ExprPtr name_expr(const std::string& id) { return make_expr(Name{id}); }
ExprPtr int_expr(std::uint64_t value) { return make_expr(IntLiteral{value}); }
ExprPtr binary_expr(BinaryOp op, ExprPtr left, ExprPtr right) {
  return make_expr(Binary{op, std::move(left), std::move(right)});
}

/// index in low:high
Clause range_clause(const std::string& index, const ExprPtr& low, const ExprPtr& high, SourceRange range) {
  Clause clause;
  clause.node = RangeClause{index, low, high};
  clause.range = range;
  return clause;
}
/// index in 0:high
Clause range_clause(const std::string& index, const ExprPtr& high, SourceRange range) {
  return range_clause(index, int_expr(0), high, range);
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

/// A tensor that is copied, and where it begins: a null min, or none, is 0.
struct Side {
  std::string tensor;
  std::vector<ExprPtr> mins = {};

  ExprPtr min(int d) const { return mins.empty() ? nullptr : mins[static_cast<std::size_t>(d)]; }
};

/// The mins of \p box over what \p sizes makes of its sizes.
std::vector<ExprPtr> mins_of(const std::vector<Range>& box, const Substitution& sizes) {
  std::vector<ExprPtr> mins;
  for (const auto& range : box) mins.push_back(is_zero(range.min) ? nullptr : substitute(range.min, sizes));
  return mins;
}

/// Two expressions that must be one number.
struct SizeEquation {
  std::string tensor;
  int dimension;
  ExprPtr expected, actual;
};

/// Gives out identifiers that nothing has.
class FreeNames {
 public:
  /// \p taken: every identifier in use; \p values: those of them that are no iterators or lets.
  FreeNames(std::set<std::string> taken, std::set<std::string> values)
      : taken_(std::move(taken)), values_(std::move(values)) {}

  void take(const std::set<std::string>& names) { taken_.insert(names.begin(), names.end()); }

  /// A name for a tensor: base_1, base_2, ... A number takes the place of one that \p base ends with: names stay short
  /// through many calls.
  std::string tensor(const std::string& base) {
    const std::size_t end = base.find_last_not_of("0123456789");
    const bool has_number = end + 1 < base.size() && end > 0 && base[end] == '_';
    return property(has_number ? base.substr(0, end) : base);
  }
  /// A name for a tensor that says something of another: base_1, base_2, ...
  std::string property(const std::string& base) {
    std::string name = numbered(base);
    values_.insert(name);
    return name;
  }
  /// The iterator \p base, or another name if a tensor or size is called so.
  std::string iterator(const std::string& base) {
    if (values_.count(base)) return numbered(base);
    taken_.insert(base);
    return base;
  }
  std::vector<std::string> iterators(int rank) {
    static const char* names[] = {"i", "j", "k", "l", "m", "n"};
    std::vector<std::string> result;
    for (int d = 0; d < rank; ++d) result.push_back(iterator(d < 6 ? names[d] : str("i", d)));
    return result;
  }

 private:
  std::string numbered(const std::string& base) {
    for (int& k = last_[base];;)
      if (std::string name = str(base, "_", ++k); taken_.insert(name).second) return name;
  }

  std::set<std::string> taken_, values_;
  std::map<std::string, int> last_;  ///< the number given last
};

/// The tensors that the names of a def's text mean: one each, and one more with each call that gives a new value to a
/// name that has one. The last keeps the name.
class Versions {
 public:
  Versions(const Def& def, const InlineContext& context) : def_(def) {
    std::set<std::string> assigned;
    for (const auto& statement : def.statements) {
      if (auto* assignment = std::get_if<Assignment>(&statement.node)) {
        assigned.insert(assignment->target);
        continue;
      }
      const auto& call = std::get<CallStatement>(statement.node);
      const Def& callee = context.callee(call.def).def;
      for (std::size_t r = 0; r < call.results.size(); ++r)
        if (!assigned.insert(call.results[r]).second && begins(call.results[r], callee, r)) ++to_come_[call.results[r]];
    }
  }

  /// Does a call of \p callee give \p name, which has a value, a tensor of its own for result \p r?
  bool begins(const std::string& name, const Def& callee, std::size_t r) const {
    return callee.tensors.at(callee.returns.at(r).name).role != Role::InOut &&
           def_.tensors.at(name).role != Role::InOut;
  }

  /// The tensor that \p name means.
  const std::string& current(const std::string& name, FreeNames& names) {
    auto found = current_.tensors.find(name);
    if (found == current_.tensors.end())
      found = current_.tensors.emplace(name, to_come_.count(name) ? names.tensor(name) : name).first;
    return found->second;
  }

  /// Lets \p name mean its next tensor.
  void begin(const std::string& name, FreeNames& names) {
    current_.tensors[name] = --to_come_.at(name) ? names.tensor(name) : name;
  }

  /// What the names mean that have been asked for.
  const Substitution& substitution() const { return current_; }

 private:
  const Def& def_;
  std::map<std::string, int> to_come_;  ///< at least one each
  Substitution current_;
};

/// Builds the inlined def statement by statement.
class Inliner {
 public:
  Inliner(const Def& def, const File& file, const InlineContext& context)
      : def_(def),
        file_(file),
        context_(context),
        names_(taken_names(def, file), value_names(def, file)),
        versions_(def, context),
        diagnostics_(file.text, file.name) {
    result_.name = def.name;
    result_.params = raw(def.params);
    result_.returns = raw(def.returns);
    result_.range = def.range;
    head_ = def;
    head_.statements.clear();
  }

  Def run() {
    for (const auto& statement : def_.statements) {
      context_.cancellation.check("the inliner");
      if (auto* assignment = std::get_if<Assignment>(&statement.node))
        emit_own(*assignment, statement.range);
      else
        inline_call(std::get<CallStatement>(statement.node), statement.range);
    }
    File file{file_.text, file_.name, {result_}};
    return check(file, nullptr, context_.cancellation).defs.at(0);
  }

 private:
  struct Call;

  static std::set<std::string> value_names(const Def& def, const File& file) {
    std::set<std::string> names(def.sizes.begin(), def.sizes.end());
    for (const auto& d : file.defs) names.insert(d.name);
    for (const auto& [name, info] : def.tensors) names.insert(name);
    return names;
  }
  static std::set<std::string> taken_names(const Def& def, const File& file) {
    auto names = identifiers(def);
    names.merge(value_names(def, file));
    return names;
  }
  static std::vector<TensorDecl> raw(std::vector<TensorDecl> decls) {
    for (auto& decl : decls)
      if (decl.dims)
        for (auto& dim : *decl.dims) dim = substitute(dim, {});
    return decls;
  }

  const std::string& current(const std::string& name) { return versions_.current(name, names_); }

  void emit(Assignment assignment, SourceRange range, std::optional<DType> type);
  void check_size(const Assignment& assignment, SourceRange range);
  /// target(i, ...) = source(i - min of the target + min of the source, ...); \p type is the target's, \p cast one to
  /// convert to.
  void emit_copy(const Side& target, const Side& source, int rank, DType type, std::optional<DType> cast,
                 SourceRange range);
  void emit_equation(const SizeEquation& equation, SourceRange range);
  void emit_own(const Assignment& statement, SourceRange range);
  void emit_renamed(const Assignment& statement, const Substitution& substitution, const TensorDecl* decl, DType type,
                    SourceRange range);
  void inline_call(const CallStatement& statement, SourceRange range);
  void map_arguments(Call& call);
  void map_results(Call& call);
  void map_result(Call& call, std::size_t r);
  void equate_sizes(Call& call, std::size_t r, const std::string& target, const std::string& holder, bool fixed);
  std::string argument_from_zero(const std::string& argument, int rank, DType type, SourceRange range);
  const std::vector<Range>* box_of(const std::string& tensor);
  ExprPtr dimension_of(const std::string& tensor, int dimension) const;

  const Def& def_;
  const File& file_;
  const InlineContext& context_;
  FreeNames names_;
  Versions versions_;
  std::set<std::string> assigned_;       ///< tensors written so far
  std::map<std::string, DType> pinned_;  ///< tensors whose first assignment must give this type
  std::size_t nodes_ = 0;
  SourceRange place_;  ///< of the statement of def_ at hand
  Def result_;

  // What has been asked of ranges.
  Diagnostics diagnostics_;
  Def head_;
  TypeMap types_;
  std::unique_ptr<GrowingDefChecker> checker_;
  std::unique_ptr<GrowingRanges> ranges_;
  std::size_t seen_ = 0;  ///< statements of result_ that both have
};

/// A call while it is expanded.
struct Inliner::Call {
  const CallStatement& statement;
  SourceRange range;
  const Def& callee;  ///< without calls and lets
  const Ranges& ranges;
  Substitution substitution = {};
  std::vector<SizeEquation> after = {};  ///< to be checked behind the callee's statements
  /// \p from is copied to \p to behind those.
  struct Copy {
    Side to, from;
    int rank;
    DType type;
  };
  std::vector<Copy> copies = {};
};

void Inliner::emit(Assignment assignment, SourceRange range, std::optional<DType> type) {
  context_.cancellation.check("the inliner");
  check_size(assignment, range);
  assigned_.insert(assignment.target);
  if (type) types_.emplace(assignment.target, *type);
  Statement statement;
  statement.node = std::move(assignment);
  statement.range = range;
  result_.statements.push_back(std::move(statement));
}

/// Throws SemanticError when the def grows too large; a single statement may not be too large either.
void Inliner::check_size(const Assignment& assignment, SourceRange range) {
  const Measure size = measure(assignment, max_statement_nodes);
  nodes_ += size.nodes + 1;
  if (nodes_ <= max_def_nodes && size.nodes <= max_statement_nodes && size.depth <= max_depth) return;
  const bool whole = nodes_ > max_def_nodes;
  diagnostics_.add({.code = "TC124",
                    .range = place_.end > 0 ? place_ : range,
                    .message = str(whole ? "the function '" : "a statement of '", def_.name,
                                   "' is too large with its calls written out"),
                    .note = str("it may hold ", whole ? max_def_nodes : max_statement_nodes,
                                " operators, names and numbers, ", max_depth, " levels deep"),
                    .help = "split it, and call the parts one after another"});
  diagnostics_.throw_if_errors<SemanticError>();
}

ExprPtr Inliner::dimension_of(const std::string& tensor, int dimension) const {
  auto* param = find_decl(result_.params, tensor);
  if (param && param->dims) return param->dims->at(static_cast<std::size_t>(dimension));
  return make_expr(SizeOf{tensor, dimension});
}

void Inliner::emit_copy(const Side& target, const Side& source, int rank, DType type, std::optional<DType> cast,
                        SourceRange range) {
  Assignment copy;
  copy.target = target.tensor;
  copy.bare = rank == 0;
  copy.target_range = range;
  std::vector<ExprPtr> subscripts;
  std::vector<std::string> iterators = names_.iterators(rank);
  for (int d = 0; d < rank; ++d) {
    const std::string& index = iterators[static_cast<std::size_t>(d)];
    const ExprPtr to = target.min(d), from = source.min(d), extent = make_expr(SizeOf{source.tensor, d});
    ExprPtr subscript = name_expr(index);
    copy.subscripts.push_back(subscript);
    if (from) subscript = binary_expr(BinaryOp::Add, subscript, from);
    if (to) subscript = binary_expr(BinaryOp::Sub, subscript, to);
    if (from || to) {
      const ExprPtr low = to ? to : int_expr(0), high = to ? binary_expr(BinaryOp::Add, to, extent) : extent;
      copy.clauses.push_back(range_clause(index, low, high, range));
    }
    subscripts.push_back(subscript);
  }
  copy.rhs = rank == 0 ? name_expr(source.tensor) : make_expr(Access{source.tensor, subscripts, false}, range);
  if (cast) copy.rhs = make_expr(Cast{*cast, copy.rhs, false}, range);
  emit(std::move(copy), range, type);
}

/// A tensor whose extents are expected - actual and actual - expected: negative, thus refused at the call, unless
/// equal.
void Inliner::emit_equation(const SizeEquation& equation, SourceRange range) {
  if (equal(equation.expected, equation.actual)) return;
  Assignment statement;
  statement.target = names_.property(str(equation.tensor, "_size_", equation.dimension));
  statement.target_range = range;
  std::vector<std::string> iterators = names_.iterators(2);
  for (const auto& iterator : iterators) statement.subscripts.push_back(name_expr(iterator));
  statement.rhs = make_expr(BoolLiteral{false}, range);
  auto more = binary_expr(BinaryOp::Sub, equation.actual, equation.expected);
  auto less = binary_expr(BinaryOp::Sub, equation.expected, equation.actual);
  statement.clauses.push_back(range_clause(iterators[0], more, range));
  statement.clauses.push_back(range_clause(iterators[1], less, range));
  emit(std::move(statement), range, DType::Bool);
}

/// The box of a tensor of the result so far, null if it is not known for an error.
const std::vector<Range>* Inliner::box_of(const std::string& tensor) {
  if (!checker_) {
    checker_ = std::make_unique<GrowingDefChecker>(head_, types_, diagnostics_);
    ranges_ = context_.start_ranges(head_);
  }
  for (; seen_ < result_.statements.size(); ++seen_) {
    auto checked = checker_->add(result_.statements[seen_]);
    diagnostics_.throw_if_errors<SemanticError>();
    ranges_->add(checked);
  }
  return ranges_->box(tensor);
}

/// \p argument, or a copy that starts at 0 if its inferred mins are others.
std::string Inliner::argument_from_zero(const std::string& argument, int rank, DType type, SourceRange range) {
  if (find_decl(result_.params, argument) || rank == 0) return argument;
  const auto* box = box_of(argument);
  if (!box || starts_at_zero(*box)) return argument;
  std::string copy = names_.tensor(argument);
  emit_copy({copy}, {argument, mins_of(*box, {})}, rank, type, {}, range);
  return copy;
}

/// Parameters become arguments, sizes become their dimensions.
void Inliner::map_arguments(Call& call) {
  std::vector<SizeEquation> equations;
  for (std::size_t p = 0; p < call.callee.params.size(); ++p) {
    const TensorDecl& param = call.callee.params[p];
    int rank = param.dims ? static_cast<int>(param.dims->size()) : 0;
    const std::string& given = call.statement.arguments.at(p);
    std::string argument = argument_from_zero(current(given), rank, def_.tensors.at(given).type, call.range);
    call.substitution.tensors[param.name] = argument;
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

void Inliner::map_results(Call& call) {
  for (std::size_t r = 0; r < call.callee.returns.size(); ++r) map_result(call, r);
}

/// A result becomes the caller's tensor itself where that is the same, else a fresh tensor to be copied.
void Inliner::map_result(Call& call, std::size_t r) {
  const TensorDecl& decl = call.callee.returns[r];
  const TensorInfo& info = call.callee.tensors.at(decl.name);
  const std::string& name = call.statement.results.at(r);
  if (assigned_.count(current(name)) && versions_.begins(name, call.callee, r)) versions_.begin(name, names_);
  const std::string result = current(name);
  const bool is_new = !assigned_.count(result);
  const auto& mapped = call.substitution.tensors;
  const bool is_argument = std::any_of(call.callee.params.begin(), call.callee.params.end(),
                                       [&](const TensorDecl& param) { return mapped.at(param.name) == result; });
  auto caller = std::find_if(result_.returns.begin(), result_.returns.end(),
                             [&](const TensorDecl& d) { return d.name == result; });
  const bool is_return = caller != result_.returns.end();
  const auto& box = call.ranges.tensors.at(decl.name);
  const auto* held = is_new ? nullptr : box_of(result);
  const bool direct = !is_argument && starts_at_zero(box) && (!held || starts_at_zero(*held));
  if (direct && is_return && is_new && decl.type && !caller->type) caller->type = decl.type;
  const bool typed_by_caller = is_return && caller->type;
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
void Inliner::equate_sizes(Call& call, std::size_t r, const std::string& target, const std::string& holder,
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
  place_ = range;
  const std::string target = current(statement.target);
  const Substitution& substitution = versions_.substitution();
  const DType type = def_.tensors.at(statement.target).type;
  if (target == statement.target) return emit(substitute(statement, substitution), range, type);
  if (!assigned_.count(target)) pinned_.emplace(target, type);
  emit_renamed(statement, substitution, find_decl(def_.returns, statement.target), type, range);
}

/// \p statement under new names. The first assignment of a pinned tensor gives it that type: by a cast of the value,
/// or, where a reduction would round each of its terms, by a cast of the wider result. A first assignment whose
/// iterators nothing bounds takes the sizes that \p decl, if there is one, declares for the tensor.
void Inliner::emit_renamed(const Assignment& statement, const Substitution& substitution, const TensorDecl* decl,
                           DType type, SourceRange range) {
  Assignment renamed = substitute(statement, substitution);
  std::optional<DType> cast;
  if (auto it = pinned_.find(renamed.target); it != pinned_.end()) {
    if (natural_type(statement.rhs) != it->second || has_literal_type(statement.rhs)) cast = it->second;
    pinned_.erase(it);
  }
  for (std::size_t d = 0; decl && decl->dims && d < renamed.subscripts.size(); ++d) {
    if (assigned_.count(renamed.target)) break;
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

void Inliner::inline_call(const CallStatement& statement, SourceRange range) {
  place_ = range;
  const InlinedDef& callee = context_.callee(statement.def);
  Call call{statement, range, callee.def, callee.ranges};
  names_.take(identifiers(call.callee));
  map_arguments(call);
  map_results(call);
  for (const auto& [name, info] : call.callee.tensors)
    if (info.role == Role::Temporary) call.substitution.tensors[name] = names_.tensor(name);
  for (const auto& s : call.callee.statements) {
    const auto& assignment = std::get<Assignment>(s.node);
    auto iterators = left_iterators(assignment);
    iterators.insert(iterators.end(), assignment.reduction_iterators.begin(), assignment.reduction_iterators.end());
    for (const auto& id : iterators) call.substitution.values[id] = name_expr(names_.iterator(id));
    emit_renamed(assignment, call.substitution, find_decl(call.callee.returns, assignment.target),
                 call.callee.tensors.at(assignment.target).type, s.range);
    for (const auto& id : iterators) call.substitution.values.erase(id);
  }
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
  return needs_inlining(def) ? Inliner(def, file, context).run() : def;
}

}  // namespace tc::lang
