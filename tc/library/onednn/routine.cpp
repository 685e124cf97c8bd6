#include "tc/library/onednn/routine.h"

#include "tc/base/error.h"

namespace tc::library {
namespace {

/// Is \p strides those of one element for each index of dimension \p channel, one behind the other?
bool is_bias(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides, std::size_t channel) {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (strides[d] != (d == channel && dims[d] > 1 ? 1 : 0)) return false;
  return true;
}

/// The dimensions that \p strides run through, and 1 for the others.
std::vector<std::int64_t> own_dims(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides) {
  auto result = dims;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (strides[d] == 0) result[d] = 1;
  return result;
}

}  // namespace

Routine with_primitives(Routine routine, PlanOf plan_of) {
  routine.loops = true;
  routine.accepts = [plan_of](const Call& call) {
    try {
      const auto plan = plan_of(call);
      return plan && choose_primitive(*plan).has_value();
    } catch (const DeviceError&) {
      return false;
    }
  };
  routine.prepare = [plan_of](const Call& call) -> std::unique_ptr<Invocation> {
    auto plan = plan_of(call);
    if (!plan) throw DeviceError("oneDNN has no implementation for " + to_string(call));
    return make_invocation(std::move(*plan));
  };
  return routine;
}

std::vector<std::vector<DType>> product_types() {
  using enum DType;
  return {{Float32, Float32, Float32}, {BFloat16, BFloat16, Float32}, {BFloat16, BFloat16, BFloat16}};
}

namespace {

/// A post-op: relu, or the sum with a tensor, a slot of the plan.
struct Step {
  std::optional<std::size_t> slot;
  dnnl_memory_desc_t added{};
};

Owner<dnnl_post_ops> make_post_ops(const std::vector<Step>& steps, std::optional<std::size_t> summed) {
  const auto& dnn = shared_onednn();
  dnnl_post_ops_t made = nullptr;
  dnn.check(dnn.post_ops_create(&made), "make post-ops");
  auto result = own(made);
  for (const auto& step : steps)
    if (!step.slot)
      dnn.check(dnn.post_ops_append_eltwise(made, 1, dnnl_eltwise_relu, 0, 0), "take relu");
    else if (step.slot == summed)
      dnn.check(dnn.post_ops_append_sum(made, 1), "take a sum");
    else
      dnn.check(dnn.post_ops_append_binary(made, dnnl_binary_add, &step.added), "take a sum");
  return result;
}

}  // namespace

bool add_post_ops(const Call& call, const std::vector<std::int64_t>& dims, std::size_t channel,
                  const std::vector<std::int64_t>& bias_dims, const Folded& folded, PrimitivePlan& plan) {
  std::vector<Step> steps;
  std::size_t operand = call.operands.size();
  for (std::size_t i = 0; i < call.post_ops.size(); ++i) {
    const auto& op = call.post_ops[i];
    if (op.kind == PostOp::Kind::Relu) {
      steps.emplace_back();
      continue;
    }
    const auto strides = folded(op.operand->strides);
    if (!strides || op.operand->type != DType::Float32 || op.operand->argument == call.result().argument) return false;
    if (i == 0 && is_bias(dims, *strides, channel)) {
      std::vector<std::int64_t> bias_strides(bias_dims.size(), dims[channel]);
      bias_strides.back() = 1;
      plan.slots.push_back({DNNL_ARG_BIAS, operand++, memory_desc(bias_dims, bias_strides), false});
      continue;
    }
    const auto added = own_dims(dims, *strides);
    const auto arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(steps.size())) | DNNL_ARG_SRC_1;
    steps.push_back({plan.slots.size(), memory_desc(added, *strides)});
    const bool to_all = added == dims && call.result().type == DType::Float32;
    plan.slots.push_back({arg, operand++, steps.back().added, false, to_all});
  }
  if (!steps.empty()) plan.post_ops = [steps](auto summed) { return make_post_ops(steps, summed); };
  return true;
}

const dnnl_memory_desc_t* bias_of(const PrimitivePlan& plan, const std::vector<dnnl_memory_desc_t>& descs) {
  for (std::size_t s = 0; s < plan.slots.size(); ++s)
    if (plan.slots[s].arg == DNNL_ARG_BIAS) return &descs[s];
  return nullptr;
}

std::optional<std::int64_t> folded_stride(std::int64_t outer, std::int64_t outer_stride, std::int64_t inner,
                                          std::int64_t inner_stride) {
  if (outer == 1) return inner_stride;
  if (inner == 1) return outer_stride;
  if (outer_stride == inner * inner_stride) return inner_stride;
  return std::nullopt;
}

}  // namespace tc::library
