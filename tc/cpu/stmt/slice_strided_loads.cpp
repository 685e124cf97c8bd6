#include "tc/cpu/stmt/slice_strided_loads.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Lanes farther apart are loaded one by one, by this pass's rule and by Halide's.
constexpr std::int64_t widest_stride = 4;

/// A strided vector: element i is number start + first + i * apart of the buffer.
struct Strided {
  std::string buffer;
  Halide::Type type;
  Expr start;
  std::int64_t first = 0, apart = 0;

  static std::optional<Strided> of(const ir::Load& load) {
    const auto* ramp = load.index.as<ir::Ramp>();
    const auto* apart = ramp ? ir::as_const_int(ramp->stride) : nullptr;
    bool near = apart && *apart >= 2 && *apart <= widest_stride && ramp->base.type().is_scalar();
    if (!near || !ir::is_const_one(load.predicate)) return std::nullopt;
    Expr base = ir::simplify(ramp->base);
    const auto* sum = base.as<ir::Add>();
    const auto* number = ir::as_const_int(sum ? sum->b : base);
    Expr start = !number ? base : sum ? sum->a : ir::make_zero(base.type());
    return Strided{load.name, load.type, start, number ? *number : 0, *apart};
  }
  std::int64_t span() const { return apart * (type.lanes() - 1) + 1; }
};

struct SameButFirst {
  bool operator()(const Strided& a, const Strided& b) const {
    auto key = [](const Strided& s) { return std::make_tuple(s.buffer, s.apart, s.type.lanes(), s.type.bits()); };
    if (key(a) != key(b)) return key(a) < key(b);
    return ir::IRDeepCompare()(a.start, b.start);
  }
};

/// The strided vectors that run together, by their first elements.
using Together = std::map<Strided, std::set<std::int64_t>, SameButFirst>;

/// Visits what runs whenever the statement or the value it starts at does, and where all names mean the same.
class Collect : public ir::IRVisitor {
 public:
  Together found;

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::Load* op) override {
    ir::IRVisitor::visit(op);
    if (auto strided = Strided::of(*op)) found[*strided].insert(strided->first);
  }
  void visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::if_then_else)) return op->args[0].accept(this);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Let* op) override { op->value.accept(this); }
  void visit(const ir::LetStmt* op) override { op->value.accept(this); }
  void visit(const ir::For* op) override {
    op->min.accept(this);
    op->extent.accept(this);
  }
  void visit(const ir::IfThenElse* op) override { op->condition.accept(this); }
};

/// The elements that loads read together, of which \p first is in one: from the first on, and their number.
struct Window {
  std::int64_t begin, size;
};
Window window(const std::set<std::int64_t>& firsts, const Strided& load) {
  auto begin = *firsts.begin();
  for (auto first : firsts) {
    if (first > load.first) break;
    if (first - begin >= load.apart) begin = first;
  }
  auto last = *std::prev(firsts.lower_bound(begin + load.apart));
  return {begin, last - begin + load.span()};
}

class Slice : public ir::IRMutator {
 public:
  /// What \p part is with its strided loads sliced; it runs as a whole or not at all.
  template <typename Part>
  Part whole(const Part& part) {
    if (!part.defined()) return part;
    Collect collect;
    part.accept(&collect);
    std::swap(together_, collect.found);
    Part result = mutate(part);
    std::swap(together_, collect.found);
    return result;
  }

 private:
  using ir::IRMutator::visit;

  Expr visit(const ir::Load* op) override {
    auto strided = Strided::of(*op);
    if (!strided) return ir::IRMutator::visit(op);
    return sliced(*op, *strided, window(together_.at(*strided), *strided));
  }

  Expr sliced(const ir::Load& op, const Strided& load, const Window& window) {
    const std::int64_t lanes = op.type.lanes(), last = std::max<std::int64_t>(window.size - lanes, 0);
    Expr start = mutate(load.start);
    std::vector<Expr> slices;
    std::vector<std::int64_t> begins;
    for (std::int64_t at = 0; at < window.size; at += lanes) {
      begins.push_back(std::min(at, last));
      Expr base = ir::simplify(start + ir::make_const(start.type(), window.begin + begins.back()));
      slices.push_back(ir::Load::make(op.type, op.name,
                                      ir::Ramp::make(base, ir::make_one(base.type()), op.type.lanes()), op.image,
                                      op.param, ir::const_true(op.type.lanes()), ir::ModulusRemainder()));
    }
    std::vector<int> picks;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      auto element = load.first - window.begin + lane * load.apart, slice = element / lanes;
      picks.push_back(static_cast<int>(slice * lanes + element - begins[slice]));
    }
    return ir::Shuffle::make(slices, picks);
  }

  Expr visit(const ir::Call* op) override {
    if (!op->is_intrinsic(ir::Call::if_then_else)) return ir::IRMutator::visit(op);
    auto args = op->args;
    args[0] = mutate(args[0]);
    for (std::size_t i = 1; i < args.size(); ++i) args[i] = whole(args[i]);
    return ir::Call::make(op->type, op->name, args, op->call_type);
  }
  Expr visit(const ir::Let* op) override { return ir::Let::make(op->name, mutate(op->value), whole(op->body)); }
  ir::Stmt visit(const ir::LetStmt* op) override {
    return ir::LetStmt::make(op->name, mutate(op->value), whole(op->body));
  }
  ir::Stmt visit(const ir::For* op) override {
    return ir::For::make(op->name, mutate(op->min), mutate(op->extent), op->for_type, op->device_api, whole(op->body));
  }
  ir::Stmt visit(const ir::IfThenElse* op) override {
    return ir::IfThenElse::make(mutate(op->condition), whole(op->then_case), whole(op->else_case));
  }

  Together together_;
};

}  // namespace

ir::Stmt slice_strided_loads(const ir::Stmt& body) { return Slice().whole(body); }

}  // namespace tc::cpu
