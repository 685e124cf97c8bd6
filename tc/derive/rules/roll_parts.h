#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/derive/rules/roll_blocks.h"

/// What the last steps of roll() are made of. Instances of a running value are [b, y, b', w]: the block up to which it goes, the element,
/// and an earlier block with a place in it. Those of what belongs to one block are [b, y, w].
namespace tc::derive {

/// The last block that a row of a reduction needs, for some rows.
struct LastBlock {
  isl::set rows;        ///< { [y] }
  isl::multi_aff last;  ///< { [y] -> [b] }
};

/// The blocks of a reduction over [y, b, w] that have an effect on row y: from a first one to a last one. A causal mask hides all blocks
/// of keys behind the row:
///
///   m(n) max=! j <= n ? s(n,j) : -inf        last: n / 64        from_first: b >= 0
struct NeededBlocks {
  isl::set from_first;  ///< { [b, y] }: in the first block or behind it
  std::vector<LastBlock> last;
};

/// A program on the way, whose maximum, if there is one, and sums are over b and w, and the names of its parts.
struct RollParts {
  RollParts(Program program, const RollView& rolled, const Blocks& in_blocks);

  struct Sum {
    const RolledSum* view;
    Case body;              ///< over [y, b, w]
    NeededBlocks needed;    ///< of the maximum, for its rows, if it has an exponential
    std::string run, part;  ///< the running sum and the sum of a block
  };

  Program program;
  const RollView& view;
  const Blocks& blocks;
  isl::ctx ctx;
  std::optional<Case> maximum_body;    ///< over [x, b, w]; nothing without a maximum, as the names below
  std::optional<NeededBlocks> needed;  ///< by the maximum
  std::vector<Sum> sums;
  std::string run, part;                     ///< the running maximum and that of a block
  std::string from;                          ///< what is taken off in the exponents
  std::string step;                          ///< the factor of running sums when the maximum rises
  std::string exp;                           ///< the exponentials of a block
  std::map<DType, std::string> rounded_exp;  ///< the same, rounded to 16 bits

  const Scope& scope(const std::string& tensor) const { return *program.find(tensor); }
  const Scope& maximum() const { return scope(view.maximum); }
  /// The dimensions of x.
  int rows() const { return maximum().left(); }
  /// x(y) from \p dimensions dimensions, where the \p count dimensions of y begin at number \p first.
  isl::multi_aff rows_of(const RolledSum& sum, int count, int dimensions, int first) const;
};

/// { [i0, ...] -> [before..., the \p count dimensions from \p first on, after...] } of \p all dimensions, in isl's words over them.
isl::multi_aff index_of(isl::ctx ctx, int all, const std::vector<std::string>& before, int first, int count,
                        const std::vector<std::string>& after = {});

/// { [y] -> [b, y] } of the last block of rows y.
isl::multi_aff index_of(const LastBlock& last);

/// "#k".
lang::ExprPtr read_of(std::size_t k);
/// exp(factor * (a - b)).
lang::ExprPtr exponential_of(const lang::ExprPtr& a, const lang::ExprPtr& b, double factor, DType type);
/// The quotient of two products.
lang::ExprPtr quotient_of(const std::vector<lang::ExprPtr>& factors, const std::vector<lang::ExprPtr>& divisors);

/// A body in the making: reads are added as they are named.
struct RollBody {
  std::vector<Read> reads;

  /// An element of \p tensor.
  lang::ExprPtr read(const std::string& tensor, const isl::multi_aff& at);
  /// \p expr of \p part, whose instances \p at finds from those of the body.
  lang::ExprPtr taken(const lang::ExprPtr& expr, const Case& part, const isl::multi_aff& at);
  std::vector<lang::ExprPtr> taken(const std::vector<lang::ExprPtr>& all, const Case& part, const isl::multi_aff& at);
};

/// \p like with a dimension b in front of its left dimensions, no others and no cases, as an elementwise tensor.
Scope over_blocks(const RollParts& parts, const Scope& like, const std::string& tensor);

/// \p parts with running values in closed form: the maximum and the sums of all blocks up to one. They become those of the last block.
///
///   m'(b,x) max=! s(x, b', w), b' <= b        r(b,x) = max(m'(b,x), lowest)        m(x) = m'(last, x)
///   l'(b,y) +=! exp(c * (s(x, b', w) - r(b,x))) * u, b' <= b        l(y) = l'(last, y) * exp(c * (r(last, x) - m(x))) * w
///
/// A sum without an exponential is one of the last block as it is: o(y) = o'(last, y). The last block is that of NeededBlocks. Where all s so far are -inf, the lowest number is taken off: exp(-inf - lowest) is 0, and so is exp(lowest - r) once s are finite.
std::vector<Step> running_values(RollParts& parts);

/// \p parts with running values in a loop over b, each made of the one of the block before:
///
///   m'(b,x) = max(m'(b-1,x), p(b,x))        l'(b,y) = q(b,y) + l'(b-1,y) * exp(c * (r(b-1,x) - r(b,x)))
Step rolled_loop(const RollParts& parts);

}  // namespace tc::derive
