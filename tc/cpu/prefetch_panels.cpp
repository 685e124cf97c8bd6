#include "tc/cpu/prefetch_panels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

/// Iterations that a request is ahead of its use, which hides the latency of the second cache behind the arithmetic of a register tile.
constexpr int default_distance = 8;

/// Shorter loops end before requests pay.
constexpr std::int64_t least_trips = 64;

constexpr std::int64_t cache_line = 64;

/// The body of a loop: where its vectors start, by buffer; the buffers it writes; whether it has loops.
class Body : public ir::IRVisitor {
 public:
  std::map<std::string, std::vector<Expr>> vectors;
  std::map<std::string, Halide::Type> types;
  std::set<std::string> written;
  bool has_loops = false;

  explicit Body(const ir::For* loop) { loop->body.accept(this); }

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::For* op) override {
    has_loops = true;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Store* op) override {
    written.insert(op->name);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Load* op) override {
    ir::IRVisitor::visit(op);
    const auto* ramp = op->index.as<ir::Ramp>();
    if (!ramp || !ir::is_const_one(ramp->stride) || !ramp->base.type().is_scalar()) return;
    vectors[op->name].push_back(ramp->base);
    types[op->name] = op->type.element_of();
  }
};

class Prefetch : public ir::IRMutator {
 public:
  Prefetch(const Target& target, const PrefetchOptions& options)
      : target_(target), distance_(static_cast<int>(options.distance > 0 ? options.distance : default_distance)) {}

 private:
  using ir::IRMutator::visit;

  Stmt visit(const ir::Allocate* op) override {
    auto bytes = std::int64_t{op->constant_allocation_size()} * op->type.bytes();
    (op->memory_type == Halide::MemoryType::Stack ? registers_ : buffers_)[op->name] = bytes;
    return ir::IRMutator::visit(op);
  }

  Stmt visit(const ir::For* op) override {
    Body body(op);
    if (body.has_loops) return ir::IRMutator::visit(op);
    auto requests = requests_of(op, body);
    if (requests.empty()) return op;
    requests.push_back(op->body);
    return ir::For::make(op->name, op->min, op->extent, op->for_type, op->device_api, ir::Block::make(requests));
  }

  std::vector<Stmt> requests_of(const ir::For* loop, const Body& body) const {
    auto is_register = [&](const std::string& name) { return registers_.count(name) > 0; };
    std::vector<Stmt> result;
    if (body.written.empty() || !std::all_of(body.written.begin(), body.written.end(), is_register) || !is_long(loop)) return result;
    for (const auto& [name, starts] : body.vectors) {
      auto buffer = buffers_.find(name);
      if (buffer == buffers_.end() || buffer->second <= target_.l1_bytes / 2) continue;
      for (const auto& start : lines(loop, starts, body.types.at(name).bytes())) result.push_back(request(name, start, body.types.at(name)));
    }
    return result;
  }

  static bool is_long(const ir::For* loop) {
    Expr most = ir::find_constant_bound(loop->extent, ir::Direction::Upper);
    const auto* trips = most.defined() ? ir::as_const_int(most) : nullptr;
    return trips && *trips >= least_trips;
  }

  /// One start a cache line of what a later iteration reads; none where the loop does not move by lines.
  std::vector<Expr> lines(const ir::For* loop, const std::vector<Expr>& starts, std::int64_t bytes) const {
    Expr variable = ir::Variable::make(Halide::Int(32), loop->name), first = starts.front();
    auto later = [&](int iterations) { return ir::substitute(loop->name, variable + iterations, first); };
    Expr step = ir::simplify(later(1) - first);
    const auto* elements = ir::as_const_int(step);
    if (!elements || *elements * bytes < cache_line) return {};
    std::set<std::int64_t> distances;
    for (const auto& start : starts) {
      Expr from_first = ir::simplify(start - first);
      const auto* number = ir::as_const_int(from_first);
      if (!number) return {};
      distances.insert(*number);
    }
    std::vector<Expr> result;
    std::int64_t line = 0;
    for (auto place : distances) {
      if (!result.empty() && (place - line) * bytes < cache_line) continue;
      line = place;
      result.push_back(ir::simplify(later(distance_) + static_cast<int>(place)));
    }
    return result;
  }

  static Stmt request(const std::string& buffer, const Expr& start, Halide::Type type) {
    Expr pointer = ir::Variable::make(Halide::Handle(), buffer);
    Expr offset = Halide::cast<std::int64_t>(start) * type.bytes();
    return ir::Evaluate::make(ir::Call::make(Halide::Int(32), "tc_prefetch", {pointer, offset}, ir::Call::Extern));
  }

  const Target& target_;
  int distance_;
  std::map<std::string, std::int64_t> buffers_, registers_;  ///< bytes of buffers in memory, and of those that become registers
};

}  // namespace

Stmt prefetch_panels(const Stmt& body, const Target& target, const PrefetchOptions& options) {
  return Prefetch(target, options).mutate(body);
}

}  // namespace tc::cpu
