#pragma once

#include <functional>
#include <optional>

#include "tc/library/onednn/primitive.h"

namespace tc::library {

/// Makes of a call what oneDNN is told; nothing where it cannot be told.
using PlanOf = std::function<std::optional<PrimitivePlan>(const Call& call)>;

/// \p routine on primitives that \p plan_of describes: it accepts what they do, and prepares them.
Routine with_primitives(Routine routine, PlanOf plan_of);

/// Types of factors and sum that oneDNN takes: float32, and bfloat16 summed in float32.
std::vector<std::vector<DType>> product_types();

/// The strides of a result or what is added to it, from those of the routine's def to those of oneDNN's tensor: nothing
/// where dimensions that oneDNN has as one do not run through memory as one.
using Folded = std::function<std::optional<std::vector<std::int64_t>>(const std::vector<std::int64_t>& strides)>;

/// Adds to \p plan the post-ops of \p call, whose result has \p dims for oneDNN: a first sum with one element for each
/// index of dimension \p channel as a bias of \p bias_dims, which \p plan gets a slot for. False where oneDNN has none
/// like them.
bool add_post_ops(const Call& call, const std::vector<std::int64_t>& dims, std::size_t channel,
                  const std::vector<std::int64_t>& bias_dims, const Folded& folded, PrimitivePlan& plan);

/// The slot of the bias among \p descs of \p plan; null without one.
const dnnl_memory_desc_t* bias_of(const PrimitivePlan& plan, const std::vector<dnnl_memory_desc_t>& descs);

/// A descriptor of the operation \p desc; null where oneDNN has none.
template <typename OpDesc>
Owner<dnnl_primitive_desc> describe(const OpDesc& desc, const_dnnl_primitive_attr_t attr) {
  dnnl_primitive_desc_t made = nullptr;
  if (shared_onednn().primitive_desc_create(&made, &desc, attr, shared_onednn().engine, nullptr) != dnnl_success)
    return nullptr;
  return own(made);
}

/// The stride of two dimensions as one, the outer of \p outer elements, the inner of \p inner.
std::optional<std::int64_t> folded_stride(std::int64_t outer, std::int64_t outer_stride, std::int64_t inner,
                                          std::int64_t inner_stride);

}  // namespace tc::library
