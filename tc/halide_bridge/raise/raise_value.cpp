#include "tc/halide_bridge/raise/raise_value.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/lower/builtin_calls.h"
#include "tc/halide_bridge/math/float_ops.h"
#include "tc/halide_bridge/stmt/convert.h"
#include "tc/halide_bridge/stmt/value_name.h"
#include "tc/polyhedral/core/indirect_reads.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Int;
namespace ir = Halide::Internal;
using polyhedral::Tensor;

/// Does a condition compute with iterators only? Halide's simplifier takes floats for real numbers, and integers of
/// narrower types for unbounded ones.
class IndexCondition : public ir::IRMutator {
 public:
  explicit IndexCondition(const Expr& condition) { mutate(condition); }
  bool holds = true;

 private:
  using ir::IRMutator::mutate;
  Expr mutate(const Expr& expr) override {
    holds = holds && (expr.type() == Int(64) || expr.type().is_bool()) && !expr.as<ir::Call>();
    return holds ? ir::IRMutator::mutate(expr) : expr;
  }
};

/// Turns the value of a source statement into that of an instance: iterators become the site's, element reads loads.
/// Operations on int64 carry intervals, to be 32-bit where that is exact.
class ValueRaiser : public ir::IRMutator {
 public:
  ValueRaiser(const Place& place, const Program& program, const ProgramStatement& source, const Lanes& lanes)
      : place_(place), program_(program), lanes_(lanes) {
    for (const auto& [name, range] : program.symbolic)
      iterators_[size_variable(name)] = place.environment.at(polyhedral::size_parameter(name));
    for (std::size_t i = 0; i < source.iterators.size(); ++i)
      iterators_[source.iterators[i]] = simplified(raise_integer(place.site.iterators[i], place.environment));
  }

  Expr raise(const Expr& value) { return mutate(value); }

  /// \p loop, whose iterator later values may have.
  RaisedLoop raise(const RaggedLoop& loop) {
    RaisedLoop result;
    const Bounded begin = named_bound("begin", loop, loop.begin, result),
                  end = named_bound("end", loop, loop.end, result);
    if (lanes_.count == 1 && loop.lanes > 1 && place_.statement.write.exact)
      run_along(loop, begin, end, result);
    else
      run_over(loop, begin, end, result);
    result.lanes = lanes_;
    return result;
  }

  /// Elements of the target of \p source from the first along its subscripts that are not affine, whose variables
  /// \p names gets.
  Bounded offset(const ProgramStatement& source, std::vector<std::pair<std::string, Expr>>& names) {
    const Tensor& target = place_.scop.tensor(source.target);
    leaves_ = &names;
    Bounded result = exactly(0);
    for (std::size_t d = 0; d < source.subscripts.size(); ++d) {
      if (polyhedral::is_told(place_.statement.write, static_cast<int>(d))) continue;
      Bounded index = inside(integer(source.subscripts[d]), target, d, true);
      result = add(result, multiply(subtract(index, exactly(target.min[d])), stride(target, d)));
    }
    leaves_ = nullptr;
    return result;
  }

  /// The element that \p read reads, halves as words of 16 bits if \p as_bits.
  Expr raise_read(const ir::Call* read, bool as_bits) {
    if (as_bits) moved_ = read;
    return mutate(Expr(read));
  }

 protected:
  using ir::IRMutator::visit;

  Expr visit(const ir::Variable* op) override {
    if (auto let = lets_.find(op->name); let != lets_.end() && let->second.defined()) return let->second;
    auto found = iterators_.find(op->name);
    return found == iterators_.end() ? Expr(op) : as_int64(found->second);
  }
  Expr visit(const ir::Add* op) override { return arithmetic(op); }
  Expr visit(const ir::Sub* op) override { return arithmetic(op); }
  Expr visit(const ir::Mul* op) override { return arithmetic(op); }
  Expr visit(const ir::Div* op) override { return op->type == Int(64) ? arithmetic(op) : division(op); }
  Expr visit(const ir::Mod* op) override { return op->type == Int(64) ? arithmetic(op) : division(op); }
  Expr visit(const ir::Min* op) override { return arithmetic(op); }
  Expr visit(const ir::Max* op) override { return arithmetic(op); }
  Expr visit(const ir::EQ* op) override { return comparison(op); }
  Expr visit(const ir::LT* op) override { return comparison(op); }
  Expr visit(const ir::LE* op) override { return or_equal<ir::LT>(op); }
  Expr visit(const ir::GT* op) override { return comparison(op); }
  Expr visit(const ir::GE* op) override { return or_equal<ir::GT>(op); }
  Expr visit(const ir::And* op) override { return binary(op); }
  Expr visit(const ir::Or* op) override { return binary(op); }

  /// Halide's != is false for a NaN; the language's is true.
  Expr visit(const ir::NE* op) override { return ir::Not::make(mutate(ir::EQ::make(op->a, op->b))); }

  Expr visit(const ir::Cast* op) override {
    if (const auto* half = op->value.as<ir::Cast>(); half && half->type.is_float() && half->type.bits() == 16)
      return round_to_half(mutate(half->value), half->type.is_bfloat() ? DType::BFloat16 : DType::Float16);
    if (op->value.type() != Int(64)) {
      Expr value = mutate(op->value);
      return ir::Cast::make(op->type.with_lanes(value.type().lanes()), value);
    }
    Bounded value = integer(op->value);
    if (op->type == Int(64)) return as_int64(value);
    return ir::Cast::make(op->type.with_lanes(value.expr.type().lanes()), value.expr);
  }

  Expr visit(const ir::Select* op) override {
    if (op->type == Int(64)) return as_int64(integer(op));
    Expr condition = mutate(op->condition), a = mutate(op->true_value), b = mutate(op->false_value);
    return select(condition, a, b);
  }

  Expr visit(const ir::Let* op) override {
    Expr value = mutate(op->value);
    auto name = value_name(op->name);
    Expr outer = std::exchange(lets_[op->name], ir::Variable::make(value.type(), name));
    Expr body = mutate(op->body);
    lets_[op->name] = outer;
    return ir::Let::make(name, value, body);
  }

  Expr visit(const ir::Call* op) override {
    if (op->call_type == ir::Call::Halide) return element(op);
    if (op->is_intrinsic(ir::Call::if_then_else)) return conditional(op);
    std::vector<Expr> args;
    int lanes = 1;
    for (const Expr& arg : op->args) {
      args.push_back(mutate(arg));
      lanes = std::max(lanes, args.back().type().lanes());
    }
    for (Expr& arg : args) arg = broadcast(arg, lanes);
    return ir::Call::make(op->type.with_lanes(lanes), op->name, args, op->call_type);
  }

 private:
  const Place& place_;
  const Program& program_;
  Lanes lanes_;
  std::map<std::string, Bounded> iterators_;  ///< and symbolic sizes
  std::map<std::string, Expr> lets_;          ///< what a let of the value has become
  std::size_t next_read_ = 0;
  const ir::Call* moved_ = nullptr;  ///< a read whose element is moved as it lies in memory
  std::vector<std::pair<std::string, Expr>>* leaves_ =
      nullptr;  ///< where leaf() puts the names of the current subscripts

  static Expr select(const Expr& condition, Expr a, Expr b) {
    match_lanes(a, b);
    int lanes = condition.type().lanes();
    if (lanes > 1) return ir::Select::make(condition, broadcast(a, lanes), broadcast(b, lanes));
    return ir::Select::make(condition, a, b);
  }

  template <typename Node>
  Expr binary(const Node* op) {
    Expr a = mutate(op->a), b = mutate(op->b);
    match_lanes(a, b);
    return Node::make(a, b);
  }

  template <typename Node>
  Expr arithmetic(const Node* op) {
    return op->type == Int(64) ? as_int64(integer(op)) : binary(op);
  }

  /// A division in which lanes that do not run, whose values may be anything, divide by 1.
  template <typename Node>
  Expr division(const Node* op) {
    if (op->type.is_float()) return binary(op);
    Expr a = mutate(op->a), b = running_or_one(mutate(op->b));
    match_lanes(a, b);
    return Node::make(a, b);
  }

  /// \p bound, moved into the range of \p loop, by a name.
  Bounded named_bound(const char* wish, const RaggedLoop& loop, const Expr& bound, RaisedLoop& result) {
    const auto lowest = exactly(loop.range.min), highest = exactly(loop.range.min + loop.range.extent);
    auto value = minimum(maximum(integer(bound), lowest), highest);
    value = within(value.expr, value.low, value.high);
    result.names.emplace_back(value_name(wish), value.expr);
    value.expr = ir::Variable::make(value.expr.type(), result.names.back().first);
    return value;
  }

  /// Makes \p result one iteration of \p loop after the other. Where its bounds differ by lane, all iterations of any lane.
  void run_over(const RaggedLoop& loop, Bounded begin, Bounded end, RaisedLoop& result) {
    match(begin, end);
    const auto last = std::max(loop.range.min, loop.range.min + loop.range.extent - 1);
    result.name = value_name(loop.iterator);
    const Bounded at = iterators_[loop.iterator] = variable(result.name, loop.range.min, last);
    if (begin.expr.type().is_vector()) {
      const Expr each = broadcast(at.expr, begin.expr.type().lanes());
      lanes_ = lanes_.guarded(ir::And::make(ir::LE::make(begin.expr, each), ir::LT::make(each, end.expr)));
      begin.expr = over_lanes(ReductionOp::Min, begin.expr, exactly(begin.high));
      end.expr = over_lanes(ReductionOp::Max, end.expr, exactly(end.low));
    }
    result.first = begin;
    result.trips = maximum(subtract(end, begin), exactly(0));
  }

  /// Makes \p result so many iterations of \p loop at a time as it has lanes.
  void run_along(const RaggedLoop& loop, const Bounded& begin, const Bounded& end, RaisedLoop& result) {
    const auto vectors =
        divide(add(maximum(subtract(end, begin), exactly(0)), exactly(loop.lanes - 1)), exactly(loop.lanes));
    result.name = value_name(loop.iterator);
    result.first = exactly(0);
    result.trips = vectors;
    const Bounded at = add(
        begin, multiply(variable(result.name, 0, std::max<std::int64_t>(vectors.high, 1) - 1), exactly(loop.lanes)));
    const Expr each = ir::Ramp::make(at.expr, ir::make_one(at.expr.type()), loop.lanes);
    iterators_[loop.iterator] = {each, loop.range.min,
                                 std::max(loop.range.min, loop.range.min + loop.range.extent - 1)};
    lanes_ = {loop.lanes, ir::LT::make(each, broadcast(Halide::cast(at.expr.type(), end.expr), loop.lanes)), {}};
  }

  /// The least or the largest of the lanes of \p bound that run; \p other of none.
  Expr over_lanes(ReductionOp op, const Expr& bound, const Bounded& other) const {
    const Expr none = ir::make_const(bound.type(), other.low);
    return combine_lanes(op, lanes_.tail.defined() ? ir::Select::make(lanes_.tail, bound, none) : bound);
  }

  Expr running_or_one(const Expr& divisor) const {
    Expr runs = lanes_.running();
    if (divisor.type().is_scalar() || ir::is_const(divisor) || !runs.defined()) return divisor;
    return ir::Select::make(runs, divisor, ir::make_one(divisor.type()));
  }

  /// Halide's code generator makes <= and >= of floats by negation, which a NaN would turn true.
  template <typename Strict, typename Node>
  Expr or_equal(const Node* op) {
    if (!op->a.type().is_float()) return comparison(op);
    Expr matched = binary(op);
    const auto* pair = matched.template as<Node>();
    auto left = value_name("left"), right = value_name("right");
    Expr a = ir::Variable::make(pair->a.type(), left), b = ir::Variable::make(pair->b.type(), right);
    Expr holds = ir::Or::make(Strict::make(a, b), ir::EQ::make(a, b));
    return ir::Let::make(left, pair->a, ir::Let::make(right, pair->b, holds));
  }

  template <typename Node>
  Expr comparison(const Node* op) {
    if (op->a.type() != Int(64)) return binary(op);
    Bounded a = integer(op->a), b = integer(op->b);
    match(a, b);
    return Node::make(a.expr, b.expr);
  }

  template <typename Node>
  Bounded apply(const Node* op, Bounded (*operation)(const Bounded&, const Bounded&)) {
    Bounded a = integer(op->a), b = integer(op->b);
    return operation(a, b);
  }

  template <typename Node>
  Bounded division(const Node* op, Bounded (*operation)(const Bounded&, const Bounded&)) {
    Bounded a = integer(op->a), b = integer(op->b);
    if (b.is_constant()) return operation(a, b);
    return operation(a, {running_or_one(b.expr), std::min<std::int64_t>(b.low, 1), std::max<std::int64_t>(b.high, 1)});
  }

  /// \p e, Int(64), with its interval.
  Bounded integer(const Expr& e) {
    if (const auto* op = e.as<ir::IntImm>()) return exactly(op->value);
    if (const auto* op = e.as<ir::Variable>())
      if (auto found = iterators_.find(op->name); found != iterators_.end()) return found->second;
    if (const auto* op = e.as<ir::Add>()) return apply(op, add);
    if (const auto* op = e.as<ir::Sub>()) return apply(op, subtract);
    if (const auto* op = e.as<ir::Mul>()) return apply(op, multiply);
    if (const auto* op = e.as<ir::Div>()) return division(op, divide);
    if (const auto* op = e.as<ir::Mod>()) return division(op, modulo);
    if (const auto* op = e.as<ir::Min>()) return apply(op, minimum);
    if (const auto* op = e.as<ir::Max>()) return apply(op, maximum);
    if (const auto* op = e.as<ir::Select>()) return integer(op);
    if (const auto* op = e.as<ir::Cast>(); op && op->value.type().is_int() && op->value.type().bits() <= 32) {
      return leaf(ir::Cast::make(Int(32), op->value));
    }
    return leaf(e);
  }

  Bounded leaf(const Expr& e) { return unknown(opaque(e)); }

  /// \p e where it is no integer arithmetic. In a subscript it gets a name, so that the address can be simplified
  /// around it.
  Expr opaque(const Expr& e) {
    auto* names = leaves_;
    leaves_ = nullptr;
    Expr value = mutate(e);
    leaves_ = names;
    if (!names) return value;
    auto name = value_name("subscript");
    names->emplace_back(name, value);
    return ir::Variable::make(value.type(), name);
  }

  Bounded integer(const ir::Select* op) {
    Expr condition = opaque(op->condition);
    Bounded a = integer(op->true_value), b = integer(op->false_value);
    return choose(condition, a, b);
  }

  /// \p subscript of dimension \p d of \p tensor, which is inside: launches before this one checked that. One that
  /// \p reads tensors is held inside all the same, as another thread may have changed them since: by one unsigned
  /// minimum of its distance from the first element, in 32 bits where the tensor allows.
  Bounded inside(const Bounded& subscript, const Tensor& tensor, std::size_t d, bool reads) {
    const std::int64_t low = tensor.min[d], high = low + std::max<std::int64_t>(tensor.extent[d], 1) - 1;
    Bounded result = within(subscript.expr, low, high);
    const Expr extent = tensor.elements.is_null() ? Expr() : program_.tensor(tensor.name).extents.at(d);
    const bool symbolic = extent.defined();
    if (!reads || (!symbolic && subscript.low >= low && subscript.high <= high)) return result;
    const Halide::Type type = result.expr.type(), distance = type.with_code(Halide::Type::UInt);
    const Expr first = ir::make_const(distance, low);
    const Expr most = symbolic ? last_index(extent, distance) : ir::make_const(distance, high - low);
    Expr offset = ir::Cast::make(distance, result.expr);
    if (low != 0) offset = ir::Sub::make(offset, first);
    offset = ir::Min::make(offset, most);
    if (low != 0) offset = ir::Add::make(offset, first);
    result.expr = ir::Cast::make(type, offset);
    return result;
  }

  /// Are \p subscripts, which inside() made, in \p tensor also in lanes that do not run? Those that \p reads are; others are if they have
  /// one value for all lanes, of which one runs.
  bool are_inside(const Tensor& tensor, const std::vector<Bounded>& subscripts, const std::vector<bool>& reads) const {
    if (!tensor.elements.is_null() || lanes_.guard.defined()) return false;
    for (std::size_t i = 0; i < subscripts.size(); ++i)
      if (tensor.extent[i] <= 0 || (!reads[i] && subscripts[i].expr.type().is_vector())) return false;
    return true;
  }

  /// \p extent - 1 as \p type, 0 of none.
  Expr last_index(const Expr& extent, Halide::Type type) {
    const Bounded last = maximum(subtract(integer(extent), exactly(1)), exactly(0));
    return broadcast(ir::Cast::make(type.element_of(), last.expr), type.lanes());
  }

  /// The load of an element.
  Expr element(const ir::Call* op) {
    std::vector<std::pair<std::string, Expr>> names;
    auto* around = leaves_;
    leaves_ = &names;
    std::vector<Bounded> subscripts;
    std::vector<bool> reads;
    for (const Expr& subscript : op->args) {
      const auto before = names.size();
      subscripts.push_back(integer(subscript));
      reads.push_back(names.size() > before);
    }
    leaves_ = around;
    if (next_read_ >= place_.site.reads.size())
      throw InternalError(str("statement ", place_.statement.id, " has more reads in its value than in the scop"));
    const auto& access = place_.site.reads[next_read_++];
    if (!access.is_null()) {
      const auto found = site_address(place_, access);
      return load(*found.tensor, found.at, lanes_, found.inside);
    }
    const Tensor* tensor = &place_.scop.tensor(op->name);
    for (std::size_t i = 0; i < subscripts.size(); ++i) subscripts[i] = inside(subscripts[i], *tensor, i, reads[i]);
    const Lanes lanes = are_inside(*tensor, subscripts, reads) ? Lanes{lanes_.count, {}, {}} : lanes_;
    Expr value = load(op == moved_ ? as_words(*tensor) : *tensor, simplified(address(*tensor, subscripts)), lanes);
    for (auto name = names.rbegin(); name != names.rend(); ++name)
      value = ir::Let::make(name->first, name->second, value);
    return value;
  }

  /// The values of the variables of the loops around.
  ir::Scope<ir::Interval> loop_bounds() const {
    ir::Scope<ir::Interval> result;
    for (const auto& [name, value] : place_.environment) {
      const auto* variable = value.expr.as<ir::Variable>();
      if (variable && variable->name == name)
        result.push(name, {ir::make_const(variable->type, value.low), ir::make_const(variable->type, value.high)});
    }
    return result;
  }

  /// A conditional whose arms run only where they are chosen.
  Expr conditional(const ir::Call* op) {
    Expr condition = mutate(op->args[0]);
    if (IndexCondition(op->args[0]).holds) condition = ir::simplify(condition, true, loop_bounds());
    if (const auto* same = condition.as<ir::Broadcast>()) condition = same->value;
    if (condition.type().is_scalar()) {
      Expr a = mutate(op->args[1]), b = mutate(op->args[2]);
      if (ir::is_const_one(condition)) return a;
      match_lanes(a, b);
      return ir::Call::make(a.type(), ir::Call::if_then_else, {condition, a, b}, ir::Call::PureIntrinsic);
    }
    return let(condition, [&](const Expr& c) {
      Lanes around = lanes_;
      lanes_ = around.guarded(c);
      Expr a = mutate(op->args[1]);
      lanes_ = around.guarded(negation(c));
      Expr b = mutate(op->args[2]);
      lanes_ = around;
      return select(c, a, b);
    });
  }
};

const ProgramStatement& find_source(const Program& program, const std::string& id) {
  for (const Launch& launch : program.launches)
    for (const ProgramStatement& statement : launch.statements)
      if (statement.id == id) return statement;
  throw InternalError(str("no statement '", id, "' in the program"));
}

/// Finds read number \p number of a value, in the order of Statement::reads.
class ReadFinder : public ir::IRVisitor {
 public:
  explicit ReadFinder(int number) : left_(number) {}
  const ir::Call* read = nullptr;

 protected:
  using ir::IRVisitor::visit;
  void visit(const ir::Call* op) override {
    ir::IRVisitor::visit(op);
    if (op->call_type == ir::Call::Halide && left_-- == 0) read = op;
  }

 private:
  int left_;
};

}  // namespace

SiteAddress site_address(const Place& place, const isl::ast_expr& access) {
  auto argument = [&](int i) { return polyhedral::call(access.ctx(), isl_ast_expr_get_op_arg, access.get(), i); };
  auto name = polyhedral::call(access.ctx(), isl_ast_expr_get_id, argument(0).get()).name();
  SiteAddress result{{}, &place.scop.tensor(name), true};
  std::vector<Bounded> subscripts;
  for (int i = 1; i < isl_ast_expr_get_op_n_arg(access.get()); ++i) {
    subscripts.push_back(raise_integer(argument(i), place.environment));
    const auto d = subscripts.size() - 1;
    const std::int64_t first = result.tensor->min[d];
    result.inside = result.inside && result.tensor->elements.is_null() && first <= subscripts[d].low &&
                    subscripts[d].high < first + result.tensor->extent[d];
  }
  result.at = simplified(address(*result.tensor, subscripts));
  return result;
}

Tensor as_words(Tensor tensor) {
  if (is_half(tensor.type)) tensor.type = DType::UInt16;
  return tensor;
}

Raised raise_source(const Place& place, const Program& program, const Lanes& lanes) {
  const ProgramStatement& source = find_source(program, place.statement.source);
  ValueRaiser raiser(place, program, source, lanes);
  Raised result;
  if (source.ragged) result.loop = raiser.raise(*source.ragged);
  result.value = raiser.raise(source.value);
  result.offset = exactly(0);
  if (!place.statement.write.exact) result.offset = raiser.offset(source, result.names);
  return result;
}

Expr raise_read(const Place& place, const Program& program, bool as_bits, const Lanes& lanes) {
  const ProgramStatement& source = find_source(program, place.statement.source);
  ReadFinder finder(place.statement.source_read);
  if (source.ragged) source.ragged->begin.accept(&finder);
  if (source.ragged) source.ragged->end.accept(&finder);
  source.value.accept(&finder);
  if (!finder.read) throw InternalError(str("statement ", place.statement.id, " copies what its source does not read"));
  return ValueRaiser(place, program, source, lanes).raise_read(finder.read, as_bits);
}

}  // namespace tc::halide_bridge
