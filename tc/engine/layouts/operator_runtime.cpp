#include "tc/engine/layouts/operator_runtime.h"

namespace tc::engine {

OperatorRuntime::OperatorRuntime(const std::vector<std::string>& libraries, const CompileOptions& options)
    : kernels_(std::make_shared<OperatorKernels>(options)), dispatcher_(make_dispatcher(libraries, kernels_)) {}

VirtualTensor OperatorRuntime::converted(const VirtualTensor& tensor, const Layout& layout) {
  const auto wanted = simplest(layout, tensor.extents);
  if (simplest(tensor.produced, tensor.extents) == wanted) {
    auto same = tensor;
    same.produced = wanted;
    return same;
  }
  if (tensor.constant) return kernels_->converted_constant(tensor, wanted);
  auto result = allocate(tensor, wanted);
  void* operands[] = {tensor.data(), result.data()};
  kernels_->of_conversion(tensor, wanted).run(operands);
  ++conversions_;
  return result;
}

VirtualTensor OperatorRuntime::call(const std::string& op, const std::vector<VirtualTensor>& inputs,
                                    const Attributes& attributes) {
  OperatorProgram program;
  std::vector<std::size_t> numbers;
  for (const auto& input : inputs) numbers.push_back(program.add(input));
  const auto output = program.call(op, numbers, attributes);
  Invocation invocation(program.calls.front(), [&](Invocation& now) {
    for (auto& input : now.inputs)
      input.place(converted(input.tensor(), input.required().value_or(input.tensor().produced)));
    auto& result = now.outputs.front();
    result.place(allocate(result.tensor(), result.required().value_or(now.inputs.front().layout())));
  });
  for (const auto input : numbers) invocation.inputs.emplace_back(program.tensors[input]);
  invocation.outputs.emplace_back(program.tensors[output]);
  const auto kernel = dispatcher_.invoke("cpu", invocation);
  std::vector<void*> operands;
  for (const auto* operand : invocation.operands()) operands.push_back(operand->data());
  kernel.run(operands.data());
  if (kernel.held) {
    const std::scoped_lock lock(mutex_);
    held_.insert(kernel.held);
  }
  return invocation.outputs.front().tensor();
}

std::shared_ptr<const LayoutPlan> OperatorRuntime::plan(const OperatorProgram& program, LayoutChoice choice) const {
  return make_plan(program, choice, dispatcher_, *kernels_);
}

}  // namespace tc::engine
