#include "tc/aten/engine.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "tc/aten/record.h"
#include "tc/aten/tensor.h"
#include "tc/base/contains.h"
#include "tc/base/dlpack.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/cuda/device.h"
#include "tc/engine/define/generic.h"
#include "tc/engine/define/gradient.h"
#include "tc/engine/engine.h"

namespace tc::aten {
namespace {

/// Executables of all texts, shared by equal programs.
engine::ExecutableCache& shared_cache() {
  static auto* cache = new engine::ExecutableCache();
  return *cache;
}

/// Kernels run on as many threads as torch's, as it is set when the first one is compiled.
void follow_threads_of_torch() {
  [[maybe_unused]] static const bool once = (cpu::set_default_num_threads(at::get_num_threads()), true);
}

/// Where kernels run for tensors on \p device: in torch's current stream.
cuda::Place place_on(int device) {
  if (device == on_cpu) return {};
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
  return {device, guard.getStream({c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device)}).native_handle()};
}

/// Throws ArgumentError where torch would lose the tangent of \p tensor.
void check_no_tangent(const at::Tensor& tensor, const std::string& name) {
  if (tensor._fw_grad(0).defined())
    throw ArgumentError(str("'", name, "' carries a tangent of forward mode, which would be lost: call the def of ",
                            "engine::tangent"));
}

/// Throws ArgumentError where torch would lose what it records of \p tensor.
void check_unrecorded(const at::Tensor& tensor, const std::string& name) {
  if (at::GradMode::is_enabled() && tensor.requires_grad())
    throw ArgumentError(str("'", name, "' requires grad, and run() records no gradient, unlike call(): run under ",
                            "at::NoGradGuard, or pass ", name, ".detach()"));
  check_no_tangent(tensor, name);
}

/// Tensors with their names: views of all that are borrowed, and the one device that they are on.
struct Borrowed {
  std::vector<TensorView> views;
  int device = on_cpu;

  /// Throws ArgumentError as view_of, and for tensors on several devices.
  void add(const at::Tensor& tensor, const std::string& name, bool written) {
    views.push_back(view_of(tensor, name, written));
    const int own = device_of(tensor, name);
    if (views.size() > 1 && own != device)
      throw ArgumentError(str("'", name, "' is on '", tensor.device().str(), "', another tensor is not: pass tensors ",
                              "on one device"));
    device = own;
  }
};

/// What decides which machine code \p tensors on \p device need.
std::vector<std::int64_t> key_of(const std::vector<TensorView>& tensors, int device) {
  std::vector<std::int64_t> key = {static_cast<std::int64_t>(cache::Cache::generation()), device};
  for (const auto& view : tensors) {
    key.push_back(static_cast<std::int64_t>(view.dtype));
    key.push_back(view.rank());
    key.insert(key.end(), view.shape.begin(), view.shape.end());
    key.insert(key.end(), view.strides.begin(), view.strides.end());
    key.push_back(engine::is_aligned(view, view.data));
  }
  return key;
}

/// A new tensor for the return that \p argument says. Throws ArgumentError where \p sum, what it begins with, is not like it.
at::Tensor allocate(const engine::Argument& argument, const at::TensorOptions& options, const at::Tensor* sum) {
  const auto& spec = argument.spec;
  auto made = at::empty(spec.shape, options.dtype(scalar_type(spec.dtype)));
  if (!sum) return made;
  const auto given = spec_of(*sum, argument.name);
  if (given.dtype != spec.dtype || given.shape != spec.shape || sum->device() != made.device())
    throw ArgumentError(
        str("'", argument.name, "' is ", spec, ", ", given, " on '", sum->device().str(), "' was given"));
  return made.copy_(*sum);
}

}  // namespace

Function::Function(std::shared_ptr<const engine::Function> function, engine::CompileOptions options)
    : function_(std::move(function)), options_(std::move(options)) {
  const auto& def = function_->def;
  for (const auto& param : def.params) inputs_.push_back(param.name);
  for (const auto& ret : def.returns) {
    outputs_.push_back(ret.name);
    if (def.tensors.at(ret.name).role == lang::Role::InOut) inputs_.push_back(ret.name);
  }
}

void Function::check_inputs(at::TensorList inputs, std::size_t count) const {
  if (inputs.size() != count)
    throw ArgumentError(str("'", function_->name(), "' takes ", count, count == 1 ? " tensor, " : " tensors, ",
                            inputs.size(), inputs.size() == 1 ? " was given" : " were given"));
  for (std::size_t i = 0; i < count; ++i)
    if (!inputs[i].defined()) throw ArgumentError(str("'", inputs_[i], "' is an undefined tensor"));
}

std::shared_ptr<const Function> Function::instance(at::TensorList inputs) const {
  std::vector<lang::Operand> operands;
  for (std::size_t i = 0; i < function_->def.params.size(); ++i) {
    const bool is_number = inputs[i].unsafeGetTensorImpl()->is_wrapped_number();
    const auto spec = spec_of(inputs[i], inputs_[i]);
    operands.push_back({is_number ? std::nullopt : std::optional(spec.dtype), spec.rank()});
  }
  const auto made = engine::instance_for(function_, operands);
  const std::unique_lock lock(mutex_);
  auto& found = instances_[made.get()];
  if (!found) found = derived(made, str("instance_", instances_.size()));
  return found;
}

Tensors Function::call(at::TensorList inputs) const {
  check_inputs(inputs, inputs_.size());
  if (function_->generic) return instance(inputs)->call(inputs);
  if (carry_tangents(inputs)) return call_with_tangents(*this, inputs);
  const bool recorded =
      std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) { return input.requires_grad(); });
  if (!recorded || !at::GradMode::is_enabled()) return run(inputs);
  return record_call(shared_from_this(), inputs, [this](at::TensorList tensors) { return run(tensors); });
}

Tensors Function::with_numbers(at::TensorList inputs) const {
  const auto is_number = [](const at::Tensor& tensor) { return tensor.unsafeGetTensorImpl()->is_wrapped_number(); };
  Tensors result = inputs.vec();
  const auto tensor = std::find_if_not(result.begin(), result.end(), is_number);
  for (std::size_t i = 0; i < function_->def.params.size(); ++i)
    if (is_number(result[i]))
      result[i] = result[i].to(tensor == result.end() ? c10::Device(c10::kCPU) : tensor->device(),
                               scalar_type(function_->def.tensors.at(inputs_[i]).type));
  return result;
}

Tensors Function::run(at::TensorList given) const {
  const at::NoGradGuard no_grad;
  check_inputs(given, inputs_.size());
  if (function_->generic) return instance(given)->run(given);
  const Tensors tensors = with_numbers(given);
  const std::size_t count = function_->def.params.size();
  Borrowed inputs;
  for (std::size_t i = 0; i < count; ++i) inputs.add(tensors[i], inputs_[i], false);
  const auto executable = find(inputs.views, inputs.device);
  const auto& arguments = executable->image().arguments;
  const auto options = tensors.empty() ? at::TensorOptions() : at::TensorOptions(tensors.front().device());
  std::vector<void*> pointers;
  for (const auto& view : inputs.views) pointers.push_back(view.data);
  Tensors outputs;
  for (std::size_t i = count, sum = count; i < arguments.size(); ++i) {
    outputs.push_back(allocate(arguments[i], options, arguments[i].read ? &tensors[sum++] : nullptr));
    pointers.push_back(outputs.back().mutable_data_ptr());
  }
  const cuda::AtPlace place(place_on(inputs.device));
  executable->run_unchecked(pointers.data());
  return outputs;
}

std::vector<engine::TensorInfo> Function::infer_output_tensor_info(at::TensorList inputs) const {
  check_inputs(inputs, function_->def.params.size());
  std::vector<TensorSpec> specs;
  for (std::size_t i = 0; i < inputs.size(); ++i) specs.push_back(spec_of(inputs[i], inputs_[i]));
  return engine::infer_output_tensor_info(*function_, specs);
}

std::shared_ptr<const engine::Executable> Function::compile(at::TensorList inputs, at::TensorList outputs) const {
  const auto& def = function_->def;
  check_inputs(inputs, def.params.size());
  if (!outputs.empty() && outputs.size() != def.returns.size())
    throw ArgumentError(str("'", def.name, "' has ", def.returns.size(), " returns, ", outputs.size(), " were given"));
  Borrowed all;
  for (std::size_t i = 0; i < inputs.size(); ++i) all.add(inputs[i], inputs_[i], false);
  for (std::size_t i = 0; i < outputs.size(); ++i) all.add(outputs[i], def.returns[i].name, true);
  return find(all.views, all.device);
}

std::shared_ptr<const engine::Executable> Function::find(const std::vector<TensorView>& tensors, int device) const {
  auto key = key_of(tensors, device);
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = compiled_.find(key); found != compiled_.end()) return found->second;
  }
  follow_threads_of_torch();
  auto how = options_;
  if (device != on_cpu && !how.target.is_cuda()) how.target = Target::parse(cuda::device_target(device));
  how.unaligned.merge(engine::unaligned_names(*function_, tensors));
  const auto outputs = tensors.begin() + function_->def.params.size();
  auto made =
      engine::compile_cached(shared_cache(), function_, {tensors.begin(), outputs}, {outputs, tensors.end()}, how);
  if (made->image().is_for_gpu() != (device != on_cpu))
    throw ArgumentError(str("'", function_->name(), "' is compiled for ", made->image().target, ", tensors ",
                            device == on_cpu ? "in the memory of the CPU" : "on a GPU", " were given"));
  const std::unique_lock lock(mutex_);
  return compiled_.emplace(std::move(key), std::move(made)).first->second;
}

std::shared_ptr<const Record> Function::record(const std::vector<bool>& needs, const std::vector<bool>& given) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = records_.find({needs, given}); found != records_.end()) return found->second;
  }
  auto made = std::make_shared<const Record>(make_record(needs, given));
  const std::unique_lock lock(mutex_);
  return records_.emplace(Needs{needs, given}, std::move(made)).first->second;
}

Record Function::make_record(const std::vector<bool>& needs, const std::vector<bool>& given) const {
  const auto& def = function_->def;
  autodiff::Options how;
  std::string way = "grad";
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (needs[i]) how.wrt.push_back(inputs_[i]), way += str("_", i);
  way += "_of";
  for (std::size_t i = 0; i < def.returns.size(); ++i)
    if (given[i]) how.of.push_back(def.returns[i].name), way += str("_", i);
  const auto gradient = engine::gradient(function_, how);
  Record record{derived(gradient.function, way), needs, given, {}, {}};
  for (const auto& param : def.params) record.reads.push_back(!contains(gradient.unread, param.name));
  for (const auto& name : gradient.saved)
    record.saved.push_back(std::find(outputs_.begin(), outputs_.end(), name) - outputs_.begin());
  return record;
}

std::shared_ptr<const Function> Function::tangent(const std::vector<bool>& carried) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = tangents_.find(carried); found != tangents_.end()) return found->second;
  }
  autodiff::Options how;
  std::string way = "jvp";
  for (std::size_t i = 0; i < carried.size(); ++i) {
    if (!carried[i]) continue;
    if (i >= function_->def.params.size())
      throw ArgumentError(str("'", inputs_[i], "', which '", function_->name(), "' adds to, carries a tangent: make ",
                              "the old value a parameter"));
    how.wrt.push_back(inputs_[i]), way += str("_", i);
  }
  auto made = derived(engine::tangent(function_, how).function, way);
  const std::unique_lock lock(mutex_);
  return tangents_.emplace(carried, std::move(made)).first->second;
}

std::shared_ptr<const Function> Function::derived(std::shared_ptr<const engine::Function> function,
                                                  const std::string&) const {
  return std::make_shared<const Function>(std::move(function), options_);
}

void run(const engine::Executable& executable, at::TensorList inputs, at::TensorList outputs) {
  const auto& image = executable.image();
  const std::size_t count = image.input_count();
  if (inputs.size() != count || outputs.size() != image.arguments.size() - count)
    throw ArgumentError(str("'", image.function, "' takes ", count, " inputs and ", image.arguments.size() - count,
                            " outputs, ", inputs.size(), " and ", outputs.size(), " were given"));
  Borrowed all;
  for (std::size_t i = 0; i < image.arguments.size(); ++i) {
    const auto& tensor = i < count ? inputs[i] : outputs[i - count];
    all.add(tensor, image.arguments[i].name, i >= count);
    check_unrecorded(tensor, image.arguments[i].name);
  }
  if (image.is_for_gpu() != (all.device != on_cpu))
    throw ArgumentError(str("'", image.function, "' was compiled for ", image.target, ", tensors ",
                            all.device == on_cpu ? "in the memory of the CPU" : "on a GPU", " were given"));
  const std::span views(all.views);
  executable.check(views.subspan(0, count), views.subspan(count));
  for (const auto& output : outputs)
    if (!output.is_inference()) output.unsafeGetTensorImpl()->bump_version();
  const cuda::AtPlace place(place_on(all.device));
  executable.run(views.subspan(0, count), views.subspan(count));
}

void ExecutionEngine::define(const std::string& text, const std::string& name) {
  const auto module = engine::define(text, name);
  const std::unique_lock lock(mutex_);
  for (const auto& function : module.functions)
    functions_[function->name()] = std::make_shared<const Function>(function, options_);
}

std::vector<std::string> ExecutionEngine::functions() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, function] : functions_) names.push_back(name);
  return names;
}

std::shared_ptr<const Function> ExecutionEngine::function(const std::string& name) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = functions_.find(name); found != functions_.end()) return found->second;
  }
  throw ArgumentError(str("no def '", name, "' has been defined; there are: ", join(functions())));
}

ExecutionEngine::Handle ExecutionEngine::compile(const std::string& name, at::TensorList inputs,
                                                 at::TensorList outputs) {
  const auto executable = function(name)->compile(inputs, outputs);
  const std::unique_lock lock(mutex_);
  const auto found = std::find(compiled_.begin(), compiled_.end(), executable);
  if (found != compiled_.end()) return found - compiled_.begin();
  compiled_.push_back(executable);
  return compiled_.size() - 1;
}

std::shared_ptr<const engine::Executable> ExecutionEngine::executable(Handle handle) const {
  const std::shared_lock lock(mutex_);
  if (handle >= compiled_.size()) throw ArgumentError(str("there is no executable with the handle ", handle));
  return compiled_[handle];
}

}  // namespace tc::aten
