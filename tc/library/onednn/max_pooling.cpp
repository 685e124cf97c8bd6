#include "tc/base/str.h"
#include "tc/library/onednn/onednn.h"
#include "tc/library/onednn/routine.h"
#include "tc/library/onednn/windows.h"

namespace tc::library {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Maxima of windows R<d> of stride S<d>, dilation D<d> and padding P<d> on the left, over inputs of I<d>.
std::string text_of(int dimensions) {
  std::vector<std::string> sizes, subscripts, guards, results, ranges;
  for (int d = 0; d < dimensions; ++d) {
    sizes.push_back(str("I", d));
    const auto at = str("S", d, "*y", d, " + D", d, "*r", d, " - P", d);
    subscripts.push_back(at);
    guards.push_back(str(at, " >= 0 && ", at, " < I", d));
    results.push_back(str("y", d));
    ranges.push_back(str("y", d, " in 0:O", d, ", r", d, " in 0:R", d));
  }
  return str("def max_pooling", dimensions, "d(float(N,C,", join(sizes, ","), ") X) -> (Y) { Y(n,c,",
             join(results, ","), ") max=! (", join(guards, " && "), ") ? X(n,c,", join(subscripts, ","),
             ") : -1E39 where ", join(ranges, ", "), " }");
}

/// Images of one channel are given as channels of one image, which oneDNN has vectors for.
std::optional<PrimitivePlan> plan_of(const Call& call, int dimensions) {
  const auto windows = windows_of(call, dimensions);
  if (windows.may_be_empty) return std::nullopt;
  auto tensor = [&](const std::string& sizes, const Operand& operand) {
    Numbers dims{call.number("N"), call.number("C")};
    auto lies = along(operand);
    if (dims[1] == 1) {
      std::swap(dims[0], dims[1]);
      std::swap(lies[0], lies[1]);
    }
    for (auto size : numbers_of(call, sizes, dimensions)) dims.push_back(size);
    return memory_desc(dims, lies);
  };
  PrimitivePlan plan;
  plan.slots = {{DNNL_ARG_SRC, 0, tensor("I", call.operands[0])}, {DNNL_ARG_DST, 1, tensor("O", call.result())}};
  plan.describe = [windows, kernel = numbers_of(call, "R", dimensions)](const std::vector<dnnl_memory_desc_t>& descs,
                                                                        const_dnnl_primitive_attr_t attr) {
    dnnl_pooling_v2_desc_t desc;
    const auto status = shared_onednn().pooling_v2_forward_desc_init(
        &desc, dnnl_forward_inference, dnnl_pooling_max, &descs[0], &descs[1], windows.strides.data(), kernel.data(),
        windows.dilations.data(), windows.left.data(), windows.right.data());
    return status == dnnl_success ? describe(desc, attr) : nullptr;
  };
  return plan;
}

}  // namespace

Routine onednn_max_pooling(int dimensions) {
  Routine routine{str("max_pooling", dimensions, "d"), text_of(dimensions), {{DType::Float32, DType::Float32}}};
  routine.blocks = true;
  routine.special_values = false;  // a NaN becomes a number, -infinity the least number
  return with_primitives(
      std::move(routine), [=](const Call& call) { return plan_of(call, dimensions); },
      [](const Call& call, std::size_t, const std::vector<Along>& dims) {
        return call.number("C") == 1 ? std::nullopt : std::optional(dims);
      });
}

}  // namespace tc::library
