#include "tc/strategy/price/far_price.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tc/base/contains.h"
#include "tc/strategy/price/core_price.h"
#include "tc/strategy/price/touched_lines.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::PackMapping;

/// Instructions of a vector, one of which reads.
constexpr double vector_instructions = 2;

/// Runs that go on side by side, of which a core asks for the next lines; of 1, 8, 16 and 32, which order measured mappings best.
constexpr double followed_runs = 16;

/// Bytes of runs side by side that lie one behind another, of which a core sees all at once, as if they were one run: measured, rows of
/// 256 bytes come from memory as fast as one run where two go on side by side, at half the speed where eight do.
constexpr double seen_at_once = 1024;

/// Bytes between a run and the next that a core reads, too, as if they were one run, where this is twice as long: measured, 320 are,
/// 512 are not.
constexpr double followed_gap = 320;

constexpr double line = Target::cache_line;

/// Of a page of memory.
constexpr double page_bytes = 4096;

/// Runs in which lines come, and the groups of these that begin and go on side by side.
struct LineOrder {
  double runs = 0, groups = 0;
};

/// An access with all it touches from each of its loops on.
struct Reference {
  std::size_t statement = 0;
  const PricedAccess* access = nullptr;
  double weight = 1;                  ///< 2: what comes in goes back
  double moved = 1;                   ///< how often what is touched comes or goes
  const PackMapping* pack = nullptr;  ///< it goes to this copy
  bool reads_for_copy = false;        ///< it is the copy's own read
  std::size_t place = 0;              ///< of the copy: the first loop below it
  bool kept = false;                  ///< a buffer of one tile
  bool accumulated = false;           ///< in registers while its statement's own loops run
  bool square = false;                ///< a tile reads its rows, each once, and transposes them
  std::vector<TouchedLines> touched;  ///< from loop number i on; the last: by one vector
  TouchedLines under_way;             ///< by the accesses that a core has under way at once
};

/// Of lines that are touched in a cycle, \p cycle times as many as a cache holds that replaces any of them alike, the share m
/// that is not there any more: one stays through m * cycle replacements with 1 - m = exp(-m * cycle).
double share_that_misses(double cycle) {
  if (cycle <= 1) return 0;
  double share = 1;
  for (int i = 0; i < 30; ++i) share = 1 - std::exp(-share * cycle);
  return share;
}

class FarPricer {
 public:
  FarPricer(const PricedCluster& cluster, const ClusterMapping& mapping, const std::vector<StatementNest>& nests,
            const std::vector<double>& core_cycles, double buffer_bytes)
      : cluster_(cluster), mapping_(mapping), nests_(nests), core_cycles_(core_cycles), buffer_bytes_(buffer_bytes) {
    for (std::size_t s = 0; s < cluster.statements.size(); ++s) {
      const auto& statement = cluster.statements[s];
      add(s, statement.write, nullptr, 2);
      references_.back().accumulated =
          statement.reduces && (nests[s].unrolled || nests[s].points == nests[s].loops.size());
      for (std::size_t r = 0; r < statement.reads.size(); ++r) {
        const int read = static_cast<int>(r);
        if (!repeats(mapping, statement, read)) add(s, statement.reads[r], pack_of(mapping, statement, read), 1);
      }
    }
    shared_ = nests.empty() ? 0 : nests.front().tile;
    for (auto& reference : references_)
      reference.under_way = reference.pack ? reference.touched.back() : under_way(reference);
  }

  /// What comes into a cache of \p capacity whose ways have \p way bytes; \p foreseen: streams of lines are asked for as
  /// early as their runs begin, wherever they go on.
  /// All that comes, and what packed copies read of it.
  std::pair<FarBytes, FarBytes> into(double capacity, double way, bool foreseen, bool in_order = true) const {
    FarBytes result, copied;
    const auto orders = foreseen ? std::vector<LineOrder>(references_.size()) : orders_of_lines();
    each_that_misses(capacity, [&](const Reference& reference, std::size_t first) {
      if (first > 0) {
        auto comes = in_order ? traffic(reference, first - 1, capacity) : random_traffic(reference, first - 1, capacity);
        if (in_order && first == 1) comes *= cores_that_read(reference);
        const auto pages_of_runs = pages(reference, first - 1);
        if (foreseen && pages_of_runs > cluster_.rates.known_pages)
          comes.walks = comes.runs * std::min(1.0, pages_of_runs / reference.touched[first - 1].runs);
        const auto lines = comes.bytes / Target::cache_line;
        const auto& of_line = orders[static_cast<std::size_t>(&reference - references_.data())];
        comes.runs = std::max(comes.runs, lines * of_line.runs);
        if (!in_order) comes.unforeseen = lines * std::min(of_line.groups * cluster_.rates.unforeseen_lines, 1.0);
        result += comes;
        if (reference.reads_for_copy) copied += comes;
        if (is_copy(reference)) copied += making(reference).bytes < comes.bytes ? making(reference) : comes;
      }
      add_collisions(reference, first, capacity / way, way, foreseen, result);
    });
    return {result, copied};
  }

 private:
  /// Cores whose own caches each take all that the loop of threads leaves the same for \p reference.
  double cores_that_read(const Reference& reference) const {
    if (!mapping_.parallel || mapping_.outermost < 0) return 1;
    const auto& statement = cluster_.statements[reference.statement];
    if (reference.access->changes(statement.entry.outer[static_cast<std::size_t>(mapping_.outermost)])) return 1;
    return std::min<double>(cluster_.target.cores, nests_[reference.statement].loops.front().trips);
  }

  /// Of each reference, the order in which its lines come into the first cache, and so from all levels.
  std::vector<LineOrder> orders_of_lines() const {
    std::vector<LineOrder> result(references_.size());
    each_that_misses(static_cast<double>(cluster_.target.l1_bytes), [&](const Reference& reference, std::size_t first) {
      if (first == 0 || (reference.pack && !reference.reads_for_copy)) return;
      auto order = order_of_lines(reference, first - 1);
      if (reference.reads_for_copy)
        order.groups = std::max(order.groups, reference.touched[first - 1].bytes / bytes_of_squares(reference));
      const auto lines = std::max(reference.touched[first - 1].bytes, 1.0) / Target::cache_line * reference.moved;
      result[static_cast<std::size_t>(&reference - references_.data())] = {order.runs / lines, order.groups / lines};
    });
    return result;
  }

  /// The order in which the loops of \p reference from number \p loop on come to its lines: what one iteration touches is followed
  /// by what the next one does only where it is few runs, which a core follows side by side, and does not end all of them at once.
  ///
  ///   for columns j < 4 { for rows k < 100 { B[k][48 j ..] } }      400 runs, though all is one
  ///   for rows i < 100 { for columns j < 30 { B[8 i .. 8 i + 7][16 j ..] } }      800 runs in 100 groups of 8 side by side
  static LineOrder order_of_lines(const Reference& reference, std::size_t loop) {
    LineOrder result{reference.touched.back().runs, 1};
    double beside = result.runs;  ///< runs that go on side by side
    bool ended = false;           ///< all of them have, at once
    for (auto i = reference.touched.size() - 1; i-- > loop;) {
      const auto &outside = reference.touched[i], &inside = reference.touched[i + 1];
      const auto more = outside.bytes / std::max(inside.bytes, 1.0);
      const bool across_gaps = beside == 1 && is_read_across_gaps(outside, inside);
      const bool followed = beside <= followed_runs && !ended && (outside.runs <= inside.runs || across_gaps);
      result.groups = followed ? 1 : result.groups * more;
      result.runs = inside.runs <= followed_runs ? outside.runs : std::max(outside.runs, result.runs * more);
      ended = ended || (outside.runs < inside.runs && outside.bytes > seen_at_once);
      if (!across_gaps) beside = outside.runs;
    }
    return result;
  }

  /// Bytes that the copy \p reference reads as rows side by side, of which it transposes squares; of all it reads without.
  double bytes_of_squares(const Reference& reference) const {
    const auto& pack = *reference.pack;
    const auto &access = *reference.access;
    if (!pack.panel_last || access.strides[static_cast<std::size_t>(pack.panel)] == 1)
      return std::numeric_limits<double>::infinity();
    const auto& statement = cluster_.statements[reference.statement];
    const auto spans = nests_[reference.statement].spans(statement, reference.place);
    const auto element = cluster_.tensors[static_cast<std::size_t>(access.tensor)].element;
    for (std::size_t i = 0; i < spans.size(); ++i)
      if (access.strides[i] == 1) return std::max(spans[i] * element, line) * pack.lanes;
    return std::numeric_limits<double>::infinity();
  }

  /// Are the runs of \p outside those of \p inside, and gaps between them that a core reads, too?
  static bool is_read_across_gaps(const TouchedLines& outside, const TouchedLines& inside) {
    const auto run = inside.bytes / inside.runs;
    return outside.row_steps == 1 && inside.row_steps <= 1 &&
           outside.rows[0].bytes - run <= std::min(followed_gap, run / 2);
  }

  void add(std::size_t s, const PricedAccess& access, const PackMapping* pack, double weight) {
    const auto& statement = cluster_.statements[s];
    Reference reference{s, &access, weight, weight, pack};
    const auto& nest = nests_[s];
    if (pack) reference.place = pack->once ? 0 : pack->below_blocks ? nest.blocks : nest.copies;
    const auto& tensor = cluster_.tensors[static_cast<std::size_t>(access.tensor)];
    const auto copied = nest.spans(statement, reference.place);
    for (std::size_t i = 0; i <= nest.loops.size(); ++i) {
      auto spans = nest.spans(statement, pack ? std::max(i, reference.place) : i);
      if (i == nest.loops.size() && nest.lane_iterator >= 0)
        spans[static_cast<std::size_t>(nest.lane_iterator)] = nest.lanes;
      reference.touched.push_back(pack ? copied_lines(statement, access, *pack, tensor.element, copied, spans)
                                       : touched_lines(cluster_, statement, access, spans));
    }
    reference.square =
        !pack && weight == 1 && statement.write.changes(nest.lane_iterator) && square_side(nest, access) > 0;
    for (auto i = nest.points; reference.square && i < reference.touched.size(); ++i)
      reference.touched[i] = reference.touched[nest.points];
    reference.moved = weight > 1 && is_fresh(access.tensor) && writes_whole_lines(reference)
                          ? 1 + cluster_.rates.comes_to_be_overwritten
                          : weight;
    bool staged = contains(mapping_.staged, tensor.name);
    reference.kept = staged || (tensor.own && reference.touched[nest.tile].bytes <= buffer_bytes_);
    if (pack) {
      auto source = reference;
      source.reads_for_copy = true;
      for (std::size_t i = 0; i <= nest.loops.size(); ++i)
        source.touched[i] =
            touched_lines(cluster_, statement, access, nest.spans(statement, std::min(i, reference.place)));
      references_.push_back(std::move(source));
    }
    references_.push_back(std::move(reference));
  }

  /// Does nothing read \p tensor before it is written?
  bool is_fresh(int tensor) const {
    for (const auto& statement : cluster_.statements) {
      const auto reads = [&](const PricedAccess& read) { return read.tensor == tensor; };
      if (std::any_of(statement.reads.begin(), statement.reads.end(), reads)) return false;
      if (statement.write.tensor == tensor) return !statement.accumulates;
    }
    return false;
  }

  bool same_tensor(const Reference& a, const Reference& b) const {
    return a.access->tensor == b.access->tensor && !a.pack && !b.pack;
  }

  /// Do \p a and \p b touch the same part of a tensor in an iteration of the members, as far as strides tell?
  bool moves_alike(const Reference& a, const Reference& b) const {
    const auto& first = cluster_.statements[a.statement].entry.outer;
    const auto& second = cluster_.statements[b.statement].entry.outer;
    for (std::size_t m = 0; m < first.size(); ++m) {
      auto along = [&](const Reference& r, int iterator) {
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

  std::size_t own_depth(const Reference& reference, double capacity) const {
    const auto& nest = nests_[reference.statement];
    for (std::size_t depth = nest.tile; depth < nest.loops.size(); ++depth) {
      double all = 0;
      for (const auto& other : references_)
        if (other.statement == reference.statement && !other.reads_for_copy) all += other.touched[depth].bytes;
      if (all <= capacity) return depth;
    }
    return nest.loops.size() + 1;
  }

  /// Pages that the runs of \p reference from loop number \p loop on begin in.
  double pages(const Reference& reference, std::size_t loop) const {
    const auto& touched = reference.touched[loop];
    const auto apart = touched.row_steps > 0 ? std::min(touched.rows[0].bytes, page_bytes) : page_bytes;
    const auto& tensor = cluster_.tensors[static_cast<std::size_t>(reference.access->tensor)];
    return reference.pack ? 0 : std::min(touched.runs * apart, tensor.bytes) / page_bytes;
  }

  static FarBytes times(const TouchedLines& touched, double trips, double weight) {
    return {touched.bytes * trips * weight, touched.runs * trips, 0, 0, 0, 0};
  }

  static bool is_copy(const Reference& reference) { return reference.pack && !reference.reads_for_copy; }
  /// What comes and goes where the copy that is \p reference is made.
  FarBytes making(const Reference& reference) const {
    return times(reference.touched[reference.place], nests_[reference.statement].trips_above(reference.place), 2);
  }

  /// What comes for \p reference where each execution of loop number \p loop finds nothing of the one before. A copy that a cache of
  /// \p capacity has room for beside what it is made of is there until the next one is written over it: all its iterations use it.
  FarBytes traffic(const Reference& reference, std::size_t loop, double capacity) const {
    if (is_copy(reference) && loop < reference.place) return {};
    if (is_copy(reference) && loop == reference.place && 2 * reference.touched[loop].bytes <= capacity) return {};
    auto made = is_copy(reference) ? making(reference) : FarBytes{};
    auto from = reference.reads_for_copy ? std::min(loop, reference.place) : loop;
    const auto trips =
        std::max(trips_of(reference, from) * cluster_.statements[reference.statement].guarded_share, 1.0);
    made += times(reference.touched[from], trips, reference.moved);
    return made;
  }

  /// What comes where a cache of \p capacity keeps lines at random: of those that loop \p last and loops outside of it touch
  /// again, each finds what the lines in between have left.
  FarBytes random_traffic(const Reference& reference, std::size_t last, double capacity) const {
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

  /// Adds what lines cost that share their sets, of \p ways lines each, with others: those that come in from loop \p first
  /// on anyway, those that come again as others sent them away, and runs of which the next lines came early and are gone.
  void add_collisions(const Reference& reference, std::size_t first, double ways, double way_bytes, bool foreseen,
                      FarBytes& result) const {
    if (reference.reads_for_copy) return;
    auto queued = reference.under_way.bytes / Target::cache_line / reference.under_way.sets(way_bytes);
    auto gone = [&](double in_set) { return std::max(0.0, 1 - ways / std::max(in_set, 1.0)); };
    auto loop = first == 0 ? 0 : first - 1;
    auto lines = [&](std::size_t i) {
      return reference.touched[i].bytes / Target::cache_line * trips_of(reference, i);
    };
    auto runs = [&](std::size_t i) { return reference.touched[i].runs * trips_of(reference, i); };
    double colliding = first > 0 ? lines(loop) * gone(queued) : 0;
    for (auto i = loop; i + 1 < reference.touched.size(); ++i) {
      auto in_set = reference.touched[i + 1].lines_of_a_set(way_bytes);
      auto again = std::max(lines(i + 1) - lines(i), 0.0);
      result.bytes += again * gone(in_set) * Target::cache_line * reference.weight;
      colliding += again * gone(std::min(in_set, queued));
      if (!foreseen && first > 0) result.runs += std::max(runs(i + 1) - runs(i), 0.0) * gone(in_set);
    }
    (reference.weight > 1 ? result.written_colliding : result.colliding) += colliding;
  }

  /// How often \p reference runs loop number \p loop: registers keep it along points on which it does not depend, and
  /// accumulators while the loops of a reduction run.
  double trips_of(const Reference& reference, std::size_t loop) const {
    const auto& nest = nests_[reference.statement];
    double result = 1;
    for (std::size_t i = 0; i < loop; ++i)
      if (!in_register(reference, i)) result *= nest.loops[i].trips;
    return result;
  }
  bool in_register(const Reference& reference, std::size_t loop) const {
    const auto& nest = nests_[reference.statement];
    return loop >= nest.points
               ? nest.unrolled && (reference.square || !reference.access->changes(nest.loops[loop].iterator))
               : loop >= nest.tile && reference.accumulated;
  }

  /// Does each access of \p reference write one line, all of it?
  bool writes_whole_lines(const Reference& reference) const {
    const auto& nest = nests_[reference.statement];
    return writes_lines(reference) && nest.lane_iterator >= 0 &&
           reference.access->aligned[static_cast<std::size_t>(nest.lane_iterator)] >= nest.lanes;
  }

  /// Does one access of \p reference write as much as a line has?
  bool writes_lines(const Reference& reference) const {
    const auto& nest = nests_[reference.statement];
    auto lanes = reference.access->changes(nest.lane_iterator) ? nest.lanes : 1;
    auto element = cluster_.tensors[static_cast<std::size_t>(reference.access->tensor)].element;
    return reference.weight > 1 && reference.touched.back().runs == 1 && lanes * element >= Target::cache_line;
  }

  /// Accesses of \p reference that wait for lines at once: as many as the queues of a core hold. A whole line takes two
  /// places of them, and waits as long as its way from the level that holds it, while others begin.
  double most_under_way(const Reference& reference) const {
    const auto& rates = cluster_.rates;
    if (reference.weight == 1) return rates.loads_under_way;
    if (!writes_lines(reference)) return rates.stores_under_way;
    auto bytes = reference.touched.front().bytes;
    auto latency = bytes <= static_cast<double>(cluster_.target.l2_bytes)   ? rates.l2_latency
                   : bytes <= static_cast<double>(cluster_.target.l3_bytes) ? rates.l3_latency
                                                                            : rates.memory_latency;
    auto accesses = trips_of(reference, nests_[reference.statement].loops.size());
    auto apart = core_cycles_[reference.statement] / accesses;
    return std::max(std::min(rates.stores_under_way / 2, latency / apart), 1.0);
  }

  /// What the innermost accesses touch that a core has under way at once, reads no more than it looks ahead to.
  TouchedLines under_way(const Reference& reference) const {
    const auto& nest = nests_[reference.statement];
    auto innermost = reference.square ? nest.points : nest.loops.size();
    const auto& statement = cluster_.statements[reference.statement];
    auto spans = nest.spans(statement, innermost);
    if (nest.lane_iterator >= 0) spans[static_cast<std::size_t>(nest.lane_iterator)] = nest.lanes;
    auto accesses = reference.touched.back().runs, instructions = vector_instructions;
    auto most = most_under_way(reference);
    auto window = reference.weight > 1 ? std::numeric_limits<double>::infinity() : cluster_.rates.window;
    for (auto i = nest.loops.size(); i-- > 0 && accesses < most && instructions < window;) {
      if (i < nest.points || !nest.unrolled) instructions += loop_instructions;
      bool kept = in_register(reference, i);
      auto room = kept ? window / instructions : std::min(window / instructions, most / accesses);
      auto trips = std::min(nest.loops[i].trips, std::ceil(room));
      instructions *= trips;
      if (kept) continue;
      accesses *= trips;
      if (auto along = nest.loops[i].iterator; along >= 0) spans[static_cast<std::size_t>(along)] *= trips;
    }
    return touched_lines(cluster_, statement, *reference.access, spans);
  }

  const PricedCluster& cluster_;
  const ClusterMapping& mapping_;
  const std::vector<StatementNest>& nests_;
  const std::vector<double>& core_cycles_;
  double buffer_bytes_;
  std::size_t shared_ = 0;  ///< loops of the members
  std::vector<Reference> references_;
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

FarTraffic far_bytes(const PricedCluster& cluster, const ClusterMapping& mapping,
                     const std::vector<StatementNest>& nests, const std::vector<double>& core_cycles,
                     double buffer_bytes) {
  FarPricer pricer(cluster, mapping, nests, core_cycles, buffer_bytes);
  const auto& target = cluster.target;
  const std::array levels{pricer.into(static_cast<double>(target.l1_bytes), cluster.rates.l1_period, true),
                          pricer.into(static_cast<double>(target.l2_bytes), cluster.rates.l2_period, false),
                          pricer.into(static_cast<double>(target.l3_bytes) * cluster.rates.l3_share,
                                      cluster.rates.l2_period, false, false)};
  FarTraffic result;
  for (std::size_t i = 0; i < levels.size(); ++i) std::tie(result.all[i], result.copied[i]) = levels[i];
  return result;
}

}  // namespace tc::strategy
