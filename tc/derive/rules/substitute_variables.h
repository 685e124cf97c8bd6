#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// Variable substitution: the scope of \p tensor is traversed by y = \p phi(x) instead of x; \p names are those of y.
///
///   before  O(x) = f(x)        after  T(y) = f(phi⁻¹(y))   O(x) = T(phi(x))
///
/// \p phi maps the left iterators, and is injective on the elements that there are; throws Refusal where it is not.
Step substitute_variables(const Program& program, const std::string& tensor, const isl::multi_aff& phi,
                          const std::vector<std::string>& names);

/// The substitutions that the subscripts of reads ask for: for a read A(h + r, w + s), t = h + r for h and u = w + s for w,
/// all of a read at once, where h and w stand in no other subscripts. Summed iterators in these stay: A(h + 3*r1 + r0), summed over r0,
/// asks for t = h + 3*r1.
std::vector<Step> substitutions(const Program& program);

/// \p dimension, an iterator of the scope of \p tensor, as by * i1 + i0, 0 <= i0 < by: a summed one in place, one of the
/// tensor by substitution.
///
///   before  O(x) +=! f(x, r)        after  O(x) +=! f(x, 3*r1 + r0)
Step split_iterator(const Program& program, const std::string& tensor, int dimension, std::int64_t by);
/// The same of several, all of the tensor or all summed, each by \p by.
Step split_iterators(const Program& program, const std::string& tensor, const std::vector<int>& dimensions,
                     std::int64_t by);

/// The splits that the subscripts ask for: of an iterator that shares a subscript with one whose factor is k times its own,
/// by k, as strides and dilations are; of a summed one that does, by numbers that fill its range up to one value. Iterators that are
/// alike, as those of a square window or of an image are, are split together.
std::vector<Step> iterator_splits(const Program& program);

}  // namespace tc::derive
