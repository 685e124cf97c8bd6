#pragma once

#include <string>

#include "tc/engine/compile/compile_options.h"

namespace tc::aten {

/// Makes every def of \p text an operator of torch in the namespace \p space, as TORCH_LIBRARY does, for as long as the
/// process: after
///
///   tc::aten::define_operators("my", "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
///
/// there is my::mm(Tensor A, Tensor B) -> Tensor, with kernels for CPU and CUDA, shapes (for fake tensors too) and
/// gradients. A gradient is an operator itself, my::mm__grad_0_1_of_0 where A and B have one, defined when it is first
/// asked for. What a def adds to stands behind its parameters and is not changed; the sum is a return.
///
/// Under vmap a call is one of the def that engine::batch makes, my::mm__batch_0_none where A has a batch in front. Symbolic sizes
/// become numbers: torch.compile compiles for each. Tangents of forward mode are those of my::mm__jvp_0, where A has one. torch refuses
/// gradients inside torch.func's own transforms: what it has for C++, torch::autograd::Function, takes no rule for them. Throws as engine::define, and c10::Error for a name that torch has already:
/// the defs before that one stay.
void define_operators(const std::string& space, const std::string& text, const engine::CompileOptions& options = {});

}  // namespace tc::aten
