#include "tc/strategy/cpu/choose_window.h"

namespace tc::strategy {
namespace {

/// The longest loop that is unrolled to read what its iterations share once.
constexpr std::int64_t widest_window = 7;

}  // namespace

std::optional<ReadWindow> choose_window(const ClusterFacts& facts, const RegisterTile& tile,
                                        const std::vector<Operand>& operands) {
  const auto& heaviest = facts.heaviest;
  if (tile.rows < 0 || heaviest.outer[tile.rows] < 0) return std::nullopt;
  auto box = polyhedral::box(facts.statement(heaviest).domain);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& read = facts.statement(heaviest).reads[i];
    auto row = polyhedral::stride(facts.scop, read, heaviest.outer[tile.rows]);
    if (!operands[i].vector || row <= 0) continue;
    for (const auto& loop : heaviest.inner) {
      if (facts.fixed(heaviest) && loop.iterator != heaviest.inner.back().iterator) continue;
      auto extent = loop.iterator < 0 ? 0 : box[loop.iterator].extent();
      if (extent < 2 || extent > widest_window) continue;
      auto along = polyhedral::stride(facts.scop, read, loop.iterator);
      if (along <= 0 || row % along != 0 || row / along >= extent) continue;
      return ReadWindow{static_cast<int>(i),
                        {heaviest.id, loop.iterator, heaviest.outer[tile.rows], static_cast<int>(extent),
                         static_cast<int>(row / along)}};
    }
  }
  return std::nullopt;
}

}  // namespace tc::strategy
