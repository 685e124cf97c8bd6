#include "tc/engine/describe/shown_nest.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/nest/nest_names.h"
#include "tc/polyhedral/nest/nest_text.h"

namespace tc::engine {
namespace {

using polyhedral::NestLoop;

class Shower {
 public:
  Shower(const LaunchState& launch, std::size_t cluster, polyhedral::Nest nest)
      : scop_(*launch.scop),
        cluster_(launch.clusters[cluster]),
        nest_(std::move(nest)),
        names_(polyhedral::nest_names(scop_, cluster_)) {}

  ShownNest run() const {
    ShownNest result;
    if (nest_.launch) result.trunk.push_back({polyhedral::launch_text(*nest_.launch)});
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) {
      const auto text = polyhedral::step_text(nest_, names_, i);
      const auto* loop = std::get_if<NestLoop>(&nest_.trunk[i].what);
      result.trunk.push_back(loop ? shown(*loop, -1, text) : ShownStep{text});
    }
    for (std::size_t i = 0; i < nest_.branches.size(); ++i) {
      const auto& branch = nest_.branches[i];
      ShownNest::Branch made{branch.statement, {}};
      for (const auto& loop : branch.loops) {
        auto alone = nest_;
        alone.branches[i].loops = {loop};
        alone.branches[i].unit.clear();
        const auto text = polyhedral::branch_text(alone, names_, i);
        made.loops.push_back(
            shown(loop, static_cast<int>(i), text.substr(std::min(text.size(), branch.statement.size() + 2))));
      }
      if (!branch.unit.empty()) made.loops.push_back({"by unit " + branch.unit});
      result.branches.push_back(std::move(made));
    }
    return result;
  }

 private:
  std::int64_t extent(const polyhedral::NestIndex& index) const {
    const auto number = static_cast<std::size_t>(index.number);
    if (index.statement < 0) return cluster_.members.at(number).extent();
    const auto& id = nest_.branches.at(static_cast<std::size_t>(index.statement)).statement;
    return polyhedral::box(scop_.statement(id).domain).at(number).extent();
  }

  ShownStep shown(const NestLoop& loop, int branch, const std::string& text) const {
    auto count = extent(loop.digit.index);
    if (loop.digit.mod > 0) count = std::min(count, loop.digit.mod);
    return {text, true, names_.name(loop.digit.index, branch), place(loop), ceil_div(count, loop.digit.step)};
  }

  static std::string place(const NestLoop& loop) {
    constexpr char axis[] = "xyz";
    switch (loop.place) {
      case polyhedral::NestPlace::Serial:
        return "";
      case polyhedral::NestPlace::Unrolled:
        return "unrolled";
      case polyhedral::NestPlace::Lanes:
        return "lanes";
      case polyhedral::NestPlace::Cores:
        return "cores";
      case polyhedral::NestPlace::Unit:
        return "unit";
      case polyhedral::NestPlace::Grid:
        return std::string("grid.") + axis[loop.dimension];
      case polyhedral::NestPlace::Thread:
        return std::string("thread.") + axis[loop.dimension];
      case polyhedral::NestPlace::Threads:
        return "threads";
    }
    return "";
  }

  const polyhedral::Scop& scop_;
  const polyhedral::ClusterView& cluster_;
  const polyhedral::Nest nest_;
  const polyhedral::NestNames names_;
};

}  // namespace

std::vector<ShownNest> shown_nests(const LaunchState& launch) {
  std::vector<ShownNest> result;
  if (!launch.scop) return result;
  if (const auto* cpu = std::get_if<CpuLaunch>(&launch.on)) {
    for (std::size_t i = 0; i < cpu->nests.size(); ++i) result.push_back(Shower(launch, i, cpu->nests[i]).run());
  } else {
    const auto& nests = launch.grid().nests;
    for (std::size_t i = 0; i < nests.size(); ++i) result.push_back(Shower(launch, i, nests[i].nest).run());
  }
  return result;
}

}  // namespace tc::engine
