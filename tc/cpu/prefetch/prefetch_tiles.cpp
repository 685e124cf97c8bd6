#include "tc/cpu/prefetch/prefetch_tiles.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tc/base/ceil_div.h"
#include "tc/cpu/prefetch/loop_reads.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

constexpr std::int64_t smallest_tile = 512;

/// Bytes that are on their way while others are used.
constexpr std::int64_t bytes_ahead = 4096;

/// Rows that the processor follows on its own.
constexpr std::size_t followed_rows = 8;

/// Bytes of a row that goes on with others beside it, below which it ends before the processor follows it.
constexpr std::int64_t followed_bytes = 2048;

/// The most prefetches of an iteration, and iterations to one prefetch: memory does not limit what takes longer.
constexpr std::int64_t most_prefetches = 24, most_iterations = 8;

/// Reads of a line, below which lines are needed sooner one after the other than the first cache can wait for them: it has
/// some 24 under way, each for some 400 cycles (Zen 4), where the second has what the processor itself asks for, too.
constexpr double reads_of_slow_lines = 16;

struct Loop {
  const ir::For* node;
  std::int64_t extent;  ///< at most
};

/// What the innermost loop reads of one buffer: vectors at distances from the first of them.
struct Rows {
  std::string buffer;
  Expr first;
  Halide::Type type;
  std::vector<std::pair<std::int64_t, int>> parts;  ///< distance, in elements, and lanes; without duplicates
  std::int64_t uses = 0;                            ///< reads, with duplicates
  std::vector<std::int64_t> steps;                  ///< of each loop around, outermost first, in elements

  std::int64_t bytes(std::int64_t elements) const { return elements * type.bytes(); }
};

/// The elements that one iteration of a loop reads of a buffer, from the address of Rows::first in its first iteration.
struct Tile {
  std::int64_t low = 0, high = 0;
  double touched = 0;  ///< at most, with what is read twice

  std::int64_t range() const { return high - low; }
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
    around_.push_back({op, most_trips(op->extent)});
    if (has_loops(op->body))
      ir::IRVisitor::visit(op);
    else
      choose();
    around_.pop_back();
  }

  /// Decides for the innermost of the loops around.
  void choose() {
    for (const auto& loop : around_)
      if (loop.extent <= 0) return;
    if (around_.size() < 2) return;
    auto all = rows_of(around_.back().node->body);
    bool foreseen = std::all_of(all.begin(), all.end(), [&](const Rows& rows) { return is_foreseen(rows); });
    if (foreseen) return;
    for (const auto& rows : all)
      if (size(rows) > target_.l2_bytes / 2) choose_tile(rows);
  }

  /// What \p body reads of each buffer that is not local, where addresses are affine in the loops around.
  std::vector<Rows> rows_of(const Stmt& body) const {
    std::vector<Rows> result;
    std::set<std::string> irregular;
    for (const auto& read : reads_of(body)) {
      if (local_.count(read.buffer)) continue;
      auto known =
          std::find_if(result.begin(), result.end(), [&](const Rows& rows) { return rows.buffer == read.buffer; });
      if (known == result.end()) known = result.insert(result.end(), {read.buffer, read.start, read.type, {}, 0, {}});
      auto from_first = distance(known->first, read.start);
      if (!from_first) irregular.insert(read.buffer);
      std::pair<std::int64_t, int> part{from_first.value_or(0), read.lanes};
      ++known->uses;
      if (std::find(known->parts.begin(), known->parts.end(), part) == known->parts.end()) known->parts.push_back(part);
    }
    std::erase_if(result, [&](Rows& rows) { return irregular.count(rows.buffer) || !find_steps(rows); });
    return result;
  }

  bool find_steps(Rows& rows) const {
    Expr rest = rows.first;
    for (const auto& loop : around_) {
      auto step = step_of(rows.first, loop.node->name);
      if (!step) return false;
      rows.steps.push_back(*step);
      rest = ir::substitute(loop.node->name, 0, rest);
    }
    return ir::is_const(ir::simplify(rest));
  }

  /// Does the processor see which lines come next? It does where each vector is followed by the next one, in few rows, or in one
  /// that is not short.
  bool is_foreseen(const Rows& rows) const {
    auto step = std::abs(rows.steps.back());
    if (step == 0) return true;
    auto parts = rows.parts;
    std::sort(parts.begin(), parts.end());
    std::size_t apart = 0;
    std::int64_t end = parts.front().first - Target::cache_line;
    for (auto [distance, lanes] : parts) {
      if (rows.bytes(distance - end) >= Target::cache_line) ++apart;
      end = distance + lanes;
    }
    bool ends_early = apart > 1 && rows.bytes(step * around_.back().extent) < followed_bytes;
    return step >= parts.front().second && apart <= followed_rows && !ends_early;
  }

  /// The bytes of the buffer that all loops together go through.
  std::int64_t size(const Rows& rows) const {
    auto result = tile(rows, 0).range();
    return rows.bytes(result + std::abs(rows.steps[0]) * (around_[0].extent - 1));
  }

  /// What one iteration of the loop at \p level reads.
  Tile tile(const Rows& rows, std::size_t level) const {
    Tile result{rows.parts.front().first, rows.parts.front().first, 0};
    for (auto [distance, lanes] : rows.parts) {
      result.low = std::min(result.low, distance);
      result.high = std::max(result.high, distance + lanes);
      result.touched += lanes;
    }
    for (std::size_t i = level + 1; i < around_.size(); ++i) {
      auto reach = rows.steps[i] * (around_[i].extent - 1);
      (reach > 0 ? result.high : result.low) += reach;
      if (reach != 0) result.touched *= static_cast<double>(around_[i].extent);
    }
    return result;
  }

  /// Asks for the next tile along the innermost loop whose tiles are large enough, dense, and share little.
  void choose_tile(const Rows& rows) {
    for (std::size_t level = around_.size() - 1; level-- > 0;) {
      auto step = rows.steps[level];
      auto current = tile(rows, level);
      auto length = std::min(step, current.range());
      bool is_dense = 2 * current.touched >= static_cast<double>(current.range()),
           shares_little = 2 * current.range() <= 3 * step;
      if (rows.bytes(length) < smallest_tile || !is_dense || !shares_little) continue;
      if (rows.bytes(length) <= target_.l1_bytes / 4) add(rows, level, current, length);
      return;
    }
  }

  void add(const Rows& rows, std::size_t level, const Tile& current, std::int64_t length) {
    std::int64_t iterations = 1;
    Expr iteration = Expr(0);
    for (std::size_t i = level + 1; i < around_.size(); ++i) {
      iterations *= around_[i].extent;
      Expr variable = ir::Variable::make(Halide::Int(32), around_[i].node->name);
      iteration = iteration * static_cast<int>(around_[i].extent) + (variable - around_[i].node->min);
    }
    auto each = ceil_div(length, iterations);
    auto count = ceil_div(rows.bytes(each), Target::cache_line);
    if (iterations * Target::cache_line > most_iterations * rows.bytes(length)) return;
    if (count > most_prefetches || count > std::max<std::int64_t>(rows.uses / 4, 1)) return;
    if (!asked_.insert({around_[level].node, rows.buffer}).second) return;
    auto step = rows.steps[level];
    auto ahead = options_.distance > 0 ? options_.distance : ceil_div(bytes_ahead, rows.bytes(step));
    Expr start = rows.first;
    for (std::size_t i = level + 1; i < around_.size(); ++i)
      start = ir::substitute(around_[i].node->name, around_[i].node->min, start);
    auto offset = std::max(current.high, current.low + step) + (ahead - 1) * step;
    Expr next = Halide::cast<std::int64_t>(ir::simplify(start)) + Expr(offset) +
                Halide::cast<std::int64_t>(ir::simplify(iteration)) * Expr(each);
    auto reads_of_line = static_cast<double>(rows.uses * iterations * Target::cache_line) / rows.bytes(length);
    auto into = reads_of_line < reads_of_slow_lines ? Cache::Second : Cache::First;
    auto line = Target::cache_line / rows.type.bytes();
    for (std::int64_t i = 0; i < count; ++i)
      additions[around_.back().node].push_back(
          prefetch_of(rows.buffer, ir::simplify(next + Expr(i * line)), rows.type, into));
  }

  const Target& target_;
  PrefetchOptions options_;
  std::vector<Loop> around_;
  std::set<std::string> local_;
  std::set<std::pair<const ir::For*, std::string>> asked_;
};

}  // namespace

Stmt prefetch_tiles(const Stmt& body, const Target& target, const PrefetchOptions& options) {
  Choose choose(target, options);
  body.accept(&choose);
  return insert(choose.additions, body);
}

}  // namespace tc::cpu
