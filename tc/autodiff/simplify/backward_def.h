#pragma once

#include <string>
#include <vector>

#include "tc/autodiff/reverse/reverse.h"

namespace tc::autodiff {

/// Forward statements that adjoint ones need, and tensors that the caller gives.
struct Recomputation {
  std::vector<Step> steps;         ///< of the forward def, before those of gradients
  std::vector<Step> gradients;     ///< with versions read by their names here
  std::vector<std::string> saved;  ///< returns, as parameters, in the order of the returns
  std::vector<std::string>
      lost;  ///< returns whose values before the def, which overwrites them, are needed; nothing else is set
};

/// The statements of \p reversed.forward that \p gradients need. A return in \p savable is read from a parameter, from 0, in
/// place of being computed, but for one whose last bits would be compared with those of what it comes from, computed again.
/// Versions of one tensor share its name where no gradient reads the older one.
Recomputation recompute(const Reversed& reversed, const std::vector<Step>& gradients,
                        const std::vector<std::string>& savable);

/// Leaves out the clauses of `where` that inference finds by itself; \p def is checked, \p text its text.
lang::Def without_redundant_ranges(const lang::Def& def, const lang::Ranges& ranges);

}  // namespace tc::autodiff
