#include "tc/strategy/price/far_price.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tc/strategy/price/far_references.h"
#include "tc/strategy/price/line_order.h"

namespace tc::strategy {
namespace {

constexpr double line = Target::cache_line;

/// Of a page of memory.
constexpr double page_bytes = 4096;

/// Of lines that are touched in a cycle, \p cycle times as many as a cache holds that replaces any of them alike, the share m
/// that is not there any more: one stays through m * cycle replacements with 1 - m = exp(-m * cycle).
double share_that_misses(double cycle) {
  if (cycle <= 1) return 0;
  double share = 1;
  for (int i = 0; i < 30; ++i) share = 1 - std::exp(-share * cycle);
  return share;
}

/// A cache with ways of `way` bytes. Into the first one streams of lines come as early as their runs begin, wherever they go on; the last
/// one replaces any line alike.
struct Cache {
  double capacity = 0, way = 0;
  bool is_first = false, is_last = false;
};

class FarPricer {
 public:
  FarPricer(const PricedCluster& cluster, const NestWalk& walk, std::vector<FarReference> references)
      : cluster_(cluster), walk_(walk), references_(std::move(references)) {
    shared_ = walk.statements.empty() ? 0 : walk.statements.front().tile;
  }

  /// All that comes into \p cache, and of that what packed copies read and write.
  std::pair<FarBytes, FarBytes> into(const Cache& cache) const {
    FarBytes all, copied;
    const auto orders = cache.is_first ? std::vector<LineOrder>(references_.size()) : orders_of_lines();
    each_that_misses(cache.capacity, [&](const FarReference& reference, std::size_t first) {
      if (first > 0) {
        const auto comes = coming(reference, first - 1, cache, orders[number(reference)]);
        all += comes;
        if (reference.reads_for_copy) copied += comes;
        if (is_copy(reference)) copied += making(reference).bytes < comes.bytes ? making(reference) : comes;
      }
      add_collisions(reference, first, cache, all);
    });
    return {all, copied};
  }

 private:
  const StatementWalk& nest_of(const FarReference& reference) const { return walk_.statements[reference.statement]; }
  std::size_t number(const FarReference& reference) const {
    return static_cast<std::size_t>(&reference - references_.data());
  }

  /// What comes into \p cache for \p reference, in the order \p of_line for each line, where each execution of loop number \p loop
  /// finds nothing of the one before.
  FarBytes coming(const FarReference& reference, std::size_t loop, const Cache& cache, const LineOrder& of_line) const {
    auto comes =
        cache.is_last ? random_traffic(reference, loop, cache.capacity) : traffic(reference, loop, cache.capacity);
    if (!cache.is_last && loop == 0) comes *= cores_that_read(reference);
    const auto pages_of_runs = pages(reference, loop);
    if (cache.is_first && pages_of_runs > cluster_.rates.known_pages)
      comes.walks = comes.runs * std::min(1.0, pages_of_runs / reference.touched[loop].runs);
    const auto lines = comes.bytes / line;
    comes.runs = std::max(comes.runs, lines * of_line.runs);
    if (cache.is_last) comes.unforeseen = lines * std::min(of_line.groups * cluster_.rates.unforeseen_lines, 1.0);
    return comes;
  }

  /// Cores whose own caches each take all that the loop of threads leaves the same for \p reference.
  double cores_that_read(const FarReference& reference) const {
    if (walk_.changes_on_cores(cluster_.statements[reference.statement], *reference.access)) return 1;
    return std::min<double>(cluster_.target.cores, nest_of(reference).loops.front().trips);
  }

  /// Of each reference, the order in which its lines come into the first cache, and so from all levels.
  std::vector<LineOrder> orders_of_lines() const {
    std::vector<LineOrder> result(references_.size());
    each_that_misses(
        static_cast<double>(cluster_.target.l1_bytes), [&](const FarReference& reference, std::size_t first) {
          if (first == 0 || (reference.copy && !reference.reads_for_copy)) return;
          auto order = order_of_lines(reference.touched, first - 1);
          if (reference.reads_for_copy)
            order.groups = std::max(order.groups, reference.touched[first - 1].bytes / bytes_of_squares(reference));
          const auto lines = std::max(reference.touched[first - 1].bytes, 1.0) / line * reference.moved;
          result[number(reference)] = {order.runs / lines, order.groups / lines};
        });
    return result;
  }

  /// Bytes that the copy \p reference reads as rows side by side, of which it transposes squares; of all it reads without.
  double bytes_of_squares(const FarReference& reference) const {
    const auto row = row_of_squares(*reference.access, *reference.copy);
    if (row < 0) return std::numeric_limits<double>::infinity();
    const auto spans = nest_of(reference).spans(cluster_.statements[reference.statement], reference.place);
    const auto element = cluster_.tensors[static_cast<std::size_t>(reference.access->tensor)].element;
    return std::max(spans[static_cast<std::size_t>(row)] * element, line) * reference.copy->lanes;
  }

  bool same_tensor(const FarReference& a, const FarReference& b) const {
    return a.access->tensor == b.access->tensor && !a.copy && !b.copy;
  }

  /// Do \p a and \p b touch the same part of a tensor in an iteration of the members, as far as strides tell?
  bool moves_alike(const FarReference& a, const FarReference& b) const {
    const auto& first = cluster_.statements[a.statement].entry.outer;
    const auto& second = cluster_.statements[b.statement].entry.outer;
    for (std::size_t m = 0; m < first.size(); ++m) {
      auto along = [&](const FarReference& r, int iterator) {
        return iterator < 0 ? 0 : r.access->strides[static_cast<std::size_t>(iterator)];
      };
      if (along(a, first[m]) != along(b, second[m])) return false;
    }
    return true;
  }

  /// Of references that share what they touch from loop \p depth on, the one that touches most counts.
  bool is_first_of_its_kind(std::size_t number, std::size_t depth) const {
    const auto& one = references_[number];
    for (std::size_t i = 0; i < references_.size(); ++i) {
      if (i == number || !same_tensor(one, references_[i]) || !moves_alike(one, references_[i])) continue;
      auto mine = one.touched[depth].bytes * one.weight;
      auto other = references_[i].touched[depth].bytes * references_[i].weight;
      if (other > mine || (other == mine && i < number)) return false;
    }
    return true;
  }

  /// Bytes that all references touch from loop \p depth on, one of the members or below all.
  double room(std::size_t depth) const {
    double result = 0;
    for (std::size_t i = 0; i < references_.size(); ++i) {
      const auto& reference = references_[i];
      if (reference.reads_for_copy && depth > reference.place) continue;
      if (!is_first_of_its_kind(i, depth)) continue;
      result += reference.touched[reference.kept ? std::max(depth, shared_) : depth].bytes;
    }
    return result;
  }

  /// Calls \p take with each reference and the least number of a loop from which on what it touches stays in a store of
  /// \p capacity: a loop of the members from which on all fits, or, where one tile does not, one of its statement's own
  /// from which on what that touches does; its number of loops and one, where not even a vector does.
  template <typename Take>
  void each_that_misses(double capacity, const Take& take) const {
    std::size_t depth = 0;
    while (depth <= shared_ && room(depth) > capacity) ++depth;
    bool fits = depth <= shared_;
    for (std::size_t i = 0; i < references_.size(); ++i) {
      const auto& reference = references_[i];
      auto first = fits ? depth : own_depth(reference, capacity);
      if (reference.kept && (fits || first <= shared_)) continue;
      if (!fits || is_first_of_its_kind(i, first == 0 ? 0 : first - 1)) take(reference, first);
    }
  }

  std::size_t own_depth(const FarReference& reference, double capacity) const {
    const auto& nest = nest_of(reference);
    for (std::size_t depth = nest.tile; depth < nest.loops.size(); ++depth) {
      double all = 0;
      for (const auto& other : references_)
        if (other.statement == reference.statement && !other.reads_for_copy) all += other.touched[depth].bytes;
      if (all <= capacity) return depth;
    }
    return nest.loops.size() + 1;
  }

  /// Pages that the runs of \p reference from loop number \p loop on begin in.
  double pages(const FarReference& reference, std::size_t loop) const {
    const auto& touched = reference.touched[loop];
    const auto apart = touched.row_steps > 0 ? std::min(touched.rows[0].bytes, page_bytes) : page_bytes;
    const auto& tensor = cluster_.tensors[static_cast<std::size_t>(reference.access->tensor)];
    return reference.copy ? 0 : std::min(touched.runs * apart, tensor.bytes) / page_bytes;
  }

  static FarBytes times(const TouchedLines& touched, double trips, double weight) {
    return {touched.bytes * trips * weight, touched.runs * trips, 0, 0, 0, 0};
  }

  static bool is_copy(const FarReference& reference) { return reference.copy && !reference.reads_for_copy; }
  /// What comes and goes where the copy that is \p reference is made.
  FarBytes making(const FarReference& reference) const {
    return times(reference.touched[reference.place], nest_of(reference).trips_above(reference.place), 2);
  }

  /// What comes for \p reference where each execution of loop number \p loop finds nothing of the one before. A copy that a cache of
  /// \p capacity has room for beside what it is made of is there until the next one is written over it: all its iterations use it.
  FarBytes traffic(const FarReference& reference, std::size_t loop, double capacity) const {
    if (is_copy(reference) && loop < reference.place) return {};
    if (is_copy(reference) && loop == reference.place && 2 * reference.touched[loop].bytes <= capacity) return {};
    auto made = is_copy(reference) ? making(reference) : FarBytes{};
    auto from = reference.reads_for_copy ? std::min(loop, reference.place) : loop;
    const auto trips = std::max(
        trips_of(reference, nest_of(reference), from) * cluster_.statements[reference.statement].guarded_share, 1.0);
    made += times(reference.touched[from], trips, reference.moved);
    return made;
  }

  /// What comes where a cache of \p capacity keeps lines at random: of those that loop \p last and loops outside of it touch
  /// again, each finds what the lines in between have left.
  FarBytes random_traffic(const FarReference& reference, std::size_t last, double capacity) const {
    FarBytes result, inside;
    for (std::size_t loop = 0; loop <= last; ++loop) {
      const auto all = traffic(reference, loop, capacity);
      const auto share = loop <= shared_ ? share_that_misses(room(loop) / capacity) : 1;
      result.bytes += share * std::max(all.bytes - inside.bytes, 0.0);
      result.runs += share * std::max(all.runs - inside.runs, 0.0);
      inside = all;
    }
    return result;
  }

  /// Adds what lines cost that share their sets of \p cache with others: those that come in from loop \p first on anyway, those that
  /// come again as others sent them away, and runs of which the next lines came early and are gone.
  void add_collisions(const FarReference& reference, std::size_t first, const Cache& cache, FarBytes& result) const {
    if (reference.reads_for_copy) return;
    const auto ways = cache.capacity / cache.way;
    const auto& nest = nest_of(reference);
    auto queued = reference.under_way.bytes / line / reference.under_way.sets(cache.way);
    auto gone = [&](double in_set) { return std::max(0.0, 1 - ways / std::max(in_set, 1.0)); };
    auto loop = first == 0 ? 0 : first - 1;
    auto lines = [&](std::size_t i) { return reference.touched[i].bytes / line * trips_of(reference, nest, i); };
    auto runs = [&](std::size_t i) { return reference.touched[i].runs * trips_of(reference, nest, i); };
    double colliding = first > 0 ? lines(loop) * gone(queued) : 0;
    for (auto i = loop; i + 1 < reference.touched.size(); ++i) {
      auto in_set = reference.touched[i + 1].lines_of_a_set(cache.way);
      auto again = std::max(lines(i + 1) - lines(i), 0.0);
      result.bytes += again * gone(in_set) * line * reference.weight;
      colliding += again * gone(std::min(in_set, queued));
      if (!cache.is_first && first > 0) result.runs += std::max(runs(i + 1) - runs(i), 0.0) * gone(in_set);
    }
    (reference.weight > 1 ? result.written_colliding : result.colliding) += colliding;
  }

  const PricedCluster& cluster_;
  const NestWalk& walk_;
  std::vector<FarReference> references_;
  std::size_t shared_ = 0;  ///< loops of the members
};

}  // namespace

FarBytes& FarBytes::operator+=(const FarBytes& other) {
  bytes += other.bytes;
  runs += other.runs;
  colliding += other.colliding;
  written_colliding += other.written_colliding;
  walks += other.walks;
  unforeseen += other.unforeseen;
  return *this;
}

FarBytes& FarBytes::operator-=(const FarBytes& other) {
  auto less = other;
  less *= -1;
  return *this += less;
}

FarBytes& FarBytes::operator*=(double times) {
  for (auto* count : {&bytes, &runs, &colliding, &written_colliding, &walks, &unforeseen}) *count *= times;
  return *this;
}

FarTraffic far_bytes(const PricedCluster& cluster, const NestWalk& walk, const std::vector<double>& core_cycles,
                     double buffer_bytes) {
  const FarPricer pricer(cluster, walk, far_references(cluster, walk, core_cycles, buffer_bytes));
  const auto& target = cluster.target;
  const auto& rates = cluster.rates;
  const std::array<Cache, 3> caches{
      {{static_cast<double>(target.l1_bytes), rates.l1_period, true, false},
       {static_cast<double>(target.l2_bytes), rates.l2_period, false, false},
       {static_cast<double>(target.l3_bytes) * rates.l3_share, rates.l2_period, false, true}}};
  FarTraffic result;
  for (std::size_t i = 0; i < caches.size(); ++i) std::tie(result.all[i], result.copied[i]) = pricer.into(caches[i]);
  return result;
}

}  // namespace tc::strategy
