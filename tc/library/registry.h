#pragma once

#include <string>
#include <vector>

#include "tc/library/description/library.h"
#include "tc/library/match/computation.h"

namespace tc::library {

/// The libraries there are descriptions of, whether or not they are on this machine: those of the folders beside this
/// file, then those added, in order of their priority. Thread-safe, as is the rest.
std::vector<const Library*> libraries();
/// The one of that name. Throws OptionsError that lists them.
const Library& find_library(const std::string& name);
/// The operands of \p call as its routine is fastest with (Routine::guideline).
std::vector<Operand> liked_operands(const Call& call);
/// The argument that \p call may have its result in place of (Routine::in_place): no other operand reads or writes it. Nothing where
/// there is none.
std::optional<std::size_t> argument_in_place(const Call& call);
/// Adds \p library, for good. Throws OptionsError for a name that is taken.
void add_library(Library library);

/// The calls of \p library that compute \p given, the best first: with few loops around the routine, then with few operands that each
/// run copies whatever the layouts of the arguments are, then in the order of the routines. None where the library is not on this
/// machine.
std::vector<Call> matches(const Computation& given, const Library& library);

}  // namespace tc::library
