#include "tc/cpu/stmt/prefetch.h"

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tc/base/ceil_div.h"
#include "tc/cpu/stmt/loop_reads.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

/// Iterations that a gather is ahead of its use.
constexpr int gather_distance = 4;

/// Bytes that short rows are ahead of their use; a row, where it is longer.
constexpr std::int64_t bytes_ahead = 1024;

/// Do two reads start less than a line apart?
bool near(const Read& a, const Read& b) {
  if (a.buffer != b.buffer) return false;
  auto apart = distance(b.start, a.start);
  return apart && std::abs(*apart) * a.type.bytes() < Target::cache_line;
}

/// The reads of vectors in a statement without loops.
std::vector<Read> dense_reads(const Stmt& body) {
  auto reads = reads_of(body);
  std::erase_if(reads, [](const Read& read) { return read.lanes == 1; });
  return reads;
}

/// Does an expression contain a load?
bool is_indirect(const Expr& e) {
  struct Finder : ir::IRVisitor {
    bool found = false;
    void visit(const ir::Load*) override { found = true; }
  } finder;
  e.accept(&finder);
  return finder.found;
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
    if (has_loops(op->body))
      choose_rows(op);
    else
      choose_gathers(op);
    ir::IRVisitor::visit(op);
  }

  void choose_gathers(const ir::For* loop) {
    Expr variable = ir::Variable::make(Halide::Int(32), loop->name);
    auto distance = static_cast<int>(options_.distance > 0 ? options_.distance : gather_distance);
    Expr later = Halide::min(variable + distance, ir::simplify(loop->min + loop->extent - 1));
    std::vector<Read> seen;
    for (const auto& read : dense_reads(loop->body)) {
      if (!is_indirect(read.start) || !ir::expr_uses_var(read.start, loop->name) || is_seen(read, seen)) continue;
      additions[loop].push_back(prefetch_of(read.buffer, ir::substitute(loop->name, later, read.start), read.type));
    }
  }

  void choose_rows(const ir::For* loop) {
    InnerLoops inner(loop);
    std::map<std::string, int> phases_of;
    for (const auto* phase : inner.loops) {
      if (has_loops(phase->body)) return;
      std::set<std::string> buffers;
      for (const auto& read : dense_reads(phase->body)) buffers.insert(read.buffer);
      for (const auto& buffer : buffers) ++phases_of[buffer];
    }
    std::set<std::string> done;
    for (auto phase = inner.loops.rbegin(); phase != inner.loops.rend(); ++phase) {
      std::vector<Read> seen;
      for (const auto& read : dense_reads((*phase)->body)) {
        bool local = inner.allocated.count(read.buffer) || local_.count(read.buffer);
        if (phases_of[read.buffer] < 2 || done.count(read.buffer) || local) continue;
        auto step = is_indirect(read.start) ? 0 : step_of(read.start, loop->name).value_or(0);
        if (step == 0 || is_seen(read, seen) || !fits(*phase)) continue;
        auto each = std::abs(step) * read.type.bytes();
        auto distance = options_.distance > 0 ? options_.distance : ceil_div(bytes_ahead, each);
        Expr later = moved(read.start, step * distance);
        additions[*phase].push_back(prefetch_of(read.buffer, later, read.type));
      }
      for (const auto& read : seen) done.insert(read.buffer);
    }
  }

  static bool is_seen(const Read& read, std::vector<Read>& seen) {
    for (const auto& other : seen)
      if (near(read, other)) return true;
    seen.push_back(read);
    return false;
  }

  /// Do the lines of a read that \p phase asks for leave room in the second cache for those in use?
  bool fits(const ir::For* phase) const {
    const auto* trips = ir::as_const_int(phase->extent);
    return trips && *trips * Target::cache_line <= target_.l2_bytes / 4;
  }

  const Target& target_;
  PrefetchOptions options_;
  std::set<std::string> local_;
};

}  // namespace

Stmt prefetch(const Stmt& body, const Target& target, const PrefetchOptions& options) {
  Choose choose(target, options);
  body.accept(&choose);
  return insert(choose.additions, body);
}

}  // namespace tc::cpu
