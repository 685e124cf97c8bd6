#include "tc/strategy/choose_grid_mapping.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map_grid/copy_dimensions.h"
#include "tc/strategy/copy_gathers.h"
#include "tc/strategy/cost/vector_runs.h"
#include "tc/strategy/tile_contraction.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::GridMember;
using polyhedral::GridStatement;
using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::Statement;
using polyhedral::ThreadLoop;

/// Threads of a block that hide each other's waiting, few enough to leave registers for each.
constexpr std::int64_t usual_threads = 256;

/// Iterations of a thread that are unrolled, for buffers in registers.
constexpr std::int64_t most_unrolled = 32;
/// Elements of one temporary in the registers of a thread.
constexpr std::int64_t most_elements = 128;

std::int64_t power_of_two_up_to(std::int64_t value, std::int64_t most) {
  std::int64_t result = 1;
  while (result < value && 2 * result <= most) result *= 2;
  return result;
}

std::int64_t shared_bytes(const GridLimits& limits, const MappingOptions& options) {
  return options.shared_bytes > 0 ? std::min(options.shared_bytes, limits.block_shared_bytes_requested)
                                  : limits.block_shared_bytes;
}

class GridChooser {
 public:
  GridChooser(const Scop& scop, const ClusterView& cluster, const GridLimits& limits, const MappingOptions& options)
      : scop_(scop), cluster_(cluster), limits_(limits), options_(options) {
    result_.members.resize(cluster.members.size());
    most_ = std::min(usual_threads, limits_.block_threads);
    result_.shared_bytes = options.shared ? shared_bytes(limits_, options) : 0;
    result_.thread_elements = options.registers ? most_elements : 0;
    if (options.block.empty()) return;
    most_ = 1;
    for (auto threads : options.block) most_ *= threads;
    if (most_ > limits_.block_threads || (options.block.size() > 2 && options.block[2] > limits_.block[2]))
      throw OptionsError(str("mapping option 'block=", join(options.block, "x"), "': the target has at most ",
                             limits_.block_threads, " threads a block, ", limits_.block[2], " of them in z"));
  }

  GridClusterMapping run() {
    auto [member, outer_gain] = best_member();
    if (transposes()) {
      spread_over_grid();
      return result_;
    }
    if (rows_belong_together(outer_gain)) {
      spread_rows();
    } else if (member >= 0) {
      spread_members(member);
      stage_accumulators();
      copy_gathers(scop_, cluster_, options_, result_);
      result_.separate = has_inner_loops() && has_partial_tiles();
    } else {
      spread_rows();
    }
    spread_over_grid();
    promote();
    return result_;
  }

 private:
  const Statement& statement(const ClusterStatement& entry) const { return scop_.statement(entry.id); }

  double instances(const ClusterStatement& entry) const {
    double result = 1;
    for (const auto& range : polyhedral::box(statement(entry).domain)) result *= static_cast<double>(range.extent());
    return result;
  }

  /// How well neighbouring threads along \p iterator share what they touch: accesses that move by one element, less
  /// those that move further. A result is written once.
  double gain(const ClusterStatement& entry, int iterator) const {
    if (iterator < 0) return 0;
    double result = 0;
    const auto& s = statement(entry);
    for (const auto* access : polyhedral::accesses(s)) {
      auto stride = polyhedral::known_stride(scop_, *access, iterator);
      auto times = s.accumulates && access == &s.write ? results(s) : instances(entry);
      if (stride == 1) result += times;
      if (stride != 0 && stride != 1) result -= times / 2;
    }
    return result;
  }

  /// Elements that \p statement writes.
  static double results(const Statement& statement) {
    auto box = polyhedral::box(statement.domain);
    double result = 1;
    for (int i : polyhedral::kept_dimensions(statement)) result *= static_cast<double>(box[i].extent());
    return result;
  }

  std::pair<int, double> best_member() const {
    int best = -1;
    double most = 0;
    for (std::size_t i = 0; i < cluster_.members.size(); ++i) {
      if (cluster_.members[i].extent() <= 1) continue;
      double total = 0;
      for (const auto& entry : cluster_.statements) total += gain(entry, entry.outer[i]);
      if (best >= 0 && total < most) continue;
      best = static_cast<int>(i);
      most = total;
    }
    return {best, most};
  }

  /// The inner loop of \p entry that suits threads best.
  int best_inner(const ClusterStatement& entry, int but = -1) const {
    int best = -1;
    double most = 0;
    for (const auto& loop : entry.inner) {
      if (loop.iterator < 0 || loop.iterator == but || extent(entry, loop.iterator) <= 1) continue;
      if (!loop.coincident && (but >= 0 || !options_.reduce_in_block || !statement(entry).accumulates || loop.shared))
        continue;
      double here = gain(entry, loop.iterator);
      if (best >= 0 && here < most) continue;
      best = loop.iterator;
      most = here;
    }
    return best;
  }

  std::int64_t extent(const ClusterStatement& entry, int iterator) const {
    return polyhedral::box(statement(entry).domain).at(iterator).extent();
  }

  /// Do the loops below the outer band suit threads better than its members?
  bool rows_belong_together(double outer_gain) const {
    double inner_gain = 0;
    std::int64_t longest = 0;
    for (const auto& entry : cluster_.statements) {
      int inner = best_inner(entry);
      if (inner < 0) continue;
      inner_gain += gain(entry, inner);
      longest = std::max(longest, extent(entry, inner));
    }
    std::int64_t outer = 1;
    for (const auto& member : cluster_.members) outer *= member.extent();
    if (longest >= limits_.warp_size && inner_gain > outer_gain) return true;
    return longest > 1 && outer * limits_.warp_size < limits_.processors * usual_threads && longest > outer;
  }

  /// The member along which \p access is contiguous, -1 if none is.
  int contiguous_member(const Access& access) const {
    const auto& outer = cluster_.statements[0].outer;
    for (std::size_t i = 0; i < outer.size(); ++i)
      if (outer[i] >= 0 && polyhedral::stride(scop_, access, outer[i]) == 1) return static_cast<int>(i);
    return -1;
  }

  /// A statement that reads along one member and writes along another goes by way of square tiles in shared memory.
  bool transposes() {
    if (cluster_.statements.size() != 1 || !options_.block.empty() || !options_.tile.empty() ||
        result_.shared_bytes == 0)
      return false;
    const auto& entry = cluster_.statements[0];
    const auto& s = statement(entry);
    if (s.accumulates || !s.write.exact || !entry.inner.empty()) return false;
    int written = contiguous_member(s.write);
    for (std::size_t i = 0; i < s.reads.size() && written >= 0; ++i) {
      const auto& read = s.reads[i];
      int along = read.exact ? contiguous_member(read) : -1;
      if (along < 0 || along == written || polyhedral::stride(scop_, read, entry.outer[written]) == 0) continue;
      if (polyhedral::copy_dimensions(s, static_cast<int>(i)).empty()) continue;
      if (polyhedral::touches(s.write, polyhedral::range_name(read.relation)) || !is_long(along) || !is_long(written))
        continue;
      copy_squares(static_cast<int>(i), along, written);
      return true;
    }
    return false;
  }

  /// Tiles of which threads read vectors along member \p along, by way of a copy, and write vectors along member \p
  /// written. Threads along what is written are so few that a warp writes several rows.
  void copy_squares(int read, int along, int written) {
    const auto& entry = cluster_.statements[0];
    const auto& s = statement(entry);
    auto run_along = options_.vectorise ? access_run(scop_, s, s.reads[read], entry.outer[along]) : 1;
    auto run = options_.vectorise ? access_run(scop_, s, s.write, entry.outer[written]) : 1;
    bool large = run > 1 && cluster_.members[along].extent() >= 2 * limits_.warp_size &&
                 cluster_.members[written].extent() >= 2 * limits_.warp_size;
    auto side = large ? 2 * limits_.warp_size : limits_.warp_size;
    auto threads = run > 1 ? limits_.warp_size / 4 : limits_.warp_size;
    result_.members.assign(cluster_.members.size(), {1, -1, {}});
    result_.members[written] = {side, -1, {0, std::min(run, side / threads)}};
    result_.members[along] = {side, -1, {1, 1}};
    result_.block = {threads, std::min(usual_threads / threads, side), 1};
    result_.others.vector = run > 1;
    result_.others.unroll = true;
    result_.separate = has_partial_tiles();
    result_.copies = {{s.id, read, entry.outer[along], run_along > 1 ? entry.outer[along] : -1, run_along}};
  }
  bool has_partial_tiles() const {
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (result_.members[i].tile > 1 && cluster_.members[i].extent() % result_.members[i].tile != 0) return true;
    return false;
  }
  bool has_inner_loops() const {
    return std::any_of(cluster_.statements.begin(), cluster_.statements.end(),
                       [](const auto& entry) { return !entry.inner.empty(); });
  }
  bool is_long(int member) const { return cluster_.members[member].extent() >= limits_.warp_size; }

  /// Threads for \p count iterations along \p dimension of the block, where \p room threads are left.
  std::int64_t threads_for(std::int64_t count, int dimension, std::int64_t room) const {
    if (options_.block.empty()) return std::min(power_of_two_up_to(count, room), limits_.block[dimension]);
    auto index = static_cast<std::size_t>(dimension);
    return index < options_.block.size() ? std::min(options_.block[index], count) : 1;
  }

  /// Iterations of member \p i that the options say run in one block; 0 where they do not say.
  std::int64_t asked_tile(std::size_t i) const {
    if (options_.tile.empty()) return 0;
    auto size = i < options_.tile.size() ? options_.tile[i] : 0;
    return size == 0 ? cluster_.members[i].extent() : size;
  }

  /// Threads run along \p x and, where it is short, along the members before it.
  void spread_members(int x) {
    std::int64_t threads = 1;
    int dimension = 0;
    auto take = [&](int i, std::int64_t run) {
      if (dimension > 2) return;
      auto tile = asked_tile(static_cast<std::size_t>(i));
      auto extent = tile > 0 ? std::min(tile, cluster_.members[i].extent()) : cluster_.members[i].extent();
      auto size = threads_for(ceil_div(extent, run), dimension, most_ / threads);
      if (size <= 1) return;
      result_.block[dimension] = size;
      result_.members[i] = {tile > 0 ? tile : size * run, -1, {dimension++, run}};
      threads *= size;
    };
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (auto tile = asked_tile(i); tile > 0) result_.members[i].tile = tile;
    auto run = member_run(x);
    result_.others.vector = run > 1;
    take(x, run);
    for (int i = static_cast<int>(cluster_.members.size()) - 1; i >= 0; --i)
      if (i != x && (threads < limits_.warp_size * 4 || !options_.block.empty())) take(i, 1);
  }

  /// How many neighbouring iterations of member \p x a thread has, as a vector.
  std::int64_t member_run(int x) const {
    if (!options_.vectorise) return 1;
    std::int64_t run = widest_access;
    for (const auto& entry : cluster_.statements)
      run = std::min(run, entry.outer[x] < 0 ? 1 : vector_run(scop_, statement(entry), entry.outer[x]));
    auto tile = asked_tile(static_cast<std::size_t>(x));
    bool fits = cluster_.members[x].extent() >= 2 * run && (tile == 0 || (tile >= 2 * run && tile % run == 0));
    return fits ? run : 1;
  }

  /// What accumulates over loops of its own stays in registers, where a thread has one element or vector of it.
  void stage_accumulators() {
    if (!options_.promote || !options_.registers || !options_.tile.empty()) return;
    for (const auto& entry : cluster_.statements) {
      const auto& s = statement(entry);
      if (!s.accumulates || entry.inner.empty() || !s.write.exact) continue;
      auto kept = polyhedral::kept_dimensions(s);
      bool owned = std::all_of(kept.begin(), kept.end(), [&](int i) { return contains(entry.outer, i); });
      auto tensor = polyhedral::range_name(s.write.relation);
      if (owned && !contains(result_.staged, tensor)) result_.staged.push_back(tensor);
    }
  }

  bool reduces(const ClusterStatement& entry, int iterator) const {
    auto kept = polyhedral::kept_dimensions(statement(entry));
    return statement(entry).accumulates && std::find(kept.begin(), kept.end(), iterator) == kept.end();
  }

  /// How many neighbouring iterations of \p iterator a thread may have as a vector, all of them full.
  std::int64_t row_run(const ClusterStatement& entry, int iterator) const {
    auto run = vector_run(scop_, statement(entry), iterator);
    auto range = polyhedral::box(statement(entry).domain).at(iterator);
    return range.min % run == 0 && range.extent() % run == 0 ? run : 1;
  }

  /// Threads run along a loop of each statement; where they reduce, whole warps do.
  void spread_rows() {
    std::int64_t run = options_.vectorise ? widest_access : 1;
    for (const auto& entry : cluster_.statements) {
      int inner = best_inner(entry);
      if (inner < 0) continue;
      if (reduces(entry, inner) && options_.block.empty()) result_.block[0] = limits_.warp_size;
      run = std::min(run, row_run(entry, inner));
    }
    for (const auto& entry : cluster_.statements) {
      GridStatement mapped{entry.id, {}};
      std::int64_t threads = 1;
      int last = -1;
      for (int dimension = 0; dimension < 2; ++dimension) {
        int inner = best_inner(entry, last);
        if (inner < 0 || threads >= limits_.warp_size * 4) break;
        auto groups = dimension == 0 ? ceil_div(extent(entry, inner), run) : extent(entry, inner);
        auto count = threads_for(groups, dimension, most_ / (dimension == 0 ? 1 : std::max(threads, result_.block[0])));
        mapped.loops.push_back({inner, {dimension, dimension == 0 ? run : 1}});
        mapped.vector = run > 1;
        result_.block[dimension] = std::max(result_.block[dimension], count);
        threads *= count;
        last = inner;
      }
      if (!mapped.loops.empty()) result_.statements.push_back(mapped);
    }
  }

  /// Temporaries go to buffers; statements with few iterations a thread are unrolled for them.
  void promote() {
    if (!options_.promote) return;
    auto limit = options_.unroll_limit > 0 ? options_.unroll_limit : most_unrolled;
    for (const auto& tensor : scop_.tensors)
      if (tensor.storage == polyhedral::Tensor::Storage::Workspace && !tensor.live_in && !tensor.live_out &&
          is_touched(tensor.name))
        result_.promoted.push_back(tensor.name);
    for (auto& statement : result_.statements)
      for (const auto& loop : statement.loops) {
        auto whole = polyhedral::box(scop_.statement(statement.id).domain).at(loop.iterator).extent();
        auto each = ceil_div(whole, result_.block[loop.threads.dimension] * loop.threads.run);
        statement.unroll = statement.unroll || (each > 1 && each * loop.threads.run <= limit);
      }
  }

  bool is_touched(const std::string& tensor) const {
    return std::any_of(cluster_.statements.begin(), cluster_.statements.end(), [&](const auto& entry) {
      auto all = polyhedral::accesses(statement(entry));
      return std::any_of(all.begin(), all.end(),
                         [&](const auto* access) { return polyhedral::touches(*access, tensor); });
    });
  }

  /// The longest three members go to the grid, the innermost of them to x.
  void spread_over_grid() {
    std::vector<int> order;
    for (std::size_t i = 0; i < cluster_.members.size(); ++i) order.push_back(static_cast<int>(i));
    auto tiles = [&](int i) {
      return ceil_div(cluster_.members[i].extent(), std::max<std::int64_t>(result_.members[i].tile, 1));
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return tiles(a) > tiles(b); });
    if (order.size() > 3) order.resize(3);
    std::sort(order.begin(), order.end(), std::greater<>());
    int dimension = 0;
    for (int i : order) {
      if (tiles(i) <= 1) continue;
      result_.members[i].grid = dimension;
      auto most = limits_.grid[dimension];
      auto index = static_cast<std::size_t>(dimension);
      if (!options_.grid.empty()) most = index < options_.grid.size() ? std::min(options_.grid[index], most) : 1;
      result_.grid[dimension] = std::min(tiles(i), most);
      ++dimension;
    }
  }

  const Scop& scop_;
  const ClusterView& cluster_;
  const GridLimits& limits_;
  const MappingOptions& options_;
  std::int64_t most_ = usual_threads;
  GridClusterMapping result_;
};

}  // namespace

polyhedral::GridMapping choose_grid_mapping(const polyhedral::ClusteredScop& clustered, const GridLimits& limits,
                                            const MappingOptions& options) {
  const auto& scop = clustered.scop;
  polyhedral::GridMapping result;
  for (const auto& cluster : clustered.clusters) {
    bool chooses =
        options.block.empty() && options.tile.empty() && options.grid.empty() && options.shared && options.registers;
    auto tiled = chooses ? tile_contraction(scop, cluster, limits, options) : std::nullopt;
    result.clusters.push_back(tiled ? *tiled : GridChooser(scop, cluster, limits, options).run());
  }
  return result;
}

}  // namespace tc::strategy
