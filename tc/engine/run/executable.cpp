#include "tc/engine/run/executable.h"

#include <algorithm>

#include "tc/base/check_tensor.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/define/typed_errors.h"
#include "tc/engine/run/grid_runner.h"
#include "tc/engine/run/index_outside.h"
#include "tc/engine/run/overlap.h"
#include "tc/engine/run/pointer_table.h"
#include "tc/library/registry.h"

namespace tc::engine {
namespace {

using Clock = std::chrono::steady_clock;

void check_spec(const Argument& argument, const TensorView& view, const std::string& function) {
  if (view.data && static_cast<const TensorSpec&>(view) == argument.spec) return;
  check_tensor(view, str(argument.output ? "output '" : "input '", argument.name, "' of '", function, "'"));
  auto given = normalised(view);
  if (given == argument.spec) return;
  throw ArgumentError(str(argument.output ? "output '" : "input '", argument.name, "' of '", function,
                          "' was compiled for ", argument.spec, ", ", given, " was given"));
}

/// How to see a failure of a run of \p image again.
auto reproduction_for(const Image& image) {
  return [&] {
    std::vector<TensorSpec> tensors;
    for (const auto& argument : image.all_arguments()) tensors.push_back(argument.spec);
    return reproduction_of(image.source, tensors, image.target, image.options);
  };
}

/// The functions of \p image; fewer where this machine lacks instructions of one.
std::vector<cpu::Kernel> load_functions(const Image& image) {
  std::vector<cpu::Kernel> functions;
  try {
    for (const auto& code : image.functions) functions.push_back(cpu::load_kernel(code));
  } catch (const OptionsError&) {
  }
  return functions;
}

/// The pointers of the buffers of \p launch that are constants; null for others.
std::vector<void*> constant_pointers(const Launch& launch, const Image& image) {
  std::vector<void*> result;
  for (const auto& slot : launch.slots) {
    const auto* constant = std::get_if<ConstantSlot>(&slot);
    result.push_back(constant ? image.constants[constant->index].data.get() : nullptr);
  }
  return result;
}

}  // namespace

bool is_aligned(const TensorSpec& spec, const void* data) {
  return spec.shape.empty() || reinterpret_cast<std::uintptr_t>(data) % vector_alignment == 0;
}

int Image::input_count() const {
  return static_cast<int>(
      std::count_if(arguments.begin(), arguments.end(), [](const Argument& argument) { return !argument.output; }));
}

std::vector<Argument> Image::all_arguments() const {
  auto result = arguments;
  for (const auto& constant : constants)
    if (constant.parameter)
      result.insert(
          result.begin() + static_cast<std::ptrdiff_t>(*constant.parameter),
          {constant.name, constant.spec, false, false, std::vector<std::int64_t>(constant.spec.shape.size(), 0)});
  return result;
}

Executable::Executable(Image image, CompileStats stats, Interpreter interpreter)
    : image_(std::move(image)),
      stats_(std::move(stats)),
      interpreter_(std::move(interpreter)),
      pool_(image_.is_for_gpu() ? 0 : image_.workspace_bytes) {
  if (image_.is_for_gpu()) {
    grid_ = std::make_unique<GridRunner>(image_, loaded_);
    return;
  }
  auto start = Clock::now();
  loaded_.functions = load_functions(image_);
  prepare_calls();
  double taken = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  stats_.records.push_back({"build", taken, {}});
  stats_.milliseconds += taken;
}

Executable::Executable(Image image, CompileStats stats, LoadedCode loaded)
    : image_(std::move(image)),
      stats_(std::move(stats)),
      loaded_(std::move(loaded)),
      pool_(image_.is_for_gpu() ? 0 : image_.workspace_bytes) {
  if (image_.is_for_gpu())
    grid_ = std::make_unique<GridRunner>(image_, loaded_);
  else
    prepare_calls();
}

void Executable::prepare_calls() {
  std::vector<std::shared_ptr<const library::PreparedCall>> made;
  for (const auto& call : image_.calls)
    made.push_back(std::make_shared<library::PreparedCall>(call, library::find_library(call.library)));
  for (const auto& launch : image_.launches) {
    auto& prepared = calls_.emplace_back();
    const auto* routine = std::get_if<RoutineCall>(&launch.code);
    if (!routine) continue;
    prepared = made[routine->call];
    if (auto held = prepared->hold(constant_pointers(launch, image_))) prepared = std::move(held);
  }
}

Executable::~Executable() = default;

void Executable::prepare() const {
  if (grid_ && !interpreter_) grid_->prepare();
}

bool Executable::may_share(std::size_t input, std::size_t output, const TensorView& a, const TensorView& b) const {
  for (const auto& pair : image_.in_place)
    if (pair.input == static_cast<int>(input) && pair.output == static_cast<int>(output))
      return a.data == b.data && image_.arguments[input].spec == image_.arguments[output].spec;
  return false;
}

void Executable::check(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const {
  auto count = static_cast<std::size_t>(image_.input_count());
  if (inputs.size() != count || inputs.size() + outputs.size() != image_.arguments.size())
    throw ArgumentError(str("'", image_.function, "' takes ", count, " inputs and ", image_.arguments.size() - count,
                            " outputs, ", inputs.size(), " and ", outputs.size(), " were given"));
  for (std::size_t i = 0; i < inputs.size(); ++i) check_spec(image_.arguments[i], inputs[i], image_.function);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto& argument = image_.arguments[count + o];
    check_spec(argument, outputs[o], image_.function);
    check_apart(argument.spec, argument.name);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (overlap(inputs[i], outputs[o]) && !may_share(i, count + o, inputs[i], outputs[o]))
        throw ArgumentError(str("output '", argument.name, "' shares memory with input '", image_.arguments[i].name,
                                "', which would change the result: pass a tensor of its own"));
    for (const auto& constant : image_.constants)
      if (overlap(constant.view(), outputs[o]))
        throw ArgumentError(str("output '", argument.name, "' shares memory with '", constant.name,
                                "', which is constant: pass a tensor of its own"));
    for (std::size_t p = 0; p < o; ++p)
      if (overlap(outputs[p], outputs[o]))
        throw ArgumentError(str("outputs '", image_.arguments[count + p].name, "' and '", argument.name,
                                "' share memory: pass tensors of their own"));
  }
}

void Executable::launch(void* const* arguments, RunProfile* profile, TestOutcome outcome) const {
  if (interpreter_) return interpreter_(arguments);
  if (grid_) return grid_->run(arguments, profile ? &profile->kernels : nullptr, outcome);
  if (!runs_here()) throw OptionsError(str("this machine cannot run code for target '", image_.target, "'"));
  WorkspaceLease workspace(pool_);
  for (std::size_t i = 0; i < image_.launches.size(); ++i) {
    run_code(i, arguments, workspace.block(), profile);
    for (const auto& test : image_.launches[i].tests)
      if (workspace.block()[test.offset]) throw ArgumentError(test.message + first_index_outside(image_, arguments));
  }
}

void Executable::run_code(std::size_t index, void* const* arguments, std::uint8_t* workspace,
                          RunProfile* profile) const {
  const auto& launch = image_.launches[index];
  PointerTable table(launch.slots.size());
  for (std::size_t i = 0; i < launch.slots.size(); ++i)
    table[i] = pointer_of(launch.slots[i], image_, arguments, workspace);
  auto start = profile ? Clock::now() : Clock::time_point();
  int code = 0;
  if (calls_[index])
    calls_[index]->run(table.data(), cpu::num_threads());
  else
    code = functions()[std::get<FunctionCall>(launch.code).function].function(table.data());
  if (profile) {
    const auto taken = Clock::now() - start;
    profile->kernels += taken;
    if (!profile->launches.empty()) profile->launches[index] += taken;
  }
  if (code != 0) throw ResourceError(str("no memory for the local buffers of '", image_.function, "'"));
}

void Executable::run_unchecked(void* const* arguments, TestOutcome outcome) const {
  with_typed_errors("run", reproduction_for(image_), [&] { launch(arguments, nullptr, outcome); });
}

void Executable::check_earlier_runs() const {
  if (grid_) grid_->check_earlier();
}

void check_all_earlier_runs() { GridRunner::check_all(); }

void Executable::run(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const {
  timed(inputs, outputs, false);
}

RunProfile Executable::profile(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const {
  return timed(inputs, outputs, !image_.is_for_gpu());
}

RunProfile Executable::timed(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                             bool each_launch) const {
  return with_typed_errors("run", reproduction_for(image_), [&] {
    RunProfile result;
    if (each_launch) result.launches.resize(image_.launches.size());
    auto start = Clock::now();
    check(inputs, outputs);
    PointerTable table(image_.arguments.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) table[i] = inputs[i].data;
    for (std::size_t o = 0; o < outputs.size(); ++o) table[inputs.size() + o] = outputs[o].data;
    launch(table.data(), &result);
    result.total = Clock::now() - start;
    return result;
  });
}

}  // namespace tc::engine
