#include "test/cuda_emulator/device_program.h"

#include <Halide.h>

#include <algorithm>
#include <cstdlib>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/pipeline.h"
#include "tc/halide_bridge/program.h"

namespace tc::test {
namespace {

emulator::Dim3 dim(const std::array<std::int64_t, 3>& size) {
  return {static_cast<unsigned>(size[0]), static_cast<unsigned>(size[1]), static_cast<unsigned>(size[2])};
}

/// The stages of a compile up to the kernels' text.
std::vector<Stage<engine::CompileState>> stages_of(const engine::CompileState& state) {
  std::vector<Stage<engine::CompileState>> result;
  for (std::size_t i = 0; i < state.launches.size(); ++i)
    for (auto& stage : engine::launch_stages(i, state.launches.size())) result.push_back(std::move(stage));
  return result;
}

void add_workspace(const polyhedral::Scop& scop, DeviceProgram& program) {
  for (const auto& tensor : scop.tensors)
    if (tensor.storage == polyhedral::Tensor::Storage::Workspace)
      program.workspace.emplace(tensor.name, TensorSpec{tensor.type, tensor.extent, tensor.strides});
}

/// Memory as a device gives it: aligned to 256 bytes, of the span of a tensor, poisoned.
class DeviceMemory {
 public:
  explicit DeviceMemory(const TensorSpec& spec) {
    const auto span = element_span(spec);
    bytes_ = static_cast<std::size_t>((span.high - span.low + 1) * byte_size(spec.dtype));
    data_.reset(static_cast<char*>(std::aligned_alloc(256, (bytes_ + 511) / 256 * 256)));
    std::memset(data_.get(), 0xff, bytes_);
    static_cast<TensorSpec&>(view_) = spec;
    low_ = span.low * byte_size(spec.dtype);
    view_.data = data_.get() - low_;
  }
  const TensorView& view() const { return view_; }
  void copy_from(const TensorView& host) { std::memcpy(data_.get(), static_cast<const char*>(host.data) + low_, bytes_); }
  void copy_to(const TensorView& host) const { std::memcpy(static_cast<char*>(host.data) + low_, data_.get(), bytes_); }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> data_;
  std::size_t bytes_ = 0;
  std::int64_t low_ = 0;
  TensorView view_;
};

/// The tensors of a program on the device, by name.
class DeviceTensors {
 public:
  DeviceTensors(const DeviceProgram& program, const engine::Function& function, Arguments& arguments) {
    for (const auto& [name, spec] : program.workspace) add(name, spec, true);
    for (std::size_t i = 0; i < arguments.inputs.size(); ++i)
      add(function.def.params[i].name, arguments.inputs[i].spec(), false).copy_from(arguments.inputs[i].view());
    const auto infos = engine::infer_output_tensor_info(function, arguments.input_specs());
    for (std::size_t i = 0; i < arguments.outputs.size(); ++i) {
      auto& memory = add(infos[i].name, arguments.outputs[i].spec(), true);
      memory.copy_from(arguments.outputs[i].view());
      if (!infos[i].read) emulator::poison(memory.view());
    }
  }
  emulator::Buffer buffer(const std::string& name) const {
    const auto& [memory, writable] = tensors_.at(name);
    return {name, memory.view(), writable};
  }
  bool is_set(const std::string& flag) const {
    auto found = tensors_.find(flag);
    return found != tensors_.end() && *static_cast<const unsigned char*>(found->second.first.view().data);
  }
  void copy_outputs(const engine::Function& function, Arguments& arguments) const {
    for (std::size_t i = 0; i < arguments.outputs.size(); ++i)
      tensors_.at(function.def.returns[i].name).first.copy_to(arguments.outputs[i].view());
  }

 private:
  DeviceMemory& add(const std::string& name, const TensorSpec& spec, bool writable) {
    return tensors_.try_emplace(name, DeviceMemory(spec), writable).first->second.first;
  }
  std::map<std::string, std::pair<DeviceMemory, bool>> tensors_;
};

}  // namespace

DeviceProgram device_program(const std::shared_ptr<const engine::Function>& function, const std::vector<TensorSpec>& inputs,
                             const std::vector<TensorSpec>& outputs, const engine::CompileOptions& options) {
  engine::CompileState state;
  state.function = function.get();
  state.arguments = engine::make_arguments(*function, inputs, outputs);
  state.sizes = engine::bind_inputs(*function, inputs);
  state.target = options.target;
  state.mapping = options.mapping.values();
  state.watch = [](polyhedral::Context*) {};
  auto stage_options = options.stages;
  stage_options.verify = true;
  DeviceProgram program;
  auto records = run_stages(engine::lower_stages(), state, stage_options);
  auto rest = run_stages(stages_of(state), state, stage_options);
  for (const auto* list : {&records, &rest})
    for (const auto& record : *list) program.compile_milliseconds += record.milliseconds;
  std::vector<cuda::KernelText> texts;
  for (std::size_t i = 0; i < state.launches.size(); ++i) {
    const auto& launch = state.launches[i];
    DeviceLaunch made;
    for (const auto& part : launch.kernels) {
      const auto& text = part.text;
      add_workspace(part.kernel.scop, program);
      made.kernels.push_back({text.name, {dim(text.shape.grid), dim(text.shape.block), static_cast<std::size_t>(text.shared_bytes)}, text.buffers});
      texts.push_back(text);
    }
    for (const auto& check : state.program->launches[i].checks) made.flags.emplace_back(check.flag, check.message);
    program.launches.push_back(std::move(made));
  }
  program.text = cuda::program_text(texts);
  program.fallbacks = state.fallbacks;
  return program;
}

Emulated emulate(const DeviceProgram& program, const engine::Function& function, Arguments arguments,
                 const emulator::RunOptions& options) {
  DeviceTensors tensors(program, function, arguments);
  Emulated result;
  auto run_options = options;
  for (const auto& launch : program.launches) {
    for (const auto& kernel : launch.kernels) {
      std::vector<emulator::Argument> pointers;
      for (const auto& buffer : kernel.buffers) pointers.emplace_back(tensors.buffer(buffer));
      auto run = emulator::run({program.text, kernel.name}, kernel.shape, pointers, run_options);
      run_options.seed = run_options.seed * 31 + 7;
      result.accesses += run.accesses;
      result.host_compile_milliseconds = std::max(result.host_compile_milliseconds, run.compile_milliseconds);
      result.run_milliseconds += run.run_milliseconds;
      for (const auto& site : run.sites) result.sites.emplace_back(kernel.name, site);
      if (!run.ok()) result.faults += str("kernel ", kernel.name, ": ", run.text());
      if (!run.ok()) return result;
    }
    for (const auto& [flag, message] : launch.flags)
      if (tensors.is_set(flag)) {
        result.refusal = message;
        return result;
      }
  }
  tensors.copy_outputs(function, arguments);
  result.outputs = std::move(arguments.outputs);
  return result;
}

std::optional<std::string> emulated_mismatch(const std::shared_ptr<const engine::Function>& function, const Arguments& arguments,
                                             const engine::CompileOptions& options, const std::vector<std::uint64_t>& seeds,
                                             const Tolerances& tolerances) {
  std::optional<std::vector<HostTensor>> want;
  std::string refusal;
  try {
    want = interpreted(*function, arguments);
  } catch (const ArgumentError& error) {
    refusal = error.what();
  }
  const auto program = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
  for (auto seed : seeds) {
    emulator::RunOptions run_options;
    run_options.seed = seed;
    auto got = emulate(program, *function, arguments, run_options);
    if (!got.faults.empty()) return str("seed ", seed, ": ", got.faults, program.text);
    if (!want && got.refusal.empty()) return str("the interpreter refuses what the kernels run: ", refusal);
    if (!want) continue;
    if (!got.refusal.empty()) return str("the kernels refuse what the interpreter runs: ", got.refusal);
    if (auto text = first_difference(*function, got.outputs, *want, tolerances)) return str("seed ", seed, ": ", *text, "\n", program.text);
  }
  return std::nullopt;
}

}  // namespace tc::test
