#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tc/derive/form/program.h"

namespace tc::test {

/// The program of a text without calls whose sizes are numbers, in a context of its own unless one is given.
derive::Program program_of(const std::string& text, derive::ContextPtr context = nullptr);

/// What the outputs of two texts of one signature differ by on integers from \p seed, by the interpreter; nothing where
/// they are equal.
std::optional<std::string> integer_difference(const std::string& before, const std::string& after,
                                              std::uint64_t seed = 1);

}  // namespace tc::test
