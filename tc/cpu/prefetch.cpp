#include "tc/cpu/prefetch.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

/// Iterations that a gather is ahead of its use.
constexpr int gather_distance = 4;

constexpr int row_distance = 1;

constexpr std::int64_t cache_line = 64;

/// A read of consecutive elements: where it starts.
struct Read {
  std::string buffer;
  Expr start;
  Halide::Type type;
};

bool same(const Read& a, const Read& b) { return a.buffer == b.buffer && ir::equal(a.start, b.start); }

/// The reads of consecutive elements in a statement without loops, of which the address is known at its start.
class Reads : public ir::IRVisitor {
 public:
  std::vector<Read> reads;

  explicit Reads(const Stmt& body) { ir::substitute_in_all_lets(body).accept(this); }

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::Load* op) override {
    const auto* ramp = op->index.as<ir::Ramp>();
    bool dense = ramp && ir::is_const_one(ramp->stride) && ramp->base.type().is_scalar();
    if (dense && !ir::expr_uses_vars(ramp->base, bound_inside_)) reads.push_back({op->name, ramp->base, op->type.element_of()});
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::LetStmt* op) override {
    bound_inside_.push(op->name);
    ir::IRVisitor::visit(op);
  }

  ir::Scope<> bound_inside_;
};

/// Does an expression contain a load?
bool is_indirect(const Expr& e) {
  struct Finder : ir::IRVisitor {
    bool found = false;
    void visit(const ir::Load*) override { found = true; }
  } finder;
  e.accept(&finder);
  return finder.found;
}

Stmt prefetch_of(const Read& read, const Expr& start) {
  Expr buffer = ir::Variable::make(Halide::Handle(), read.buffer);
  Expr offset = Halide::cast<std::int64_t>(start) * read.type.bytes();
  return ir::Evaluate::make(ir::Call::make(Halide::Int(32), "tc_prefetch", {buffer, offset}, ir::Call::Extern));
}

/// The loops of a loop's body, in order, and the buffers it allocates.
class InnerLoops : public ir::IRVisitor {
 public:
  std::vector<const ir::For*> loops;
  std::set<std::string> allocated;

  explicit InnerLoops(const ir::For* loop) { loop->body.accept(this); }

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::For* op) override {
    loops.push_back(op);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Allocate* op) override {
    allocated.insert(op->name);
    ir::IRVisitor::visit(op);
  }
};

bool has_loops(const Stmt& body) {
  struct Finder : ir::IRVisitor {
    using ir::IRVisitor::visit;
    bool found = false;
    void visit(const ir::For*) override { found = true; }
  } finder;
  body.accept(&finder);
  return finder.found;
}

/// The statements to run first in each iteration of a loop.
using Additions = std::map<const ir::For*, std::vector<Stmt>>;

class Choose : public ir::IRVisitor {
 public:
  Additions additions;

  Choose(const Target& target, const PrefetchOptions& options) : target_(target), options_(options) {}

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::Allocate* op) override {
    local_.insert(op->name);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::For* op) override {
    if (has_loops(op->body)) choose_rows(op);
    else choose_gathers(op);
    ir::IRVisitor::visit(op);
  }

  void choose_gathers(const ir::For* loop) {
    Expr variable = ir::Variable::make(Halide::Int(32), loop->name);
    auto distance = static_cast<int>(options_.distance > 0 ? options_.distance : gather_distance);
    Expr later = Halide::min(variable + distance, ir::simplify(loop->min + loop->extent - 1));
    std::vector<Read> seen;
    for (const auto& read : Reads(loop->body).reads) {
      if (!is_indirect(read.start) || !ir::expr_uses_var(read.start, loop->name) || is_seen(read, seen)) continue;
      additions[loop].push_back(prefetch_of(read, ir::substitute(loop->name, later, read.start)));
    }
  }

  void choose_rows(const ir::For* loop) {
    InnerLoops inner(loop);
    auto distance = static_cast<int>(options_.distance > 0 ? options_.distance : row_distance);
    std::map<std::string, int> phases_of;
    for (const auto* phase : inner.loops) {
      if (has_loops(phase->body)) return;
      std::set<std::string> buffers;
      for (const auto& read : Reads(phase->body).reads) buffers.insert(read.buffer);
      for (const auto& buffer : buffers) ++phases_of[buffer];
    }
    std::set<std::string> done;
    for (auto phase = inner.loops.rbegin(); phase != inner.loops.rend(); ++phase) {
      std::vector<Read> seen;
      for (const auto& read : Reads((*phase)->body).reads) {
        bool local = inner.allocated.count(read.buffer) || local_.count(read.buffer);
        if (phases_of[read.buffer] < 2 || done.count(read.buffer) || local) continue;
        auto step = step_of(read, loop->name);
        if (step == 0 || is_seen(read, seen) || !fits(*phase)) continue;
        additions[*phase].push_back(prefetch_of(read, ir::simplify(read.start + static_cast<int>(step * distance))));
      }
      for (const auto& read : seen) done.insert(read.buffer);
    }
  }

  static bool is_seen(const Read& read, std::vector<Read>& seen) {
    for (const auto& other : seen)
      if (same(read, other)) return true;
    seen.push_back(read);
    return false;
  }

  /// By how many elements \p read moves with \p loop; 0 if that varies.
  static std::int64_t step_of(const Read& read, const std::string& loop) {
    if (is_indirect(read.start) || !ir::expr_uses_var(read.start, loop)) return 0;
    Expr next = ir::substitute(loop, ir::Variable::make(Halide::Int(32), loop) + 1, read.start);
    Expr step = ir::simplify(next - read.start);
    const auto* number = ir::as_const_int(step);
    return number ? *number : 0;
  }

  /// Do the lines of a read that \p phase asks for leave room in the second cache for those in use?
  bool fits(const ir::For* phase) const {
    const auto* trips = ir::as_const_int(phase->extent);
    return trips && *trips * cache_line <= target_.l2_bytes / 4;
  }

  const Target& target_;
  PrefetchOptions options_;
  std::set<std::string> local_;
};

class Insert : public ir::IRMutator {
 public:
  explicit Insert(const Additions& additions) : additions_(additions) {}

 private:
  using ir::IRMutator::visit;

  Stmt visit(const ir::For* op) override {
    auto found = additions_.find(op);
    Stmt body = mutate(op->body);
    if (found != additions_.end()) {
      auto parts = found->second;
      parts.push_back(body);
      body = ir::Block::make(parts);
    }
    return ir::For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
  }

  const Additions& additions_;
};

}  // namespace

Stmt prefetch(const Stmt& body, const Target& target, const PrefetchOptions& options) {
  Choose choose(target, options);
  body.accept(&choose);
  return choose.additions.empty() ? body : Insert(choose.additions).mutate(body);
}

}  // namespace tc::cpu
