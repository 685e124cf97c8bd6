#include "tc/strategy/price/far_references.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tc/strategy/price/core_price.h"

namespace tc::strategy {
namespace {

/// Instructions of a vector, one of which reads.
constexpr double vector_instructions = 2;

/// Does \p reference stay in registers while loop number \p loop of \p nest runs?
bool in_register(const FarReference& reference, const StatementWalk& nest, std::size_t loop) {
  return loop >= nest.points
             ? nest.unrolled && (reference.square || !reference.access->changes(nest.loops[loop].iterator))
             : loop >= nest.tile && reference.accumulated;
}

/// Makes the references of a nest.
class ReferenceMaker {
 public:
  ReferenceMaker(const PricedCluster& cluster, const NestWalk& walk, const std::vector<double>& core_cycles,
                 double buffer_bytes)
      : cluster_(cluster), walk_(walk), core_cycles_(core_cycles), buffer_bytes_(buffer_bytes) {}

  std::vector<FarReference> run() {
    for (std::size_t s = 0; s < cluster_.statements.size(); ++s) {
      const auto& statement = cluster_.statements[s];
      const auto& nest = walk_.statements[s];
      add(s, statement.write, {}, 2);
      references_.back().accumulated = statement.reduces && (nest.unrolled || nest.points == nest.loops.size());
      for (std::size_t r = 0; r < statement.reads.size(); ++r) {
        const int read = static_cast<int>(r);
        if (!repeats(nest, statement, read)) add(s, statement.reads[r], nest.copies[r], 1);
      }
    }
    for (auto& reference : references_)
      reference.under_way = reference.copy ? reference.touched.back() : under_way(reference);
    return std::move(references_);
  }

 private:
  void add(std::size_t s, const PricedAccess& access, const WalkedCopy& from, double weight) {
    const auto& statement = cluster_.statements[s];
    const auto* copy = from.copy;
    FarReference reference{s, &access, weight, weight, copy, false, from.place};
    const auto& nest = walk_.statements[s];
    const auto& tensor = cluster_.tensors[static_cast<std::size_t>(access.tensor)];
    const auto copied = nest.spans(statement, reference.place);
    for (std::size_t i = 0; i <= nest.loops.size(); ++i) {
      auto spans = nest.spans(statement, copy ? std::max(i, reference.place) : i);
      if (i == nest.loops.size() && nest.lane_iterator >= 0)
        spans[static_cast<std::size_t>(nest.lane_iterator)] = nest.lanes;
      reference.touched.push_back(copy ? copied_lines(statement, access, *copy, tensor.element, copied, spans)
                                       : touched_lines(cluster_, statement, access, spans));
    }
    reference.square = !copy && weight == 1 && statement.write.changes(nest.lane_iterator) &&
                       squares_of(nest, statement, access).side > 0;
    for (auto i = nest.points; reference.square && i < reference.touched.size(); ++i)
      reference.touched[i] = reference.touched[nest.points];
    reference.moved = weight > 1 && is_fresh(access.tensor) && writes_whole_lines(reference)
                          ? 1 + cluster_.rates.comes_to_be_overwritten
                          : weight;
    reference.kept = walk_.kept[static_cast<std::size_t>(access.tensor)] ||
                     (tensor.own && reference.touched[nest.tile].bytes <= buffer_bytes_);
    if (copy) {
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

  /// Does each access of \p reference write one line, all of it?
  bool writes_whole_lines(const FarReference& reference) const {
    const auto& nest = walk_.statements[reference.statement];
    return writes_lines(reference) && nest.lane_iterator >= 0 &&
           reference.access->aligned[static_cast<std::size_t>(nest.lane_iterator)] >= nest.lanes;
  }

  /// Does one access of \p reference write as much as a line has?
  bool writes_lines(const FarReference& reference) const {
    const auto& nest = walk_.statements[reference.statement];
    auto lanes = reference.access->changes(nest.lane_iterator) ? nest.lanes : 1;
    auto element = cluster_.tensors[static_cast<std::size_t>(reference.access->tensor)].element;
    return reference.weight > 1 && reference.touched.back().runs == 1 && lanes * element >= Target::cache_line;
  }

  /// Accesses of \p reference that wait for lines at once: as many as the queues of a core hold. A whole line takes two
  /// places of them, and waits as long as its way from the level that holds it, while others begin.
  double most_under_way(const FarReference& reference) const {
    const auto& rates = cluster_.rates;
    if (reference.weight == 1) return rates.loads_under_way;
    if (!writes_lines(reference)) return rates.stores_under_way;
    auto bytes = reference.touched.front().bytes;
    auto latency = bytes <= static_cast<double>(cluster_.target.l2_bytes)   ? rates.l2_latency
                   : bytes <= static_cast<double>(cluster_.target.l3_bytes) ? rates.l3_latency
                                                                            : rates.memory_latency;
    auto accesses =
        trips_of(reference, walk_.statements[reference.statement], walk_.statements[reference.statement].loops.size());
    auto apart = core_cycles_[reference.statement] / accesses;
    return std::max(std::min(rates.stores_under_way / 2, latency / apart), 1.0);
  }

  /// What the innermost accesses touch that a core has under way at once, reads no more than it looks ahead to.
  TouchedLines under_way(const FarReference& reference) const {
    const auto& nest = walk_.statements[reference.statement];
    auto innermost = reference.square ? nest.points : nest.loops.size();
    const auto& statement = cluster_.statements[reference.statement];
    auto spans = nest.spans(statement, innermost);
    if (nest.lane_iterator >= 0) spans[static_cast<std::size_t>(nest.lane_iterator)] = nest.lanes;
    auto accesses = reference.touched.back().runs, instructions = vector_instructions;
    auto most = most_under_way(reference);
    auto window = reference.weight > 1 ? std::numeric_limits<double>::infinity() : cluster_.rates.window;
    for (auto i = nest.loops.size(); i-- > 0 && accesses < most && instructions < window;) {
      if (i < nest.points || !nest.unrolled) instructions += loop_instructions;
      bool kept = in_register(reference, nest, i);
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
  const NestWalk& walk_;
  const std::vector<double>& core_cycles_;
  double buffer_bytes_;
  std::vector<FarReference> references_;
};

}  // namespace

std::vector<FarReference> far_references(const PricedCluster& cluster, const NestWalk& walk,
                                         const std::vector<double>& core_cycles, double buffer_bytes) {
  return ReferenceMaker(cluster, walk, core_cycles, buffer_bytes).run();
}

double trips_of(const FarReference& reference, const StatementWalk& nest, std::size_t loop) {
  double result = 1;
  for (std::size_t i = 0; i < loop; ++i)
    if (!in_register(reference, nest, i)) result *= nest.loops[i].trips;
  return result;
}

}  // namespace tc::strategy
