#include "test/cuda_emulator/units/unit_nests.h"

#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/strategy/grid/tile_contraction.h"

namespace tc::test {

std::optional<std::string> unit_nest(const std::shared_ptr<const engine::Function>& function,
                                     const Arguments& arguments, const engine::CompileOptions& options,
                                     const std::vector<strategy::UnitTile>& tiles) {
  auto result = std::make_shared<std::optional<std::string>>();
  auto find = [result, tiles](engine::CompileState& state) {
    for (const auto& launch : state.launches)
      for (const auto& cluster : launch.clusters) {
        const auto view = strategy::tileable_contraction(*launch.scop, cluster, *state.target.grid, state.mapping);
        const auto* unit = view ? strategy::unit_of(*view) : nullptr;
        if (!unit) continue;
        for (const auto& tile : tiles)
          if (auto mapping = strategy::tile_units(*view, *unit, tile)) {
            *result = to_string(polyhedral::nest_of(*launch.scop, cluster, *mapping),
                                polyhedral::nest_names(*launch.scop, cluster));
            return;
          }
      }
  };
  engine::map_launches(function,
                       engine::make_arguments(*function, arguments.input_specs(), arguments.output_specs(), options),
                       options, find, engine::Phase::Choose);
  return *result;
}

}  // namespace tc::test
