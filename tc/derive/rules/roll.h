#pragma once

#include <cstdint>
#include <vector>

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// \p program with a maximum and the sums of its exponentials rolled: computed together in one loop over blocks of \p block iterations,
/// with a running maximum and sums that are corrected when it rises, so that nothing of all iterations is kept (RollView says where).
///
///   before  m(n) max=! s(n,j)   l(n) +=! exp(s(n,j) - m(n)) * u(n,j)
///   after   for b { p(n,b) max=! s(n, block*b + w)        m'(n,b) = max(m'(n,b-1), p(n,b))       r(n,b) = m'(n,b), the lowest number for -inf
///                   q(n,b) +=! exp(s(n, block*b + w) - r(n,b)) * u(n, block*b + w)
///                   l'(n,b) = q(n,b) + l'(n,b-1) * exp(r(n,b-1) - r(n,b)) }
///           m(n) = m'(n,last)   l(n) = l'(n,last) * exp(r(n,last) - m(n))
///
/// The steps on the way write out elementwise temporaries, compute temporaries by blocks, define running values by sums up to a block,
/// and then each by the one of the block before. Throws Refusal with the reason where nothing rolls.
///
/// Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
std::vector<Step> roll(const Program& program, std::int64_t block);

/// The largest block of at most \p most iterations of which roll(\p program) would make whole ones, so that no iteration needs a
/// condition; \p most if such blocks have less than half as many. Throws Refusal where nothing rolls.
std::int64_t even_block(const Program& program, std::int64_t most);

}  // namespace tc::derive
