#include "tc/strategy/grid_price/kept_temporaries.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "tc/strategy/grid_price/access_box.h"

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

/// When threads need the elements of a temporary, by the numbers of statements.
struct Life {
  std::optional<std::size_t> first;  ///< that writes it
  std::size_t last = 0;              ///< that accesses it
  bool is_carried = false;           ///< from one iteration of a loop to the next, or behind it
  double elements = 0;               ///< of one thread
};

/// Does a loop that runs in order stand around statement number \p s?
bool has_ordered_loop(const PricedCluster& cluster, std::size_t s) {
  for (const auto& band : cluster.nests.bands)
    for (const auto& member : band.members)
      if (!member.coincident && member.iterator_of(band, cluster.statements[s].entry.id) >= 0) return true;
  return false;
}

double own_elements(const PricedAccess& access, const ThreadSpread& spread) {
  double result = 1;
  for (std::size_t i = 0; i < spread.iterators.size(); ++i)
    if (access.used[i]) result *= spread.iterators[i].in_thread();
  return result;
}

/// The tensors that all threads along x have, a part of a warp: the first of them writes them, or all combine sums (repeat_in_lanes.h).
std::vector<bool> tensors_of_all_lanes(const PricedCluster& cluster, const std::vector<ThreadSpread>& spreads,
                                       const KernelShape& shape) {
  std::vector<bool> result(cluster.tensors.size(), cluster.target.grid->warp_size % shape.block[0] == 0);
  for (std::size_t s = 0; s < spreads.size(); ++s) {
    const auto& statement = cluster.statements[s];
    const bool is_one = spreads[s].uses(0) || cluster.nests.writes_one_in_shared_loops(static_cast<int>(s));
    if (spreads[s].moves_along(statement.write, 0) || !is_one)
      result[static_cast<std::size_t>(statement.write.tensor)] = false;
    if (spreads[s].unit)
      for (const auto& read : statement.reads) result[static_cast<std::size_t>(read.tensor)] = false;
  }
  return result;
}

/// KeptTemporaries::handed
std::vector<bool> handed_tensors(const PricedCluster& cluster, const std::vector<ThreadSpread>& spreads,
                                 const KernelShape& shape) {
  std::vector<bool> result(cluster.tensors.size());
  std::vector<std::optional<Sharings>> known(cluster.tensors.size());
  const auto in_all_lanes = tensors_of_all_lanes(cluster, spreads, shape);
  const auto note = [&](const PricedAccess& access, const ThreadSpread& spread) {
    const auto tensor = static_cast<std::size_t>(access.tensor);
    const auto here = sharings(access, spread, shape);
    const auto& first = known[tensor] ? *known[tensor] : *(known[tensor] = here);
    for (std::size_t d = in_all_lanes[tensor] ? 1 : 0; d < here.size(); ++d)
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

/// KeptTemporaries::registers, of the temporaries \p in_registers.
double registers_of_temporaries(const PricedCluster& cluster, const std::vector<ThreadSpread>& spreads,
                                const std::vector<bool>& in_registers) {
  std::vector<Life> lives(cluster.tensors.size());
  for (std::size_t s = 0; s < spreads.size(); ++s) {
    const auto& statement = cluster.statements[s];
    for (const auto& read : statement.reads) {
      auto& life = lives[static_cast<std::size_t>(read.tensor)];
      const bool is_sum = statement.accumulates && read.tensor == statement.write.tensor;
      life.is_carried = life.is_carried || (!life.first && !is_sum) || !has_ordered_loop(cluster, s);
      life.last = s;
    }
    auto& life = lives[static_cast<std::size_t>(statement.write.tensor)];
    life.first = life.first.value_or(s);
    life.last = std::max(life.last, s);
    life.elements = std::max(life.elements, own_elements(statement.write, spreads[s]));
  }
  double most = 0;
  for (std::size_t s = 0; s < spreads.size(); ++s) {
    double all = 0;
    for (std::size_t t = 0; t < lives.size(); ++t)
      if (in_registers[t] && (lives[t].is_carried || (lives[t].first && *lives[t].first <= s && s <= lives[t].last)))
        all += lives[t].elements;
    most = std::max(most, all);
  }
  return most;
}

/// KeptTemporaries::shared_bytes, of the temporaries \p handed on.
std::int64_t bytes_of_temporaries(const PricedCluster& cluster, const std::vector<ThreadSpread>& spreads,
                                  const std::vector<bool>& handed) {
  std::vector<double> bytes(cluster.tensors.size());
  for (std::size_t s = 0; s < spreads.size(); ++s) {
    const auto& write = cluster.statements[s].write;
    const auto tensor = static_cast<std::size_t>(write.tensor);
    if (!handed[tensor]) continue;
    std::vector<std::int64_t> values;
    for (const auto& it : spreads[s].iterators) values.push_back(it.tile);
    bytes[tensor] = std::max(bytes[tensor], elements(access_box(write, values)) * cluster.tensors[tensor].element);
  }
  return static_cast<std::int64_t>(std::accumulate(bytes.begin(), bytes.end(), 0.0));
}

}  // namespace

KeptTemporaries kept_temporaries(const PricedCluster& cluster, const std::vector<ThreadSpread>& spreads,
                                 const KernelShape& shape, const std::vector<bool>& kept) {
  KeptTemporaries result{handed_tensors(cluster, spreads, shape)};
  if (!cluster.nests.has_ordered_loop()) return result;
  auto in_registers = kept, in_shared_memory = kept;
  for (std::size_t t = 0; t < kept.size(); ++t) {
    in_registers[t] = kept[t] && !result.handed[t];
    in_shared_memory[t] = kept[t] && result.handed[t];
  }
  result.registers = registers_of_temporaries(cluster, spreads, in_registers);
  result.shared_bytes = bytes_of_temporaries(cluster, spreads, in_shared_memory);
  return result;
}

}  // namespace tc::strategy
