#include "tc/aten/record.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <map>

#include "tc/base/contains.h"

namespace tc::aten {
namespace {

using torch::autograd::AutogradContext;

/// What makes a tensor of the same shape, in the memory of one element.
struct Shape {
  std::vector<std::int64_t> sizes;
  at::TensorOptions options;

  explicit Shape(const at::Tensor& tensor) : sizes(tensor.sizes().vec()), options(tensor.options()) {}
  at::Tensor made() const { return at::empty({}, options).expand(sizes); }
  at::Tensor zeros() const { return at::zeros({}, options).expand(sizes); }
};

struct Call {
  std::shared_ptr<const Function> function;
  std::shared_ptr<const Record> record;
  const Run* run;
};

/// What a node keeps beside its tensors, which torch holds: those that its record reads, in order.
struct Kept : torch::CustomClassHolder {
  std::shared_ptr<const Function> function;
  std::shared_ptr<const Record> record;
  std::map<std::size_t, Shape> unread;  ///< by parameter
  std::vector<Shape> outputs;
};

constexpr const char* kept_name = "call";
/// Arguments of CallNode::forward that are no tensors: torch counts them among those that have gradients.
constexpr std::size_t other_arguments = 1;

std::vector<bool> float_returns(const Function& function) {
  std::vector<bool> result;
  const auto& def = function.def().def;
  for (const auto& ret : def.returns) result.push_back(is_float(def.tensors.at(ret.name).type));
  return result;
}

/// The gradients where some returns bring none: those of the others are a def of their own, if what was saved is enough
/// for it; else zeros stand for what is not there.
Tensors gradients_of_some(const Kept& kept, Tensors values, const Tensors& seeds, const std::vector<bool>& given) {
  const auto& record = *kept.record;
  const std::size_t parameters = record.reads.size();
  const auto some = kept.function->record(record.needs, given);
  bool enough = true;
  for (std::size_t i = 0; i < parameters; ++i) enough = enough && (record.reads[i] || !some->reads[i]);
  for (auto place : some->saved) enough = enough && contains(record.saved, place);
  if (!enough) {
    for (std::size_t o = 0; o < seeds.size(); ++o)
      if (record.given[o]) values.push_back(given[o] ? seeds[o].contiguous() : kept.outputs[o].zeros());
    return record.gradient->call(values);
  }
  const Tensors saved(values.begin() + parameters, values.end());
  values.resize(parameters);
  for (auto place : some->saved)
    values.push_back(saved[std::find(record.saved.begin(), record.saved.end(), place) - record.saved.begin()]);
  for (std::size_t o = 0; o < seeds.size(); ++o)
    if (given[o]) values.push_back(seeds[o].contiguous());
  return some->gradient->call(values);
}

/// A call of a def in torch's graph.
struct CallNode : torch::autograd::Function<CallNode> {
  static Tensors forward(AutogradContext* context, const Call& call, at::TensorList inputs) {
    auto outputs = (*call.run)(inputs);
    const auto& record = *call.record;
    auto kept = c10::make_intrusive<Kept>();
    kept->function = call.function;
    kept->record = call.record;
    Tensors saved, others;
    for (std::size_t i = 0; i < record.reads.size(); ++i) {
      if (record.reads[i])
        saved.push_back(inputs[i]);
      else
        kept->unread.emplace(i, Shape(inputs[i]));
    }
    for (auto place : record.saved) saved.push_back(outputs[place]);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      kept->outputs.emplace_back(outputs[o]);
      if (!record.given[o]) others.push_back(outputs[o]);
    }
    context->set_materialize_grads(false);
    context->mark_non_differentiable(others);
    context->save_for_backward(std::move(saved));
    context->saved_data[kept_name] = c10::IValue::make_capsule(std::move(kept));
    return outputs;
  }

  static Tensors backward(AutogradContext* context, const Tensors& seeds) {
    const auto capsule = context->saved_data[kept_name].toCapsule();
    const auto& kept = static_cast<const Kept&>(*capsule);
    const auto& record = *kept.record;
    Tensors result(other_arguments + record.needs.size());
    std::vector<bool> given;
    for (const auto& seed : seeds) given.push_back(seed.defined());
    if (!contains(given, true)) return result;
    Tensors values = context->get_saved_variables();
    for (const auto& [place, shape] : kept.unread) values.insert(values.begin() + place, shape.made());
    const auto gradients = given == record.given ? gradients_of_all(record, std::move(values), seeds)
                                                 : gradients_of_some(kept, std::move(values), seeds, given);
    auto next = gradients.begin();
    for (std::size_t i = 0; i < record.needs.size(); ++i)
      if (record.needs[i]) result[other_arguments + i] = *next++;
    return result;
  }

  static Tensors gradients_of_all(const Record& record, Tensors values, const Tensors& seeds) {
    for (const auto& seed : seeds)
      if (seed.defined()) values.push_back(seed.contiguous());
    return record.gradient->call(values);
  }
};

}  // namespace

Tensors record_call(const std::shared_ptr<const Function>& function, at::TensorList inputs, const Run& run) {
  const auto given = float_returns(*function);
  if (!contains(given, true)) return run(inputs);
  std::vector<bool> needs;
  for (const auto& input : inputs) needs.push_back(input.requires_grad());
  return CallNode::apply(Call{function, function->record(needs, given), &run}, inputs);
}

bool carry_tangents(at::TensorList inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) { return input._fw_grad(0).defined(); });
}

Tensors call_with_tangents(const Function& function, at::TensorList inputs) {
  std::vector<bool> carried;
  Tensors values, tangents;
  for (const auto& input : inputs) {
    const at::Tensor tangent = input._fw_grad(0);
    carried.push_back(tangent.defined());
    values.push_back(tangent.defined() ? input._fw_primal(0) : input);
    if (tangent.defined()) tangents.push_back(tangent.contiguous());
  }
  Tensors outputs = function.call(values);
  const auto has_tangent = float_returns(function);
  if (!contains(has_tangent, true)) return outputs;
  const auto product = function.tangent(carried);
  values.insert(values.end(), tangents.begin(), tangents.end());
  const Tensors made = product->call(values);
  auto next = made.begin();
  for (std::size_t o = 0; o < outputs.size(); ++o)
    if (has_tangent[o]) outputs[o]._set_fw_grad(*next++, 0, false);
  return outputs;
}

}  // namespace tc::aten
