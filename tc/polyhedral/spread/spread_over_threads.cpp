#include "tc/polyhedral/spread/spread_over_threads.h"

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

/// The loops of statement \p id over \p iterator, down to the one on threads; nothing where none is.
std::vector<NestLoop> loops_to_threads(const GridClusterState& state, const std::string& id, int iterator) {
  std::vector<NestLoop> result;
  if (iterator < 0) return {};
  for (const auto& loop : state.branch(id, {}).loops) {
    if (loop.digit.index.statement < 0 || loop.digit.index.number != iterator) continue;
    result.push_back(loop);
    if (loop.place == NestPlace::Thread) return result;
  }
  return {};
}

bool are_alike(const std::vector<NestLoop>& a, const std::vector<NestLoop>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const NestLoop& one, const NestLoop& other) {
    return one.digit.mod == other.digit.mod && one.digit.step == other.digit.step && one.place == other.place &&
           one.dimension == other.dimension;
  });
}

}  // namespace

std::vector<NestLoop> loops_to_shared_threads(const Scop& scop, const GridClusterState& state,
                                              const isl::union_pw_aff& member, const std::vector<std::string>& ids) {
  std::vector<NestLoop> result;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto iterator = only_iterator(member, scop.statement(ids[i]).domain);
    const auto loops = loops_to_threads(state, ids[i], iterator);
    if (i > 0 && !are_alike(loops, result)) return {};
    result = loops;
  }
  return result;
}

namespace {

/// The loops of a band around several statements that stay above them, and what is left for them.
struct Shared {
  GridLoops stay;
  std::vector<OpenIndex> below;
};

/// The loops of \p band that stay and the indices that go on, below loops that leave \p points.
Shared shared_loops(const Kernel& kernel, const schedule_node& band, const std::vector<OpenIndex>& points) {
  const auto members = band_members(band);
  const auto coincident = band_coincident(band);
  const auto ids = statement_ids(band);
  const auto domain = instances_at(band);
  Shared result{{}, points};
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool is_coincident{coincident[i]};
    const auto loops =
        is_coincident ? loops_to_shared_threads(kernel.scop, kernel.state, members[i], ids) : std::vector<NestLoop>{};
    if (loops.empty()) {
      result.stay.push_back({members[i], is_coincident});
      continue;
    }
    const auto range = values(members[i], domain);
    OpenIndex index(from_origin(members[i], range.min, domain), range.extent(), true);
    for (const auto& loop : loops) {
      if (loop.place == NestPlace::Thread) break;
      result.stay.push_back({index.digit(loop.digit.step), true});
      index = index.below(loop.digit.step);
    }
    result.below.push_back(index);
  }
  return result;
}

/// The node in place of \p node, at its depth; \p statements learns of the statements below.
schedule_node spread(const Kernel& kernel, schedule_node node, const std::vector<OpenIndex>& points,
                     std::vector<StatementThreads>& statements) {
  if (is_alone(node)) {
    bool together = contains(kernel.together, statement_ids(node).at(0));
    statements.push_back(spread_statement(node, kernel.scop, kernel.state, points, together));
    return insert_threads(node, statements.back());
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

ThreadTree spread_over_threads(const schedule_node& node, const std::vector<OpenIndex>& points, const Scop& scop,
                               const GridClusterState& state, const std::vector<std::string>& together) {
  std::vector<StatementThreads> statements;
  auto result = spread({scop, state, together}, node, points, statements);
  return {result, statements};
}

}  // namespace tc::polyhedral
