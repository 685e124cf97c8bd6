#pragma once

#include <optional>

#include "tc/options/mapping_options.h"
#include "tc/strategy/construct/construct.h"

namespace tc::engine {

/// The search that \p construct asks for; nothing where rules decide.
std::optional<strategy::ConstructionSearch> search_of(options::Construction construct);

}  // namespace tc::engine
