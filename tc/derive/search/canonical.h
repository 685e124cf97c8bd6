#pragma once

#include <string>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// \p program in words of its own, for two that differ in what is in no text: the order of summed iterators, of factors
/// and of scopes, the names of iterators and of tensors that are no outputs. Inputs and outputs keep their names, and
/// tensors the order of their dimensions.
struct Canonical {
  std::string fingerprint;  ///< equal for equal programs; what differs may have the same
  Program program;          ///< summed iterators in order, temporaries named by it
};
Canonical canonical(const Program& program);

/// Do the two compute the same in the same words? isl compares domains and subscripts.
bool is_same(const Canonical& a, const Canonical& b);

}  // namespace tc::derive
