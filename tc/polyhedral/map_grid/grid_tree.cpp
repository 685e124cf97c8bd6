#include "tc/polyhedral/map_grid/grid_tree.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/isolate.h"
#include "tc/polyhedral/core/loops.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/map_grid/thread_digits.h"
#include "tc/polyhedral/map_grid/thread_map.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;
using isl::union_pw_aff;

/// A loop that may be spread over threads, its values counted from 0.
struct Loop {
  union_pw_aff index;
  std::int64_t extent = 1;
  bool coincident = false;
  ThreadLoop threads;
  Nullable<union_pw_aff> whole = {};  ///< of which `index` is the remainder by `tile`
  std::int64_t tile = 0;
};
using Loops = std::vector<Loop>;

isl::union_set everywhere(const isl::union_set& instances) {
  return call(instances.ctx(), isl_union_set_universe, instances.copy());
}

union_pw_aff zero_on(const isl::union_set& domain) {
  return call(domain.ctx(), isl_union_pw_aff_val_on_domain, everywhere(domain).release(),
              isl::val(domain.ctx(), 0).release());
}

/// Does one statement stand below \p node, and nothing but bands?
bool is_alone(const schedule_node& node) {
  if (node.isa<isl::schedule_node_leaf>()) return true;
  return node.isa<isl::schedule_node_band>() && statement_ids(node).size() == 1 && is_alone(node.child(0));
}

class Builder {
 public:
  Builder(Scop& scop, const GridClusterState& state, const std::vector<std::string>& together)
      : scop_(scop), state_(state), mapping_(state.mapping), together_(together) {}

  GridTree run() {
    auto node = scop_.schedule.root().child(0);
    auto view = cluster_views(scop_).at(0);
    auto filter = everywhere(instances_at(node));
    Loops tiles, points;
    if (!view.members.empty() && node.isa<isl::schedule_node_band>()) {
      auto members = band_members(node);
      for (std::size_t i = 0; i < members.size(); ++i)
        split(members[i], view.members[i], member(i), instances_at(node), tiles, points, filter);
      node = insert_loops(erase(node), tiles);
      if (!tiles.empty()) node = isolate(node, full_tiles_).child(0);
    }
    auto inside = path_of(node);
    auto schedule = spread(node, points).schedule();
    for (auto* functions : {&blocks_, &threads_})
      for (auto& function : *functions)
        if (function.is_null()) function = zero_on(scop_.domain());
    return {
        schedule,     filter,        inside, {three_coordinates(plain(blocks_)), three_coordinates(plain(threads_))},
        result_grid_, result_block_, own_};
  }

 private:
  GridMember member(std::size_t i) const {
    return i < mapping_.members.size() ? mapping_.members[i] : GridMember{.tile = 0};
  }

  /// The tiles of one member of the outer band, their blocks, and the points of a tile.
  void split(const union_pw_aff& function, const Interval& range, const GridMember& size, const isl::union_set& domain,
             Loops& tiles, Loops& points, isl::union_set& filter) {
    auto index = from_origin(function, range.min, domain);
    auto tile = size.tile == 0 ? range.extent() : size.tile;
    auto count = (range.extent() + tile - 1) / tile;
    auto number = tile > 1 ? quotient(index, tile) : index;
    if (count > 1) {
      if (mapping_.separate && range.extent() % tile != 0)
        full_tiles_.push_back(str(tile, "*t", tiles.size(), "+", tile, "<=", range.extent()));
      tiles.push_back({number, count, true, {}});
      if (size.grid >= 0) spread_over_blocks(number, count, size.grid, filter);
    }
    if (tile > 1 && range.extent() > 1)
      points.push_back(point(index, tile, count > 1, std::min(tile, range.extent()), size.threads));
  }

  /// The loop over the \p extent points of a tile of \p index.
  static Loop point(const union_pw_aff& index, std::int64_t tile, bool tiled, std::int64_t extent,
                    const ThreadLoop& threads) {
    Loop loop{tiled ? remainder(index, tile) : index, extent, true, threads};
    if (tiled) loop.whole = index;
    loop.tile = tile;
    return loop;
  }

  void spread_over_blocks(const union_pw_aff& tile, std::int64_t count, int dimension, isl::union_set& filter) {
    auto blocks = std::min(count, mapping_.grid[dimension]);
    if (blocks <= 1) return;
    if (result_grid_[dimension] > 1) throw InternalError("two members are spread over one dimension of the grid");
    result_grid_[dimension] = blocks;
    auto block = count > blocks ? remainder(tile, blocks) : tile;
    blocks_[dimension] = block;
    filter = filter.intersect(equal_to(block, block_name(dimension)));
  }

  /// Below the loops that all threads run, \p points are still to be placed.
  schedule_node spread(schedule_node node, const Loops& points) {
    if (is_alone(node)) return place(node, points);
    if (node.isa<isl::schedule_node_band>()) return spread_shared(node, points);
    for (unsigned i = 0; i < node.n_children(); ++i) node = spread(node.child(static_cast<int>(i)), points).parent();
    return node;
  }

  /// How the statements below \p member of a band agree to spread it.
  ThreadLoop agreed(const union_pw_aff& member, const std::vector<std::string>& ids) const {
    ThreadLoop result;
    bool first = true;
    for (const auto& id : ids) {
      auto iterator = only_iterator(member, scop_.statement(id).domain);
      auto wish = iterator < 0 ? ThreadLoop{} : state_.threads(id, iterator);
      if (!first && !(wish == result)) return {};
      result = wish;
      first = false;
    }
    return result;
  }

  static bool uses(const Loops& loops, int dimension) {
    return std::any_of(loops.begin(), loops.end(),
                       [&](const Loop& loop) { return loop.threads.dimension == dimension; });
  }

  /// The band \p node around several statements: rounds of what is spread stay, its points go on.
  schedule_node spread_shared(const schedule_node& node, const Loops& points) {
    auto members = band_members(node);
    auto coincident = band_coincident(node);
    bool permutable = node.as<isl::schedule_node_band>().permutable();
    Loops stay, below = points;
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto threads = coincident[i] ? agreed(members[i], statement_ids(node)) : ThreadLoop{};
      if (threads.dimension < 0 || uses(below, threads.dimension) || (i > 0 && !permutable)) {
        stay.push_back({members[i], 1, static_cast<bool>(coincident[i]), {}});
        continue;
      }
      auto range = values(members[i], instances_at(node));
      auto index = from_origin(members[i], range.min, instances_at(node));
      auto round = threads.run * state_.block[threads.dimension];
      if (range.extent() > round) stay.push_back({quotient(index, round), 1, true, {}});
      below.push_back(point(index, round, range.extent() > round, std::min(range.extent(), round), threads));
    }
    if (stay.empty()) return spread(erase(node), below);
    auto band = insert_loops(erase(node), stay).as<isl::schedule_node_band>().set_permutable(permutable);
    return spread(band.child(0), below).parent();
  }

  /// The statement at \p node, where it is alone: its thread, \p points and its own loops.
  schedule_node place(schedule_node node, const Loops& points) {
    auto id = statement_ids(node).at(0);
    auto loops = points;
    std::vector<Loops> own;
    for (auto below = node; below.isa<isl::schedule_node_band>(); below = below.child(0))
      own.push_back(own_loops(below, id, loops));
    if (state_.statement(id).together) return place_numbered(node, loops, own, id);
    auto filter = thread_filter(node, loops);
    if (std::find(together_.begin(), together_.end(), id) != together_.end())
      return place_together(node, loops, own, filter, id);
    return place_ahead(node, points, filter, id);
  }

  /// The serial members of \p band; those that are spread are appended to \p spread.
  Loops own_loops(const schedule_node& band, const std::string& id, Loops& spread) const {
    Loops serial;
    auto members = band_members(band);
    auto coincident = band_coincident(band);
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto iterator = only_iterator(members[i], scop_.statement(id).domain);
      auto threads = iterator >= 0 ? state_.threads(id, iterator) : ThreadLoop{};
      if (threads.dimension >= 0 && !uses(spread, threads.dimension)) {
        auto range = values(members[i], instances_at(band));
        spread.push_back({from_origin(members[i], range.min, instances_at(band)), range.extent(),
                          static_cast<bool>(coincident[i]), threads});
      } else {
        serial.push_back({members[i], 1, static_cast<bool>(coincident[i]), {}});
      }
    }
    return serial;
  }

  /// The instances at \p node that are this thread's; what does not use a dimension of the block runs in its thread 0.
  isl::union_set thread_filter(const schedule_node& node, const Loops& loops) {
    auto filter = everywhere(instances_at(node));
    for (int dimension = 0; dimension < 3; ++dimension) {
      if (state_.block[dimension] <= 1) continue;
      auto coordinate = zero_on(filter);
      for (const auto& loop : loops)
        if (loop.threads.dimension == dimension) coordinate = thread_of(loop);
      filter = filter.intersect(equal_to(coordinate, thread_name(dimension)));
      note_thread(node, dimension, coordinate);
    }
    return filter;
  }

  /// Notes where the statement at \p node runs.
  void note_thread(const schedule_node& node, int dimension, const union_pw_aff& coordinate) {
    auto here = everywhere(instances_at(node));
    auto all = threads_[dimension].is_null() ? zero_on(scop_.domain()) : union_pw_aff(threads_[dimension]);
    auto others = call(all.ctx(), isl_union_pw_aff_subtract_domain, all.copy(), here.copy());
    auto own = call(all.ctx(), isl_union_pw_aff_intersect_domain, coordinate.copy(), here.copy());
    threads_[dimension] = call(all.ctx(), isl_union_pw_aff_union_add, others.copy(), own.copy());
  }

  static std::array<union_pw_aff, 3> plain(const std::array<Nullable<union_pw_aff>, 3>& functions) {
    return {functions[0], functions[1], functions[2]};
  }

  union_pw_aff thread_of(const Loop& loop) {
    auto threads = state_.block[loop.threads.dimension];
    auto count = (loop.extent + loop.threads.run - 1) / loop.threads.run;
    auto& used = result_block_[loop.threads.dimension];
    used = std::max(used, std::min(count, threads));
    auto cycle = std::min(count, threads) * loop.threads.run;
    if (!loop.whole.is_null() && loop.tile % cycle == 0) {
      union_pw_aff group = loop.whole;
      if (loop.threads.run > 1) group = quotient(group, loop.threads.run);
      return remainder(group, std::min(count, threads));
    }
    auto group = loop.threads.run > 1 ? quotient(loop.index, loop.threads.run) : loop.index;
    return count > threads ? remainder(group, threads) : group;
  }

  /// The bands of one thread, outermost first, and the runs innermost.
  struct OwnBands {
    std::vector<Loops> bands = {};
    Loops runs = {};

    /// Takes the loop apart: what is left of it, if anything, goes to \p band. \p threads: of its dimension, to have
    /// the rounds in a loop of their own; 0: not.
    void take(const Loop& loop, Loops& band, std::int64_t threads = 0) {
      auto run = loop.threads.run;
      if (loop.threads.dimension < 0) return void(band.push_back(loop));
      auto group = run > 1 ? quotient(loop.index, run) : loop.index;
      if (threads > 0 && loop.extent > run * threads) {
        band.push_back({quotient(loop.index, run * threads), 1, loop.coincident, {}});
        group = remainder(group, threads);
      }
      if (loop.extent > run) band.push_back({group, 1, loop.coincident, {}});
      if (run > 1) runs.push_back({remainder(loop.index, run), 1, loop.coincident, loop.threads});
    }
  };

  static bool all_coincident(const Loops& loops) {
    return std::all_of(loops.begin(), loops.end(), [](const Loop& loop) { return loop.coincident; });
  }

  /// \p bands at the leaf \p node: the last run as a vector and the loops unrolled, if the mapping of \p id says so.
  schedule_node insert_bands(schedule_node node, const OwnBands& bands, const std::string& id) {
    auto choice = state_.statement(id);
    auto runs = bands.runs;
    std::stable_partition(runs.begin(), runs.end(), [](const Loop& loop) { return loop.threads.dimension > 0; });
    if (choice.vector && !runs.empty()) {
      scop_.statement(id).vector_lanes = static_cast<int>(vector_length(id));
      node = insert_loops(node, Loops{runs.back()}).insert_mark(marks::vector);
      runs.pop_back();
    }
    node = insert_loops(node, runs);
    for (auto band = bands.bands.rbegin(); band != bands.bands.rend(); ++band)
      if (!band->empty())
        node = insert_loops(node, *band).as<isl::schedule_node_band>().set_permutable(all_coincident(*band));
    bool unrolls = choice.unroll && node.isa<isl::schedule_node_band>();
    return unrolls ? node.insert_mark(marks::register_tile) : node;
  }

  std::int64_t vector_length(const std::string& id) const {
    std::int64_t result = 1;
    for (const auto& loop : state_.statement(id).loops) result = std::max(result, loop.threads.run);
    for (const auto& member : mapping_.members) result = std::max(result, member.threads.run);
    return result;
  }

  /// The loops of statement \p id that its mapping names, in that order, counted as one and spread over all threads.
  schedule_node place_numbered(schedule_node node, const Loops& points, const std::vector<Loops>& own,
                               const std::string& id) {
    Loops all = points, chosen;
    for (const auto& loops : own) all.insert(all.end(), loops.begin(), loops.end());
    for (const auto& wish : state_.statement(id).loops)
      for (auto loop : all)
        if (only_iterator(loop.index, scop_.statement(id).domain) == wish.iterator) {
          auto range = values(loop.index, instances_at(node));
          loop.index = from_origin(loop.index, range.min, instances_at(node));
          loop.extent = range.extent();
          loop.threads = wish.threads;
          chosen.push_back(loop);
        }
    while (node.isa<isl::schedule_node_band>()) node = erase(node);
    OwnBands bands{{{}, {}}, {}};
    ThreadDigits digits(state_.block);
    for (auto loop = chosen.rbegin(); loop != chosen.rend(); ++loop) {
      auto groups = (loop->extent + loop->threads.run - 1) / loop->threads.run;
      auto group = loop->threads.run > 1 ? quotient(loop->index, loop->threads.run) : loop->index;
      digits.add(group, groups);
      bands.bands[1].insert(bands.bands[1].begin(), {group, 1, true, {}});
      if (loop->threads.run > 1)
        bands.runs.push_back({remainder(loop->index, loop->threads.run), loop->threads.run, true, {}});
    }
    auto filter = everywhere(instances_at(node));
    for (int dimension = 0; dimension < 3; ++dimension) {
      if (state_.block[dimension] <= 1) continue;
      auto coordinate = digits.threads[dimension].is_null() ? zero_on(filter) : union_pw_aff(digits.threads[dimension]);
      filter = filter.intersect(equal_to(coordinate, thread_name(dimension)));
      note_thread(node, dimension, coordinate);
    }
    std::vector<OwnLoop> of_thread;
    for (const auto& round : digits.rounds) {
      bands.bands[0].push_back({round.index, 1, true, {}});
      of_thread.push_back({round.index, round.count});
    }
    for (const auto& run : bands.runs) of_thread.push_back({run.index, run.extent});
    own_[id] = of_thread;
    return insert_bands(node, bands, id).insert_filter(filter).insert_mark(marks::thread);
  }

  /// Each thread runs through the statement's own loops by itself.
  schedule_node place_ahead(schedule_node node, const Loops& points, const isl::union_set& filter,
                            const std::string& id) {
    OwnBands bands;
    Loops outer;
    bool tile = state_.statement(id).tile;
    for (const auto& loop : points)
      bands.take(loop, outer, tile && loop.threads.dimension >= 0 ? state_.block[loop.threads.dimension] : 0);
    if (!tile) bands.bands.push_back(outer);
    while (node.isa<isl::schedule_node_band>()) {
      bands.bands.emplace_back();
      take_own(node, id, points, bands);
      node = erase(node);
    }
    if (tile) bands.bands.push_back(outer);
    return insert_bands(node, bands, id).insert_filter(filter).insert_mark(marks::thread);
  }

  /// The members of \p band in their order.
  void take_own(const schedule_node& band, const std::string& id, const Loops& points, OwnBands& bands) const {
    auto members = band_members(band);
    auto coincident = band_coincident(band);
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto iterator = only_iterator(members[i], scop_.statement(id).domain);
      auto threads = iterator >= 0 ? state_.threads(id, iterator) : ThreadLoop{};
      if (threads.dimension >= 0 && uses(points, threads.dimension)) threads = {};
      auto range = values(members[i], instances_at(band));
      auto index = threads.dimension >= 0 ? from_origin(members[i], range.min, instances_at(band)) : members[i];
      bands.take({index, range.extent(), static_cast<bool>(coincident[i]), threads}, bands.bands.back());
    }
  }

  /// All threads run the statement's serial loops together.
  schedule_node place_together(schedule_node node, const Loops& loops, const std::vector<Loops>& own,
                               const isl::union_set& filter, const std::string& id) {
    while (node.isa<isl::schedule_node_band>()) node = erase(node);
    OwnBands bands{{{}}, {}};
    for (const auto& loop : loops) bands.take(loop, bands.bands.back());
    node = insert_bands(node, bands, id).insert_filter(filter).insert_mark(marks::thread);
    for (auto serial = own.rbegin(); serial != own.rend(); ++serial)
      if (!serial->empty()) node = insert_loops(node, *serial).as<isl::schedule_node_band>().set_permutable(false);
    return node;
  }

  Scop& scop_;
  const GridClusterState& state_;
  const GridClusterMapping& mapping_;
  const std::vector<std::string>& together_;
  std::vector<std::string> full_tiles_;  ///< conditions on the loops over tiles, for isolate
  std::array<std::int64_t, 3> result_grid_ = {1, 1, 1}, result_block_ = {1, 1, 1};
  std::array<Nullable<union_pw_aff>, 3> blocks_, threads_;
  std::map<std::string, std::vector<OwnLoop>> own_;
};

void collect_thread_nodes(const schedule_node& node, std::vector<std::pair<std::string, schedule_node>>& result) {
  if (node.isa<isl::schedule_node_mark>() && mark_name(node) == marks::thread)
    return void(result.emplace_back(statement_ids(node).at(0), node));
  for (unsigned i = 0; i < node.n_children(); ++i) collect_thread_nodes(node.child(static_cast<int>(i)), result);
}

}  // namespace

Scop as_kernel(const Scop& scop, const GridTree& tree) {
  auto result = scop;
  for (int i = 0; i < 3; ++i)
    if (tree.grid[i] > 1) result.parameters.push_back({block_name(i), 0, tree.grid[i] - 1});
  for (int i = 0; i < 3; ++i)
    if (tree.block[i] > 1) result.parameters.push_back({thread_name(i), 0, tree.block[i] - 1});
  auto node = scop.schedule.root().child(0);
  if (tree.grid != std::array<std::int64_t, 3>{1, 1, 1}) node = node.insert_filter(tree.blocks);
  node = node.insert_mark(marks::kernel);
  auto bounds = call(scop.ctx(), isl_set_from_params, parameter_bounds(result).release());
  if (!result.parameters.empty()) node = node.insert_context(bounds);
  result.schedule = node.schedule();
  return result;
}

GridTree grid_tree(Scop& scop, const GridClusterState& state, const std::vector<std::string>& together) {
  return Builder(scop, state, together).run();
}

std::vector<std::pair<std::string, isl::schedule_node>> thread_nodes(const isl::schedule& schedule) {
  std::vector<std::pair<std::string, schedule_node>> result;
  collect_thread_nodes(schedule.root(), result);
  return result;
}

}  // namespace tc::polyhedral
