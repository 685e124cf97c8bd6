#include "tc/polyhedral/map_grid/check_grid_mapping.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"

namespace tc::polyhedral {
namespace {

/// The checks of one cluster: what its mapping names is there, and the laws of its nest.
class ClusterCheck {
 public:
  ClusterCheck(const Scop& scop, const ClusterView& view, const GridClusterMapping& mapping, std::size_t number)
      : scop_(scop), view_(view), mapping_(mapping), number_(number) {}

  void run(const GridLimits& limits) const {
    check_members();
    for (const auto& statement : mapping_.statements) check_statement(statement);
    check_copies();
    const NestRefusal refuse = [this](const NestPart&, const std::string&, const std::string& why) { fail(why); };
    check_kernel_nest(scop_, view_, nest_of(scop_, view_, mapping_), limits, refuse);
  }

 private:
  const Scop& scop_;
  const ClusterView& view_;
  const GridClusterMapping& mapping_;
  std::size_t number_;

  [[noreturn]] void fail(const std::string& why) const {
    throw OptionsError(str("the mapping of cluster ", number_, " cannot be carried out: ", why));
  }

  void check_loop(const ThreadLoop& loop) const {
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
    for (const auto& member : mapping_.members) {
      check_loop(member.threads);
      if (member.grid >= 0 && !grid.insert(member.grid).second)
        fail("two members are spread over one dimension of the grid");
      const auto warps = member.threads.warps.dimension;
      bool again = member.threads.dimension >= 0 && !threads.insert(member.threads.dimension).second;
      again = again || (warps >= 0 && warps != member.threads.dimension && !threads.insert(warps).second);
      if (again) fail("two members are spread over one dimension of a block");
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
    statement(choice.id, std::max({choice.unit.rows, choice.unit.columns, choice.unit.steps}));
    if (choice.together) fail("only copies that passes make run together");
    for (const auto& loop : choice.loops) {
      statement(choice.id, loop.iterator);
      check_loop(loop.threads);
      if (loop.beside > 1) fail("only copies that passes make have vectors beside each other");
      bool again = !iterators.insert(loop.iterator).second ||
                   (loop.threads.dimension >= 0 && !dimensions.insert(loop.threads.dimension).second);
      if (again) fail(str("two loops of '", choice.id, "' are one, or are spread over one dimension"));
    }
  }

  void check_copies() const {
    const auto& blocks = mapping_.blocks;
    if (blocks.iterator >= 0) statement(blocks.statement, blocks.iterator);
    for (const auto& copy : mapping_.copies) {
      const auto& reader = statement(copy.statement, std::max(copy.contiguous, copy.run_along));
      if (copy.read >= static_cast<int>(reader.reads.size()))
        fail(str("'", copy.statement, "' has no read ", copy.read, ", it has ", reader.reads.size()));
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
