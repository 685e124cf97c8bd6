#include "tc/cpu/prefetch/prefetch.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tc/cpu/prefetch/loop_reads.h"
#include "tc/cpu/prefetch/prefetch_rows.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

/// Iterations that a gather is ahead of its use.
constexpr int gather_distance = 4;

/// The reads of vectors in a statement without loops.
std::vector<Read> dense_reads(const Stmt& body) {
  auto reads = reads_of(body);
  std::erase_if(reads, [](const Read& read) { return read.lanes == 1; });
  return reads;
}

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
      if (!has_load(read.start) || !ir::expr_uses_var(read.start, loop->name) || is_seen(read, seen)) continue;
      additions[loop].push_back(prefetch_of(read.buffer, ir::substitute(loop->name, later, read.start), read.type));
    }
  }

  void choose_rows(const ir::For* loop) {
    for (auto& [phase, prefetches] : prefetches_of_rows(loop, local_, target_, options_))
      for (auto& prefetch : prefetches) additions[phase].push_back(std::move(prefetch));
  }

  static bool is_seen(const Read& read, std::vector<Read>& seen) {
    for (const auto& other : seen)
      if (are_near(read, other)) return true;
    seen.push_back(read);
    return false;
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
