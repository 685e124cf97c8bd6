#include "tc/library/description/library.h"

#include <limits>

namespace tc::library {

const Routine* Library::routine(const std::string& name) const {
  for (const auto& routine : routines)
    if (routine.name == name) return &routine;
  return nullptr;
}

bool fits_int(std::int64_t value) { return value >= 0 && value <= std::numeric_limits<int>::max(); }

}  // namespace tc::library
