#include "tc/cuda/warp_accesses.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tc/base/str.h"
#include "tc/cuda/spelling.h"

namespace tc::cuda {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;

/// Iterations of a loop that stand for all.
constexpr std::int64_t sampled_trips = 2;

using Value = std::optional<std::int64_t>;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

/// What one thread knows: its variables.
struct Thread {
  std::map<std::string, Value> variables;
  bool runs = true;
};

/// The value of integer expressions in one thread.
class Evaluator {
 public:
  Evaluator(const Thread& thread, int lane) : thread_(thread), lane_(lane) {}

  Value value(const Expr& e) const {
    if (const auto* number = ir::as_const_int(e)) return *number;
    if (const auto* number = ir::as_const_uint(e)) return static_cast<std::int64_t>(*number);
    if (const auto* op = e.as<ir::Variable>()) {
      auto found = thread_.variables.find(op->name);
      return found == thread_.variables.end() ? std::nullopt : found->second;
    }
    if (const auto* op = e.as<ir::Ramp>())
      return both(op->base, op->stride, [&](auto a, auto b) { return a + b * lane_; });
    if (const auto* op = e.as<ir::Broadcast>()) return value(op->value);
    if (const auto* op = e.as<ir::Cast>())
      return op->type.is_float() || op->value.type().is_float() ? std::nullopt : value(op->value);
    if (const auto* op = e.as<ir::Add>()) return both(op->a, op->b, [](auto a, auto b) { return a + b; });
    if (const auto* op = e.as<ir::Sub>()) return both(op->a, op->b, [](auto a, auto b) { return a - b; });
    if (const auto* op = e.as<ir::Mul>()) return both(op->a, op->b, [](auto a, auto b) { return a * b; });
    if (const auto* op = e.as<ir::Div>()) return both(op->a, op->b, floor_div);
    if (const auto* op = e.as<ir::Mod>())
      return both(op->a, op->b, [](auto a, auto b) { return b == 0 ? 0 : a - b * floor_div(a, b); });
    if (const auto* op = e.as<ir::Min>()) return both(op->a, op->b, [](auto a, auto b) { return std::min(a, b); });
    if (const auto* op = e.as<ir::Max>()) return both(op->a, op->b, [](auto a, auto b) { return std::max(a, b); });
    if (const auto* op = e.as<ir::Select>()) return choice(op->condition, op->true_value, op->false_value);
    if (const auto* op = e.as<ir::Call>()) return call(*op);
    return truth(e);
  }

 private:
  template <typename Function>
  Value both(const Expr& a, const Expr& b, const Function& function) const {
    if (a.type().is_float()) return std::nullopt;
    auto x = value(a), y = value(b);
    if (!x || !y) return std::nullopt;
    return static_cast<std::int64_t>(function(*x, *y));
  }

  Value choice(const Expr& condition, const Expr& a, const Expr& b) const {
    auto holds = value(condition);
    if (!holds) return std::nullopt;
    return value(*holds ? a : b);
  }

  Value truth(const Expr& e) const {
    if (const auto* op = e.as<ir::EQ>()) return both(op->a, op->b, [](auto a, auto b) { return a == b; });
    if (const auto* op = e.as<ir::NE>()) return both(op->a, op->b, [](auto a, auto b) { return a != b; });
    if (const auto* op = e.as<ir::LT>()) return both(op->a, op->b, [](auto a, auto b) { return a < b; });
    if (const auto* op = e.as<ir::LE>()) return both(op->a, op->b, [](auto a, auto b) { return a <= b; });
    if (const auto* op = e.as<ir::GT>()) return both(op->a, op->b, [](auto a, auto b) { return a > b; });
    if (const auto* op = e.as<ir::GE>()) return both(op->a, op->b, [](auto a, auto b) { return a >= b; });
    if (const auto* op = e.as<ir::And>()) return both(op->a, op->b, [](auto a, auto b) { return a && b; });
    if (const auto* op = e.as<ir::Or>()) return both(op->a, op->b, [](auto a, auto b) { return a || b; });
    if (const auto* op = e.as<ir::Not>()) {
      auto holds = value(op->a);
      return holds ? Value(!*holds) : std::nullopt;
    }
    return std::nullopt;
  }

  Value call(const ir::Call& op) const {
    if (op.name == "tc_uniform") return value(op.args[0]);
    if (op.is_intrinsic(ir::Call::bitwise_xor))
      return both(op.args[0], op.args[1], [](auto a, auto b) { return a ^ b; });
    if (op.is_intrinsic(ir::Call::bitwise_and))
      return both(op.args[0], op.args[1], [](auto a, auto b) { return a & b; });
    if (op.is_intrinsic(ir::Call::shift_right))
      return both(op.args[0], op.args[1], [](auto a, auto b) { return a >> b; });
    if (op.is_intrinsic(ir::Call::shift_left))
      return both(op.args[0], op.args[1], [](auto a, auto b) { return a << b; });
    if (op.is_intrinsic(ir::Call::if_then_else) && op.args.size() == 3)
      return choice(op.args[0], op.args[1], op.args[2]);
    if (op.is_intrinsic(ir::Call::likely) || op.is_intrinsic(ir::Call::likely_if_innermost)) return value(op.args[0]);
    return std::nullopt;
  }

  const Thread& thread_;
  int lane_;
};

/// Runs the threads of a warp side by side.
class Warp : public ir::IRVisitor {
 public:
  explicit Warp(const WarpPlace& place) {
    const auto& block = place.block;
    for (int i = 0; i < place.threads; ++i) {
      auto number = place.first_thread + i;
      if (number >= block[0] * block[1] * block[2]) break;
      Thread thread;
      for (const auto& [name, value] : place.numbers) thread.variables[name] = value;
      for (const char* axis : {"x", "y", "z"}) thread.variables[str("block_", axis)] = 0;
      thread.variables["thread_x"] = number % block[0];
      thread.variables["thread_y"] = number / block[0] % block[1];
      thread.variables["thread_z"] = number / (block[0] * block[1]);
      threads_.push_back(thread);
    }
  }

  std::vector<WarpAccess> accesses;

 private:
  using ir::IRVisitor::visit;

  Value evaluate(const Thread& thread, const Expr& e, int lane = 0) const { return Evaluator(thread, lane).value(e); }

  /// Runs \p work in the threads in which \p condition holds, or is not known.
  template <typename Work>
  void where(const Expr& condition, bool holds, const Work& work) {
    std::vector<bool> before;
    bool any = false;
    for (auto& thread : threads_) {
      before.push_back(thread.runs);
      auto value = evaluate(thread, condition);
      thread.runs = thread.runs && (!value || (*value != 0) == holds);
      any = any || thread.runs;
    }
    if (any) work();
    for (std::size_t i = 0; i < threads_.size(); ++i) threads_[i].runs = before[i];
  }

  void bind(const std::string& name, const Expr& value) {
    for (auto& thread : threads_) thread.variables[name] = evaluate(thread, value);
  }

  void visit(const ir::For* op) override {
    auto around = times_;
    auto trips = threads_.empty() ? std::nullopt : evaluate(threads_.front(), op->extent);
    if (trips) times_ *= std::max<std::int64_t>(1, *trips / sampled_trips);
    std::vector<std::size_t> begins;
    for (std::int64_t trip = 0; trip < sampled_trips; ++trip) {
      begins.push_back(accesses.size());
      Expr number = ir::make_const(op->min.type(), trip);
      where(ir::LT::make(number, op->extent), true, [&] {
        bind(op->name, op->min + number);
        op->body.accept(this);
      });
    }
    if (trips && *trips > 1 && op->for_type == ir::ForType::Unrolled) join(begins[0], begins[1], *trips);
    times_ = around;
  }

  /// Makes one piece of what the two iterations of an unrolled loop that begin at \p first and \p second access side by
  /// side.
  void join(std::size_t first, std::size_t second, std::int64_t trips) {
    if (accesses.size() - second != second - first) return;
    std::vector<WarpAccess> rest;
    for (std::size_t i = first; i < second; ++i) {
      auto& access = accesses[i];
      const auto& next = accesses[i + (second - first)];
      std::int64_t together = widest_access / access.bytes();
      while (trips % std::max<std::int64_t>(together, 1) != 0) together /= 2;
      bool joins = together > 1 && access.elements == 1 && access.buffer == next.buffer && access.write == next.write &&
                   access.places.size() == next.places.size();
      for (std::size_t t = 0; joins && t < access.places.size(); ++t)
        joins = next.places[t] == access.places[t] + 1 && access.places[t] % together == 0;
      if (!joins) rest.push_back(next);
      if (joins) access.elements = static_cast<int>(together);
      if (joins) access.times = std::max<std::int64_t>(1, access.times * sampled_trips / together);
    }
    accesses.resize(second);
    accesses.insert(accesses.end(), rest.begin(), rest.end());
  }
  void visit(const ir::IfThenElse* op) override {
    op->condition.accept(this);
    where(op->condition, true, [&] { op->then_case.accept(this); });
    if (op->else_case.defined()) where(op->condition, false, [&] { op->else_case.accept(this); });
  }
  void visit(const ir::LetStmt* op) override {
    op->value.accept(this);
    bind(op->name, op->value);
    op->body.accept(this);
  }
  void visit(const ir::Let* op) override {
    op->value.accept(this);
    bind(op->name, op->value);
    op->body.accept(this);
  }
  void visit(const ir::Load* op) override {
    ir::IRVisitor::visit(op);
    access(op->name, op->index, op->predicate, op->type.element_of(), false);
  }
  void visit(const ir::Store* op) override {
    ir::IRVisitor::visit(op);
    access(op->name, op->index, op->predicate, op->value.type().element_of(), true);
  }
  void visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::if_then_else) && op->args.size() == 3 && op->args[0].type().is_scalar()) {
      op->args[0].accept(this);
      where(op->args[0], true, [&] { op->args[1].accept(this); });
      return where(op->args[0], false, [&] { op->args[2].accept(this); });
    }
    if (op->name.rfind("tc_copy_async_", 0) == 0) return copy(op);
    if (op->name.rfind("tc_load_matrix_", 0) == 0) return matrix_rows(op);
    if (is_group_product(op->name)) return;  // no lane reads, but the machine
    ir::IRVisitor::visit(op);
  }

  /// tc_copy_async_<bytes>: its arguments are elements at which pieces begin.
  void copy(const ir::Call* op) {
    int bytes = std::atoi(op->name.c_str() + std::string("tc_copy_async_").size());
    for (int i = 0; i < 2; ++i) {
      const auto* place = op->args[static_cast<std::size_t>(i)].as<ir::Load>();
      if (place)
        note(place->name, place->index, ir::const_true(), 0, place->type.bytes(), bytes / place->type.bytes(), i == 0);
    }
  }

  /// tc_load_matrix_...: each thread names a row of 16 bytes.
  void matrix_rows(const ir::Call* op) {
    const auto* row = op->args[1].as<ir::Load>();
    auto bytes = row->type.bytes();
    note(row->name, row->index, ir::const_true(), 0, bytes, widest_access / bytes, false);
  }

  void access(const std::string& buffer, const Expr& index, const Expr& predicate, const Halide::Type& element,
              bool write) {
    int lanes = index.type().lanes(), bytes = element.bytes();
    int together = moves_at_once(index, predicate, element) ? std::min(lanes, widest_access / bytes) : 1;
    for (int lane = 0; lane < lanes; lane += together) note(buffer, index, predicate, lane, bytes, together, write);
  }

  void note(const std::string& buffer, const Expr& index, const Expr& predicate, int lane, int bytes, int elements,
            bool write) {
    WarpAccess result{buffer, write, bytes, elements, times_, {}};
    for (const auto& thread : threads_) {
      if (!thread.runs) continue;
      auto runs = evaluate(thread, predicate, lane), at = evaluate(thread, index, lane);
      if (!at) return;
      if (!runs || *runs != 0) result.places.push_back(*at);
    }
    if (!result.places.empty()) accesses.push_back(result);
  }

  std::vector<Thread> threads_;
  std::int64_t times_ = 1;  ///< that the loops around run what is sampled
};

}  // namespace

bool moves_at_once(const Expr& index, const Expr& predicate, const Halide::Type& element) {
  const auto* ramp = index.as<ir::Ramp>();
  int lanes = index.type().lanes(), bytes = lanes * element.bytes();
  if (!ramp || !ir::is_const_one(ramp->stride) || !ir::is_const_one(predicate)) return false;
  if ((lanes & (lanes - 1)) != 0 || bytes > 2 * widest_access || bytes < 2) return false;
  auto alignment = ir::modulus_remainder(ramp->base);
  return alignment.modulus % lanes == 0 && alignment.remainder % lanes == 0;
}

std::vector<WarpAccess> warp_accesses(const ir::Stmt& body, const WarpPlace& place) {
  Warp warp(place);
  body.accept(&warp);
  return warp.accesses;
}

}  // namespace tc::cuda
