#include "tc/base/processor.h"

#include <algorithm>

namespace tc {

const InstructionSet* find_instruction_set(std::string_view name) {
  auto sets = instruction_sets();
  auto found = std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.name == name; });
  return found == sets.end() ? nullptr : &*found;
}

const InstructionSet& instruction_set_here() {
  auto sets = instruction_sets();
  auto highest = std::find_if(sets.rbegin(), sets.rend(), [](const auto& set) { return set.on_this_machine(); });
  return highest == sets.rend() ? sets.front() : *highest;
}

}  // namespace tc
