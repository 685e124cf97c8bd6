#include "tc/polyhedral/map_grid/grid_mapping.h"

#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

constexpr const char* axes[] = {"x", "y", "z"};

std::string describe(const std::array<std::int64_t, 3>& extent) {
  int last = extent[2] > 1 ? 2 : extent[1] > 1 ? 1 : 0;
  auto text = str(extent[0]);
  for (int i = 1; i <= last; ++i) text += str("x", extent[i]);
  return text;
}

std::string describe(const ThreadLoop& threads) {
  if (threads.dimension < 0) return "";
  return str(" threads ", axes[threads.dimension], threads.run > 1 ? str(" run ", threads.run) : "");
}

std::string describe(const GridClusterMapping& cluster) {
  auto text = str("grid ", describe(cluster.grid), ", block ", describe(cluster.block));
  for (std::size_t i = 0; i < cluster.members.size(); ++i) {
    const auto& member = cluster.members[i];
    text += str(", member ", i, " tile ", member.tile, member.grid >= 0 ? str(" blocks ", axes[member.grid]) : "",
                describe(member.threads));
  }
  for (const auto& statement : cluster.statements) {
    for (const auto& loop : statement.loops)
      text += str(", ", statement.id, ": i", loop.iterator, describe(loop.threads));
    if (statement.tile || statement.vector || statement.unroll)
      text += str(", ", statement.id, ":", statement.tile ? " tile" : "", statement.vector ? " vector" : "",
                  statement.unroll ? " unroll" : "");
  }
  if (cluster.blocks.iterator >= 0)
    text += str(", ", cluster.blocks.statement, ": i", cluster.blocks.iterator, " in blocks of ", cluster.blocks.size,
                cluster.blocks.slots > 1 ? str(", ", cluster.blocks.slots, " slots") : "");
  for (const auto& copy : cluster.copies)
    text += str(", copy read ", copy.read, " of ", copy.statement,
                copy.contiguous >= 0 ? str(" along i", copy.contiguous) : "",
                copy.vector > 1 ? str(" vector ", copy.vector) : "",
                cluster.blocks.slots < 2                  ? ""
                : copy.way == GridCopy::Way::Asynchronous ? " asynchronous"
                                                          : " by registers");
  if (cluster.separate) text += ", separate full tiles";
  if (!cluster.staged.empty()) text += ", stage " + join(cluster.staged);
  if (!cluster.promoted.empty()) text += ", promote " + join(cluster.promoted);
  return text;
}

}  // namespace

GridStatement GridClusterMapping::statement(const std::string& id) const {
  for (const auto& candidate : statements)
    if (candidate.id == id) return candidate;
  auto result = others;
  result.id = id;
  return result;
}

ThreadLoop GridClusterMapping::threads(const std::string& id, int iterator) const {
  auto mapped = statement(id);
  for (const auto& loop : mapped.loops)
    if (loop.iterator == iterator) return loop.threads;
  return {};
}

std::string to_string(const GridMapping& mapping) {
  std::string text;
  for (const auto& cluster : mapping.clusters) text += describe(cluster) + "\n";
  return text;
}

}  // namespace tc::polyhedral
