#include "test/support/random/random_def.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tc/base/str.h"
#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/syntax/operators.h"
#include "test/support/random/random_params.h"
#include "test/support/random/random_ragged.h"

namespace tc::test {

using namespace lang;

namespace {

double points(const std::vector<KnownIterator>& iterators) {
  double product = 1;
  for (const auto& iterator : iterators)
    product *= static_cast<double>(std::max<std::int64_t>(iterator.high - iterator.low, 0));
  return product;
}

/// Generates one def.
class DefGenerator {
 public:
  DefGenerator(Random& random, const RandomOptions& options, const DefRequest& request)
      : random_(random),
        options_(options),
        sizes_(request.sizes),
        prefix_(request.tensor_prefix),
        reassigned_(request.parts || request.scatters ? 75 : 35),
        scatters_(request.scatters),
        ragged_(request.ragged) {}

  /// \p callees may be called. Fills \p inputs with the rules of the parameters.
  KnownDef run(const std::string& def_name, const std::vector<KnownDef>& callees, int statements,
               std::map<std::string, InputRule>& inputs) {
    def_.name = def_name;
    Params params = random_params(random_, sizes_, prefix_, callees);
    if (ragged_) pointers_ = add_pointers(random_, sizes_, prefix_, params);
    def_.params = params.decls;
    bound_.assign(params.bound.begin(), params.bound.end());
    for (const auto& [id, rule] : params.inputs) inputs[id] = rule;
    tensors_ = params_ = params.tensors;
    tensor_count_ = static_cast<int>(params_.size());
    for (int s = 0; s < statements; ++s) {
      if (!callees.empty() && random_.chance(35) && make_call(random_.pick(callees))) continue;
      make_assignment();
    }
    return choose_returns();
  }

 private:
  std::string new_tensor() { return str(prefix_, tensor_count_++); }

  bool is_param(const std::string& id) const {
    return std::any_of(def_.params.begin(), def_.params.end(), [&](const TensorDecl& d) { return d.name == id; });
  }

  /// A range that \p others leave room for; some follow a tensor's dimension.
  KnownIterator random_iterator(const std::string& id, const std::vector<KnownIterator>& others) {
    double room = static_cast<double>(options_.max_points) / std::max(1.0, points(others));
    KnownIterator iterator{id, 0, 0, false};
    const KnownTensor& tensor = random_.pick(tensors_);
    if (!tensor.box.empty() && random_.chance(80)) {
      const IntegerRange& box = random_.pick(tensor.box);
      iterator.low = box.min;
      iterator.high = box.min + box.extent;
    } else {
      iterator.low = random_.chance(60) ? 0 : random_.between(-3, 3);
      iterator.high = iterator.low + random_.pick(all_sizes);
    }
    if (random_.chance(15) && iterator.high > iterator.low) iterator.low += 1;
    if (random_.chance(15) && iterator.high > iterator.low) iterator.high -= 1;
    if (static_cast<double>(iterator.high - iterator.low) > room)
      iterator.high = iterator.low + static_cast<std::int64_t>(room);
    return iterator;
  }

  /// An access tensor(..., a * i + c, ...) that gives iterator \p i its range; the other dimensions hold other
  /// iterators or constants. Null if none fits.
  ExprPtr anchor(KnownIterator& iterator, const std::vector<KnownIterator>& others) {
    std::vector<const KnownTensor*> candidates;
    for (const auto& tensor : tensors_)
      if (!tensor.box.empty()) candidates.push_back(&tensor);
    if (candidates.empty()) return nullptr;
    const KnownTensor& tensor = *random_.pick(candidates);
    std::size_t dimension =
        static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(tensor.box.size()) - 1));
    std::vector<ExprPtr> subscripts;
    for (std::size_t d = 0; d < tensor.box.size(); ++d) {
      if (d == dimension) {
        subscripts.push_back(anchor_subscript(iterator, tensor.box[d]));
        continue;
      }
      ExprPtr subscript;
      for (const auto& other : others)
        if (!other.inferred && other.low >= tensor.box[d].min && other.high <= tensor.box[d].min + tensor.box[d].extent)
          subscript = name(other.name);
      if (!subscript && tensor.box[d].extent > 0) subscript = integer(tensor.box[d].min);
      if (!subscript) return nullptr;
      subscripts.push_back(subscript);
    }
    if (iterator.high < iterator.low ||
        points(others) * static_cast<double>(iterator.high - iterator.low) > static_cast<double>(options_.max_points))
      return nullptr;
    return make_expr(Access{tensor.name, subscripts, false});
  }

  /// a * i + c, and the i that keep it in \p box.
  ExprPtr anchor_subscript(KnownIterator& iterator, const IntegerRange& box) {
    std::int64_t factor = random_.chance(75) ? 1 : random_.pick(std::vector<std::int64_t>{2, 3, -1});
    std::int64_t shift = random_.chance(60) ? 0 : random_.between(-3, 3);
    std::int64_t low = box.min - shift, high = box.min + box.extent - 1 - shift;
    iterator.inferred = true;
    if (factor > 0) {
      iterator.low = -floor_div(-low, factor);
      iterator.high = floor_div(high, factor) + 1;
    } else {
      iterator.low = -high;
      iterator.high = -low + 1;
    }
    ExprPtr expr = name(iterator.name);
    if (factor == -1) expr = make_expr(Unary{UnaryOp::Negate, expr});
    if (factor > 1) expr = binary(BinaryOp::Mul, integer(factor), expr);
    if (shift == 0) return expr;
    return binary(shift > 0 ? BinaryOp::Add : BinaryOp::Sub, expr, integer(std::abs(shift)));
  }

  /// One more iterator of \p assignment: inferred from an `exists` clause, or with a range.
  void add_iterator(Assignment& assignment, const std::string& id) {
    KnownIterator iterator{id, 0, 0, false};
    ExprPtr access = random_.chance(40) ? anchor(iterator, iterators_) : nullptr;
    if (access) {
      assignment.clauses.push_back({ExistsClause{access}, {}});
    } else {
      iterator = random_iterator(id, iterators_);
      add_range(assignment, iterator);
    }
    iterators_.push_back(iterator);
  }
  /// The same with a range that differs by instance; false if there is none.
  bool add_ragged(Assignment& assignment, const std::string& id) {
    KnownIterator iterator{id, 0, 0, false};
    std::vector<Clause> clauses;
    if (random_.chance(60)) {
      auto ragged = ragged_range(random_, iterator, iterators_, pointers_);
      if (!ragged) return false;
      clauses = *ragged;
    } else {
      const ExprPtr access = iterators_.empty() ? nullptr : anchor(iterator, iterators_);
      if (!access) return false;
      clauses = {triangle(random_, iterator, iterators_), {ExistsClause{access}, {}}};
    }
    const double room = static_cast<double>(options_.max_points) / std::max(1.0, points(iterators_));
    if (static_cast<double>(iterator.high - iterator.low) > room) return false;
    assignment.clauses.insert(assignment.clauses.end(), clauses.begin(), clauses.end());
    iterators_.push_back(iterator);
    return true;
  }
  void add_range(Assignment& assignment, const KnownIterator& iterator) {
    assignment.clauses.push_back(
        {RangeClause{iterator.name, integer(iterator.low), size_expr(random_, sizes_, bound_, iterator.high)}, {}});
  }

  /// The tensors that may be assigned again.
  KnownTensor* random_assigned() {
    std::vector<KnownTensor*> candidates;
    for (auto& tensor : tensors_)
      if (!is_param(tensor.name)) candidates.push_back(&tensor);
    return candidates.empty() ? nullptr : random_.pick(candidates);
  }

  void make_assignment() {
    iterators_.clear();
    Assignment assignment;
    KnownTensor* old = random_.chance(reassigned_) ? random_assigned() : nullptr;
    static const std::vector<std::string> names = {"i", "j", "k", "l"};
    std::size_t rank = old ? old->box.size() : static_cast<std::size_t>(random_.between(0, 3));
    for (std::size_t d = 0; d < rank; ++d) {
      if (old)
        add_iterator_inside(assignment, names[d], old->box[d]);
      else
        add_iterator(assignment, names[d]);
      assignment.subscripts.push_back(name(names[d]));
    }
    std::size_t left_count = iterators_.size();
    double left_points = points(iterators_);
    std::int64_t reductions = random_.chance(55) ? random_.between(1, 2) : 0;
    bool is_ragged = false;
    for (std::int64_t r = 0; r < reductions; ++r)
      if (ragged_ && random_.chance(60) && add_ragged(assignment, r == 0 ? "r" : "s"))
        is_ragged = true;
      else
        add_iterator(assignment, r == 0 ? "r" : "s");
    double length = left_points > 0 ? points(iterators_) / left_points : 1;
    if (reductions > 0 || random_.chance(scatters_ ? 70 : 15)) {
      assignment.reduction = static_cast<ReductionOp>(random_.between(0, 5));
      bool accumulates_into_callers = !old && prefix_ == "T" && random_.chance(8);
      assignment.initialise = old ? random_.chance(40) : !accumulates_into_callers;
    }
    bool empty = is_ragged;
    for (std::size_t r = left_count; r < iterators_.size(); ++r)
      empty = empty || iterators_[r].high <= iterators_[r].low;
    DType type = old ? old->type : random_.pick(value_types);
    fit_operator(assignment, type, old != nullptr);
    if (old) length *= scatter(assignment, *old);
    Term value = statement_value(assignment, type, length, old);
    assignment.rhs = value.expr;
    add_let(assignment);
    finish(assignment, value, type, old, length, empty || is_scatter(assignment));
  }

  /// May make a subscript an expression that stays in \p old: says how many values of an iterator then go to one element.
  double scatter(Assignment& assignment, const KnownTensor& old) {
    if (!scatters_ || old.box.empty() || !random_.chance(assignment.reduction ? 50 : 35)) return 1;
    const auto d = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(old.box.size()) - 1));
    if (old.box[d].extent <= 0) return 1;
    ValueGenerator generator(random_, tensors_, iterators_, bound_, false);
    ExprPtr row = cast(DType::Int64, generator.value(DType::Int32, 2).expr);
    if (!assignment.reduction) row = binary(BinaryOp::Add, row, name(iterators_[d].name));
    const ExprPtr inside = binary(BinaryOp::Mod, row, integer(old.box[d].extent));
    assignment.subscripts[d] = binary(BinaryOp::Add, integer(old.box[d].min), inside);
    return static_cast<double>(std::max<std::int64_t>(iterators_[d].high - iterators_[d].low, 1));
  }
  static bool is_scatter(const Assignment& assignment) {
    return left_iterators(assignment).size() < assignment.subscripts.size();
  }

  void add_iterator_inside(Assignment& assignment, const std::string& id, const IntegerRange& box) {
    KnownIterator iterator{id, box.min, box.min + box.extent, false};
    bool follows = random_.chance(30);
    if (!follows && box.extent > 1 && random_.chance(40)) {
      iterator.low += random_.between(0, box.extent - 1);
      iterator.high -= random_.between(0, iterator.high - iterator.low - 1);
    } else {
      if (!follows && box.extent > 1 && random_.chance(50)) iterator.low += random_.between(0, 1);
      if (!follows && box.extent > 2 && random_.chance(50)) iterator.high -= random_.between(0, 1);
    }
    if (!follows) add_range(assignment, iterator);
    iterator.inferred = follows;
    iterators_.push_back(iterator);
    if (follows) {  // a bare subscript elsewhere would narrow it: give it the range after all
      iterators_.back().inferred = false;
      add_range(assignment, iterator);
    }
  }

  /// Makes operator and type fit each other: logical operators for bool, no arithmetic ones.
  void fit_operator(Assignment& assignment, DType& type, bool fixed_type) {
    if (!assignment.reduction) return;
    bool logical = *assignment.reduction == ReductionOp::And || *assignment.reduction == ReductionOp::Or;
    if (logical && type != DType::Bool) {
      if (fixed_type)
        assignment.reduction = ReductionOp::Max;
      else
        type = DType::Bool;
    }
    if (!logical && type == DType::Bool) assignment.reduction = random_.chance(50) ? ReductionOp::And : ReductionOp::Or;
  }

  /// The right-hand side: small enough that the reduction of \p length terms stays exact.
  Term statement_value(const Assignment& assignment, DType type, double length, const KnownTensor* old) {
    std::vector<KnownTensor> readable = tensors_;
    ValueGenerator generator(random_, readable, iterators_, bound_, options_.inexact && random_.chance(30));
    int depth = static_cast<int>(random_.between(1, options_.max_depth));
    Term value = generator.value(type, depth);
    double limit = type == DType::Float16 ? 8192 : 1 << 20;
    if (assignment.reduction == ReductionOp::Sum) value = generator.limit(value, limit / std::max(1.0, length));
    if (assignment.reduction == ReductionOp::Product && is_float(type)) {
      auto guard = generator.condition(1).expr;
      value.expr = make_expr(Select{guard, cast(type, integer(1)), cast(type, integer(-1))});
      value.knowledge = {1, 0, true, true};
      value.literal = false;
    }
    if (!assignment.reduction && old && random_.chance(40) && type != DType::Bool && is_exact(*old)) {
      Term again = generator.limit(generator.read(*old), limit / 4);
      value = generator.limit(value, limit / 4);
      value.expr = binary(BinaryOp::Add, again.expr, value.expr);
      value.knowledge.magnitude += again.knowledge.magnitude;
      value.knowledge.fraction_bits = std::max(value.knowledge.fraction_bits, again.knowledge.fraction_bits);
      value.knowledge.finite = value.knowledge.finite && again.knowledge.finite;
      value.literal = false;
    }
    if (value.literal && !old) {
      value.expr = cast(type, value.expr);
      value.literal = false;
    }
    return value;
  }
  static bool is_exact(const KnownTensor& tensor) { return tensor.knowledge.exact; }
  /// Now and then a sub-expression of the value becomes a let.
  void add_let(Assignment& assignment) {
    if (!random_.chance(12)) return;
    auto parts = children(assignment.rhs);
    if (parts.empty() || !std::holds_alternative<Binary>(assignment.rhs->node)) return;
    if (is_logical(std::get<Binary>(assignment.rhs->node).op)) return;
    ExprPtr value = parts[0];
    bool literal = true;
    for_each_expr(value, [&](const ExprPtr& e) { literal = literal && !std::holds_alternative<Access>(e->node); });
    if (literal) return;
    assignment.clauses.emplace_back().node = LetClause{"c", value};
    parts[0] = name("c");
    assignment.rhs = with_children(assignment.rhs, parts);
  }

  /// Records what the target holds now and adds the statement, unless its numbers would grow too large.
  void finish(Assignment& assignment, const Term& value, DType type, KnownTensor* old, double length, bool empty) {
    Knowledge known = value.knowledge;
    double limit = type == DType::Float16 ? 16384 : 1 << 21;
    if (assignment.reduction == ReductionOp::Sum) known.magnitude *= std::max(1.0, length);
    bool bounded = assignment.reduction == ReductionOp::Min || assignment.reduction == ReductionOp::Max;
    if (bounded && empty) known.finite = known.finite && !is_float(type);
    if (assignment.reduction && !assignment.initialise) {
      const Knowledge before = old ? old->knowledge : Knowledge{1, 0, true, true};
      if (assignment.reduction == ReductionOp::Sum)
        known.magnitude += before.magnitude;
      else if (assignment.reduction == ReductionOp::Product)
        known.magnitude *= before.magnitude;
    }
    if (old) {
      known.magnitude = std::max(known.magnitude, old->knowledge.magnitude);
      known.fraction_bits = std::max(known.fraction_bits, old->knowledge.fraction_bits);
      known.finite = known.finite && old->knowledge.finite;
      known.exact = known.exact && old->knowledge.exact;
    }
    if (is_float(type) && known.magnitude * std::exp2(known.fraction_bits) > 4 * limit) return;
    if (!is_float(type)) known.magnitude = std::fabs(to_double(type, highest_integer(type)));
    if (old) {
      assignment.target = old->name;
      assignment.bare = old->box.empty();
      old->knowledge = known;
    } else {
      assignment.target = new_tensor();
      assignment.bare = assignment.subscripts.empty();
      KnownTensor tensor{assignment.target, type, {}, {}, known, {}};
      for (std::size_t d = 0; d < assignment.subscripts.size(); ++d) {
        tensor.box.push_back({iterators_[d].low, iterators_[d].high - iterators_[d].low});
        tensor.extents.push_back(make_expr(SizeOf{tensor.name, static_cast<int>(d)}));
      }
      tensors_.push_back(tensor);
      if (assignment.reduction && !assignment.initialise) callers_.insert(tensor.name);
    }
    def_.statements.push_back({assignment, {}});
  }

  /// results = callee(arguments), if tensors fit.
  bool make_call(const KnownDef& callee) {
    CallStatement statement;
    statement.def = callee.def.name;
    for (const auto& param : callee.params) {
      std::vector<const KnownTensor*> fitting;
      for (const auto& tensor : tensors_) {
        bool fits = tensor.type == param.type && tensor.box.size() == param.box.size() &&
                    tensor.knowledge.magnitude <= param.knowledge.magnitude && tensor.knowledge.exact &&
                    tensor.knowledge.fraction_bits == 0 && tensor.knowledge.finite >= param.knowledge.finite &&
                    (!param.index_values || (tensor.index_values && tensor.index_values == param.index_values));
        for (std::size_t d = 0; fits && d < param.box.size(); ++d) fits = tensor.box[d].extent == param.box[d].extent;
        if (fits) fitting.push_back(&tensor);
      }
      if (fitting.empty()) return false;
      statement.arguments.push_back(random_.pick(fitting)->name);
    }
    for (const auto& result : callee.returns) {
      KnownTensor tensor = result;
      tensor.name = new_tensor();
      tensor.extents.clear();
      for (std::size_t d = 0; d < tensor.box.size(); ++d) {
        tensor.box[d].min = 0;
        tensor.extents.push_back(make_expr(SizeOf{tensor.name, static_cast<int>(d)}));
      }
      statement.results.push_back(tensor.name);
      tensors_.push_back(tensor);
    }
    def_.statements.push_back({statement, {}});
    return true;
  }

  /// The last assigned tensor and some others are returned.
  KnownDef choose_returns() {
    std::vector<KnownTensor> assigned;
    for (const auto& tensor : tensors_)
      if (!is_param(tensor.name)) assigned.push_back(tensor);
    KnownDef known{{}, params_, {}};
    for (std::size_t t = 0; t < assigned.size(); ++t) {
      if (t + 1 != assigned.size() && !callers_.count(assigned[t].name) && !random_.chance(40)) continue;
      TensorDecl decl{assigned[t].name, {}, {}, {}};
      if (random_.chance(20)) decl.type = assigned[t].type;
      def_.returns.push_back(decl);
      known.returns.push_back(assigned[t]);
    }
    known.def = def_;
    return known;
  }

  Random& random_;
  const RandomOptions& options_;
  SizeMap sizes_;
  std::string prefix_;
  int reassigned_;  ///< percent of the statements that assign again, where they can
  bool scatters_, ragged_;
  std::vector<Pointers> pointers_;
  std::vector<std::string> bound_;  ///< sizes that a parameter has
  std::set<std::string> callers_;   ///< accumulate into the caller's values
  std::vector<KnownTensor> tensors_, params_;
  std::vector<KnownIterator> iterators_;
  int tensor_count_ = 0;
  Def def_;
};

}  // namespace

KnownDef random_def(Random& random, const RandomOptions& options, const DefRequest& request,
                    std::map<std::string, InputRule>& inputs) {
  DefGenerator generator(random, options, request);
  return generator.run(request.name, request.callees, request.statements, inputs);
}

}  // namespace tc::test
