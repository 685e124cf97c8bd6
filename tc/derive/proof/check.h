#pragma once

#include <string>

#include "tc/derive/proof/certificate.h"

namespace tc::derive {

/// Whether a certificate proves what it is for, and if not, what fails, with an instance for which it does.
struct Verdict {
  bool equal = false;
  std::string why;  ///< of a refusal
};

/// Does \p certificate prove that \p before and \p after compute equal outputs? It knows no rule: it asks isl only. The
/// two have equal inputs and outputs; all reads are inside of their tensors; and for each tensor of one name
///
///   - type, box, operator and fill are the same,
///   - the map is a bijection from the instances of its definition before onto those after,
///   - W_before = W_after ∘ map, and body and operands R_before = R_after ∘ map likewise, whatever the order of factors.
///
/// Both definitions are written out to tensors of which this is asked too, so all are equal, in the order of the program. Of a tensor that
/// \p after defines by earlier elements of itself, in a loop, these are written out as \p before defines them (induction.h).
/// A tensor without a map has the identity. Numbers are exact: integers that do not overflow, reals.
Verdict check(const Program& before, const Program& after, const Certificate& certificate);

/// The same for a \p before that is known to be a program, as what an earlier check took is.
Verdict check_step(const Program& before, const Program& after, const Certificate& certificate);
/// The same for two that are known to be programs.
Verdict compare(const Program& before, const Program& after, const Certificate& certificate);

/// Is \p program one: reads inside of their tensors, cases apart, one instance an element where nothing is reduced?
Verdict check(const Program& program);

}  // namespace tc::derive
