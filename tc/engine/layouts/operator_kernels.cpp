#include "tc/engine/layouts/operator_kernels.h"

#include <algorithm>
#include <numeric>

#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/define/in_layouts.h"
#include "tc/engine/graph/compile.h"
#include "tc/engine/graph/graph_layouts.h"
#include "tc/engine/layouts/operator_texts.h"
#include "tc/library/description/argument_layout.h"
#include "tc/library/registry.h"

namespace tc::engine {
namespace {

using Guideline = std::vector<std::optional<Layout>>;

std::string text_of(const Invocation& call) {
  std::vector<VirtualTensor> given;
  for (const auto& input : call.inputs) given.push_back(input.tensor());
  return find_operator(call.call().op).text_of(given, call.call().attributes);
}

std::vector<TensorSpec> plain_specs(const Invocation& call) {
  std::vector<TensorSpec> specs;
  for (const auto& input : call.inputs) specs.push_back(contiguous(input.tensor().type, input.tensor().extents));
  return specs;
}

std::string key_of(const Invocation& call, const KernelSource& source) {
  return str(text_of(call), join(plain_specs(call)), " ", source.libraries, source.interpret ? " interpret" : "");
}

std::string conversion_key(const VirtualTensor& tensor, const Layout& to) {
  return str(tensor.type, " ", join(tensor.extents), "; ", to_string(tensor.produced), " -> ", to_string(to));
}

std::string runs(const Executable& executable) {
  if (executable.interpreted()) return "interpreter";
  const auto& calls = executable.image().calls;
  return calls.empty() ? "own code" : str(calls.front().routine, " of ", calls.front().library);
}

Kernel kernel_of(std::shared_ptr<const Executable> executable) {
  auto who = runs(*executable);
  return {[executable](void* const* operands) { executable->run_unchecked(operands); }, std::move(who)};
}

/// Are the arguments of the only call of \p image its operands, in order?
bool calls_arguments_in_order(const Image& image) {
  const auto& slots = image.launches.front().slots;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto* argument = std::get_if<ArgumentSlot>(&slots[i]);
    if (!argument || argument->index != i) return false;
  }
  return std::holds_alternative<RoutineCall>(image.launches.front().code);
}

/// Blocks of \p block along the first dimension innermost, which a tile of a product reads as it would a packed copy.
Layout panels(std::size_t rank, std::int64_t block) {
  std::vector<std::size_t> order(rank + 1);
  std::iota(order.begin(), order.end(), std::size_t{0});
  order.erase(order.begin() + 1);
  order.push_back(1);
  return Layout().split(0, {block}).reorder(order);
}

Guideline of_own_code(const Invocation& call, std::int64_t block) {
  Guideline result;
  for (const auto* tensor : call.operands()) {
    const bool is_matrix = tensor->tensor().constant && tensor->ndimensions() > 1;
    result.push_back(is_matrix ? std::optional(panels(tensor->ndimensions(), block)) : std::nullopt);
  }
  return result;
}

/// The layouts that the best call for plain tensors copies its operands to.
Guideline of_library(const Invocation& call, const KernelSource& source, OperatorKernels& kernels) {
  const auto& plain = kernels.plain_calls(call, source);
  Guideline result(call.operands().size(), Layout());
  const auto& best = plain.calls.front();
  const auto liked = library::liked_operands(best);
  for (std::size_t i = 0; i < liked.size(); ++i) {
    const auto argument = best.operands[i].argument;
    const auto& spec = plain.arguments[argument].spec;
    if (liked[i] == best.operands[i]) continue;
    if (const auto layout = library::layout_of_argument(spec, best.operands[i], liked[i])) result[argument] = *layout;
  }
  return result;
}

}  // namespace

const std::string own_code = "own";

OperatorKernels::OperatorKernels(CompileOptions options) : options_(std::move(options)) {
  options_.layouts = graph::LayoutMode::Off;
}

std::shared_ptr<const Executable> OperatorKernels::make(const Invocation& call, const KernelSource& source) const {
  auto function = define(text_of(call)).functions.front();
  auto specs = plain_specs(call);
  layout::Layouts layouts;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (!call.inputs[i].layout().is_identity()) layouts.of[function->def.params[i].name] = call.inputs[i].layout();
  const auto& result = call.outputs.front().layout();
  if (!result.is_identity()) layouts.of[function->def.returns.front().name] = result;
  if (!layouts.of.empty()) {
    auto laid_out = in_layouts(function, specs, layouts, limits_of(options_));
    function = laid_out.function;
    specs = laid_out.inputs;
  }
  auto options = options_;
  options.libraries = source.libraries;
  options.interpret = source.interpret;
  return compile(function, specs, {}, options);
}

Kernel OperatorKernels::of_call(const Invocation& call, const KernelSource& source) {
  auto key = key_of(call, source);
  Constants constants;
  for (const auto* tensor : call.operands()) key += "; " + to_string(tensor->layout());
  for (const auto& input : call.inputs) constants.push_back(input.tensor().constant ? input.tensor().memory : nullptr);
  const std::scoped_lock lock(mutex_);
  auto& executable = executables_[key];
  if (!executable) executable = make(call, source);
  return with_constants(key, executable, constants);
}

Kernel OperatorKernels::with_constants(const std::string& key, const std::shared_ptr<const Executable>& executable,
                                       const Constants& constants) {
  const auto& image = executable->image();
  const bool has_any = std::any_of(constants.begin(), constants.end(), [](const auto& one) { return one != nullptr; });
  if (!has_any || image.launches.size() != 1 || image.calls.size() != 1 || !calls_arguments_in_order(image))
    return kernel_of(executable);
  auto& known = held_[{key, constants}];
  auto held = known.lock();
  if (!held) {
    const auto is_held = [&](std::size_t argument) { return argument < constants.size() && constants[argument]; };
    auto call = image.calls.front().with_constants(is_held);
    const auto& library = library::find_library(call.library);
    std::vector<void*> pointers(image.arguments.size());
    for (std::size_t i = 0; i < constants.size(); ++i) pointers[i] = constants[i].get();
    held = library::PreparedCall(std::move(call), library).hold(pointers);
    if (!held) return kernel_of(executable);
    known = held;
  }
  return {[held, constants](void* const* operands) { held->run(operands, cpu::num_threads()); }, runs(*executable),
          held};
}

Kernel OperatorKernels::of_conversion(const VirtualTensor& tensor, const Layout& to) {
  const auto key = conversion_key(tensor, to);
  const std::scoped_lock lock(mutex_);
  auto& kernel = conversions_[key];
  if (kernel.run) return kernel;
  const auto function = engine::conversion(tensor.type, tensor.extents, tensor.produced, to);
  return kernel = kernel_of(compile(function, {tensor.spec_in(tensor.produced)}, {}, options_));
}

VirtualTensor OperatorKernels::converted_constant(const VirtualTensor& tensor, const Layout& layout) {
  const auto kernel = of_conversion(tensor, layout);
  const std::scoped_lock lock(mutex_);
  const auto [known, is_new] = converted_.try_emplace({tensor.memory, conversion_key(tensor, layout)}, VirtualTensor());
  if (is_new) {
    known->second = allocate(tensor, layout);
    void* operands[] = {tensor.data(), known->second.data()};
    kernel.run(operands);
  }
  return known->second;
}

const CallsInLayouts& OperatorKernels::plain_calls(const Invocation& call, const KernelSource& source) {
  const auto key = key_of(call, source);
  const std::scoped_lock lock(mutex_);
  const auto [known, is_new] = plain_calls_.try_emplace(key);
  if (is_new) {
    const auto function = define(text_of(call)).functions.front();
    auto options = options_;
    options.libraries = source.libraries;
    known->second =
        calls_in_layouts({function->def, function->ranges}, bind_inputs(*function, plain_specs(call)), {}, options);
  }
  return known->second;
}

std::vector<graph::OperandLayouts> OperatorKernels::alternatives(const Invocation& call, std::int64_t block) {
  const auto function = define(text_of(call)).functions.front();
  graph::AlternativeOptions options;
  options.block = block;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (call.inputs[i].tensor().constant) options.constants.insert(i);
  return graph::layout_alternatives({function->def, function->ranges}, bind_inputs(*function, plain_specs(call)),
                                    options);
}

Routine text_routine(const std::string& op, const std::string& library, const KernelSource& source,
                     const std::shared_ptr<OperatorKernels>& kernels) {
  return {"cpu", op, library, {}, [=](Invocation& call, const OperatorLibrary& description) {
            description.require(call);
            call.tag();
            return kernels->of_call(call, source);
          }};
}

Dispatcher make_dispatcher(const std::vector<std::string>& libraries, const std::shared_ptr<OperatorKernels>& kernels) {
  Dispatcher result;
  int priority = static_cast<int>(libraries.size());
  for (const auto& name : libraries) {
    OperatorLibrary description{name, priority--};
    KernelSource source;
    std::function<bool(const Invocation&)> accepts;
    if (name == own_code) {
      const auto block = block_of(kernels->target());
      description.guideline = [=](const Invocation& call) { return of_own_code(call, block); };
    } else if (name == "reference") {
      source.interpret = true;
      description.guideline = [](const Invocation& call) { return Guideline(call.operands().size(), Layout()); };
    } else {
      const auto& library = library::find_library(name);
      if (library.find().version.empty())
        throw OptionsError(str("the library '", name, "' is not on this machine (", library.find().reason, ")"));
      for (const auto& named : library.layouts) description.layouts[named.name] = named.layout;
      source.libraries = name + ":finite";
      accepts = [=](const Invocation& call) { return !kernels->plain_calls(call, source).calls.empty(); };
      description.guideline = [=](const Invocation& call) { return of_library(call, source, *kernels); };
    }
    result.add(std::move(description));
    for (const auto& op : operators()) {
      auto routine = text_routine(op.name, name, source, kernels);
      routine.accepts = accepts;
      result.add(std::move(routine));
    }
  }
  return result;
}

}  // namespace tc::engine
