#include "tc/library/onednn/onednn.h"
#include "tc/library/onednn/routine.h"

namespace tc::library {
namespace {

using Numbers = std::vector<std::int64_t>;

/// \p all without the batch where that is one matrix.
template <typename T>
std::vector<T> without_batch(std::vector<T> all, bool one) {
  if (one) all.erase(all.begin());
  return all;
}

std::optional<PrimitivePlan> plan_of(const Call& call) {
  const auto b = call.number("B"), m = call.number("M"), k = call.number("K"), n = call.number("N");
  const bool one = b == 1;
  auto tensor = [&](const Numbers& dims, const Operand& operand) {
    return memory_desc(without_batch(dims, one), without_batch(along(operand), one), operand.type);
  };
  const auto dims = without_batch(Numbers{b, m, n}, one);
  const Folded folded = [=](const Operand& operand) { return std::optional(without_batch(along(operand), one)); };
  PrimitivePlan plan;
  plan.slots = {{DNNL_ARG_SRC, 0, tensor({b, m, k}, call.operands[0])},
                {DNNL_ARG_WEIGHTS, 1, tensor({b, k, n}, call.operands[1])},
                {DNNL_ARG_DST, 2, tensor({b, m, n}, call.result())}};
  auto bias_dims = Numbers(dims.size(), 1);
  bias_dims.back() = n;
  if (!add_post_ops(call, dims, dims.size() - 1, bias_dims, folded, plan)) return std::nullopt;
  plan.describe = [slots = plan.slots](const std::vector<dnnl_memory_desc_t>& descs, const_dnnl_primitive_attr_t attr) {
    const PrimitivePlan own{.slots = slots};
    dnnl_matmul_desc_t desc;
    const auto status = shared_onednn().matmul_desc_init(&desc, &descs[0], &descs[1], bias_of(own, descs), &descs[2]);
    return status == dnnl_success ? describe(desc, attr) : nullptr;
  };
  return plan;
}

}  // namespace

Routine onednn_matmul() {
  Routine routine{"matmul", "def matmul(float(B,M,K) X, float(B,K,N) W) -> (Y) { Y(b,m,n) +=! X(b,m,k) * W(b,k,n) }",
                  product_types(), true};
  return with_primitives(
      std::move(routine), plan_of,
      [](const Call& call, std::size_t, std::vector<Along> dimensions) -> std::optional<std::vector<Along>> {
        if (call.number("B") == 1) dimensions.insert(dimensions.begin(), Along());
        return dimensions;
      });
}

}  // namespace tc::library
