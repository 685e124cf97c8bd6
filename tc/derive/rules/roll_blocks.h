#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tc/derive/rules/rewrite.h"
#include "tc/derive/rules/roll_view.h"

namespace tc::derive {

/// How large blocks are.
struct BlockSize {
  std::int64_t most = 1;
  std::int64_t multiple =
      1;  ///< more than 1: blocks of about one size are multiples of it, and at most `most` if that is one
  bool padded =
      false;  ///< a last block that is not whole is of padded operands (roll_padding.h), so that no iteration needs a condition

  /// Of a range of \p extent iterations.
  std::int64_t of(std::int64_t extent) const;
};

/// The range of an iterator j in blocks: j = least + size * b + w.
struct Blocks {
  /// Of the iterator that \p view rolls; names are new in \p program.
  Blocks(const Program& program, const RollView& view, const BlockSize& block);

  std::int64_t least, extent, size, count;
  std::string outer, inner, before;  ///< names of b, w and of an earlier b
  std::vector<std::string> tensors;  ///< of RollView::moved, by blocks
};

/// The tensors of the sums of \p view.
std::vector<std::string> tensors_of(const RollView& view);

/// The sums of \p program in which the elementwise temporaries between a maximum and them are written out, which are then gone where
/// nothing else reads them. No step where there are none. With names \p only, of these sums.
///
///   e(n,j) = exp(s(n,j) - m(n))   p(n,j) = e(n,j) / l(n)   o(n,c) +=! p(n,j) * v(j,c)        o(n,c) +=! exp(s(n,j) - m(n)) / l(n) * v(j,c)
std::vector<Step> written_out_exponentials(const Program& program, const std::vector<std::string>& only = {});
/// The same without these temporaries, as all sums read them; nothing where something else does. It is for looks at sums, and no step.
std::optional<Program> without_exponentials(const Program& program);

/// \p program with the maximum and the sums of \p view over b and w, and the temporaries that they read by blocks.
///
///   s(n,j) +=! ...   m(n) max=! s(n,j)        s'(n,b,w) +=! ...   m(n) max=! s'(n,b,w)
std::vector<Step> in_blocks(const Program& program, const RollView& view, const Blocks& blocks);

}  // namespace tc::derive
