#include "tc/cpu/stmt/scan_lanes.h"

#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "tc/halide_bridge/stmt/strict.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

bool is_extreme(const ir::Call& call) {
  return call.args.size() == 2 && (call.name.starts_with("tc_max_f") || call.name.starts_with("tc_min_f"));
}

/// \p value as the store of a running reduction has it.
Expr marked(const Expr& value) { return value.type().is_float() ? halide_bridge::strict(value) : value; }

/// The operators of running reductions, of values of any number of lanes.
class Operator {
 public:
  enum class Kind { Sum, Product, Min, Max };

  /// The operator of \p value and what it joins; nothing of other values.
  static std::optional<std::pair<Operator, std::pair<Expr, Expr>>> of(const Expr& value) {
    const auto made = [](Kind kind, const std::string& call, const Expr& a, const Expr& b) {
      return std::pair(Operator(kind, call), std::pair(a, b));
    };
    if (const auto* sum = value.as<ir::Add>()) return made(Kind::Sum, "", sum->a, sum->b);
    if (const auto* product = value.as<ir::Mul>()) return made(Kind::Product, "", product->a, product->b);
    if (const auto* least = value.as<ir::Min>()) return made(Kind::Min, "", least->a, least->b);
    if (const auto* most = value.as<ir::Max>()) return made(Kind::Max, "", most->a, most->b);
    const auto* call = value.as<ir::Call>();
    if (!call || !is_extreme(*call)) return std::nullopt;
    return made(call->name.starts_with("tc_max") ? Kind::Max : Kind::Min, call->name, call->args[0], call->args[1]);
  }

  Expr join(const Expr& a, const Expr& b) const {
    if (!call_.empty()) return ir::Call::make(a.type(), call_, {a, b}, ir::Call::PureExtern);
    if (kind_ == Kind::Sum) return ir::Add::make(a, b);
    if (kind_ == Kind::Product) return ir::Mul::make(a, b);
    return kind_ == Kind::Min ? ir::Min::make(a, b) : ir::Max::make(a, b);
  }
  /// What joined to a value leaves it. Of sums of floats it is -0, for which LLVM has vectors moved by one instruction; for 0 it expands them,
  /// which takes three times as long.
  Expr identity(const Halide::Type& type) const {
    if (kind_ == Kind::Sum) return type.is_float() ? ir::make_const(type, -0.0) : ir::make_zero(type);
    if (kind_ == Kind::Product) return ir::make_one(type);
    if (!type.is_float()) return kind_ == Kind::Min ? type.max() : type.min();
    const double infinity = std::numeric_limits<double>::infinity();
    return ir::make_const(type, kind_ == Kind::Min ? infinity : -infinity);
  }

 private:
  Operator(Kind kind, std::string call) : kind_(kind), call_(std::move(call)) {}
  Kind kind_;
  std::string call_;  ///< of extremes that keep undefined values
};

/// An expression of a loop in vectors of iterations: the variable `loop` is a ramp. Not of others than loads and arithmetic.
class InLanes : public ir::IRMutator {
 public:
  InLanes(std::string loop, int lanes) : loop_(std::move(loop)), lanes_(lanes) {}
  bool possible = true;

  Expr whole(const Expr& value) {
    const auto result = mutate(value);
    return result.type().is_scalar() ? Expr(ir::Broadcast::make(result, lanes_)) : result;
  }

 private:
  using ir::IRMutator::mutate;
  Expr mutate(const Expr& value) override {
    if (!value.type().is_scalar()) possible = false;
    if (!possible || !ir::expr_uses_var(value, loop_)) return value;
    if (!(value.as<ir::Variable>() || value.as<ir::Load>() || value.as<ir::Cast>() || value.as<ir::Add>() ||
          value.as<ir::Sub>() || value.as<ir::Mul>() || value.as<ir::Call>()))
      possible = false;
    return possible ? ir::IRMutator::mutate(value) : value;
  }
  using ir::IRMutator::visit;
  Expr visit(const ir::Variable* op) override {
    return ir::Ramp::make(ir::Variable::make(op->type, op->name), ir::make_one(op->type), lanes_);
  }
  Expr visit(const ir::Load* op) override {
    const auto index = ir::simplify(mutate(op->index));
    const auto* ramp = index.as<ir::Ramp>();
    if (!ramp || !ir::is_const(ramp->stride) || !ir::is_const_one(op->predicate)) possible = false;
    if (!possible) return op;
    return ir::Load::make(op->type.with_lanes(lanes_), op->name, index, op->image, op->param, ir::const_true(lanes_),
                          {});
  }
  Expr visit(const ir::Cast* op) override { return ir::Cast::make(op->type.with_lanes(lanes_), whole(op->value)); }
  Expr visit(const ir::Add* op) override { return ir::Add::make(whole(op->a), whole(op->b)); }
  Expr visit(const ir::Sub* op) override { return ir::Sub::make(whole(op->a), whole(op->b)); }
  Expr visit(const ir::Mul* op) override { return ir::Mul::make(whole(op->a), whole(op->b)); }
  Expr visit(const ir::Call* op) override {
    if (!op->is_intrinsic(ir::Call::strict_float)) possible = false;
    return possible ? marked(whole(op->args[0])) : Expr(op);
  }
  const std::string loop_;
  const int lanes_;
};

bool reads(const Expr& value, const std::string& buffer) {
  class Finder : public ir::IRVisitor {
   public:
    explicit Finder(const std::string& buffer) : buffer_(buffer) {}
    bool found = false;

   private:
    using ir::IRVisitor::visit;
    void visit(const ir::Load* op) override {
      found = found || op->name == buffer_;
      ir::IRVisitor::visit(op);
    }
    const std::string& buffer_;
  } finder(buffer);
  value.accept(&finder);
  return finder.found;
}

/// A loop over the results of a running reduction.
class Scan {
 public:
  Scan(const ir::For& loop, int lanes) : loop_(loop), lanes_(lanes) {}

  /// The loop in lanes; nothing where it is no running reduction, or too short.
  std::optional<Stmt> in_lanes(const ir::Store& store) const {
    const auto* extent = ir::as_const_int(loop_.extent);
    if (lanes_ < 4 || (extent && *extent < 2 * lanes_) || !ir::is_const_one(store.predicate)) return std::nullopt;
    const auto parts = Operator::of(halide_bridge::without_strict(store.value));
    if (!parts) return std::nullopt;
    const auto& [op, joined] = *parts;
    const bool first_is_carried = is_carried(joined.first, store);
    if (!first_is_carried && !is_carried(joined.second, store)) return std::nullopt;
    const auto term = first_is_carried ? joined.second : joined.first;
    if (reads(term, store.name) || reads(store.index, store.name)) return std::nullopt;
    InLanes lanes(loop_.name, lanes_);
    const auto terms = lanes.whole(term);
    const auto places = ir::simplify(lanes.whole(store.index));
    const auto* ramp = places.as<ir::Ramp>();
    const bool steps = ramp && (ir::is_const(ramp->stride, 1) || ir::is_const(ramp->stride, -1));
    if (!lanes.possible || !steps) return std::nullopt;
    return loops(op, store, terms, places, first_is_carried ? joined.first : joined.second);
  }

 private:
  /// Is \p value the element that the iteration before \p store stored?
  bool is_carried(const Expr& value, const ir::Store& store) const {
    const auto* load = value.as<ir::Load>();
    if (!load || load->name != store.name || load->type != store.value.type() || !ir::is_const_one(load->predicate))
      return false;
    const auto earlier = ir::Variable::make(loop_.min.type(), loop_.name) - 1;
    return ir::equal(ir::simplify(load->index), ir::simplify(ir::substitute(loop_.name, earlier, store.index)));
  }

  /// \p value moved by \p count lanes, with \p filler in the first.
  static Expr moved(const Expr& value, const Expr& filler, int count) {
    std::vector<int> indices(static_cast<std::size_t>(value.type().lanes()));
    std::iota(indices.begin(), indices.end(), -count);
    for (auto& index : indices)
      if (index < 0) index = value.type().lanes();
    return ir::Shuffle::make({value, filler}, indices);
  }

  Stmt loops(const Operator& op, const ir::Store& store, const Expr& terms, const Expr& places,
             const Expr& carried) const {
    const auto type = terms.type();
    const auto around = ir::unique_name("before"), block = loop_.name + "'block";
    const Expr all = ir::Ramp::make(0, 1, lanes_), always = ir::const_true(lanes_);
    const auto keep = [&](const Expr& value) { return ir::Store::make(around, value, all, {}, always, {}); };
    const Expr before = ir::Load::make(type, around, all, {}, {}, always, {});
    const auto filler = ir::Broadcast::make(op.identity(type.element_of()), lanes_);
    std::vector<std::pair<std::string, Expr>> lets{{ir::unique_name("terms"), terms}};
    const auto last = [&] { return Expr(ir::Variable::make(type, lets.back().first)); };
    for (int count = 1; count < lanes_; count *= 2)
      lets.emplace_back(ir::unique_name("joined"), marked(op.join(moved(last(), filler, count), last())));
    const Expr total = ir::Broadcast::make(ir::Shuffle::make_extract_element(last(), lanes_ - 1), lanes_);
    Stmt body =
        ir::Block::make(ir::Store::make(store.name, marked(op.join(before, last())), places, store.param, always, {}),
                        keep(marked(op.join(before, total))));
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) body = ir::LetStmt::make(let->first, let->second, body);
    const auto index = ir::Variable::make(loop_.min.type(), block);
    const auto begin = ir::simplify(loop_.min + steps_to_vectors()), end = loop_.min + loop_.extent;
    const auto count = ir::simplify((end - begin) / lanes_), rest = ir::simplify(begin + count * lanes_);
    body = ir::substitute(loop_.name, begin + index * lanes_, body);
    const Stmt in_blocks = ir::Block::make(
        keep(ir::Broadcast::make(ir::substitute(loop_.name, begin, carried), lanes_)),
        ir::For::make(block, ir::make_zero(loop_.min.type()), count, loop_.for_type, loop_.device_api, body));
    const Stmt allocated = ir::Allocate::make(around, type.element_of(), Halide::MemoryType::Stack, {Expr(lanes_)},
                                              ir::const_true(), in_blocks);
    const Stmt whole = ir::Block::make({one_by_one(loop_.min, begin), allocated, one_by_one(rest, end)});
    return ir::as_const_int(loop_.extent) ? whole
                                          : ir::IfThenElse::make(loop_.extent >= 2 * lanes_, whole, Stmt(&loop_));
  }

  /// Iterations up to the first that is a multiple of a vector, where vectors of rows begin.
  int steps_to_vectors() const {
    const auto* min = ir::as_const_int(loop_.min);
    return min ? static_cast<int>((lanes_ - *min % lanes_) % lanes_) : 0;
  }

  /// The iterations from \p begin to \p end as they were.
  Stmt one_by_one(const Expr& begin, const Expr& end) const {
    return ir::For::make(loop_.name, begin, ir::simplify(end - begin), loop_.for_type, loop_.device_api, loop_.body);
  }

  const ir::For& loop_;
  const int lanes_;
};

class Scanner : public ir::IRMutator {
 public:
  Scanner(const std::set<std::string>& running, const Target& target) : running_(running), target_(target) {}

 private:
  using ir::IRMutator::visit;
  Stmt visit(const ir::For* op) override {
    const auto* store = op->body.as<ir::Store>();
    if (!store || running_.count(store->name) == 0 || op->for_type != ir::ForType::Serial ||
        !store->value.type().is_scalar() || store->value.type().is_bool())
      return ir::IRMutator::visit(op);
    const auto lanes = target_.vector_bytes() / store->value.type().bytes();
    const auto result = Scan(*op, static_cast<int>(lanes)).in_lanes(*store);
    return result ? *result : Stmt(op);
  }
  const std::set<std::string>& running_;
  const Target& target_;
};

}  // namespace

Stmt scan_lanes(const Stmt& stmt, const std::set<std::string>& running, const Target& target) {
  return running.empty() ? stmt : Scanner(running, target).mutate(stmt);
}

}  // namespace tc::cpu
