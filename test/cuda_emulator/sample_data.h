#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tc/engine/define/function.h"

namespace tc::test {

/// [low, high) for the values of each parameter of \p function that subscripts use: all of them in bounds where a
/// subscript is such an element and nothing else.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> index_values(const engine::Function& function,
                                                                          const lang::SizeMap& sizes);

}  // namespace tc::test
