#include "tc/strategy/price/core_price.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tc/strategy/price/guarded_steps.h"
#include "tc/strategy/price/touched_lines.h"

namespace tc::strategy {
namespace {

/// Trips up to which processors foresee the end of a loop.
constexpr double foreseen_trips = 24;

/// Vectors a step, a load or a store each, and what rearranges their lanes.
struct VectorCost {
  double accesses = 1, shuffles = 0;
  double elements = 0;  ///< that lie apart, each accessed alone
};

class CorePricer {
 public:
  CorePricer(const PricedCluster& cluster, const NestWalk& walk, int index)
      : cluster_(cluster),
        statement_(cluster.statements[static_cast<std::size_t>(index)]),
        nest_(walk.statements[static_cast<std::size_t>(index)]),
        is_kept_(walk.kept[static_cast<std::size_t>(statement_.write.tensor)]) {
    steps_ = nest_.trips_above(nest_.points) * guarded_steps(statement_, nest_);
    for (std::size_t i = nest_.points; i < nest_.loops.size(); ++i) vectors_ *= nest_.loops[i].trips;
    auto element = cluster.tensors[static_cast<std::size_t>(statement_.write.tensor)].element;
    share_ = cluster.share_of_vector(nest_.lanes, element);
  }

  CorePrice run() {
    const auto& rates = cluster_.rates;
    if (nest_.multiplies_matrices()) return matrix_product();
    add_body();
    for (std::size_t i = 0; i < statement_.reads.size(); ++i) add_read(static_cast<int>(i));
    add_write();
    add_loops();
    result_.instructions /= rates.instructions;
    return result_;
  }

 private:
  /// Tiles of 16 rows: one instruction each `steps` cycles, of two loads that bring its operands.
  CorePrice matrix_product() {
    double points = 1;
    for (std::size_t i = nest_.points; i < nest_.loops.size(); ++i) points *= nest_.loops[i].span;
    auto terms = static_cast<double>(nest_.unit->width * nest_.unit->steps);
    auto side = static_cast<double>(Target::matrix_tile_rows);
    result_.operations = steps_ * points / (side * side * terms) * side;
    return result_;
  }

  void add_body() {
    const auto& body = statement_.body;
    auto vectors = steps_ * vectors_;
    if (nest_.unit) vectors /= nest_.unit->width;
    const auto& rates = cluster_.rates;
    const auto simple = body.simple - computed_before();
    result_.operations +=
        vectors * share_ *
        (simple / rates.operations + body.divisions * rates.division + body.functions * rates.function);
    result_.instructions += vectors * (simple + body.divisions + body.functions * rates.function);
    for (const auto& invariant : body.invariants) add_invariant(invariant);
    if (asks_in_each_step(statement_, nest_))
      for (const auto& guard : statement_.guards)
        result_.instructions += steps_ * static_cast<double>(guard.forms.size());
  }

  /// Of the operations of a point, those on a value that other points of a window have computed.
  double computed_before() const {
    double share = statement_.reads.empty() ? 1 : 0;
    for (const auto& read : statement_.reads) share = std::max(share, window_share(read));
    return statement_.body.of_value * (1 - share);
  }

  /// What is computed of \p invariant more than once, in loops around which it changes less often than they go round.
  void add_invariant(const BodyOperations::Invariant& invariant) {
    const auto changes = [&](int iterator) {
      return iterator >= 0 && invariant.changes[static_cast<std::size_t>(iterator)];
    };
    double times = 1, values = 1, here = 1;
    for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
      const auto& loop = nest_.loops[i];
      const bool changing = changes(loop.iterator), unrolled = nest_.unrolled && i >= nest_.points;
      if (!unrolled) here *= loop.trips;
      if (changing) values *= loop.trips;
      if (changing) times = unrolled ? times * loop.trips : here;
    }
    const auto more = std::max(times - values, 0.0);
    const auto& rates = cluster_.rates;
    result_.operations += more * (invariant.simple / rates.operations + invariant.divisions * rates.division +
                                  invariant.functions * rates.function);
    result_.instructions += more * (invariant.simple + invariant.divisions + invariant.functions * rates.function);
  }

  /// What one vector of \p access along the lanes costs.
  VectorCost vector_cost(const PricedAccess& access, bool packed) const {
    int along = nest_.lane_iterator;
    auto part = cluster_.rates.part;
    if (along >= 0 && !access.changes(along) && &access != &statement_.write) return {std::min(part, share_), 0};
    if (along < 0 || packed || !access.changes(along)) return {share_, 0};
    auto stride = access.strides[static_cast<std::size_t>(along)];
    if (access.blocks[static_cast<std::size_t>(along)].size % nest_.lanes != 0) stride = polyhedral::unknown_stride;
    auto lanes = static_cast<double>(nest_.lanes);
    auto element = cluster_.tensors[static_cast<std::size_t>(access.tensor)].element;
    if (stride == 1) {
      auto crossing = std::max(lanes - access.aligned[static_cast<std::size_t>(along)], 0.0);
      return {share_ + part * crossing * element / Target::cache_line, 0};
    }
    if (stride == -1) return {share_ + part * lanes * element / Target::cache_line, share_};
    if (auto step = std::abs(stride);
        stride != polyhedral::unknown_stride && step <= few_apart && &access != &statement_.write)
      return {share_ * static_cast<double>(step), share_ * static_cast<double>(step)};
    const auto squares = moves_squares(access) ? squares_of(nest_, statement_, access) : Squares{};
    const auto whole = squares.side > 0 ? squares.whole : 0, parts = std::max(lanes / std::max(squares.side, 1.0), 1.0),
               alone = lanes * (1 - whole);
    return {part * (whole * parts + alone),
            part * (whole * parts * std::log2(lanes) + alone * (&access == &statement_.write ? scattered_shuffles : 1)),
            alone};
  }
  /// Of an element that goes from a vector to a place of its own: it is brought to the lowest lane, and taken out.
  static constexpr double scattered_shuffles = 2;

  /// Registers transpose squares of what is read, not along a reduction, and of values that are written once.
  bool moves_squares(const PricedAccess& access) const {
    if (&access != &statement_.write) return statement_.write.changes(nest_.lane_iterator);
    return !statement_.accumulates && !statement_.reads.empty();
  }

  /// Points of a step, in vectors, along loops for which \p counts.
  template <typename Counts>
  double points(const Counts& counts) const {
    double result = 1;
    for (std::size_t i = nest_.points; i < nest_.loops.size(); ++i)
      if (counts(nest_.loops[i].iterator)) result *= nest_.loops[i].trips;
    return result;
  }

  /// Vectors of \p access that a step has.
  double different(const PricedAccess& access) const {
    if (nest_.unrolled || nest_.points == nest_.loops.size())
      return points([&](int i) { return access.changes(i); }) * window_share(access) * unread_share(access) /
             shared_points(access);
    for (auto i = nest_.loops.size(); i-- > nest_.points;)
      if (nest_.loops[i].trips > 1)
        return access.changes(nest_.loops[i].iterator) ? vectors_ : vectors_ / nest_.loops[i].trips;
    return vectors_;
  }

  /// Of the vectors that the points of a step read, the share that no read before it has at other points:
  ///
  ///   X(i - 1) + X(i) + X(i + 1), 8 points of i      8 + 1 + 1 vectors
  double unread_share(const PricedAccess& access) const {
    if (access.near.empty() || is_packed(static_cast<int>(&access - statement_.reads.data()))) return 1;
    double most = 0;
    for (const auto& other : access.near) {
      if (is_packed(other.read)) continue;
      double both = 1;
      for (const auto& shift : other.shifts) both *= shared_along(access, shift);
      most = std::max(most, both);
    }
    return 1 - most;
  }
  /// The share of the points of a step that \p access has, \p shift away, at other points.
  double shared_along(const PricedAccess& access, const Shift& shift) const {
    for (std::size_t i = nest_.points; i < nest_.loops.size(); ++i) {
      if (nest_.loops[i].iterator < 0) continue;
      auto step = access.strides[static_cast<std::size_t>(nest_.loops[i].iterator)];
      if (step == 0 || step == polyhedral::unknown_stride) continue;
      if (nest_.loops[i].iterator == nest_.lane_iterator) step *= nest_.lanes;
      if (shift.by * shift.stride % step != 0) continue;
      auto apart = std::abs(static_cast<double>(shift.by * shift.stride / step));
      if (apart < nest_.loops[i].trips) return 1 - apart / nest_.loops[i].trips;
    }
    return 0;
  }

  /// Points of a step that read one element of \p access, which a quotient of their iterator subscripts.
  double shared_points(const PricedAccess& access) const {
    double result = 1;
    for (std::size_t i = nest_.points; i < nest_.loops.size(); ++i) {
      if (nest_.loops[i].iterator < 0 || nest_.loops[i].iterator == nest_.lane_iterator) continue;
      auto along = static_cast<std::size_t>(nest_.loops[i].iterator);
      if (access.blocks[along].size > 1 && access.strides[along] == 0)
        result *= std::min(nest_.loops[i].trips, static_cast<double>(access.blocks[along].size));
    }
    return result;
  }

  double window_share(const PricedAccess& access) const {
    if (!nest_.window || !access.changes(nest_.window_row) || !access.changes(nest_.window_iterator)) return 1;
    double rows = points([&](int iterator) { return iterator == nest_.window_row; });
    return ((rows - 1) * nest_.window->slide_step + nest_.window_width) / (rows * nest_.window_width);
  }

  /// How often a step's vectors of \p access are needed: not where the loop right above leaves them as they are.
  double steps_of(const PricedAccess& access) const {
    if (nest_.points == 0) return steps_;
    const auto& innermost = nest_.loops[nest_.points - 1];
    bool stays = nest_.points > nest_.tile && innermost.iterator >= 0 && !access.changes(innermost.iterator);
    return stays ? steps_ / innermost.trips : steps_;
  }

  bool is_packed(int read) const { return nest_.copy_of(read) != nullptr; }

  void add_read(int number) {
    const auto& read = statement_.reads[static_cast<std::size_t>(number)];
    if (repeats(nest_, statement_, number)) return;
    auto cost = vector_cost(read, is_packed(number));
    auto vectors = steps_of(read) * different(read);
    if (read.guarded && statement_.guards.empty()) cost.accesses += guarded_access;
    if (masks_lanes(statement_, nest_)) result_.loops += vectors * cost.elements * element_under_condition;
    result_.loads += vectors * cost.accesses / cluster_.rates.loads;
    result_.shuffles += vectors * cost.shuffles / cluster_.rates.shuffles;
    result_.instructions += vectors * (cost.accesses + cost.shuffles);
  }

  /// Cycles of an element that is read alone if a condition of its lane's own holds: its bit of the mask is tested and jumped over
  /// (13 on a Zen 4, a sum of windows over channels-last rows).
  static constexpr double element_under_condition = 13;

  /// What a condition adds to an access that happens under it: a mask.
  static constexpr double guarded_access = 0.5;

  bool is_of_unit_or_window(int iterator) const {
    return (nest_.unit && nest_.unit_iterator == iterator) || (nest_.window && nest_.window_iterator == iterator);
  }
  /// Accumulators of a step, in vectors.
  double accumulators() const {
    return points([&](int i) { return !is_of_unit_or_window(i); });
  }
  /// Vectors that a step keeps beside its accumulators: those that all rows use.
  double kept_vectors() const {
    double most = 0;
    for (const auto& read : statement_.reads)
      if (read.changes(nest_.lane_iterator)) most = std::max(most, different(read) == vectors_ ? 1 : different(read));
    return most + 1;
  }
  /// Accumulators that registers have no room for.
  double spilled() const { return std::max(0.0, accumulators() + kept_vectors() - cluster_.target.vector_registers()); }
  /// Blocks of a reduction whose lanes run along it keep a vector for each result in memory.
  bool keeps_lanes_of_blocks() const {
    return nest_.with_private_sums && nest_.lane_iterator >= 0 && !statement_.write.changes(nest_.lane_iterator);
  }
  bool in_registers() const { return (nest_.unrolled || accumulators() == 1) && !keeps_lanes_of_blocks(); }

  void add_write() {
    auto cost = vector_cost(statement_.write, false);
    if (!statement_.reduces)
      return add_stores(steps_ * different(statement_.write), is_kept_ ? VectorCost{share_, 0} : cost,
                        statement_.accumulates);
    auto tiles = nest_.trips_above(nest_.tile);
    add_combined_lanes(tiles);
    if (in_registers()) {
      add_end_of_tiles(tiles * points([&](int i) { return statement_.write.changes(i); }), cost);
      add_chain(accumulators(), cluster_.rates.operation_latency);
      if (auto more = spilled(); more > 0) {
        add_stores(steps_ * more, {share_, 0}, true);
        add_far_accumulators();
      }
      result_.loops += tiles * start_of_tile * cluster_.rates.operation_latency / tiles_at_once(tiles);
    } else {
      add_end_of_tiles(tiles * points([&](int i) { return statement_.write.changes(i); }), cost);
      add_stores(steps_ * vectors_ + tiles * accumulators(), {share_, 0}, true);
      add_far_accumulators();
      add_chain(accumulators(), cluster_.rates.operation_latency + cluster_.rates.forward_latency);
      result_.loops += tiles * start_of_tile * (cluster_.rates.operation_latency + cluster_.rates.forward_latency) /
                       tiles_at_once(tiles);
    }
  }

  /// Accumulators that the first cache has no room for come from the second one and go back.
  void add_far_accumulators() {
    auto element = cluster_.tensors[static_cast<std::size_t>(statement_.write.tensor)].element;
    auto bytes = nest_.lanes * element;
    if (accumulators() * bytes <= static_cast<double>(cluster_.target.l1_bytes)) return;
    result_.stores += steps_ * vectors_ * 2 * bytes / cluster_.rates.l2_bytes;
  }

  /// Lanes along a reduction are combined to a result in as many steps as they can be halved.
  void add_combined_lanes(double tiles) {
    if (nest_.lane_iterator < 0 || statement_.write.changes(nest_.lane_iterator)) return;
    const auto& rates = cluster_.rates;
    auto steps = tiles * points([&](int i) { return statement_.write.changes(i); }) * std::log2(nest_.lanes);
    result_.shuffles += steps * rates.part / rates.shuffles;
    result_.operations += steps * rates.part / rates.operations;
    result_.instructions += 2 * steps;
  }

  /// Results of tiles go to memory when nothing else is left to do. Those of a cut reduction are added to what is there.
  void add_end_of_tiles(double vectors, const VectorCost& cost) {
    const auto& rates = cluster_.rates;
    auto times = is_kept_ ? 1 : 2;
    auto stores = vectors * cost.accesses / rates.stores, loads = vectors * cost.accesses * (times - 1) / rates.loads,
         shuffles = vectors * cost.shuffles * times / rates.shuffles;
    const auto waits = vectors * cost.elements * share_that_collides();
    result_.loops +=
        std::max({stores, loads, shuffles}) + waits * (rates.write_collision + (times - 1) * rates.read_collision);
  }
  /// Of the lines that a tile writes one element of after the other, those that are gone from the first cache when the next
  /// element follows: others have filled their set.
  double share_that_collides() const {
    if (is_kept_) return 0;
    const auto period = cluster_.rates.l1_period, ways = static_cast<double>(cluster_.target.l1_bytes) / period;
    return touched_lines(cluster_, statement_, statement_.write, nest_.spans(statement_, nest_.points))
        .share_sent_away(period, ways);
  }

  /// Latencies of an operation that go by until a tile that begins is at its speed, and until its last sums are there, where no
  /// other tile has begun meanwhile.
  static constexpr double start_of_tile = 2;

  /// Chains of tiles that a core sees at once run beside each other.
  void add_chain(double chains, double latency) {
    auto vectors = vectors_;
    if (nest_.unit) vectors /= nest_.unit->width;
    auto tiles = nest_.trips_above(nest_.tile);
    result_.latency += steps_ * vectors / (chains * tiles_at_once(tiles)) * latency;
  }

  /// How many of \p tiles a core sees beside each other.
  double tiles_at_once(double tiles) const {
    return std::max(cluster_.rates.window / std::max(result_.instructions / tiles, 1.0), 1.0);
  }

  void add_stores(double vectors, const VectorCost& cost, bool and_loads) {
    result_.stores += vectors * cost.accesses / cluster_.rates.stores;
    if (and_loads) result_.loads += vectors * cost.accesses / cluster_.rates.loads;
    result_.shuffles += vectors * cost.shuffles * (1 + and_loads) / cluster_.rates.shuffles;
    result_.instructions += vectors * (cost.accesses + cost.shuffles) * (1 + and_loads);
  }

  void add_loops() {
    double around = 1;
    auto end = nest_.unrolled ? nest_.points : nest_.loops.size();
    for (std::size_t i = 0; i < end; ++i) {
      if (nest_.loops[i].trips > foreseen_trips) result_.loops += around * cluster_.rates.branch_miss;
      around *= nest_.loops[i].trips;
      result_.instructions += around * loop_instructions;
    }
  }

  const PricedCluster& cluster_;
  const PricedStatement& statement_;
  const StatementWalk& nest_;
  bool is_kept_;  ///< what it writes
  double steps_ = 1, vectors_ = 1;
  double share_ = 1;  ///< of the time of a whole vector that one of the statement takes
  CorePrice result_;
};

}  // namespace

CorePrice core_price(const PricedCluster& cluster, const NestWalk& walk, int index) {
  return CorePricer(cluster, walk, index).run();
}

}  // namespace tc::strategy
