#include "tc/polyhedral/map_grid/spread_over_threads.h"

#include "tc/base/contains.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/loops.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// What stays the same in all of a tree.
struct Kernel {
  const Scop& scop;
  const GridClusterState& state;
  const std::vector<std::string>& together;
};

/// Does one statement stand below \p node, and nothing but bands?
bool is_alone(const schedule_node& node) {
  if (node.isa<isl::schedule_node_leaf>()) return true;
  return node.isa<isl::schedule_node_band>() && statement_ids(node).size() == 1 && is_alone(node.child(0));
}

/// How the statements \p ids below \p member of a band agree to spread it.
ThreadLoop agreed(const Kernel& kernel, const isl::union_pw_aff& member, const std::vector<std::string>& ids) {
  ThreadLoop result;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto iterator = only_iterator(member, kernel.scop.statement(ids[i]).domain);
    auto wish = iterator < 0 ? ThreadLoop{} : kernel.state.threads(ids[i], iterator);
    if (i > 0 && !(wish == result)) return {};
    result = wish;
  }
  return result;
}

/// The loops of a band around several statements that stay above them, and those that go on to them.
struct Shared {
  GridLoops stay, below;
};

/// Those of \p band, below \p points of the loops around it.
Shared shared_loops(const Kernel& kernel, const schedule_node& band, const GridLoops& points) {
  auto members = band_members(band);
  auto coincident = band_coincident(band);
  auto ids = statement_ids(band);
  auto domain = instances_at(band);
  bool permutable = band.as<isl::schedule_node_band>().permutable();
  Shared result{{}, points};
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto threads = coincident[i] ? agreed(kernel, members[i], ids) : ThreadLoop{};
    if (threads.dimension < 0 || uses(result.below, threads.dimension) || (i > 0 && !permutable)) {
      result.stay.push_back({members[i], 1, static_cast<bool>(coincident[i]), {}});
      continue;
    }
    auto range = values(members[i], domain);
    auto index = from_origin(members[i], range.min, domain);
    auto round = threads.run * kernel.state.block[threads.dimension];
    if (range.extent() > round) result.stay.push_back({quotient(index, round), 1, true, {}});
    result.below.push_back(point_loop(index, round, range.extent() > round, std::min(range.extent(), round), threads));
  }
  return result;
}

/// The node in place of \p node, at its depth; \p statements learns of the statements below.
schedule_node spread(const Kernel& kernel, schedule_node node, const GridLoops& points,
                     std::vector<StatementThreads>& statements) {
  if (is_alone(node)) {
    bool together = contains(kernel.together, statement_ids(node).at(0));
    statements.push_back(spread_statement(node, kernel.scop, kernel.state, points, together));
    return insert_threads(node, statements.back(), kernel.state.statement(statements.back().id));
  }
  if (node.isa<isl::schedule_node_band>()) {
    bool permutable = node.as<isl::schedule_node_band>().permutable();
    auto [stay, below] = shared_loops(kernel, node, points);
    if (stay.empty()) return spread(kernel, erase(node), below, statements);
    auto band = insert_loops(erase(node), stay).as<isl::schedule_node_band>().set_permutable(permutable);
    return spread(kernel, band.child(0), below, statements).parent();
  }
  for (unsigned i = 0; i < node.n_children(); ++i)
    node = spread(kernel, node.child(static_cast<int>(i)), points, statements).parent();
  return node;
}

}  // namespace

ThreadTree spread_over_threads(const schedule_node& node, const GridLoops& points, const Scop& scop,
                               const GridClusterState& state, const std::vector<std::string>& together) {
  std::vector<StatementThreads> statements;
  auto result = spread({scop, state, together}, node, points, statements);
  return {result, statements};
}

}  // namespace tc::polyhedral
