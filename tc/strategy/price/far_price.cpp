#include "tc/strategy/price/far_price.h"

#include <algorithm>
#include <optional>

#include "tc/base/contains.h"
#include "tc/strategy/price/touched_lines.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::PackMapping;

/// An access with all it touches from each of its loops on.
struct Reference {
  std::size_t statement = 0;
  const PricedAccess* access = nullptr;
  double weight = 1;                  ///< 2: what comes in goes back
  const PackMapping* pack = nullptr;  ///< it goes to this copy
  bool reads_for_copy = false;        ///< it is the copy's own read
  std::size_t place = 0;              ///< of the copy: the first loop below it
  bool kept = false;                  ///< a buffer of one tile
  std::vector<TouchedLines> touched;  ///< from loop number i on
};

class FarPricer {
 public:
  FarPricer(const PricedCluster& cluster, const ClusterMapping& mapping, const std::vector<StatementNest>& nests,
            double buffer_bytes)
      : cluster_(cluster), mapping_(mapping), nests_(nests), buffer_bytes_(buffer_bytes) {
    for (std::size_t s = 0; s < cluster.statements.size(); ++s) {
      const auto& statement = cluster.statements[s];
      add(s, statement.write, nullptr, 2);
      for (std::size_t r = 0; r < statement.reads.size(); ++r)
        add(s, statement.reads[r], pack_of(s, static_cast<int>(r)), 1);
    }
    shared_ = nests.empty() ? 0 : nests.front().tile;
  }

  FarBytes into(double capacity, double period) const {
    FarBytes result;
    if (auto depth = fitting_depth(capacity, period)) {
      if (*depth == 0) return result;
      for (std::size_t i = 0; i < references_.size(); ++i)
        if (is_first_of_its_kind(i, *depth - 1)) result += shared_traffic(references_[i], *depth - 1);
    } else {
      for (const auto& reference : references_) result += own_traffic(reference, capacity, period);
    }
    return result;
  }

 private:
  const PackMapping* pack_of(std::size_t statement, int read) const {
    for (const auto& pack : mapping_.packed)
      if (pack.statement == cluster_.statements[statement].entry.id && pack.read == read) return &pack;
    return nullptr;
  }

  void add(std::size_t s, const PricedAccess& access, const PackMapping* pack, double weight) {
    const auto& nest = nests_[s];
    Reference reference;
    reference.statement = s;
    reference.access = &access;
    reference.weight = weight;
    reference.pack = pack;
    if (pack) reference.place = pack->once ? 0 : pack->below_blocks ? nest.blocks : nest.copies;
    const auto& tensor = cluster_.tensors[static_cast<std::size_t>(access.tensor)];
    for (std::size_t i = 0; i <= nest.loops.size(); ++i) {
      auto spans = nest.spans(cluster_.statements[s], pack ? std::max(i, reference.place) : i);
      reference.touched.push_back(pack ? copied_lines(access, tensor.element, spans)
                                       : touched_lines(cluster_, access, spans));
    }
    bool staged = contains(mapping_.staged, tensor.name);
    reference.kept = staged || (tensor.own && reference.touched[nest.tile].bytes <= buffer_bytes_);
    if (pack) {
      auto source = reference;
      source.reads_for_copy = true;
      for (std::size_t i = 0; i <= nest.loops.size(); ++i)
        source.touched[i] =
            touched_lines(cluster_, access, nest.spans(cluster_.statements[s], std::min(i, reference.place)));
      references_.push_back(std::move(source));
    }
    references_.push_back(std::move(reference));
  }

  /// What is in a cache, and how full it makes the fullest set.
  struct Room {
    double bytes = 0, deepest = 0;

    void add(const TouchedLines& touched, double period) {
      bytes += touched.bytes;
      deepest = std::max(deepest, touched.lines_of_a_set(period) * period);
    }
    bool fits(double capacity) const { return bytes <= capacity && deepest <= capacity; }
  };

  /// Adds what \p reference takes from loop \p depth on, one of the cluster's members or below all.
  void add_to(Room& room, const Reference& reference, std::size_t depth, double period) const {
    if (reference.reads_for_copy && depth > reference.place) return;
    room.add(reference.touched[reference.kept ? std::max(depth, shared_) : depth], period);
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

  /// The least number of a loop of the members from which on everything fits; nothing where one tile does not.
  std::optional<std::size_t> fitting_depth(double capacity, double period) const {
    for (std::size_t depth = 0; depth <= shared_; ++depth) {
      Room room;
      for (std::size_t i = 0; i < references_.size(); ++i)
        if (is_first_of_its_kind(i, depth)) add_to(room, references_[i], depth, period);
      if (room.fits(capacity)) return depth;
    }
    return std::nullopt;
  }

  FarBytes times(const TouchedLines& touched, double trips, double weight) const {
    constexpr double page = 4096;
    FarBytes result{touched.bytes * trips * weight};
    (weight > 1 ? result.written_runs : result.runs) = touched.runs * trips;
    auto pages = touched.runs * std::min(touched.row_step / page, 1.0);
    if (pages > cluster_.rates.pages) result.pages = pages * trips;
    return result;
  }

  FarBytes shared_traffic(const Reference& reference, std::size_t loop) const {
    const auto& nest = nests_[reference.statement];
    if (reference.kept) return {};
    bool is_copy = reference.pack && !reference.reads_for_copy;
    if (is_copy && loop < reference.place) return {};
    auto made = is_copy ? times(reference.touched[reference.place], nest.trips_above(reference.place), 2) : FarBytes{};
    auto from = reference.reads_for_copy ? std::min(loop, reference.place) : loop;
    made += times(reference.touched[from], nest.trips_above(from), reference.weight);
    return made;
  }

  /// Of a reference whose statement is on its own.
  FarBytes own_traffic(const Reference& reference, double capacity, double period) const {
    const auto& nest = nests_[reference.statement];
    if (reference.reads_for_copy)
      return times(reference.touched[reference.place], nest.trips_above(reference.place), 1);
    auto loop = nest.loops.size();
    for (std::size_t depth = nest.tile; depth < nest.loops.size() && loop == nest.loops.size(); ++depth) {
      Room room;
      for (const auto& other : references_)
        if (other.statement == reference.statement && !other.reads_for_copy) room.add(other.touched[depth], period);
      if (room.fits(capacity)) loop = depth == 0 ? 0 : depth - 1;
    }
    if (reference.kept && loop < nest.tile) return {};
    return times(reference.touched[loop], trips_of(reference, loop), reference.weight);
  }

  /// How often \p reference runs loop number \p loop: registers keep it along points on which it does not depend.
  double trips_of(const Reference& reference, std::size_t loop) const {
    const auto& nest = nests_[reference.statement];
    auto result = nest.trips_above(std::min(loop, nest.points));
    for (auto i = nest.points; i < loop; ++i)
      if (!nest.unrolled || reference.access->changes(nest.loops[i].iterator)) result *= nest.loops[i].trips;
    return result;
  }

  const PricedCluster& cluster_;
  const ClusterMapping& mapping_;
  const std::vector<StatementNest>& nests_;
  double buffer_bytes_;
  std::size_t shared_ = 0;  ///< loops of the members
  std::vector<Reference> references_;
};

}  // namespace

FarBytes& FarBytes::operator+=(const FarBytes& other) {
  bytes += other.bytes;
  runs += other.runs;
  written_runs += other.written_runs;
  pages += other.pages;
  return *this;
}

std::array<FarBytes, 3> far_bytes(const PricedCluster& cluster, const ClusterMapping& mapping,
                                  const std::vector<StatementNest>& nests, double buffer_bytes) {
  FarPricer pricer(cluster, mapping, nests, buffer_bytes);
  const auto& target = cluster.target;
  return {pricer.into(static_cast<double>(target.l1_bytes), cluster.rates.l1_period),
          pricer.into(static_cast<double>(target.l2_bytes), cluster.rates.l2_period),
          pricer.into(static_cast<double>(target.l3_bytes), cluster.rates.l2_period)};
}

}  // namespace tc::strategy
