#pragma once

#include <string>
#include <vector>

#include "tc/base/tensor.h"
#include "tc/derive/form/program.h"
#include "tc/lang/check/inline.h"

namespace tc::derive {

/// \p function, without calls, for \p inputs in the expression form: sizes are numbers, guards and fills are apart from
/// bodies, a factor that is 0 under a guard takes the instances away, and an initial value is one with its reduction.
/// Temporaries without elements are gone.
///
///   P(i) = i >= 1 ? X(i - 1) : 0                 L_i X[i - 1], i >= 1, else 0
///   O(i) = 0   O(i) += P(i + k) * W(k)           L_i Σ_k P[i + k] W[k]
///   O(i) = b   O(i) += P(i + k) * W(k)           L_i Σ_k P[i + k] W[k]   L_i b + it
///
/// Throws Refusal for what the form has no words for: subscripts that are read from tensors, tensors that are written
/// in parts, or again other than by adding to them, buffers of the caller that are accumulated into.
Program from_def(const lang::InlinedDef& function, const std::vector<TensorSpec>& inputs, const ContextPtr& context);

/// The one def of \p text, without calls, whose sizes are all numbers; what to_text() writes, loops included. Throws Refusal, and what
/// parsing and checking throw.
Program from_text(const std::string& text, const ContextPtr& context);

}  // namespace tc::derive
