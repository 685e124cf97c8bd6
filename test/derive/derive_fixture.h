#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tc/derive/form/program.h"
#include "tc/derive/form/refusal.h"

namespace tc::test {

/// The program of a text without calls whose sizes are numbers, in a context of its own unless one is given.
derive::Program program_of(const std::string& text, derive::ContextPtr context = nullptr);

/// What the outputs of two texts of one signature differ by on integers from \p seed, by the interpreter; nothing where
/// they are equal.
std::optional<std::string> integer_difference(const std::string& before, const std::string& after,
                                              std::uint64_t seed = 1);

/// Why \p run refuses what it is asked for; nothing where it does not.
template <typename Run>
std::string refusal(const Run& run) {
  try {
    run();
  } catch (const derive::Refusal& refusal) {
    return refusal.why;
  }
  return "";
}

}  // namespace tc::test
