#include "tc/engine/compile/search_of.h"

#include "tc/base/error.h"

namespace tc::engine {

std::optional<strategy::ConstructionSearch> search_of(options::Construction construct) {
  using options::Construction;
  using Policy = strategy::ConstructionPolicy;
  switch (construct) {
    case Construction::Rules:
      return std::nullopt;
    case Construction::Checked:
      return {{Policy::Descent}};
    case Construction::BestFirst:
      return {{Policy::BestFirst}};
    case Construction::Roller:
      return {{Policy::Roller}};
    case Construction::Gensor:
      return {{Policy::Gensor}};
    case Construction::BestFirstAlone:
      return {{Policy::BestFirst, true}};
    case Construction::RollerAlone:
      return {{Policy::Roller, true}};
    case Construction::GensorAlone:
      return {{Policy::Gensor, true}};
    case Construction::GensorPrinted:
      return {{Policy::GensorPrinted, true}};
  }
  throw InternalError("a construction without a meaning");
}

}  // namespace tc::engine
