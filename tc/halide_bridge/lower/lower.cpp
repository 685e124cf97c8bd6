#include "tc/halide_bridge/lower/lower.h"

#include <algorithm>
#include <set>

#include "tc/base/count_product.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/lower/split_launches.h"
#include "tc/halide_bridge/lower/symbolic_range.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Kind = ProgramStatement::Kind;
using lang::ExprPtr;

/// Is \p access the element a statement with left-hand iterators \p left writes?
bool is_own_element(const lang::Access& access, const std::vector<std::string>& left) {
  if (access.subscripts.size() != left.size()) return false;
  for (std::size_t d = 0; d < left.size(); ++d) {
    const auto* name = std::get_if<lang::Name>(&access.subscripts[d]->node);
    if (!name || name->id != left[d]) return false;
  }
  return true;
}

/// \p expr with the reads of \p tensor redirected to \p copy, but those of \p kept (null: all).
ExprPtr redirect(const ExprPtr& expr, const std::string& tensor, const std::string& copy,
                 const std::vector<std::string>* kept) {
  auto parts = lang::children(expr);
  for (auto& part : parts) part = redirect(part, tensor, copy, kept);
  const auto* access = std::get_if<lang::Access>(&expr->node);
  if (access && access->tensor == tensor && !(kept && is_own_element(*access, *kept))) {
    return lang::make_expr(lang::Access{copy, parts, access->bare}, expr->range, expr->type);
  }
  return lang::with_children(expr, parts);
}

bool is_empty(const lang::Box& box) {
  return std::any_of(box.begin(), box.end(), [](const lang::IntegerRange& interval) { return interval.extent <= 0; });
}

/// One assignment of the def with its iterators' intervals.
struct Assigned {
  const lang::Assignment* assignment;
  lang::SourceRange range;
  std::vector<std::string> left, all;  ///< iterators
  std::map<std::string, lang::IntegerRange> intervals;
  std::map<std::string, Halide::Expr> ends;  ///< of the iterators whose ranges symbolic sizes decide
  std::vector<Halide::Expr> conditions;      ///< of these
  std::vector<lang::OrderedLoop> loops;

  lang::Box box(const std::vector<std::string>& names) const {
    lang::Box result;
    for (const auto& name : names) result.push_back(intervals.at(name));
    return result;
  }
};

class Lowering {
 public:
  Lowering(const lang::Def& def, const lang::Ranges& ranges, const lang::SizeMap& sizes,
           const lang::SizeRanges& symbolic)
      : def_(def),
        ranges_(ranges),
        sizes_(sizes),
        reader_(sizes, symbolic),
        data_dependent_(ranges.data_dependent.begin(), ranges.data_dependent.end()) {}

  Program run() {
    declare_tensors();
    std::vector<Step> steps;
    for (std::size_t i = 0; i < def_.statements.size(); ++i) steps.push_back(lower_statement(i));
    Program program;
    program.name = def_.name;
    program.symbolic = reader_.sizes();
    for (const auto& precondition : ranges_.preconditions)
      if (reader_.is_symbolic(precondition.condition)) program.preconditions.push_back(reader_.condition(precondition));
    for (const auto& iterators : ranges_.statements)
      for (const auto& [name, range] : iterators) require_range(range, program);
    for (const auto& [name, box] : ranges_.tensors)
      for (const auto& range : box) require_range(range, program);
    program.launches = split_launches(std::move(steps), tensors_, names_);
    for (const auto& name : names_) program.tensors.push_back(tensors_.at(name));
    return program;
  }

 private:
  /// In a run no extent is negative.
  void require_range(const lang::Range& range, Program& program) const {
    const Halide::Expr holds = reader_.is_range(range);
    if (holds.defined()) program.preconditions.push_back(holds);
  }

  void declare(const std::string& name) {
    if (tensors_.count(name) > 0) return;
    const auto& info = def_.tensors.at(name);
    const auto box = ranges_.tensors.find(name);
    if (box == ranges_.tensors.end()) throw InternalError(str("lower: the tensor '", name, "' has no ranges"));
    ProgramTensor tensor{name, info.type, info.role, {}};
    for (const auto& range : box->second) {
      const auto symbolic = reader_.range(range);
      tensor.box.push_back(symbolic.values);
      tensor.extents.push_back(symbolic.extent);
    }
    if (std::none_of(tensor.extents.begin(), tensor.extents.end(), [](const auto& e) { return e.defined(); }))
      tensor.extents.clear();
    add_tensor(std::move(tensor));
  }

  void add_tensor(ProgramTensor tensor) {
    names_.push_back(tensor.name);
    const std::string name = tensor.name;
    tensors_.emplace(name, std::move(tensor));
  }

  /// Parameters, returns, then temporaries as they are assigned.
  void declare_tensors() {
    for (const auto& param : def_.params) declare(param.name);
    for (const auto& result : def_.returns) declare(result.name);
    for (const auto& statement : def_.statements) declare(assignment_of(statement).target);
  }

  static const lang::Assignment& assignment_of(const lang::Statement& statement) {
    const auto* assignment = std::get_if<lang::Assignment>(&statement.node);
    if (!assignment) throw InternalError("lower: the def has calls; inline them first");
    return *assignment;
  }

  /// A temporary `base_suffix'` that no other tensor is called: the prime ends no name of a text, and isl reads it.
  std::string make_temporary(const std::string& base, const std::string& suffix, DType type, lang::Box box) {
    const std::string stem = base + "_" + suffix;
    const int count = temporaries_[stem]++;
    const std::string name = count == 0 ? stem + "'" : str(stem, count, "'");
    add_tensor({name, type, lang::Role::Temporary, std::move(box)});
    return name;
  }

  Assigned read_statement(std::size_t index) const {
    const auto& statement = def_.statements[index];
    Assigned result{&assignment_of(statement), statement.range, {}, {}, {}, {}, {}, statement.loops};
    result.left = lang::left_iterators(*result.assignment);
    result.all = result.left;
    const auto& reductions = result.assignment->reduction_iterators;
    result.all.insert(result.all.end(), reductions.begin(), reductions.end());
    const auto& ranges = ranges_.statements.at(index);
    for (const auto& name : result.all) {
      const auto found = ranges.find(name);
      if (found == ranges.end()) throw InternalError(str("lower: the iterator '", name, "' has no range"));
      const auto range = reader_.range(found->second);
      const auto interval = result.intervals[name] = range.values;
      const Halide::Expr iterator = iterator_values({name})[0];
      if (range.end.defined()) result.conditions.push_back(ir::LT::make(iterator, range.end));
      if (range.end.defined()) result.ends[name] = range.end;
      if (interval.extent > most_counted)
        throw ResourceError(str("the iterator '", name, "' of the statement that writes '", result.assignment->target,
                                "' runs over ", interval.extent, " values: no loop has more than 2^52 iterations"));
    }
    return result;
  }

  Step lower_statement(std::size_t index) {
    const Assigned assigned = read_statement(index);
    Step step;
    const ExprScope scope{tensors_, assigned.intervals, sizes_, reader_.sizes(), assigned.ends};
    const bool runs = !is_empty(assigned.box(assigned.all));
    step.checks = index_checks(*assigned.assignment, assigned.all, assigned.conditions, data_dependent_, scope, runs);
    if (!assigned.loops.empty()) require_early_checks(step);
    if (is_empty(assigned.box(assigned.left))) return step;
    const ExprPtr rhs = runs ? without_self_reads(assigned, step) : nullptr;
    if (!assigned.assignment->reduction) {
      step.statements.push_back(
          make(assigned, Kind::Assign, assigned.assignment->target, assigned.all, lower_expr(rhs, scope).expr));
    } else if (accumulates_apart(assigned)) {
      reduce_apart(assigned, rhs, scope, step);
    } else {
      reduce(assigned, assigned.assignment->target, assigned.assignment->initialise, rhs, scope, step);
    }
    return step;
  }

  /// The checker sees to it that indices in a loop can be checked before the loop runs.
  void require_early_checks(const Step& step) const {
    for (const auto& check : step.checks)
      for (const auto& name : check.reads)
        if (tensors_.at(name).role != lang::Role::Input)
          throw InternalError(str("lower: an index in a loop depends on '", name, "'"));
  }

  static ProgramStatement make(const Assigned& assigned, Kind kind, const std::string& target,
                               const std::vector<std::string>& iterators, Halide::Expr value) {
    ProgramStatement statement;
    statement.kind = kind;
    statement.op = assigned.assignment->reduction.value_or(ReductionOp::Sum);
    statement.target = target;
    statement.iterators = iterators;
    statement.domain = assigned.box(iterators);
    statement.subscripts = iterator_values(assigned.left);
    statement.value = std::move(value);
    statement.source = assigned.range;
    statement.conditions = conditions_of(iterators, assigned.conditions);
    statement.loops = assigned.loops;
    return statement;
  }

  /// The right-hand side where reads of the target that the statement could spoil go to a copy, made in \p step.
  ExprPtr without_self_reads(const Assigned& assigned, Step& step) {
    const auto& assignment = *assigned.assignment;
    if (!assigned.loops.empty()) return assignment.rhs;
    const auto* kept = assignment.reduction ? nullptr : &assigned.left;
    bool spoiled = false;
    lang::for_each_expr(assignment.rhs, [&](const ExprPtr& expr) {
      const auto* access = std::get_if<lang::Access>(&expr->node);
      spoiled = spoiled || (access && access->tensor == assignment.target && !(kept && is_own_element(*access, *kept)));
    });
    if (!spoiled) return assignment.rhs;
    const std::string copy = copy_tensor(assignment.target, assigned.range, step);
    return redirect(assignment.rhs, assignment.target, copy, kept);
  }

  std::string copy_tensor(const std::string& name, lang::SourceRange range, Step& step) {
    const ProgramTensor original = tensors_.at(name);
    const std::string copy = make_temporary(name, "old", original.type, original.box);
    tensors_.at(copy).extents = original.extents;
    ProgramStatement statement;
    statement.target = copy;
    for (std::size_t d = 0; d < original.box.size(); ++d) statement.iterators.push_back(str('d', d));
    statement.domain = original.box;
    statement.subscripts = iterator_values(statement.iterators);
    statement.value = element_read(halide_type(original.type), name, statement.subscripts);
    statement.source = range;
    for (std::size_t d = 0; d < original.box.size(); ++d)
      if (original.is_symbolic(d))
        statement.conditions.push_back(
            ir::LT::make(statement.subscripts[d],
                         ir::Add::make(ir::make_const(Halide::Int(64), original.box[d].min), original.extents[d])));
    step.statements.push_back(std::move(statement));
    return copy;
  }

  /// Must the reduction run in a temporary of the accumulator's type? Minima and maxima of halves are exact, and so are
  /// sums of small integers modulo their type.
  bool accumulates_apart(const Assigned& assigned) const {
    const auto& assignment = *assigned.assignment;
    const bool rounds = assignment.reduction == ReductionOp::Sum || assignment.reduction == ReductionOp::Product;
    return rounds && !assignment.reduction_iterators.empty() && is_half(tensors_.at(assignment.target).type);
  }

  /// \p rhs null: no instance.
  void reduce(const Assigned& assigned, const std::string& target, bool initialise, const ExprPtr& rhs,
              const ExprScope& scope, Step& step) const {
    if (initialise) step.statements.push_back(make(assigned, Kind::Init, target, assigned.left, {}));
    if (rhs) step.statements.push_back(make(assigned, Kind::Update, target, assigned.all, lower_expr(rhs, scope).expr));
  }

  void reduce_apart(const Assigned& assigned, const ExprPtr& rhs, const ExprScope& scope, Step& step) {
    const auto& assignment = *assigned.assignment;
    const std::string& target = assignment.target;
    const DType type = accumulator_type(tensors_.at(target).type);
    const std::string accumulator = make_temporary(target, "acc", type, assigned.box(assigned.left));
    const auto element = [&](const std::string& tensor) {
      return element_read(halide_type(type), tensor, iterator_values(assigned.left));
    };
    if (!assignment.initialise) {
      step.statements.push_back(make(assigned, Kind::Assign, accumulator, assigned.left, element(target)));
    }
    reduce(assigned, accumulator, assignment.initialise, rhs ? unrounded(rhs, type) : nullptr, scope, step);
    step.statements.push_back(make(assigned, Kind::Assign, target, assigned.left, element(accumulator)));
  }

  /// \p rhs as \p type without the implicit conversion to a half type around it.
  static ExprPtr unrounded(const ExprPtr& rhs, DType type) {
    const auto* cast = std::get_if<lang::Cast>(&rhs->node);
    if (!cast || !cast->implicit) return rhs;
    return lang::make_expr(lang::Cast{type, cast->value, true}, rhs->range, type);
  }

  const lang::Def& def_;
  const lang::Ranges& ranges_;
  const lang::SizeMap& sizes_;
  const SymbolicRangeReader reader_;
  const std::set<const lang::Expr*> data_dependent_;
  std::map<std::string, ProgramTensor> tensors_;
  std::vector<std::string> names_;  ///< of tensors, in order
  std::map<std::string, int> temporaries_;
};

}  // namespace

Program lower(const lang::Def& def, const lang::Ranges& ranges, const lang::SizeMap& sizes,
              const lang::SizeRanges& symbolic) {
  return Lowering(def, ranges, sizes, symbolic).run();
}

}  // namespace tc::halide_bridge
