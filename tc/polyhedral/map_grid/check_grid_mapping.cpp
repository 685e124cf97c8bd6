#include "tc/polyhedral/map_grid/check_grid_mapping.h"

#include <algorithm>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map_grid/copy_dimensions.h"

namespace tc::polyhedral {
namespace {

/// Elements of one thread's copy of a loop that is spread in runs, blocks in memory at once.
constexpr std::int64_t longest_run = 16;
constexpr int most_slots = 8;

/// The checks of one cluster.
class ClusterCheck {
 public:
  ClusterCheck(const Scop& scop, const ClusterView& view, const GridClusterMapping& mapping, std::size_t number)
      : scop_(scop), view_(view), mapping_(mapping), number_(number) {}

  void run(const GridLimits& limits) const {
    check_extents(limits);
    check_members();
    for (const auto& statement : mapping_.statements) check_statement(statement);
    for (const auto& statement : mapping_.statements) check_unit(statement, limits);
    check_blocks();
    for (const auto& copy : mapping_.copies) check_copy(copy);
    for (const auto* tensors : {&mapping_.staged, &mapping_.promoted}) check_tensors(*tensors);
  }

 private:
  const Scop& scop_;
  const ClusterView& view_;
  const GridClusterMapping& mapping_;
  std::size_t number_;

  [[noreturn]] void fail(const std::string& why) const {
    throw OptionsError(str("the mapping of cluster ", number_, " cannot be carried out: ", why));
  }

  void check_extents(const GridLimits& limits) const {
    const auto most_threads = limits.block_threads;
    std::int64_t threads = 1;
    for (auto extent : mapping_.block)
      threads = std::min(threads, most_threads + 1) * std::min(extent, most_threads + 1);
    if (threads > most_threads) fail(str("a block has at most ", most_threads, " threads"));
    for (std::size_t d = 0; d < 3; ++d) {
      if (mapping_.block[d] > limits.block[d])
        fail(str("a block has at most ", limits.block[d], " threads along ", "xyz"[d]));
      if (mapping_.grid[d] > limits.grid[d])
        fail(str("a grid has at most ", limits.grid[d], " blocks along ", "xyz"[d]));
    }
  }

  void check_loop(const ThreadLoop& loop) const {
    if (loop.run > longest_run) fail(str("a thread has at most ", longest_run, " neighbouring iterations"));
    if (!loop.has_warps()) {
      if (loop.count > 0) fail("a loop that leaves threads of a dimension has warps along one");
      return;
    }
    if (loop.dimension < 0) fail("a loop that is spread over warps is spread over their threads");
    const auto& warps = loop.warps;
    const auto extent = [&](int dimension) { return mapping_.block[static_cast<std::size_t>(dimension)]; };
    if (loop.count < 1 || warps.count < 1 || warps.run % (loop.run * loop.count) != 0)
      fail("the tile of a warp is a multiple of what its threads have at once");
    const bool same = warps.dimension == loop.dimension;
    if (extent(loop.dimension) != loop.count * (same ? warps.count : 1) ||
        (!same && extent(warps.dimension) != warps.count))
      fail("threads and warps of a loop are those of the dimensions of the block");
  }

  void check_members() const {
    if (mapping_.members.size() > view_.members.size())
      fail(str("it has ", mapping_.members.size(), " members, the cluster has ", view_.members.size()));
    std::set<int> grid, threads;
    auto coincident =
        view_.members.empty() ? std::vector<bool>() : band_coincident(node_at(scop_.schedule, view_.path));
    for (std::size_t i = 0; i < mapping_.members.size(); ++i) {
      const auto& member = mapping_.members[i];
      check_loop(member.threads);
      if (member.grid >= 0 && !grid.insert(member.grid).second)
        fail("two members are spread over one dimension of the grid");
      const auto warps = member.threads.warps.dimension;
      bool again = member.threads.dimension >= 0 && !threads.insert(member.threads.dimension).second;
      again = again || (warps >= 0 && warps != member.threads.dimension && !threads.insert(warps).second);
      if (again) fail("two members are spread over one dimension of a block");
      if ((member.grid >= 0 || member.threads.dimension >= 0) && !coincident.at(i))
        fail(str("member ", i, " carries a dependence, so it is not spread"));
    }
  }

  const Statement& statement(const std::string& id, int iterator) const {
    bool here =
        std::any_of(view_.statements.begin(), view_.statements.end(), [&](const auto& e) { return e.id == id; });
    if (!here) fail(str("it has no statement '", id, "'"));
    const auto& result = scop_.statement(id);
    auto count = static_cast<int>(result.iterators.size());
    if (iterator >= count) fail(str("'", id, "' has no iterator i", iterator, ", it has ", count));
    return result;
  }

  void check_statement(const GridStatement& choice) const {
    std::set<int> iterators, dimensions;
    statement(choice.id, -1);
    if (choice.together) fail("only copies that passes make run together");
    for (const auto& loop : choice.loops) {
      const auto& spread = statement(choice.id, loop.iterator);
      check_loop(loop.threads);
      if (loop.threads.has_warps()) fail("only members of the band are spread over warps");
      if (spread.accumulates && !spread.write.exact && !contains(kept_dimensions(spread), loop.iterator))
        fail(
            str("'", choice.id, "' adds where data tell, so threads do not share its reduction over i", loop.iterator));
      if (loop.beside > 1) fail("only copies that passes make have vectors beside each other");
      bool again = !iterators.insert(loop.iterator).second ||
                   (loop.threads.dimension >= 0 && !dimensions.insert(loop.threads.dimension).second);
      if (again) fail(str("two loops of '", choice.id, "' are one, or are spread over one dimension"));
    }
  }

  /// How \p iterator of statement \p id is spread, with the tile that a block has of it.
  const GridMember* member_of(const std::string& id, int iterator) const {
    for (const auto& entry : view_.statements)
      for (std::size_t i = 0; entry.id == id && i < std::min(entry.outer.size(), mapping_.members.size()); ++i)
        if (entry.outer[i] == iterator) return &mapping_.members[i];
    return nullptr;
  }

  void check_unit(const GridStatement& choice, const GridLimits& limits) const {
    const auto& [name, rows, columns, steps] = choice.unit;
    if (name.empty()) return;
    const auto& update = statement(choice.id, std::max({rows, columns, steps}));
    if (!update.product || update.op != ReductionOp::Sum || update.reads.size() != 2)
      fail(str("'", choice.id, "' is no sum of products of two elements, which a unit computes"));
    const auto* unit = matrix_unit(name, scop_.tensor(range_name(update.reads[0].relation)).type);
    if (!unit || !limits.matrix_units)
      fail(str("the target has no unit '", name, "' for what '", choice.id, "' multiplies"));
    const auto *row = member_of(choice.id, rows), *column = member_of(choice.id, columns);
    const auto& blocks = mapping_.blocks;
    if (!row || !column || blocks.statement != choice.id || blocks.iterator != steps)
      fail("rows and columns of a unit are members, and what it sums over runs in blocks with copies");
    const ThreadLoop along_y{1, 1, unit_threads_y, row->threads.warps},
        along_x{0, unit_run, unit_threads_x, column->threads.warps};
    if (unit->from_shared) check_group(choice, *unit, *row, *column, limits);
    const bool in_warps = row->threads == along_y && column->threads == along_x && row->threads.warps.dimension == 1 &&
                          column->threads.warps.dimension == 2;
    if (!in_warps)
      fail(str("the rows of a unit are on threads y of ", unit_threads_y,
               " with warps along y, its columns on threads x run ", unit_run, " of ", unit_threads_x,
               " with warps along z"));
    const auto extents = box(update.domain);
    const auto is_whole = [&](int iterator, std::int64_t tile, std::int64_t warp, int size) {
      const auto& range = extents[static_cast<std::size_t>(iterator)];
      return tile > 0 && range.min == 0 && range.extent() % tile == 0 && tile % warp == 0 && warp % size == 0;
    };
    const auto &row_warps = row->threads.warps, &column_warps = column->threads.warps;
    const auto rows_of_warp = unit->from_shared ? unit_rows_of_warp : unit->rows;
    if (!is_whole(rows, row->tile, row_warps.run * row_warps.count, unit->rows) || row_warps.run % rows_of_warp != 0 ||
        !is_whole(columns, column->tile, column_warps.run * column_warps.count, unit->columns) ||
        column_warps.run % unit->columns != 0 || !is_whole(steps, blocks.size, blocks.size, unit->steps))
      fail(str("sizes are multiples of the tiles of blocks, warps and the unit, ", unit->rows, " rows, ", unit->columns,
               " columns and ", unit->steps, " steps"));
    for (int read = 0; read < 2; ++read)
      if (std::none_of(mapping_.copies.begin(), mapping_.copies.end(),
                       [&](const GridCopy& copy) { return copy.statement == choice.id && copy.read == read; }))
        fail("a unit reads copies of both operands in shared memory");
  }

  /// What a unit of a group of warps asks for beside.
  void check_group(const GridStatement& choice, const MatrixUnit& unit, const GridMember& row, const GridMember& column,
                   const GridLimits& limits) const {
    const auto& warps = row.threads.warps;
    if (!limits.group_units) fail(str("the target has no unit '", unit.name, "'"));
    if (warps.run != unit_rows_of_warp || warps.count % unit.warps != 0 || row.tile != warps.run * warps.count)
      fail(str("each warp has ", unit_rows_of_warp, " rows of a tile of '", unit.name,
               "', and their number is a multiple of ", unit.warps));
    if (mapping_.blocks.size != unit_row_elements || mapping_.blocks.slots < 3)
      fail(str("'", unit.name, "' reads blocks of ", unit_row_elements, " steps in at least 3 slots"));
    for (const auto& copy : mapping_.copies)
      if (copy.way != GridCopy::Way::Asynchronous) fail(str("copies for '", unit.name, "' are asynchronous"));
    const auto& sum = range_name(statement(choice.id, -1).write.relation);
    if (!contains(mapping_.staged, sum) || column.threads.warps.run / 2 > mapping_.thread_elements)
      fail(str("the sums of '", unit.name, "', ", column.threads.warps.run / 2,
               " of each thread, are kept in registers"));
  }

  void check_blocks() const {
    const auto& blocks = mapping_.blocks;
    if (blocks.iterator < 0) return;
    const auto& update = statement(blocks.statement, blocks.iterator);
    if (!update.accumulates || !update.write.exact || contains(kept_dimensions(update), blocks.iterator))
      fail(str("i", blocks.iterator, " of '", blocks.statement, "' is not reduced, so it is not cut into blocks"));
    if (blocks.slots > most_slots) fail(str("at most ", most_slots, " blocks are in memory at once"));
  }

  void check_copy(const GridCopy& copy) const {
    const auto& reader = statement(copy.statement, std::max(copy.contiguous, copy.run_along));
    if (copy.statement != mapping_.copies.front().statement) fail("copies are of the reads of one statement");
    if (mapping_.blocks.iterator >= 0 && copy.statement != mapping_.blocks.statement)
      fail("copies are of what the reduction in blocks reads");
    if (copy.read >= static_cast<int>(reader.reads.size()))
      fail(str("'", copy.statement, "' has no read ", copy.read, ", it has ", reader.reads.size()));
    if (copy.vector > longest_run) fail(str("a thread copies at most ", longest_run, " elements at once"));
    if (copy.beside > longest_run) fail(str("at most ", longest_run, " threads read beside each other"));
    if (copy_dimensions(reader, copy.read).empty())
      fail(str("read ", copy.read, " of '", copy.statement, "' cannot be copied: it is not indexed by iterators"));
  }

  void check_tensors(const std::vector<std::string>& tensors) const {
    std::set<std::string> seen;
    for (const auto& tensor : tensors) {
      if (!scop_.has_tensor(tensor)) fail(str("there is no tensor '", tensor, "'"));
      if (!seen.insert(tensor).second) fail(str("'", tensor, "' is named twice"));
    }
  }
};

}  // namespace

void check_grid_mapping(const ClusteredScop& clustered, const GridMapping& mapping, const GridLimits& limits) {
  if (mapping.clusters.size() != clustered.clusters.size())
    throw OptionsError(str("the mapping has lines for ", mapping.clusters.size(), " clusters, the program has ",
                           clustered.clusters.size()));
  for (std::size_t i = 0; i < mapping.clusters.size(); ++i)
    ClusterCheck(clustered.scop, clustered.clusters[i], mapping.clusters[i], i).run(limits);
}

}  // namespace tc::polyhedral
