#pragma once

#include <functional>
#include <optional>

#include "tc/library/onednn/memory.h"
#include "tc/library/onednn/primitive.h"

namespace tc::library {

/// Makes of a call what oneDNN is told; nothing where it cannot be told.
using PlanOf = std::function<std::optional<PrimitivePlan>(const Call& call)>;

/// The dimensions of the routine's def for operand number \p operand of \p call, where oneDNN's tensor has \p dimensions; nothing where
/// no strides and blocks of them are this layout.
using Unfold = std::function<std::optional<std::vector<Along>>(const Call& call, std::size_t operand,
                                                               const std::vector<Along>& dimensions)>;

/// \p routine on primitives that \p plan_of describes: it accepts what they do, and prepares them. With \p unfold its guideline is
/// what the primitives like best for operands that are neither constant nor weights.
Routine with_primitives(Routine routine, PlanOf plan_of, Unfold unfold = nullptr);

/// Types of factors and sum that oneDNN takes: float32, and bfloat16 summed in float32.
std::vector<std::vector<DType>> product_types();

/// How a result or what is added to it lies for oneDNN, whose tensors have other dimensions than the routine's def: nothing
/// where dimensions that oneDNN has as one do not run through memory as one.
using Folded = std::function<std::optional<std::vector<Along>>(const Operand& operand)>;

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

}  // namespace tc::library
