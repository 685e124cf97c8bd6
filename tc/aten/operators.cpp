#include "tc/aten/operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "tc/aten/record.h"
#include "tc/aten/tensor.h"
#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/engine/define/function.h"
#include "tc/engine/define/gradient.h"

namespace tc::aten {
namespace {

using c10::DispatchKey, c10::DispatchKeySet, c10::OperatorHandle, torch::jit::Stack;

void push_all(Stack& stack, const Tensors& tensors) {
  for (const auto& tensor : tensors) torch::jit::push(stack, tensor);
}

/// The last \p count values of \p stack, which leave it.
Tensors pop_all(Stack& stack, std::size_t count) {
  Tensors result(count);
  for (std::size_t i = count; i-- > 0;) result[i] = torch::jit::pop(stack).toTensor();
  return result;
}

/// What \p invoke, a way to call an operator, leaves of \p inputs.
template <typename Invoke>
Tensors through_stack(at::TensorList inputs, std::size_t results, const Invoke& invoke) {
  Stack stack;
  push_all(stack, inputs.vec());
  invoke(stack);
  return pop_all(stack, results);
}

/// What a batch of calls is.
struct Batch {
  std::shared_ptr<const Function> function;
  std::vector<bool> batched;  ///< by return: the batch is its first dimension
};

/// Where the batch of a parameter stands, by its name.
using Places = std::map<std::string, int>;

/// A def as an operator: its calls go through torch's dispatcher.
class Operator : public Function {
 public:
  Operator(std::shared_ptr<const engine::Function> function, engine::CompileOptions options, std::string space,
           std::string name)
      : Function(function, std::move(options)),
        function_(std::move(function)),
        space_(std::move(space)),
        name_(std::move(name)) {}

  Tensors call(at::TensorList inputs) const override {
    const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow(str(space_, "::", name_).c_str(), "");
    return through_stack(inputs, result_count(), [&](Stack& stack) { handle.callBoxed(stack); });
  }
  std::size_t result_count() const { return def().def.returns.size(); }
  /// The calls for a batch of the parameters in \p places, as one. Throws as engine::batch.
  Batch batch(const Places& places) const;

  /// Defines the operator, which stays as long as the process.
  static void define(const std::shared_ptr<const Operator>& self);

 protected:
  std::shared_ptr<const Function> derived(std::shared_ptr<const engine::Function> function,
                                          const std::string& way) const override;

 private:
  std::string schema() const;

  std::shared_ptr<const engine::Function> function_;
  std::string space_, name_;
  mutable ForkMutex mutex_;
  mutable std::map<Places, Batch> batches_;
};

/// A kernel of \p Operator: takes its inputs from the stack and leaves what Derived::results gives.
template <typename Derived>
struct Kernel : c10::OperatorKernel {
  std::shared_ptr<const Operator> function;

  explicit Kernel(std::shared_ptr<const Operator> function) : function(std::move(function)) {}
  void operator()(const OperatorHandle& handle, DispatchKeySet keys, Stack* stack) {
    const auto inputs = pop_all(*stack, handle.schema().arguments().size());
    push_all(*stack, static_cast<Derived*>(this)->results(handle, keys, inputs));
  }
};

struct RunKernel : Kernel<RunKernel> {
  using Kernel::Kernel;
  Tensors results(const OperatorHandle&, DispatchKeySet, const Tensors& inputs) const { return function->run(inputs); }
};

struct ShapeKernel : Kernel<ShapeKernel> {
  using Kernel::Kernel;
  Tensors results(const OperatorHandle&, DispatchKeySet, const Tensors& inputs) const {
    const at::TensorList parameters = at::TensorList(inputs).slice(0, function->def().def.params.size());
    Tensors made;
    for (const auto& info : function->infer_output_tensor_info(parameters))
      made.push_back(at::empty(info.shape, at::TensorOptions(at::kMeta).dtype(scalar_type(info.dtype))));
    return made;
  }
};

struct RecordKernel : Kernel<RecordKernel> {
  using Kernel::Kernel;
  Tensors results(const OperatorHandle& handle, DispatchKeySet keys, const Tensors& inputs) const {
    const auto below = [&](at::TensorList tensors) {
      const at::AutoDispatchBelowADInplaceOrView guard;
      return through_stack(tensors, function->result_count(),
                           [&](Stack& stack) { handle.redispatchBoxed(keys & c10::after_autograd_keyset, &stack); });
    };
    if (carry_tangents(inputs)) return call_with_tangents(*function, inputs);
    const bool recorded =
        std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) { return input.requires_grad(); });
    if (!recorded) return below(inputs);
    return record_call(function, inputs, below);
  }
};

/// Takes the batch of the innermost vmap away; those around it are found by the call that is left.
struct BatchKernel : Kernel<BatchKernel> {
  using Kernel::Kernel;
  Tensors results(const OperatorHandle&, DispatchKeySet, const Tensors& inputs) const {
    std::int64_t level = 0;
    for (const auto& input : inputs)
      if (const auto* batched = at::functorch::maybeGetBatchedImpl(input)) level = std::max(level, batched->level());
    const auto& params = function->def().def.params;
    Tensors values;
    Places places;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto* batched = at::functorch::maybeGetBatchedImpl(inputs[i]);
      const bool has_batch = batched && batched->level() == level;
      values.push_back(has_batch ? batched->value() : inputs[i]);
      if (!has_batch) continue;
      if (i >= params.size())
        throw ArgumentError(str("what '", function->def().name(), "' adds to has no batch: call it for each"));
      places.emplace(params[i].name, static_cast<int>(batched->bdim()));
    }
    const auto batch = function->batch(places);
    Tensors results = batch.function->call(values);
    for (std::size_t o = 0; o < results.size(); ++o)
      if (batch.batched[o]) results[o] = at::functorch::makeBatched(results[o], 0, level);
    return results;
  }
};

template <typename Kernel>
torch::CppFunction kernel_of(DispatchKey key, const std::shared_ptr<const Operator>& function) {
  return torch::dispatch(key, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(function)));
}

std::string Operator::schema() const {
  const auto& own = def().def;
  std::vector<std::string> arguments;
  for (const auto& param : own.params) arguments.push_back("Tensor " + param.name);
  for (const auto& ret : own.returns)
    if (own.tensors.at(ret.name).role == lang::Role::InOut) arguments.push_back("Tensor " + ret.name);
  const std::vector<std::string> results(result_count(), "Tensor");
  return str(name_, "(", join(arguments), ") -> ", results.size() == 1 ? results[0] : str("(", join(results), ")"));
}

void Operator::define(const std::shared_ptr<const Operator>& self) {
  const char* name = self->name_.c_str();
  auto library =
      std::make_unique<torch::Library>(torch::Library::FRAGMENT, self->space_, std::nullopt, __FILE__, __LINE__);
  library->def(self->schema().c_str(), {at::Tag::pt2_compliant_tag});
  library->impl(name, kernel_of<RunKernel>(DispatchKey::CPU, self));
  library->impl(name, kernel_of<RunKernel>(DispatchKey::CUDA, self));
  library->impl(name, kernel_of<ShapeKernel>(DispatchKey::Meta, self));
  library->impl(name, kernel_of<RecordKernel>(DispatchKey::Autograd, self));
  library->impl(name, kernel_of<BatchKernel>(DispatchKey::FuncTorchBatched, self));
  library.release();
}

Batch Operator::batch(const Places& places) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = batches_.find(places); found != batches_.end()) return found->second;
  const auto made = engine::batch(function_, places);
  std::string way = "batch";
  for (const auto& param : def().def.params)
    way += places.count(param.name) ? str("_", places.at(param.name)) : std::string("_none");
  Batch batch{derived(made.function, way), {}};
  for (const auto& ret : def().def.returns) batch.batched.push_back(contains(made.batched, ret.name));
  return batches_.emplace(places, std::move(batch)).first->second;
}

std::shared_ptr<const Function> Operator::derived(std::shared_ptr<const engine::Function> function,
                                                  const std::string& way) const {
  static auto& mutex = *new ForkMutex;
  const std::lock_guard lock(mutex);
  auto made = std::make_shared<const Operator>(std::move(function), options(), space_, str(name_, "__", way));
  if (!c10::Dispatcher::singleton().findSchema({str(space_, "::", made->name_), ""})) define(made);
  return made;
}

}  // namespace

void define_operators(const std::string& space, const std::string& text, const engine::CompileOptions& options) {
  const auto module = engine::define(text);
  for (const auto& function : module.functions)
    Operator::define(std::make_shared<const Operator>(function, options, space, function->name()));
}

}  // namespace tc::aten
