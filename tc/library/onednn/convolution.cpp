#include "tc/base/str.h"
#include "tc/library/onednn/onednn.h"
#include "tc/library/onednn/routine.h"
#include "tc/library/onednn/windows.h"

namespace tc::library {
namespace {

using Numbers = std::vector<std::int64_t>;

/// A convolution of n spatial dimensions d = 0, 1, ...: input sizes I<d>, windows R<d> of stride S<d>, dilation D<d> and
/// padding P<d> on the left, results O<d>; G groups.
std::string text_of(int dimensions) {
  std::vector<std::string> sizes, windows, subscripts, weights, results, guards, ranges;
  for (int d = 0; d < dimensions; ++d) {
    const auto at = str("S", d, "*y", d, " + D", d, "*r", d, " - P", d);
    sizes.push_back(str("I", d));
    windows.push_back(str("R", d));
    subscripts.push_back(at);
    weights.push_back(str("r", d));
    results.push_back(str("y", d));
    guards.push_back(str(at, " >= 0 && ", at, " < I", d));
    ranges.push_back(str("y", d, " in 0:O", d));
  }
  return str("def convolution", dimensions, "d(float(N,G,C,", join(sizes, ","), ") X, float(G,K,C,", join(windows, ","),
             ") F) -> (Y) { Y(n,g,k,", join(results, ","), ") +=! (", join(guards, " && "), ") ? X(n,g,c,",
             join(subscripts, ","), ") * F(g,k,c,", join(weights, ","), ") : 0 where ", join(ranges, ", "), " }");
}

/// \p outer and \p first, then the elements of \p spatial from \p from on.
template <typename T>
std::vector<T> with_spatial(T outer, T first, const std::vector<T>& spatial, std::size_t from = 0) {
  std::vector<T> result{outer, first};
  result.insert(result.end(), spatial.begin() + static_cast<std::ptrdiff_t>(from), spatial.end());
  return result;
}

std::optional<dnnl_memory_desc_t> source(const Call& call, int dimensions) {
  const auto g = call.number("G"), c = call.number("C");
  const auto lies = along(call.operands[0]);
  const auto channel = folded(g, lies[1], c, lies[2]);
  if (!channel) return std::nullopt;
  return memory_desc(with_spatial(call.number("N"), g * c, numbers_of(call, "I", dimensions)),
                     with_spatial(lies[0], *channel, lies, 3), call.operands[0].type);
}

dnnl_memory_desc_t weights(const Call& call, int dimensions) {
  auto dims = with_spatial(call.number("K"), call.number("C"), numbers_of(call, "R", dimensions));
  auto lies = along(call.operands[1]);
  if (call.number("G") == 1)
    lies.erase(lies.begin());
  else
    dims.insert(dims.begin(), call.number("G"));
  return memory_desc(dims, lies, call.operands[1].type);
}

std::optional<PrimitivePlan> plan_of(const Call& call, int dimensions) {
  const auto g = call.number("G"), k = call.number("K");
  const auto dims = with_spatial(call.number("N"), g * k, numbers_of(call, "O", dimensions));
  const Folded for_result = [=](const Operand& operand) -> std::optional<std::vector<Along>> {
    const auto lies = along(operand);
    const auto channel = folded(g, lies[1], k, lies[2]);
    if (!channel) return std::nullopt;
    return with_spatial(lies[0], *channel, lies, 3);
  };
  const auto from = source(call, dimensions);
  const auto to = for_result(call.result());
  if (!from || !to) return std::nullopt;
  PrimitivePlan plan;
  plan.likes_own_layouts = true;
  plan.slots = {{DNNL_ARG_SRC, 0, *from},
                {DNNL_ARG_WEIGHTS, 1, weights(call, dimensions)},
                {DNNL_ARG_DST, 2, memory_desc(dims, *to, call.result().type)}};
  if (!add_post_ops(call, dims, 1, {dims[1]}, for_result, plan)) return std::nullopt;
  plan.describe = [windows = windows_of(call, dimensions), slots = plan.slots](
                      const std::vector<dnnl_memory_desc_t>& descs, const_dnnl_primitive_attr_t attr) {
    const PrimitivePlan own{.slots = slots};
    dnnl_convolution_desc_t desc;
    const auto status = shared_onednn().dilated_convolution_forward_desc_init(
        &desc, dnnl_forward_inference, dnnl_convolution_direct, &descs[0], &descs[1], bias_of(own, descs), &descs[2],
        windows.strides.data(), windows.dilations.data(), windows.left.data(), windows.right.data());
    return status == dnnl_success ? describe(desc, attr) : nullptr;
  };
  return plan;
}

/// N, G * C or G * K, and spatial dimensions as N, G, C or K, and spatial ones: where there is one group, or as many as channels.
std::optional<std::vector<Along>> unfolded(const Call& call, std::size_t operand, const std::vector<Along>& all) {
  const auto g = call.number("G"), own = call.number(operand == 0 ? "C" : "K");
  if (g > 1 && own > 1) return std::nullopt;
  std::vector<Along> result{all[0], g > 1 ? all[1] : Along(), g > 1 ? Along() : all[1]};
  result.insert(result.end(), all.begin() + 2, all.end());
  return result;
}

}  // namespace

Routine onednn_convolution(int dimensions) {
  Routine routine{str("convolution", dimensions, "d"), text_of(dimensions), product_types(), true};
  routine.blocks = true;
  return with_primitives(std::move(routine), [=](const Call& call) { return plan_of(call, dimensions); }, unfolded);
}

}  // namespace tc::library
