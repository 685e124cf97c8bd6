#include "test/cuda_emulator/units/unit_nests.h"

#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/strategy/grid/tile_contraction.h"

namespace tc::test {

std::optional<std::string> unit_nest(const std::shared_ptr<const engine::Function>& function,
                                     const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                                     const engine::CompileOptions& options,
                                     const std::vector<strategy::UnitTile>& tiles, bool groups) {
  auto result = std::make_shared<std::optional<std::string>>();
  auto find = [result, tiles, groups](engine::CompileState& state) {
    for (const auto& launch : state.launches)
      for (const auto& cluster : launch.clusters) {
        const auto view = strategy::tileable_contraction(*launch.scop, cluster, *state.target.grid, state.mapping);
        if (!view) continue;
        auto units = strategy::group_units_of(*view);
        if (!groups) units = {strategy::unit_of(*view)};
        for (const auto* unit : units)
          for (const auto& tile : tiles) {
            if (!unit || (groups && tile.columns != unit->columns)) continue;
            if (auto mapping = strategy::tile_units(*view, *unit, tile)) {
              *result = to_string(polyhedral::nest_of(*launch.scop, cluster, *mapping),
                                  polyhedral::nest_names(*launch.scop, cluster));
              return;
            }
          }
      }
  };
  engine::map_launches(function, engine::make_arguments(*function, inputs, outputs, options), options, find,
                       engine::Phase::Choose);
  return *result;
}

}  // namespace tc::test
