#pragma once

#include "tc/lang/syntax/diagnostics.h"
#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// Reports statements in loops of \p def, a checked one without errors, that would read elements before they are written, or spoil elements
/// that they have still to read:
///
///   for t in 0:T { H(t,n) = X(t,n) + (t >= 1 ? H(t-1,n) : 0) }      as it should be
///   for t in 0:T { H(t) +=! s < t ? H(s) * A(t,s) : 1 where s in 0:T }  as it should be: a condition holds for earlier iterations alone
///   for t in 0:T { S(n) = H(t,n) }                                  TC134: no index of the loop on the left
///   for t in 0:T { H(t,n) = X(t,n) + H(t+1,n) }                     TC136: an iteration that is to come
///   for t in 0:T { H(t,n) = X(t,n) + H(t,n-1) }                     TC136: the statement itself writes it
///   for t in 0:T { G(t) = H(t-1)  H(t) = G(t) }                     TC137: H has no declared sizes
void check_loops(const Def& def, Diagnostics& diagnostics);

/// The help of TC137 for \p tensor with \p rank dimensions.
std::string how_to_declare(const std::string& tensor, std::size_t rank);

}  // namespace tc::lang
