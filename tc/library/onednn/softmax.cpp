#include "tc/library/onednn/onednn.h"
#include "tc/library/onednn/routine.h"

namespace tc::library {
namespace {

std::optional<PrimitivePlan> plan_of(const Call& call) {
  const std::vector<std::int64_t> dims{call.number("N"), call.number("C")};
  PrimitivePlan plan;
  plan.slots = {{DNNL_ARG_SRC, 0, memory_desc(dims, along(call.operands[0]))},
                {DNNL_ARG_DST, 1, memory_desc(dims, along(call.result()))}};
  plan.describe = [](const std::vector<dnnl_memory_desc_t>& descs, const_dnnl_primitive_attr_t attr) {
    dnnl_softmax_v2_desc_t desc;
    const auto status = shared_onednn().softmax_v2_forward_desc_init(&desc, dnnl_forward_inference,
                                                                     dnnl_softmax_accurate, &descs[0], &descs[1], 1);
    return status == dnnl_success ? describe(desc, attr) : nullptr;
  };
  return plan;
}

}  // namespace

Routine onednn_softmax() {
  Routine routine{"softmax",
                  "def softmax(float(N,C) X) -> (Y) { M(n) max=! X(n,c)  E(n,c) = exp(X(n,c) - M(n))"
                  "  S(n) +=! E(n,c)  Y(n,c) = E(n,c) / S(n) }",
                  {{DType::Float32, DType::Float32}}};
  routine.special_values = false;  // a NaN becomes a number
  return with_primitives(std::move(routine), plan_of);
}

}  // namespace tc::library
