#include "tc/autotuner/worker/sample.h"

#include <algorithm>
#include <map>
#include <string>

#include "tc/autotuner/worker/element.h"
#include "tc/autotuner/worker/random_source.h"

namespace tc::autotuner {
namespace {

constexpr std::int64_t usual_bound = 8;

using Bounds = std::map<std::string, std::int64_t>;

/// The tensor that \p subscript reads, behind casts; "" where it is something else.
std::string index_tensor(const lang::ExprPtr& subscript) {
  if (const auto* cast = std::get_if<lang::Cast>(&subscript->node)) return index_tensor(cast->value);
  const auto* access = std::get_if<lang::Access>(&subscript->node);
  return access ? access->tensor : "";
}

/// For each tensor whose elements are subscripts, the least extent of what they index.
Bounds bounds_of(const engine::Function& function, const lang::SizeMap& sizes) {
  Bounds bounds;
  auto visit = [&](const lang::ExprPtr& expr) {
    const auto* access = std::get_if<lang::Access>(&expr->node);
    for (std::size_t d = 0; access && d < access->subscripts.size(); ++d) {
      auto index = index_tensor(access->subscripts[d]);
      if (index.empty()) continue;
      auto extent = lang::evaluate_box({function.ranges.tensors.at(access->tensor)[d]}, sizes)[0].extent;
      auto known = bounds.try_emplace(index, extent).first;
      known->second = std::min(known->second, extent);
    }
  };
  for (const auto& statement : function.def.statements)
    if (const auto* assignment = std::get_if<lang::Assignment>(&statement.node))
      lang::for_each_expr(assignment->rhs, visit);
  return bounds;
}

}  // namespace

SampleTensors::SampleTensors(const engine::Function& function, const std::vector<TensorSpec>& inputs,
                             std::uint64_t seed) {
  auto bounds = bounds_of(function, engine::bind_inputs(function, inputs));
  RandomSource random(seed);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& spec = inputs[i];
    auto bound = bounds.count(function.def.params[i].name) ? bounds.at(function.def.params[i].name) : usual_bound;
    if (spec.dtype == DType::Bool) bound = 2;
    bound = std::clamp<std::int64_t>(bound, 1, byte_size(spec.dtype) == 1 ? 128 : 32768);
    auto span = element_span(spec);
    auto size = static_cast<std::size_t>(byte_size(spec.dtype));
    memory_.emplace_back(static_cast<std::size_t>(span.high - span.low + 1) * size);
    for (std::size_t at = 0; at < memory_.back().size(); at += size) {
      double unit = random.unit();
      store_element(spec.dtype, is_float(spec.dtype) ? 2 * unit - 1 : unit * static_cast<double>(bound),
                    memory_.back().data() + at);
    }
    TensorView view;
    static_cast<TensorSpec&>(view) = spec;
    view.data = memory_.back().data() + static_cast<std::size_t>(-span.low) * size;
    views_.push_back(std::move(view));
  }
}

}  // namespace tc::autotuner
