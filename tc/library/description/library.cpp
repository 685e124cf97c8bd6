#include "tc/library/description/library.h"

#include <limits>

#include "tc/base/error.h"

namespace tc::library {

void Invocation::run(void* const*, int) const { throw InternalError("this routine does not run on a processor"); }
std::size_t Invocation::prepare(int) const { throw InternalError("this routine does not run on a GPU"); }
void Invocation::enqueue(void* const*, const Queue&) const {
  throw InternalError("this routine does not run on a GPU");
}

const Routine* Library::routine(const std::string& name) const {
  for (const auto& routine : routines)
    if (routine.name == name) return &routine;
  return nullptr;
}

bool fits_int(std::int64_t value) { return value >= 0 && value <= std::numeric_limits<int>::max(); }

}  // namespace tc::library
