#include "tc/base/str.h"
#include "tc/library/onednn/onednn.h"
#include "tc/library/onednn/routine.h"

namespace tc::library {
namespace {

using Numbers = std::vector<std::int64_t>;

std::string text_of(int dimensions) {
  std::vector<std::string> sizes, subscripts, results, ranges;
  for (int d = 0; d < dimensions; ++d) {
    sizes.push_back(str("I", d));
    subscripts.push_back(str("S", d, "*y", d, " + D", d, "*r", d));
    results.push_back(str("y", d));
    ranges.push_back(str("y", d, " in 0:O", d, ", r", d, " in 0:R", d));
  }
  return str("def max_pooling", dimensions, "d(float(N,C,", join(sizes, ","), ") X) -> (Y) { Y(n,c,",
             join(results, ","), ") max=! X(n,c,", join(subscripts, ","), ") where ", join(ranges, ", "), " }");
}

std::optional<PrimitivePlan> plan_of(const Call& call, int dimensions) {
  Numbers in{call.number("N"), call.number("C")}, strides, kernel, dilations, zeros;
  auto out = in;
  for (int d = 0; d < dimensions; ++d) {
    in.push_back(call.number(str("I", d)));
    out.push_back(call.number(str("O", d)));
    strides.push_back(call.number(str("S", d)));
    kernel.push_back(call.number(str("R", d)));
    dilations.push_back(call.number(str("D", d)) - 1);
    zeros.push_back(0);
  }
  PrimitivePlan plan;
  plan.slots = {{DNNL_ARG_SRC, 0, memory_desc(in, call.operands[0].strides)},
                {DNNL_ARG_DST, 1, memory_desc(out, call.result().strides)}};
  plan.describe = [=](const std::vector<dnnl_memory_desc_t>& descs, const_dnnl_primitive_attr_t attr) {
    dnnl_pooling_v2_desc_t desc;
    const auto status = shared_onednn().pooling_v2_forward_desc_init(
        &desc, dnnl_forward_inference, dnnl_pooling_max, &descs[0], &descs[1], strides.data(), kernel.data(),
        dilations.data(), zeros.data(), zeros.data());
    return status == dnnl_success ? describe(desc, attr) : nullptr;
  };
  return plan;
}

}  // namespace

Routine onednn_max_pooling(int dimensions) {
  Routine routine{str("max_pooling", dimensions, "d"), text_of(dimensions), {{DType::Float32, DType::Float32}}};
  return with_primitives(std::move(routine), [=](const Call& call) { return plan_of(call, dimensions); });
}

}  // namespace tc::library
