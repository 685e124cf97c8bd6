#include "tc/cpu/prefetch/prefetch_panels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tc/cpu/prefetch/loop_reads.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

/// Iterations that a request is ahead of its use, which hides the latency of the second cache behind the arithmetic of
/// a register tile.
constexpr int default_distance = 8;

/// Shorter loops end before requests pay.
constexpr std::int64_t least_trips = 64;

std::set<std::string> buffers_written(const Stmt& body) {
  struct Writes : ir::IRVisitor {
    using ir::IRVisitor::visit;
    std::set<std::string> found;
    void visit(const ir::Store* op) override { found.insert(op->name); }
  } writes;
  body.accept(&writes);
  return writes.found;
}

/// The vectors that \p body reads, by buffer.
std::map<std::string, std::vector<Read>> vectors_read(const Stmt& body) {
  std::map<std::string, std::vector<Read>> result;
  for (const auto& read : reads_of(body))
    if (read.lanes > 1) result[read.buffer].push_back(read);
  return result;
}

class Choose : public ir::IRVisitor {
 public:
  Additions additions;

  Choose(const Target& target, const PrefetchOptions& options)
      : target_(target), distance_(static_cast<int>(options.distance > 0 ? options.distance : default_distance)) {}

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::Allocate* op) override {
    auto bytes = std::int64_t{op->constant_allocation_size()} * op->type.bytes();
    (op->memory_type == Halide::MemoryType::Stack ? registers_ : buffers_)[op->name] = bytes;
    ir::IRVisitor::visit(op);
  }

  void visit(const ir::For* op) override {
    if (has_loops(op->body)) {
      around_.push_back(op);
      ir::IRVisitor::visit(op);
      return around_.pop_back();
    }
    if (!accumulates_in_registers(op->body)) return;
    for (const auto& [name, reads] : vectors_read(op->body)) {
      auto buffer = buffers_.find(name);
      if (buffer == buffers_.end() || buffer->second <= target_.l1_bytes / 2 || !is_long(op, reads.front())) continue;
      for (const auto& start : lines(op, reads)) additions[op].push_back(prefetch_of(name, start, reads.front().type));
    }
  }

  bool accumulates_in_registers(const Stmt& body) const {
    auto written = buffers_written(body);
    return !written.empty() &&
           std::all_of(written.begin(), written.end(), [&](const auto& name) { return registers_.count(name) > 0; });
  }

  /// Does \p read move on for long in \p loop, and in the loops around that go on where those inside end?
  bool is_long(const ir::For* loop, const Read& read) const {
    auto step = step_of(read.start, loop->name);
    auto all = most_trips(loop->extent);
    for (auto outer = around_.rbegin(); step && outer != around_.rend() && all < least_trips; ++outer) {
      if (step_of(read.start, (*outer)->name) != *step * all) return false;
      all *= most_trips((*outer)->extent);
    }
    return all >= least_trips;
  }

  /// One start a cache line of what a later iteration reads; none where the loop does not move by lines.
  std::vector<Expr> lines(const ir::For* loop, const std::vector<Read>& reads) const {
    const auto& first = reads.front();
    auto step = step_of(first.start, loop->name);
    if (!step || *step * first.type.bytes() < Target::cache_line) return {};
    std::set<std::int64_t> places;
    for (const auto& read : reads) {
      auto from_first = distance(first.start, read.start);
      if (!from_first) return {};
      places.insert(*from_first);
    }
    std::vector<Expr> result;
    std::int64_t line = 0;
    for (auto place : places) {
      if (!result.empty() && (place - line) * first.type.bytes() < Target::cache_line) continue;
      line = place;
      result.push_back(moved(first.start, *step * distance_ + place));
    }
    return result;
  }

  const Target& target_;
  int distance_;
  std::vector<const ir::For*> around_;  ///< the loops around the present one, outermost first
  std::map<std::string, std::int64_t> buffers_,
      registers_;  ///< bytes of buffers in memory, and of those that become registers
};

}  // namespace

Stmt prefetch_panels(const Stmt& body, const Target& target, const PrefetchOptions& options) {
  Choose choose(target, options);
  body.accept(&choose);
  return insert(choose.additions, body);
}

}  // namespace tc::cpu
