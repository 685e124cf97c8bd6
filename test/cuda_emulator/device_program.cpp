#include "test/cuda_emulator/device_program.h"

#include <Halide.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>

#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/halide_bridge/lower/program.h"

namespace tc::test {
namespace {

emulator::Dim3 dim(const std::array<std::int64_t, 3>& size) {
  return {static_cast<unsigned>(size[0]), static_cast<unsigned>(size[1]), static_cast<unsigned>(size[2])};
}

emulator::LaunchShape launch_shape(const cuda::KernelShape& shape, std::int64_t shared_bytes) {
  return {dim(shape.grid), dim(shape.block), static_cast<std::size_t>(shared_bytes), shape.cooperative};
}

/// The stages of a compile up to the kernels' text.
std::vector<Stage<engine::CompileState>> stages_of(const engine::CompileState& state) {
  std::vector<Stage<engine::CompileState>> result;
  for (std::size_t i = 0; i < state.launches.size(); ++i)
    for (auto& stage : engine::launch_stages(state, i)) result.push_back(std::move(stage));
  return result;
}

/// Lets a run of \p kernel choose these \p numbers.
void choose_numbers(DeviceKernel& kernel, const std::vector<std::int64_t>& numbers) {
  kernel.numbers = numbers;
  kernel.shape.grid = dim(kernel.whole.grid_for(numbers));
}

std::size_t span_bytes(const TensorSpec& spec) {
  const auto span = element_span(spec);
  return static_cast<std::size_t>((span.high - span.low + 1) * byte_size(spec.dtype));
}

/// Kernels whose copies have one name have the room of the largest.
void add_workspace(const polyhedral::Scop& scop, DeviceProgram& program) {
  for (const auto& tensor : scop.tensors) {
    if (tensor.storage != polyhedral::Tensor::Storage::Workspace) continue;
    const TensorSpec spec{tensor.type, tensor.extent, tensor.strides};
    auto& known = program.workspace.try_emplace(tensor.name, spec).first->second;
    if (span_bytes(known) < span_bytes(spec)) known = spec;
  }
}

constexpr std::size_t device_alignment = 256, vector_alignment = 16;

/// Memory as a device gives it, poisoned.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes)
      : data_(static_cast<char*>(
            std::aligned_alloc(device_alignment, (bytes / device_alignment + 2) * device_alignment))) {
    std::memset(data_.get(), 0xff, bytes);
  }
  char* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> data_;
};

std::ptrdiff_t low_bytes(const TensorSpec& spec) { return element_span(spec).low * byte_size(spec.dtype); }

/// A tensor of \p spec whose lowest element is at \p memory.
TensorView view_at(const TensorSpec& spec, char* memory) {
  TensorView view;
  static_cast<TensorSpec&>(view) = spec;
  view.data = memory - low_bytes(spec);
  return view;
}
void copy(const TensorView& from, const TensorView& to) {
  std::memcpy(static_cast<char*>(to.data) + low_bytes(to), static_cast<const char*>(from.data) + low_bytes(from),
              span_bytes(from));
}

/// The arguments that must begin at multiples of 16 bytes.
std::set<std::string> aligned_names(const DeviceProgram& program) {
  std::set<std::string> names;
  for (const auto& launch : program.launches)
    for (const auto& kernel : launch.kernels)
      for (int i : kernel.aligned) names.insert(kernel.buffers.at(static_cast<std::size_t>(i)));
  return names;
}

/// The tensors of a program on the device, by name.
class DeviceTensors {
 public:
  DeviceTensors(const DeviceProgram& program, const engine::Function& function, Arguments& arguments,
                Pointers pointers) {
    const auto aligned = aligned_names(program);
    auto shift = [&](const std::string& name, const TensorSpec& spec) {
      if (pointers == Pointers::Aligned) return std::size_t{0};
      return aligned.count(name) ? vector_alignment : static_cast<std::size_t>(byte_size(spec.dtype));
    };
    add_workspace(program);
    for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
      const auto& name = function.def.params[i].name;
      const auto& spec = arguments.inputs[i].spec();
      copy(arguments.inputs[i].view(), add(name, spec, shift(name, spec), false));
    }
    const auto infos = engine::infer_output_tensor_info(function, arguments.input_specs());
    for (std::size_t i = 0; i < arguments.outputs.size(); ++i) {
      const auto& spec = arguments.outputs[i].spec();
      const auto& view = add(infos[i].name, spec, shift(infos[i].name, spec), true);
      copy(arguments.outputs[i].view(), view);
      if (!infos[i].read) emulator::poison(view);
    }
  }
  const emulator::Buffer& buffer(const std::string& name) const { return tensors_.at(name); }
  bool is_set(const std::string& flag) const {
    auto found = tensors_.find(flag);
    return found != tensors_.end() && *static_cast<const unsigned char*>(found->second.view.data);
  }
  /// The word at which blocks of \p kernel wait for each other is 0, as all of the workspace is at first.
  void clear_barrier(const DeviceKernel& kernel) const {
    if (kernel.shape.cooperative) std::memset(tensors_.at(kernel.buffers.back()).view.data, 0, sizeof(unsigned));
  }
  void copy_outputs(const engine::Function& function, Arguments& arguments) const {
    for (std::size_t i = 0; i < arguments.outputs.size(); ++i)
      copy(tensors_.at(function.def.returns[i].name).view, arguments.outputs[i].view());
  }

 private:
  const TensorView& add(const std::string& name, const TensorSpec& spec, std::size_t shift, bool writable) {
    memory_.emplace_back(span_bytes(spec) + shift);
    return tensors_[name] = {name, view_at(spec, memory_.back().data() + shift), writable}, tensors_[name].view;
  }
  void add_workspace(const DeviceProgram& program) {
    if (program.offsets.empty()) {
      for (const auto& [name, spec] : program.workspace) add(name, spec, 0, true);
      return;
    }
    std::size_t bytes = 0;
    for (const auto& [name, offset] : program.offsets)
      bytes = std::max(bytes, offset + span_bytes(program.workspace.at(name)));
    memory_.emplace_back(bytes);
    for (const auto& [name, offset] : program.offsets)
      tensors_[name] = {name, view_at(program.workspace.at(name), memory_.back().data() + offset), true};
  }

  std::vector<DeviceMemory> memory_;
  std::map<std::string, emulator::Buffer> tensors_;
};

}  // namespace

DeviceProgram device_program(const std::shared_ptr<const engine::Function>& function,
                             const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                             const engine::CompileOptions& options) {
  const auto whole = engine::inlined(function);
  auto state = engine::start_compile(*whole, inputs, outputs, options);
  state.watch = [](polyhedral::Context*) {};
  DeviceProgram program;
  auto lowering = options.stages;
  lowering.replace.clear();
  auto records = run_stages(engine::lower_stages(), state, lowering);
  auto rest = run_stages(stages_of(state), state, options.stages);
  for (const auto* list : {&records, &rest})
    for (const auto& record : *list) program.compile_milliseconds += record.milliseconds;
  std::vector<cuda::KernelText> texts;
  for (std::size_t i = 0; i < state.launches.size(); ++i) {
    const auto& launch = state.launches[i].grid();
    DeviceLaunch made;
    for (const auto& part : launch.kernels) add_workspace(part.kernel->scop, program);
    for (const auto& text : launch.texts) {
      auto buffers = text.buffers;
      if (text.number_count > 0) buffers.pop_back();
      made.kernels.push_back(
          {text.name, launch_shape(text.shape, text.shared_bytes), buffers, text.aligned, 0, text.shape, text.numbers});
      texts.push_back(text);
      if (text.shape.cooperative) program.workspace.emplace(cuda::barrier_word, contiguous(DType::Int32, {1}));
    }
    for (const auto& check : state.program->launches[i].checks) made.flags.emplace_back(check.flag, check.message);
    program.launches.push_back(std::move(made));
  }
  program.text = cuda::program_text(texts);
  program.fallbacks = state.fallbacks;
  return program;
}

DeviceProgram device_program(const engine::Image& image) {
  DeviceProgram program;
  program.text = image.modules.at(0).text;
  for (std::size_t i = 1; i < image.modules.size(); ++i) program.further.push_back(image.modules[i].text);
  auto workspace_name = [](std::size_t offset) { return str("workspace at ", offset); };
  auto use = [&](std::size_t offset, std::size_t bytes) {
    auto name = workspace_name(offset);
    auto& spec = program.workspace.try_emplace(name, contiguous(DType::UInt8, {0})).first->second;
    spec.shape[0] = std::max(spec.shape[0], static_cast<std::int64_t>(bytes));
    program.offsets[name] = offset;
  };
  for (const auto& launch : image.launches) {
    DeviceLaunch made;
    const auto& call = std::get<engine::KernelCall>(launch.code);
    const auto& kernel = image.modules.at(call.module).kernels.at(call.kernel);
    DeviceKernel taken{
        kernel.name,   launch_shape(kernel.shape, kernel.shared_bytes), {}, kernel.aligned, call.module, kernel.shape,
        kernel.numbers};
    std::set<std::size_t> ends{image.workspace_bytes};
    for (const auto& slot : launch.slots)
      if (const auto* place = std::get_if<engine::WorkspaceSlot>(&slot)) ends.insert(place->offset);
    for (const auto& slot : launch.slots) {
      if (const auto* argument = std::get_if<engine::ArgumentSlot>(&slot)) {
        taken.buffers.push_back(image.arguments.at(argument->index).name);
        continue;
      }
      if (const auto* constant = std::get_if<engine::ConstantSlot>(&slot)) {
        const auto* numbers = static_cast<const std::int64_t*>(image.constants.at(constant->index).data.get());
        choose_numbers(taken, {numbers, numbers + kernel.number_count});
        continue;
      }
      const auto offset = std::get<engine::WorkspaceSlot>(slot).offset;
      use(offset, *ends.upper_bound(offset) - offset);
      taken.buffers.push_back(workspace_name(offset));
    }
    made.kernels.push_back(std::move(taken));
    for (const auto& test : launch.tests) {
      use(test.offset, 1);
      made.flags.emplace_back(workspace_name(test.offset), test.message);
    }
    program.launches.push_back(std::move(made));
  }
  return program;
}

DeviceProgram with_sizes(const DeviceProgram& program, const engine::Function& function, const Arguments& arguments,
                         const std::map<std::string, std::int64_t>& symbolic) {
  const auto sizes = engine::bind_inputs(function, arguments.input_specs());
  std::vector<std::int64_t> numbers;
  for (const auto& [name, least] : symbolic) numbers.push_back(sizes.at(name));
  for (const auto* tensors : {&arguments.inputs, &arguments.outputs})
    for (const auto& tensor : *tensors) {
      const auto strides = contiguous(tensor.spec().dtype, tensor.spec().shape).strides;
      numbers.insert(numbers.end(), strides.begin(), strides.end());
    }
  auto result = program;
  for (auto& launch : result.launches)
    for (auto& kernel : launch.kernels) choose_numbers(kernel, numbers);
  return result;
}

std::vector<lang::SizeMap> sampled_sizes(const lang::SizeMap& sizes,
                                         const std::map<std::string, std::int64_t>& symbolic, int count,
                                         std::uint64_t seed) {
  std::mt19937_64 random(seed * 7901 + 5);
  std::vector<lang::SizeMap> result;
  for (int run = 0; run < count; ++run) {
    auto& own = result.emplace_back(sizes);
    for (const auto& [name, least] : symbolic) {
      const auto most = sizes.at(name);
      if (run == 1) own[name] = least;
      if (run < 2) continue;
      own[name] = least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
      if (run % 2 == 0) own[name] = std::min(own[name] | 1, most);
    }
  }
  return result;
}

Emulated emulate(const DeviceProgram& program, const engine::Function& function, Arguments arguments,
                 const emulator::RunOptions& options, Pointers pointers) {
  DeviceTensors tensors(program, function, arguments, pointers);
  Emulated result;
  auto run_options = options;
  for (const auto& launch : program.launches) {
    for (const auto& kernel : launch.kernels) {
      std::vector<emulator::Argument> taken;
      tensors.clear_barrier(kernel);
      for (const auto& buffer : kernel.buffers) taken.emplace_back(tensors.buffer(buffer));
      for (const auto& number : kernel.taken) taken.emplace_back(emulator::Scalar::of(kernel.numbers.at(number.index)));
      auto run = emulator::run({program.text_of(kernel), kernel.name}, kernel.shape, taken, run_options);
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

std::optional<std::string> emulated_mismatch(const DeviceProgram& program, const engine::Function& function,
                                             const Arguments& arguments, const std::vector<std::uint64_t>& seeds,
                                             const Reference& want, std::int64_t* accesses) {
  for (auto seed : seeds) {
    emulator::RunOptions run_options;
    run_options.seed = seed;
    auto got = emulate(program, function, arguments, run_options, Pointers::LeastAligned);
    if (accesses) *accesses += got.accesses;
    if (!got.faults.empty()) return str("seed ", seed, ": ", got.faults, program.text);
    if (!want.refusal.empty() && got.refusal.empty())
      return str("the interpreter refuses what the kernels run: ", want.refusal);
    if (!want.refusal.empty()) continue;
    if (!got.refusal.empty()) return str("the kernels refuse what the interpreter runs: ", got.refusal);
    if (auto text = first_difference(function, got.outputs, want))
      return str("seed ", seed, ": ", *text, "\n", program.text);
  }
  return std::nullopt;
}

}  // namespace tc::test
