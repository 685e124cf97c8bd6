#include "tc/derive/form/from_def.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tc/base/str.h"
#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_expressions.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/form/stated_ranges.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"

namespace tc::derive {

using lang::BinaryOp;
using lang::ExprPtr;

namespace {

constexpr std::size_t most_cases = 16;

/// One assignment as a scope.
class Reader {
 public:
  /// \p own: the box of what it writes, in a loop, where it may read that.
  Reader(const lang::Assignment& assignment, const lang::Box& ranges, const std::vector<std::string>& iterators,
         const lang::SizeMap& sizes, const Program& program, const lang::Def& def, const lang::Box* own)
      : assignment_(assignment),
        box_(box_set(*program.context, ranges)),
        own_(own),
        iterators_(iterators),
        sizes_(sizes),
        program_(program),
        def_(def) {}

  Scope run() {
    scope_.tensor = assignment_.target;
    scope_.type = def_.tensors.at(assignment_.target).type;
    scope_.iterators = iterators_;
    scope_.op = assignment_.reduction;
    mixes_ = is_half(scope_.type);
    auto cases = read_reduced();
    scope_.uniform = !mixes_ && !widens_;
    scope_.widens = !mixes_ && widens_;
    take_fill(cases);
    for (auto& part : cases) {
      if (part.domain.is_empty()) continue;
      auto reads = compacted(part.body);
      scope_.cases.push_back({part.domain, part.body, std::move(reads)});
    }
    for (auto& part : scope_.cases) check_inside(part);
    if (scope_.cases.empty()) throw Refusal{str("'", scope_.tensor, "' is constant")};
    return std::move(scope_);
  }

 private:
  struct Part {
    isl::set domain;
    ExprPtr body;
  };
  using Parts = std::vector<Part>;

  /// The cases of the value. Where a condition gives a reduction its neutral element there is none.
  Parts read_reduced() {
    const auto* select = std::get_if<lang::Select>(&assignment_.rhs->node);
    if (scope_.op && select && literal_value(select->else_value, scope_.type) == neutral(*scope_.op)) try {
        const auto where = box_.intersect(conditions(select->condition));
        return where.is_empty() ? Parts() : read(select->then_value, where);
      } catch (const Refusal&) {
      }
    return read(assignment_.rhs, box_);
  }

  bool is_zero(const ExprPtr& expr) const { return literal_value(expr, scope_.type) == 0.0; }

  Parts read(const ExprPtr& expr, const isl::set& where) {
    if (const auto* cast = std::get_if<lang::Cast>(&expr->node)) return read_cast(*cast, where);
    if (const auto* select = std::get_if<lang::Select>(&expr->node))
      return choose(select->condition, select->then_value, select->else_value, expr, where);
    if (const auto* call = std::get_if<lang::Call>(&expr->node); call && call->function == "select")
      return choose(call->arguments[0], call->arguments[1], call->arguments[2], expr, where);
    if (const auto* access = std::get_if<lang::Access>(&expr->node)) return {{where, add_read(*access)}};
    if (const auto* name = std::get_if<lang::Name>(&expr->node)) return {{where, index_value(*name)}};
    if (std::holds_alternative<lang::SizeOf>(expr->node)) throw Refusal{"a size is used as a value"};
    if (const auto* binary = std::get_if<lang::Binary>(&expr->node); binary && binary->op == BinaryOp::And)
      if (auto parts = guarded(*binary, where); !parts.empty()) return parts;
    return combine(expr, where);
  }

  Parts read_cast(const lang::Cast& cast, const isl::set& where) {
    if (needs_no_cast(cast.value, cast)) return {{where, without_cast(cast)}};
    if (cast.value->type == cast.type) return read(cast.value, where);
    if (is_widened(cast)) {
      widens_ = true;
      return {{where, lang::make_expr(lang::Cast{cast.type, new_read(std::get<lang::Access>(cast.value->node))})}};
    }
    if (const auto* inner = rounding_of(cast)) {
      widens_ = true;
      auto parts = read(inner->value, where);
      for (auto& part : parts) part.body = rounded(part.body, inner->type, cast.type);
      return parts;
    }
    if (is_float(cast.type) && cast.type == scope_.type && is_affine(cast.value)) {
      widens_ = true;
      return {{where, lang::make_expr(lang::Cast{cast.type, index_read(cast.value)})}};
    }
    mixes_ = true;
    auto parts = read(cast.value, where);
    for (auto& part : parts)
      if (!needs_no_cast(part.body, cast)) part.body = lang::make_expr(lang::Cast{cast.type, part.body});
    return parts;
  }

  /// Is \p expr a sum of iterators with integers as factors?
  static bool is_affine(const ExprPtr& expr) {
    if (std::holds_alternative<lang::Name>(expr->node) || std::holds_alternative<lang::IntLiteral>(expr->node))
      return true;
    const auto* binary = std::get_if<lang::Binary>(&expr->node);
    if (!binary || !is_affine(binary->left) || !is_affine(binary->right)) return false;
    const auto is_literal = [](const ExprPtr& each) { return std::holds_alternative<lang::IntLiteral>(each->node); };
    const bool is_multiple = is_literal(binary->left) || is_literal(binary->right);
    return binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub || (binary->op == BinaryOp::Mul && is_multiple);
  }

  /// The conversion under \p cast if the two round a value of the scope's type to 16 bits; null if not.
  const lang::Cast* rounding_of(const lang::Cast& cast) const {
    const auto* inner = std::get_if<lang::Cast>(&cast.value->node);
    const bool rounds = inner && is_half(inner->type) && inner->value->type == scope_.type;
    return rounds && is_float(scope_.type) && cast.type == scope_.type ? inner : nullptr;
  }

  /// Is it a read of 16 bits as a float of the scope's type?
  bool is_widened(const lang::Cast& cast) const {
    const auto* access = std::get_if<lang::Access>(&cast.value->node);
    return access && !is_own(access->tensor) && is_half(program_.type(access->tensor)) && is_float(cast.type) &&
           !is_half(cast.type) && cast.type == scope_.type;
  }

  /// What stands under \p cast, which it needs not: a literal of the kind of numbers that the type has.
  ExprPtr without_cast(const lang::Cast& cast) const {
    const bool other_kind = is_integer(cast.type) && cast.value->type && is_float(*cast.value->type);
    return other_kind ? literal(*literal_value(cast.value, cast.type), cast.type) : plain(cast.value);
  }

  /// Does \p value, under \p cast, hold no other number without it?
  bool needs_no_cast(const ExprPtr& value, const lang::Cast& cast) const {
    if (cast.implicit && is_same_in_all_types(value)) return true;
    const auto number = literal_value(value, cast.type);
    if (!number || cast.implicit) return number.has_value();
    const bool is_exact = static_cast<float>(*number) == *number && std::floor(*number) == *number;
    return cast.type == scope_.type && (is_float(cast.type) || is_exact);
  }

  static ExprPtr plain(const ExprPtr& expr) {
    std::vector<ExprPtr> parts;
    for (const auto& child : lang::children(expr)) parts.push_back(plain(child));
    const auto bare = lang::make_expr(expr->node);
    return parts.empty() ? bare : lang::with_children(bare, parts);
  }

  /// A condition on indices parts the instances; another one is an operator like others.
  Parts choose(const ExprPtr& condition, const ExprPtr& yes, const ExprPtr& no, const ExprPtr& whole,
               const isl::set& where) {
    isl::set holds = where;
    try {
      holds = conditions(condition);
    } catch (const Refusal&) {
      return combine(whole, where);
    }
    const auto then = where.intersect(holds), otherwise = where.subtract(holds).coalesce();
    Parts result;
    if (!then.is_empty()) result = read(yes, then);
    if (!otherwise.is_empty())
      for (auto& part : read(no, otherwise)) result.push_back(part);
    return result;
  }

  Parts guarded(const lang::Binary& both, const isl::set& where) {
    try {
      conditions(both.left);
    } catch (const Refusal&) {
      return {};
    }
    return choose(both.left, both.right, lang::make_expr(lang::BoolLiteral{false}), nullptr, where);
  }

  isl::set conditions(const ExprPtr& condition) const {
    return condition_set(*program_.context, with_numbers(condition), iterators_);
  }

  /// An operator over the parts of its operands; a product with 0 is 0.
  Parts combine(const ExprPtr& expr, const isl::set& where) {
    std::vector<std::pair<isl::set, std::vector<ExprPtr>>> rows{{where, {}}};
    for (const auto& child : lang::children(expr)) {
      std::vector<std::pair<isl::set, std::vector<ExprPtr>>> next;
      for (const auto& [set, operands] : rows)
        for (const auto& part : read(child, set)) {
          next.emplace_back(part.domain, operands);
          next.back().second.push_back(part.body);
        }
      rows = std::move(next);
      if (rows.size() > most_cases) throw Refusal{"a statement has too many cases"};
    }
    Parts result;
    const auto bare = lang::make_expr(expr->node);
    for (const auto& [set, operands] : rows) {
      const bool zero = operator_of(expr) == "*" &&
                        std::any_of(operands.begin(), operands.end(), [&](const auto& x) { return is_zero(x); });
      result.push_back({set, zero ? number(0) : operands.empty() ? bare : lang::with_children(bare, operands)});
    }
    return result;
  }

  /// Sizes as numbers.
  ExprPtr with_numbers(const ExprPtr& expr) const {
    if (const auto* name = std::get_if<lang::Name>(&expr->node))
      if (const auto found = sizes_.find(name->id); found != sizes_.end() && name->kind == lang::Name::Kind::Size)
        return number(found->second);
    if (const auto* size = std::get_if<lang::SizeOf>(&expr->node))
      return number(program_.box(size->tensor).at(static_cast<std::size_t>(size->dimension)).extent);
    std::vector<ExprPtr> parts;
    for (const auto& child : lang::children(expr)) parts.push_back(with_numbers(child));
    return parts.empty() ? expr : lang::with_children(expr, parts);
  }

  ExprPtr add_read(const lang::Access& access) {
    const auto type = is_own(access.tensor) ? scope_.type : program_.type(access.tensor);
    const bool is_condition = type == DType::Bool && is_float(scope_.type);
    mixes_ = mixes_ || (type != scope_.type && !is_condition);
    widens_ = widens_ || is_condition;
    return new_read(access);
  }
  ExprPtr new_read(const lang::Access& access) {
    std::vector<ExprPtr> subscripts;
    for (const auto& subscript : access.subscripts) subscripts.push_back(with_numbers(subscript));
    reads_.push_back({access.tensor, index_function(*program_.context, subscripts, iterators_)});
    return lang::make_expr(lang::Name{read_name(reads_.size() - 1)});
  }

  ExprPtr index_value(const lang::Name& name) {
    mixes_ = true;
    return index_read(lang::make_expr(name));
  }
  /// The number that \p expr is, a read of no tensor.
  ExprPtr index_read(const ExprPtr& expr) {
    reads_.push_back({"", index_function(*program_.context, {with_numbers(expr)}, iterators_)});
    return lang::make_expr(lang::Name{read_name(reads_.size() - 1)});
  }

  /// Where a reduction takes its neutral element there is no instance; the constant of an assignment is its fill.
  void take_fill(Parts& parts) {
    if (scope_.op) scope_.fill = neutral(*scope_.op);
    std::optional<double> fill;
    if (scope_.op) fill = scope_.fill;
    for (const auto& part : parts)
      if (const auto value = literal_value(part.body, scope_.type); value && !fill && parts.size() > 1) fill = value;
    if (fill) scope_.fill = *fill;
    if (fill) std::erase_if(parts, [&](const Part& part) { return literal_value(part.body, scope_.type) == *fill; });
  }

  /// The reads of \p body, numbered from 0 in it.
  std::vector<Read> compacted(ExprPtr& body) const {
    std::vector<Read> result;
    std::map<std::size_t, std::size_t> numbers;
    body = with_reads(body, [&](std::size_t k) {
      if (numbers.emplace(k, result.size()).second) result.push_back(reads_[k]);
      return lang::make_expr(lang::Name{read_name(numbers.at(k))});
    });
    return result;
  }

  void check_inside(const Case& part) const {
    for (const auto& read : part.reads) {
      if (read.tensor.empty()) continue;
      const auto& box = is_own(read.tensor) ? *own_ : program_.box(read.tensor);
      const auto inside = box_set(*program_.context, box).preimage(read.at);
      if (!part.domain.is_subset(inside)) throw Refusal{str("'", read.tensor, "' is read where a value decides")};
    }
  }

  bool is_own(const std::string& tensor) const { return own_ && tensor == assignment_.target; }

  const lang::Assignment& assignment_;
  isl::set box_;
  const lang::Box* own_;
  const std::vector<std::string>& iterators_;
  const lang::SizeMap& sizes_;
  const Program& program_;
  const lang::Def& def_;
  Scope scope_;
  bool mixes_ = false, widens_ = false;  ///< Scope::uniform, Scope::widens
  std::vector<Read> reads_;
};

/// The iterators of \p assignment: those of the left, then those that are reduced over, in the order of the ranges that
/// are given for them, then the others. A program that is printed gives all ranges, so that it is read back as it was.
std::vector<std::string> ordered_iterators(const lang::Assignment& assignment) {
  auto result = lang::left_iterators(assignment);
  const auto& reduced = assignment.reduction_iterators;
  const auto add = [&](const std::string& name) {
    if (std::find(result.begin(), result.end(), name) == result.end()) result.push_back(name);
  };
  for (const auto& clause : assignment.clauses)
    if (const auto* range = std::get_if<lang::RangeClause>(&clause.node);
        range && std::find(reduced.begin(), reduced.end(), range->index) != reduced.end())
      add(range->index);
  for (const auto& name : reduced) add(name);
  return result;
}

/// The statements of a def, one after another.
class Follower {
 public:
  Follower(const lang::InlinedDef& function, const std::vector<TensorSpec>& inputs, const ContextPtr& context)
      : function_(function) {
    program_.context = context;
    program_.name = function.def.name;
    std::vector<std::vector<std::int64_t>> shapes;
    for (const auto& input : inputs) shapes.push_back(input.shape);
    sizes_ = lang::bind_sizes(function.def, shapes);
    lang::check_preconditions(function.ranges, sizes_);
    for (const auto& param : function.def.params)
      program_.inputs.push_back({param.name, function.def.tensors.at(param.name).type, box(param.name)});
    for (const auto& decl : function.def.returns) program_.outputs.push_back(decl.name);
  }

  Program run() {
    if (!function_.ranges.data_dependent.empty()) throw Refusal{"a subscript is read from a tensor"};
    for (std::size_t s = 0; s < function_.def.statements.size(); ++s) {
      const auto* assignment = std::get_if<lang::Assignment>(&function_.def.statements[s].node);
      if (!assignment) throw Refusal{"the def holds calls"};
      if (!is_absent(assignment->target)) add(*assignment, s, function_.def.statements[s].loops);
    }
    for (const auto& output : program_.outputs)
      if (!program_.find(output)) throw Refusal{str("'", output, "' is constant")};
    return std::move(program_);
  }

 private:
  lang::Box box(const std::string& tensor) const {
    const auto box = lang::evaluate_box(function_.ranges.tensors.at(tensor), sizes_);
    for (const auto& range : box)
      if (range.extent <= 0) throw Refusal{str("'", tensor, "' has no elements")};
    return box;
  }

  /// Is \p tensor one of no elements that nobody outside sees, as those are that stand for sizes being equal?
  bool is_absent(const std::string& tensor) const {
    if (program_.is_output(tensor)) return false;
    const auto box = lang::evaluate_box(function_.ranges.tensors.at(tensor), sizes_);
    return std::any_of(box.begin(), box.end(), [](const auto& range) { return range.extent <= 0; });
  }

  void add(const lang::Assignment& assignment, std::size_t statement, const std::vector<lang::OrderedLoop>& loops) {
    const auto iterators = ordered_iterators(assignment);
    lang::Box ranges;
    for (const auto& name : iterators) {
      const auto& range = function_.ranges.statements.at(statement).at(name);
      ranges.push_back({lang::evaluate_size(range.min, sizes_), lang::evaluate_size(range.extent, sizes_)});
      if (ranges.back().extent <= 0) throw Refusal{str("'", name, "' has no values")};
    }
    const auto whole = box(assignment.target);
    if (!std::equal(whole.begin(), whole.end(), ranges.begin()))
      throw Refusal{str("a part of '", assignment.target, "' is written")};
    if (loops.size() > 1) throw Refusal{"the def holds a loop in a loop"};
    if (loops.empty() && is_initial_value(assignment)) return;
    const bool accumulates = assignment.reduction && !assignment.initialise;
    const auto before = program_.find(assignment.target);
    if (accumulates && !before && !initial_.count(assignment.target))
      throw Refusal{str("'", assignment.target, "' is accumulated into")};
    const auto* own = loops.empty() ? nullptr : &whole;
    auto scope = Reader(assignment, ranges, iterators, sizes_, program_, function_.def, own).run();
    scope.box = whole;
    if (!loops.empty()) scope.loop = loop_of(loops.front(), scope);
    if ((scope.loop || (before && before->loop)) && (before || accumulates))
      throw Refusal{str("'", scope.tensor, "' is written twice in a loop")};
    // A derived program may have any iterator on a left-hand side, where the name of the def is none.
    std::replace(scope.iterators.begin(), scope.iterators.end(), program_.name, fresh(program_.name));
    const auto old = before ? rename(before, scope) : "";
    if (accumulates && (before || !starts_neutral(assignment)))
      accumulate(std::move(scope), old);
    else
      program_.scopes.push_back(std::make_shared<const Scope>(std::move(scope)));
  }

  static ScopeLoop loop_of(const lang::OrderedLoop& loop, const Scope& scope) {
    const auto end = scope.iterators.begin() + scope.left();
    const auto at = std::find(scope.iterators.begin(), end, loop.iterator);
    if (at == end) throw Refusal{str("'", loop.iterator, "' is no index of '", scope.tensor, "'")};
    return {loop.id, static_cast<int>(at - scope.iterators.begin())};
  }

  /// What the tensor \p before, a number where that is "", and the sum \p scope give together.
  ///
  ///   O(i) = b(i)   O(i) += X(i,k)        O_1(i) = b(i)   O_2(i) +=! X(i,k)   O(i) = O_1(i) + O_2(i)
  void accumulate(Scope scope, const std::string& before) {
    const auto target = scope.tensor;
    Scope both = scope;
    both.op = std::nullopt;
    both.fill = 0;
    both.iterators.resize(static_cast<std::size_t>(scope.left()));
    const auto at = projection(*program_.context, scope.left(), run_of(0, scope.left()));
    Case whole{box_set(*program_.context, scope.box), nullptr, {}};
    const auto add = [&](const std::string& tensor) {
      whole.reads.push_back({tensor, at});
      return lang::make_expr(lang::Name{read_name(whole.reads.size() - 1)});
    };
    const auto first = before.empty() ? literal(initial_.at(target), scope.type) : add(before);
    scope.tensor = fresh(target);
    whole.body = sum({first, add(scope.tensor)}, *scope.op);
    both.cases = {whole};
    program_.scopes.push_back(std::make_shared<const Scope>(std::move(scope)));
    program_.scopes.push_back(std::make_shared<const Scope>(std::move(both)));
  }

  static void rename_reads(Scope& scope, const std::string& tensor, const std::string& name) {
    for (auto& part : scope.cases)
      for (auto& read : part.reads)
        if (read.tensor == tensor) read.tensor = name;
  }

  /// A new name for the tensor of \p scope, which \p next, the next statement, writes again. What has read it until now, \p next
  /// too, reads it by that name.
  ///
  ///   P(i) +=! X(i,k)   Q(i) = P(i)   P(i) = P(i) / 49        P_1(i) +=! X(i,k)   Q(i) = P_1(i)   P(i) = P_1(i) / 49
  std::string rename(const ScopePtr& scope, Scope& next) {
    const auto old = scope->tensor, name = fresh(old);
    for (auto& other : program_.scopes) {
      auto made = *other;
      if (other == scope) made.tensor = name;
      rename_reads(made, old, name);
      other = std::make_shared<const Scope>(std::move(made));
    }
    rename_reads(next, old, name);
    return name;
  }

  /// \p tensor with a number behind it, which nothing is called.
  std::string fresh(const std::string& tensor) const {
    const auto& tensors = function_.def.tensors;
    const auto is_iterator = [&](const std::string& name) {
      return std::any_of(function_.ranges.statements.begin(), function_.ranges.statements.end(),
                         [&](const auto& ranges) { return ranges.count(name) > 0; });
    };
    for (int n = 1;; ++n)
      if (const auto name = str(tensor, "_", n);
          !tensors.count(name) && !program_.find(name) && name != program_.name && !is_iterator(name))
        return name;
  }

  /// Is it the constant from which a reduction begins?
  bool is_initial_value(const lang::Assignment& assignment) {
    if (assignment.reduction || program_.find(assignment.target)) return false;
    const auto value = literal_value(assignment.rhs, function_.def.tensors.at(assignment.target).type);
    if (value) initial_[assignment.target] = *value;
    return value.has_value();
  }
  bool starts_neutral(const lang::Assignment& assignment) const {
    const auto found = initial_.find(assignment.target);
    return found != initial_.end() && found->second == neutral(*assignment.reduction);
  }

  const lang::InlinedDef& function_;
  lang::SizeMap sizes_;
  Program program_;
  std::map<std::string, double> initial_;
};

}  // namespace

Program from_def(const lang::InlinedDef& function, const std::vector<TensorSpec>& inputs, const ContextPtr& context) {
  if (lang::has_loops(function.def)) throw Refusal{"the def has a loop whose iterations run in order"};
  return Follower(function, inputs, context).run();
}

namespace {

Program from_any(const lang::InlinedDef& function, const std::vector<TensorSpec>& inputs, const ContextPtr& context) {
  return Follower(function, inputs, context).run();
}

}  // namespace

Program from_text(const std::string& text, const ContextPtr& context) {
  const auto file = lang::check(lang::parse(text, "<derived>"));
  if (file.defs.size() != 1) throw Refusal{"the text is not one def"};
  const auto& def = file.defs.front();
  const auto stated = stated_ranges(def);
  const lang::InlinedDef function{def, stated ? *stated : halide_bridge::infer_ranges(def, text)};
  std::vector<TensorSpec> inputs;
  for (const auto& param : function.def.params) {
    std::vector<std::int64_t> shape;
    if (param.dims)
      for (const auto& size : *param.dims) shape.push_back(lang::evaluate_size(size, {}));
    inputs.push_back(contiguous(function.def.tensors.at(param.name).type, shape));
  }
  return from_any(function, inputs, context);
}

}  // namespace tc::derive
