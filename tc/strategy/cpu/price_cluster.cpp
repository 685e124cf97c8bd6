#include "tc/strategy/cpu/price_cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/cost/machine_rates.h"
#include "tc/strategy/cost/vector_runs.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterMapping;
using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::Scop;
using polyhedral::Statement;
using polyhedral::Tensor;

/// What a statement has around it, outermost first.
struct Loop {
  int iterator = -1;
  double trips = 1;   ///< iterations of the loop
  double extent = 1;  ///< values of the iterator in one execution of the loop
};

/// An access by its strides: elements from one iteration of each iterator to the next.
struct Moves {
  const Access* access;
  const Tensor* tensor;
  std::vector<std::int64_t> strides;
  bool written = false;

  bool changes(int iterator) const { return iterator >= 0 && strides[iterator] != 0; }
  double element() const { return byte_size(tensor->type); }
  double tensor_bytes() const {
    double result = element();
    for (auto extent : tensor->extent) result *= static_cast<double>(std::max<std::int64_t>(extent, 1));
    return result;
  }
};

/// A statement of a cluster with its loops and accesses.
struct View {
  const ClusterStatement* entry;
  const Statement* statement;
  std::vector<polyhedral::Interval> box;
  std::vector<Loop> loops;
  std::size_t members = 0;  ///< loops that are those of the cluster's members
  std::vector<Moves> moves;
  bool blocked = false;  ///< its operands are packed or its loops cut into blocks

  double extent(int iterator) const { return static_cast<double>(std::max<std::int64_t>(box[iterator].extent(), 1)); }
  double instances() const {
    double result = 1;
    for (std::size_t i = 0; i < box.size(); ++i) result *= extent(static_cast<int>(i));
    return result;
  }
};

Moves moves_of(const Scop& scop, const Statement& statement, const Access& access, bool written) {
  Moves result{&access, &scop.tensor(polyhedral::range_name(access.relation)), {}, written};
  for (int i = 0; i < polyhedral::dimensions(statement.domain); ++i)
    result.strides.push_back(polyhedral::stride(scop, access, i));
  return result;
}

/// The order of the cluster's members, outermost first.
std::vector<int> member_order(const ClusterMapping& mapping) {
  std::vector<int> result;
  auto add = [&](int member) {
    if (member >= 0 && !contains(result, member)) result.push_back(member);
  };
  add(mapping.outermost);
  for (int member : mapping.above) add(member);
  for (std::size_t i = 0; i < mapping.members.size(); ++i) add(static_cast<int>(i));
  return result;
}

View view_of(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping,
             const ClusterStatement& entry) {
  View view{&entry, &scop.statement(entry.id), {}, {}, 0, {}, false};
  view.box = polyhedral::box(view.statement->domain);
  auto points = [&](int member) { return static_cast<double>(mapping.members[member].points); };
  for (int member : member_order(mapping)) {
    int iterator = entry.outer[member];
    auto extent = static_cast<double>(std::max<std::int64_t>(cluster.members[member].extent(), 1));
    view.loops.push_back({iterator, std::ceil(extent / points(member)), extent});
  }
  view.members = view.loops.size();
  for (const auto& loop : entry.inner)
    if (loop.iterator >= 0)
      view.loops.push_back({loop.iterator, view.extent(loop.iterator), view.extent(loop.iterator)});
  for (int member : member_order(mapping))
    if (points(member) > 1) view.loops.push_back({entry.outer[member], points(member), points(member)});
  view.moves.push_back(moves_of(scop, *view.statement, view.statement->write, true));
  for (const auto& read : view.statement->reads) view.moves.push_back(moves_of(scop, *view.statement, read, false));
  for (const auto& pack : mapping.packed) view.blocked = view.blocked || pack.statement == entry.id;
  view.blocked = view.blocked || mapping.reduction.statement == entry.id;
  return view;
}

/// Bytes of the lines that \p moves touches in one execution of the loops of \p view from number \p first on.
double touched_bytes(const View& view, const Moves& moves, std::size_t first) {
  std::map<int, double> extents;
  for (std::size_t i = first; i < view.loops.size(); ++i)
    if (view.loops[i].iterator >= 0) {
      auto& extent = extents[view.loops[i].iterator];
      extent = std::max(extent, view.loops[i].extent);
    }
  std::vector<std::pair<std::int64_t, double>> steps;
  for (const auto& [iterator, extent] : extents) {
    auto stride = moves.strides[iterator];
    if (stride == polyhedral::unknown_stride) return moves.tensor_bytes();
    if (stride != 0) steps.emplace_back(std::abs(stride), extent);
  }
  std::sort(steps.begin(), steps.end());
  double run = 1, runs = 1, line = Target::cache_line / moves.element();
  for (auto [stride, extent] : steps) {
    auto step = static_cast<double>(stride);
    if (step < run + line)
      run += (extent - 1) * step;
    else
      runs *= extent;
  }
  auto lines = run <= 1 ? 1 : std::ceil(run / line);
  return std::min(runs * lines * Target::cache_line, std::max<double>(moves.tensor_bytes(), Target::cache_line));
}

/// Bytes that come into a cache of \p capacity for \p moves, as the header says.
double bytes_into(const View& view, const Moves& moves, double capacity) {
  double all = touched_bytes(view, moves, 0), room = capacity / 2;
  if (all <= room) return 0;
  if (view.blocked) return all;
  double around = 1;
  for (std::size_t i = 0; i < view.loops.size(); ++i) {
    if (touched_bytes(view, moves, i + 1) <= room) return around * touched_bytes(view, moves, i);
    around *= view.loops[i].trips;
  }
  return around * Target::cache_line;
}

class Pricer {
 public:
  Pricer(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping, std::int64_t buffer_bytes,
         const Target& target)
      : scop_(scop), mapping_(mapping), target_(target), buffer_bytes_(static_cast<double>(buffer_bytes)) {
    for (const auto& entry : cluster.statements) views_.push_back(view_of(scop, cluster, mapping, entry));
  }

  double run() const {
    const auto at_l1 = traffic(static_cast<double>(target_.l1_bytes));
    const auto at_l2 = traffic(static_cast<double>(target_.l2_bytes));
    const auto at_l3 = traffic(static_cast<double>(target_.l3_bytes));
    int cores = mapping_.parallel ? target_.cores : 1, far_cores = std::min(cores, cores_that_fill_memory);
    double result = 0;
    for (std::size_t i = 0; i < views_.size(); ++i)
      result += std::max({issue(views_[i]) / cores, at_l1[i] / l2_bytes_a_cycle / cores,
                          at_l2[i] / l3_bytes_a_cycle / cores, at_l3[i] / memory_bytes_a_cycle / far_cores});
    return result;
  }

 private:
  polyhedral::StatementMapping lanes_of(const View& view) const {
    auto result = mapping_.statement(view.entry->id);
    if (result.iterator < 0 || result.lanes < 1) result.lanes = 1;
    return result;
  }
  bool is_matrix_product(const View& view) const {
    return mapping_.dot.of_matrices() && mapping_.dot.statement == view.entry->id;
  }

  /// Points of the register tile of \p view along members for which \p counts, in vectors.
  template <typename Counts>
  double points(const View& view, const Counts& counts) const {
    auto lanes = lanes_of(view);
    double result = 1;
    for (std::size_t m = 0; m < mapping_.members.size(); ++m) {
      int iterator = view.entry->outer[m];
      if (iterator < 0 || !counts(iterator)) continue;
      auto count = static_cast<double>(mapping_.members[m].points);
      result *= iterator == lanes.iterator ? std::max(1.0, count / lanes.lanes) : count;
    }
    return result;
  }

  bool is_in_loops(const View& view) const { return !view.entry->inner.empty(); }
  bool has_tile(const View& view) const { return mapping_.register_tile && is_in_loops(view); }

  /// Accumulators of a reduction that are live in its loops.
  double accumulators(const View& view) const {
    auto lanes = lanes_of(view);
    double tile = has_tile(view) ? points(view, [&](int i) { return view.moves[0].changes(i); }) : 1;
    return tile * std::max(lanes.unroll, 1);
  }
  bool in_registers(const View& view) const {
    return accumulators(view) <= static_cast<double>(target_.vector_registers());
  }

  /// Accesses a vector of instances, of one read.
  double loads(const View& view, const Moves& moves, bool packed) const {
    auto lanes = lanes_of(view);
    auto stride = lanes.iterator < 0 ? 0 : moves.strides[lanes.iterator];
    double each = lanes.lanes == 1 || stride == 0 || std::abs(stride) == 1 || packed ? 1 : lanes.lanes;
    if (lanes.lanes > 1 && std::abs(stride) == 1 && !packed &&
        !is_aligned(scop_, *view.statement, *moves.access, lanes.iterator, lanes.lanes))
      each += lanes.lanes * moves.element() / Target::cache_line;
    if (has_tile(view) && in_registers(view))
      return each * window_share(view, moves) / points(view, [&](int i) { return !moves.changes(i); });
    int innermost = is_in_loops(view) ? view.entry->inner.back().iterator : -1;
    bool stays = innermost >= 0 && innermost != lanes.iterator && !moves.changes(innermost) && stride == 0;
    return stays ? each / view.extent(innermost) : each;
  }

  /// Of the elements that the points of a tile read of a window that slides along its rows, those that differ.
  double window_share(const View& view, const Moves& moves) const {
    const auto& window = mapping_.window;
    if (window.iterator < 0 || window.statement != view.entry->id) return 1;
    if (!moves.changes(window.row) || !moves.changes(window.iterator)) return 1;
    double rows = points(view, [&](int iterator) { return iterator == window.row; });
    return ((rows - 1) * window.step + window.width) / (rows * window.width);
  }

  bool is_packed(const View& view, std::size_t read) const {
    return std::any_of(mapping_.packed.begin(), mapping_.packed.end(), [&](const polyhedral::PackMapping& pack) {
      return pack.statement == view.entry->id && pack.read == static_cast<int>(read);
    });
  }

  /// Cycles of the instances of \p view with everything in the first cache.
  double issue(const View& view) const {
    auto lanes = lanes_of(view);
    if (is_matrix_product(view)) return view.instances() / (lanes.lanes * mapping_.dot.width * mapping_.dot.steps);
    double vectors = view.instances();
    if (lanes.iterator >= 0)
      vectors *= std::ceil(view.extent(lanes.iterator) / lanes.lanes) / view.extent(lanes.iterator);
    double reads = 0, operations = std::max<double>(1, static_cast<double>(view.statement->reads.size()) - 1);
    for (std::size_t i = 0; i + 1 < view.moves.size(); ++i) reads += loads(view, view.moves[i + 1], is_packed(view, i));
    const auto& write = view.moves[0];
    auto stride = lanes.iterator < 0 ? 0 : write.strides[lanes.iterator];
    double writes = lanes.lanes == 1 || stride == 0 || std::abs(stride) == 1 ? 1 : lanes.lanes;
    bool reduces = view.statement->accumulates && is_in_loops(view);
    if (reduces && in_registers(view)) writes = 0;
    if (view.statement->accumulates) reads += writes;
    double throughput =
        std::max(operations / vector_operations_a_cycle, reads / loads_a_cycle + writes / stores_a_cycle);
    double latency = reduces && in_registers(view) ? operation_latency / accumulators(view) : 0;
    return vectors * std::max(throughput, latency);
  }

  /// Is \p tensor a temporary of which a tile keeps what it needs?
  bool is_buffered(const Tensor& tensor) const {
    if (tensor.storage != Tensor::Storage::Workspace || tensor.live_in || tensor.live_out) return false;
    for (const auto& statement : scop_.statements) {
      bool here = std::any_of(views_.begin(), views_.end(), [&](const View& v) { return v.entry->id == statement.id; });
      for (const auto* access : polyhedral::accesses(statement))
        if (!here && polyhedral::touches(*access, tensor.name)) return false;
    }
    for (const auto& view : views_)
      for (const auto& moves : view.moves)
        if (moves.tensor->name == tensor.name && touched_bytes(view, moves, view.members) > buffer_bytes_) return false;
    return true;
  }

  struct User {
    std::size_t view;
    const Moves* moves;
  };
  using Users = std::vector<User>;

  /// Do all \p users touch the same part of their tensor in an iteration of the members, and does it fit \p room?
  bool share(const Users& users, double room) const {
    auto along = [&](const User& user, std::size_t member) {
      int iterator = views_[user.view].entry->outer[member];
      return iterator < 0 ? 0 : user.moves->strides[iterator];
    };
    for (const auto& user : users) {
      if (touched_bytes(views_[user.view], *user.moves, views_[user.view].members) > room) return false;
      for (std::size_t m = 0; m < mapping_.members.size(); ++m)
        if (along(user, m) != along(users.front(), m)) return false;
    }
    return true;
  }

  /// Bytes that cross into and out of a cache of \p capacity, for each statement. The first of several that share a
  /// part of a tensor fetches it, the last that writes it brings it away.
  std::vector<double> traffic(double capacity) const {
    std::map<std::string, Users> users;
    for (std::size_t i = 0; i < views_.size(); ++i)
      for (const auto& moves : views_[i].moves) users[moves.tensor->name].push_back({i, &moves});
    std::vector<double> result(views_.size(), 0);
    for (const auto& [name, all] : users) {
      if (is_buffered(scop_.tensor(name))) continue;
      bool shared = share(all, capacity / 2), fetched = false, written = false;
      for (const auto& user : all) {
        auto bytes = bytes_into(views_[user.view], *user.moves, capacity);
        if (!shared || !fetched) result[user.view] += bytes;
        if (user.moves->written && (!shared || !written)) result[user.view] += bytes;
        fetched = true;
        written = written || user.moves->written;
      }
    }
    return result;
  }

  const Scop& scop_;
  const ClusterMapping& mapping_;
  const Target& target_;
  double buffer_bytes_;
  std::vector<View> views_;
};

}  // namespace

double price_cluster(const Scop& scop, const ClusterView& cluster, const ClusterMapping& mapping,
                     std::int64_t buffer_bytes, const Target& target) {
  return Pricer(scop, cluster, mapping, buffer_bytes, target).run();
}

}  // namespace tc::strategy
