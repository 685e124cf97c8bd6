#pragma once

#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

/// What defines \p tensor is written out in all scopes that read it, and \p tensor is no more. Throws Refusal where it is
/// an output, is not read, or is a sum read in other than a product.
Step write_out(const Program& program, const std::string& tensor, const std::string& rule);

/// Expression fusion of a tensor that holds one instance an element, a copy or a function of elements.
///
///   before  P(i) = i >= 1 ? X(i - 1) : 0   O(h) +=! P(h + k) * W(k)        after  O(h) +=! h + k >= 1 ? X(h + k - 1) * W(k) : 0
Step fuse(const Program& program, const std::string& tensor);

/// \p program with all copies fused that can be: of parts of tensors, padded, shifted; an output that copies what nothing else reads
/// is defined as that. The steps one after another.
///
///   before  Y(i,j) = X(j,i)   S(i,j) = exp(Y(i,j))   O(j,i) = S(i,j)        after  O(j,i) = exp(X(j,i))
std::vector<Step> fuse_copies(const Program& program);

}  // namespace tc::derive
