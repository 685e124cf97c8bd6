#include "tc/cpu/prefetch/prefetch_rows.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tc/base/ceil_div.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// Bytes that short rows are ahead of their use; a row, where it is longer.
constexpr std::int64_t bytes_ahead = 1024;

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

/// How many dense stores of a body without loops go on with \p loop.
class MovingStores : public ir::IRVisitor {
 public:
  int count = 0;

  explicit MovingStores(const std::string& loop) : loop_(loop) {}

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::Store* op) override {
    const auto* ramp = op->index.as<ir::Ramp>();
    if (ramp && ir::is_const_one(ramp->stride) && step_of(ramp->base, loop_).value_or(0) != 0) ++count;
  }

  std::string loop_;
};

/// A loop inside the one over rows: the lines of rows that it reads, and how many it asks memory for.
struct Phase {
  const ir::For* loop = nullptr;
  std::vector<Read> reads;
  std::int64_t trips = 0, lines = 0;

  std::vector<Read> of(const std::string& buffer) const {
    std::vector<Read> result;
    std::copy_if(reads.begin(), reads.end(), std::back_inserter(result),
                 [&](const Read& read) { return read.buffer == buffer; });
    return result;
  }
};

/// A line that a phase is to ask for in each iteration.
using Placed = std::pair<std::size_t, Read>;

class Rows {
 public:
  Rows(const ir::For* loop, const std::set<std::string>& local, const Target& target, const PrefetchOptions& options)
      : loop_(loop), target_(target), options_(options) {
    const InnerLoops inner(loop);
    local_ = local;
    local_.insert(inner.allocated.begin(), inner.allocated.end());
    for (const auto* phase : inner.loops) {
      nested_ = nested_ || has_loops(phase->body);
      if (!nested_) phases_.push_back(phase_of(phase));
    }
  }

  Additions choose() {
    Additions additions;
    if (nested_) return additions;
    for (const auto& buffer : shared_buffers()) {
      const auto best = placement_of(buffer);
      for (const auto& [at, read] : best) {
        phases_[at].lines += phases_[at].trips;
        additions[phases_[at].loop].push_back(prefetch_of(buffer, later(read), read.type));
      }
    }
    return additions;
  }

 private:
  Phase phase_of(const ir::For* loop) const {
    Phase result;
    result.loop = loop;
    const auto* trips = ir::as_const_int(loop->extent);
    result.trips = trips ? *trips : 0;
    MovingStores stores(loop_->name);
    loop->body.accept(&stores);
    result.lines = stores.count * result.trips;
    for (const auto& read : reads_of(loop->body)) {
      const bool counts = read.lanes > 1 && local_.count(read.buffer) == 0 && step(read) != 0;
      if (counts && std::none_of(result.reads.begin(), result.reads.end(),
                                 [&](const Read& other) { return are_near(read, other); }))
        result.reads.push_back(read);
    }
    return result;
  }

  std::int64_t step(const Read& read) const {
    return has_load(read.start) ? 0 : step_of(read.start, loop_->name).value_or(0);
  }

  /// The buffers that several phases read, those of the last ones first.
  std::vector<std::string> shared_buffers() const {
    std::vector<std::string> result;
    for (auto phase = phases_.rbegin(); phase != phases_.rend(); ++phase)
      for (const auto& read : phase->reads) {
        const auto count = std::count_if(phases_.begin(), phases_.end(),
                                         [&](const Phase& other) { return !other.of(read.buffer).empty(); });
        if (count > 1 && std::find(result.begin(), result.end(), read.buffer) == result.end())
          result.push_back(read.buffer);
      }
    return result;
  }

  /// Where the lines of \p buffer are asked for: as one of the phases reads them, each by a phase that reads it so.
  std::vector<Placed> placement_of(const std::string& buffer) const {
    std::vector<Placed> best;
    std::int64_t least = 0;
    for (std::size_t i = phases_.size(); i-- > 0;) {
      const auto reads = phases_[i].of(buffer);
      if (reads.empty() || !fits(phases_[i])) continue;
      auto [placed, most] = shared(phases_[i], reads);
      if (!best.empty() && most >= least) continue;
      best = std::move(placed);
      least = most;
    }
    return best;
  }

  /// \p reads of \p phase, each in the phase with the fewest lines of those that have it, later ones first; and the lines
  /// of the phase that has most then.
  std::pair<std::vector<Placed>, std::int64_t> shared(const Phase& phase, const std::vector<Read>& reads) const {
    std::pair<std::vector<Placed>, std::int64_t> result;
    std::vector<std::int64_t> lines;
    for (const auto& other : phases_) lines.push_back(other.lines);
    for (const auto& read : reads) {
      std::optional<Placed> chosen;
      for (std::size_t i = phases_.size(); i-- > 0;) {
        const auto same = same_read(phase, read, phases_[i]);
        if (same && (!chosen || lines[i] < lines[chosen->first])) chosen = Placed{i, *same};
      }
      lines[chosen->first] += phase.trips;
      result.first.push_back(*chosen);
    }
    result.second = *std::max_element(lines.begin(), lines.end());
    return result;
  }

  /// The read of \p other that touches in each of its iterations what \p read does in that of \p phase.
  static std::optional<Read> same_read(const Phase& phase, const Read& read, const Phase& other) {
    if (other.loop == phase.loop) return read;
    if (other.trips != phase.trips || !ir::is_const_zero(ir::simplify(other.loop->min - phase.loop->min))) return {};
    const Expr variable = ir::Variable::make(Halide::Int(32), other.loop->name);
    const Expr start = ir::substitute(phase.loop->name, variable, read.start);
    for (const auto& candidate : other.of(read.buffer))
      if (distance(start, candidate.start) == 0) return candidate;
    return {};
  }

  Expr later(const Read& read) const {
    const auto each = std::abs(step(read)) * read.type.bytes();
    return moved(read.start, step(read) * (options_.distance > 0 ? options_.distance : ceil_div(bytes_ahead, each)));
  }

  /// Do the lines of a read that \p phase asks for leave room in the second cache for those in use?
  bool fits(const Phase& phase) const {
    return phase.trips > 0 && phase.trips * Target::cache_line <= target_.l2_bytes / 4;
  }

  const ir::For* loop_;
  std::set<std::string> local_;
  const Target& target_;
  const PrefetchOptions& options_;
  std::vector<Phase> phases_;
  bool nested_ = false;
};

}  // namespace

Additions prefetches_of_rows(const ir::For* loop, const std::set<std::string>& local, const Target& target,
                             const PrefetchOptions& options) {
  return Rows(loop, local, target, options).choose();
}

}  // namespace tc::cpu
