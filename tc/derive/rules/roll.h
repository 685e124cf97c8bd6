#pragma once

#include <vector>

#include "tc/derive/rules/rewrite.h"
#include "tc/derive/rules/roll_blocks.h"

namespace tc::derive {

/// \p program with a maximum and the sums of its exponentials rolled: computed together in one loop over blocks of \p size iterations,
/// with a running maximum and sums that are corrected when it rises, so that nothing of all iterations is kept (RollView says where).
///
///   before  m(n) max=! s(n,j)   l(n) +=! exp(s(n,j) - m(n)) * u(n,j)
///   after   for b { p(n,b) max=! s(n, block*b + w)        m'(n,b) = max(m'(n,b-1), p(n,b))       r(n,b) = m'(n,b), the lowest number for -inf
///                   q(n,b) +=! exp(s(n, block*b + w) - r(n,b)) * u(n, block*b + w)
///                   l'(n,b) = q(n,b) + l'(n,b-1) * exp(r(n,b-1) - r(n,b)) }
///           m(n) = m'(n,last)   l(n) = l'(n,last) * exp(r(n,last) - m(n))
///
/// Sums of wide temporaries that do not roll with a maximum, because their terms need what is known behind the loop or they go over another
/// iterator, have loops of their own, in which these temporaries are computed again (recompute.h):
///
///   before  O(j,d) +=! exp(s(n,j) - m(n)) * u(n,d)
///   after   for b { e(b,j,w) = exp(s_2(block*b + w, j) - m(block*b + w))   q(b,j,d) +=! e(b,j,w) * u(block*b + w, d)
///                   O'(b,j,d) = q(b,j,d) + O'(b-1,j,d) }   O(j,d) = O'(last,j,d)
///
/// The steps on the way write out elementwise temporaries, compute temporaries by blocks, define running values by sums up to a block,
/// and then each by the one of the block before. Throws Refusal with the reason where nothing rolls.
///
/// Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
std::vector<Step> roll(const Program& program, const BlockSize& size);

}  // namespace tc::derive
