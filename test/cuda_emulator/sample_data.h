#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tc/engine/function.h"

namespace tc::test {

/// [low, high) for the values of each parameter of \p function that subscripts use: all of them in bounds where a
/// subscript is such an element and nothing else.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> index_values(const engine::Function& function,
                                                                          const lang::SizeMap& sizes);

/// A tolerance for the returns of \p function on small integers, see difference(): 0 where all that is computed is
/// exact, else what rounding may add up to in reductions as long as these.
double rounding_tolerance(const engine::Function& function, const lang::SizeMap& sizes);

}  // namespace tc::test
