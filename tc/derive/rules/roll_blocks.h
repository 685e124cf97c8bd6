#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/derive/rules/rewrite.h"
#include "tc/derive/rules/roll_view.h"

namespace tc::derive {

/// The range of an iterator j in blocks: j = least + size * b + w.
struct Blocks {
  /// Of the maximum's iterator, in blocks of at most \p block; names are new in \p program.
  Blocks(const Program& program, const RollView& view, std::int64_t block);

  std::int64_t least, size, count;
  std::string outer, inner, before;  ///< names of b, w and of an earlier b
  std::vector<std::string> tensors;  ///< of RollView::moved, by blocks
};

/// The tensors of the sums of \p view.
std::vector<std::string> tensors_of(const RollView& view);

/// The sums of \p program in which the elementwise temporaries between a maximum and them are written out, which are then gone where
/// nothing else reads them. No step where there are none.
///
///   e(n,j) = exp(s(n,j) - m(n))   p(n,j) = e(n,j) / l(n)   o(n,c) +=! p(n,j) * v(j,c)        o(n,c) +=! exp(s(n,j) - m(n)) / l(n) * v(j,c)
std::vector<Step> written_out_exponentials(const Program& program);

/// \p program with the maximum and the sums of \p view over b and w, and the temporaries that they read by blocks.
///
///   s(n,j) +=! ...   m(n) max=! s(n,j)        s'(n,b,w) +=! ...   m(n) max=! s'(n,b,w)
std::vector<Step> in_blocks(const Program& program, const RollView& view, const Blocks& blocks);

}  // namespace tc::derive
