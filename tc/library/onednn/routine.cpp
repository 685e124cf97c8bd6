#include "tc/library/onednn/routine.h"

#include <algorithm>
#include <limits>

#include "tc/base/error.h"

namespace tc::library {
namespace {

/// Is \p strides those of one element for each index of dimension \p channel, one behind the other?
bool is_bias(const std::vector<std::int64_t>& dims, const std::vector<Along>& along, std::size_t channel) {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (along[d] != Along(d == channel && dims[d] > 1 ? 1 : 0)) return false;
  return true;
}

/// The dimensions that \p along run through, and 1 for the others.
std::vector<std::int64_t> own_dims(const std::vector<std::int64_t>& dims, const std::vector<Along>& along) {
  auto result = dims;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (along[d].stride == 0) result[d] = 1;
  return result;
}

/// \p operand with its dimensions as \p along says.
Operand lying(Operand operand, const std::vector<Along>& along) {
  operand.strides.clear();
  operand.blocks.clear();
  for (const auto& own : along) {
    operand.strides.push_back(own.stride);
    operand.blocks.push_back(own.block);
  }
  if (std::all_of(along.begin(), along.end(), [](const auto& own) { return own.block.size == 0; }))
    operand.blocks.clear();
  return operand;
}

/// The post-op of \p call that \p plan sums in the result's memory and takes as it lies.
std::optional<std::size_t> summed_in_place(const Call& call, const PrimitivePlan& plan) {
  const auto chosen = choose_primitive(plan);
  if (!chosen || !chosen->summed) return std::nullopt;
  const auto& slot = plan.slots[*chosen->summed];
  if (!is_same_memory(slot.desc, chosen->descs[*chosen->summed])) return std::nullopt;
  std::size_t operand = call.operands.size();
  for (std::size_t p = 0; p < call.post_ops.size(); ++p)
    if (call.post_ops[p].operand && operand++ == slot.operand) return p;
  return std::nullopt;
}

/// Operands of \p call as \p plan is fastest with.
std::vector<Operand> operands_liked_by(const Call& call, const PrimitivePlan& plan, const Unfold& unfold) {
  auto result = call.operands;
  const auto chosen = choose_primitive(plan);
  for (std::size_t s = 0; chosen && s < plan.slots.size(); ++s) {
    const auto& slot = plan.slots[s];
    if (slot.operand >= result.size() || slot.arg == DNNL_ARG_WEIGHTS || result[slot.operand].constant ||
        is_same_memory(slot.desc, chosen->descs[s]))
      continue;
    const auto dimensions = along_of(chosen->descs[s]);
    const auto own = dimensions ? unfold(call, slot.operand, *dimensions) : std::nullopt;
    if (own) result[slot.operand] = lying(result[slot.operand], *own);
  }
  return result;
}

}  // namespace

Routine with_primitives(Routine routine, PlanOf plan_of, Unfold unfold) {
  routine.loops = true;
  routine.at_most = routine.post_ops;
  if (unfold)
    routine.guideline = [plan_of, unfold](const Call& call) {
      const auto plan = plan_of(call);
      return plan ? operands_liked_by(call, *plan, unfold) : call.operands;
    };
  routine.in_place = [plan_of](const Call& call) {
    const auto plan = plan_of(call);
    return plan ? summed_in_place(call, *plan) : std::nullopt;
  };
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

/// A post-op: the sum with a tensor, a slot of the plan; without one, a limit, or relu.
struct Step {
  std::optional<std::size_t> slot;
  dnnl_memory_desc_t added{};
  std::optional<float> limit = {};
};

Owner<dnnl_post_ops> make_post_ops(const std::vector<Step>& steps, std::optional<std::size_t> summed) {
  const auto& dnn = shared_onednn();
  dnnl_post_ops_t made = nullptr;
  dnn.check(dnn.post_ops_create(&made), "make post-ops");
  auto result = own(made);
  for (const auto& step : steps)
    if (step.limit)
      dnn.check(
          dnn.post_ops_append_eltwise(made, 1, dnnl_eltwise_clip, std::numeric_limits<float>::lowest(), *step.limit),
          "take a limit");
    else if (!step.slot)
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
    if (op.kind == PostOp::Kind::Relu || op.kind == PostOp::Kind::AtMost) {
      auto& step = steps.emplace_back();
      if (op.kind == PostOp::Kind::AtMost) step.limit = static_cast<float>(op.limit);
      continue;
    }
    const auto lies = folded(*op.operand);
    if (!lies || op.operand->type != DType::Float32 || op.operand->argument == call.result().argument) return false;
    if (i == 0 && is_bias(dims, *lies, channel)) {
      std::vector<Along> bias(bias_dims.size(), dims[channel]);
      bias.back() = 1;
      plan.slots.push_back({DNNL_ARG_BIAS, operand++, memory_desc(bias_dims, bias), false});
      continue;
    }
    const auto added = own_dims(dims, *lies);
    const auto arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(steps.size())) | DNNL_ARG_SRC_1;
    steps.push_back({plan.slots.size(), memory_desc(added, *lies)});
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

}  // namespace tc::library
