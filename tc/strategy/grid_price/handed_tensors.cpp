#include "tc/strategy/grid_price/handed_tensors.h"

#include <array>
#include <optional>

namespace tc::strategy {
namespace {

/// How the threads along one dimension of a block share the elements of an access: each has its own, the first has all, or each has
/// the same.
enum class Sharing { Own, First, Same };
using Sharings = std::array<Sharing, 3>;

Sharings sharings(const PricedAccess& access, const ThreadSpread& spread, const KernelShape& shape) {
  Sharings result;
  for (int d = 0; d < 3; ++d) {
    auto& one = result[static_cast<std::size_t>(d)];
    one = shape.block[static_cast<std::size_t>(d)] == 1 || !spread.uses(d) ? Sharing::First : Sharing::Same;
    if (spread.moves_along(access, d)) one = Sharing::Own;
  }
  return result;
}

}  // namespace

std::vector<bool> handed_tensors(const PricedCluster& cluster, const std::vector<ThreadSpread>& spreads,
                                 const KernelShape& shape) {
  std::vector<bool> result(cluster.tensors.size());
  std::vector<std::optional<Sharings>> known(cluster.tensors.size());
  const auto note = [&](const PricedAccess& access, const ThreadSpread& spread) {
    const auto tensor = static_cast<std::size_t>(access.tensor);
    const auto here = sharings(access, spread, shape);
    const auto& first = known[tensor] ? *known[tensor] : *(known[tensor] = here);
    for (std::size_t d = 0; d < here.size(); ++d)
      if (here[d] == Sharing::Same || here[d] != first[d]) result[tensor] = true;
  };
  for (std::size_t s = 0; s < spreads.size(); ++s) {
    const auto& statement = cluster.statements[s];
    const bool combines = statement.reduces;  // threads add up what is theirs before one of them writes
    if (!combines) note(statement.write, spreads[s]);
    for (const auto& read : statement.reads)
      if (!combines || read.tensor != statement.write.tensor) note(read, spreads[s]);
  }
  return result;
}

}  // namespace tc::strategy
