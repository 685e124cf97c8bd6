#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tc/base/stage.h"
#include "tc/base/tensor.h"
#include "tc/cpu/kernel.h"
#include "tc/cuda/device_code.h"
#include "tc/engine/run/constant.h"
#include "tc/engine/run/workspace.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/library/description/prepare.h"

namespace tc::cuda {
class LoadedKernels;
}

namespace tc::engine {

/// A tensor an executable takes: inputs in order of the parameters, then outputs in order of the returns.
struct Argument {
  std::string name;
  TensorSpec spec;  ///< normalised
  bool output = false;
  bool read = false;               ///< an output that accumulates into the caller's buffer
  std::vector<std::int64_t> mins;  ///< index of the first element; zeros for inputs
  bool aligned = true;             ///< begins at a multiple of vector_alignment; false: anywhere, for GPUs
};

/// Alignment in bytes of GPU tensors, required if a thread moves several elements at once.
constexpr std::uintptr_t vector_alignment = 16;
/// Is \p data, of a tensor of \p spec, aligned so? A tensor without dimensions always is, because it has one element.
bool is_aligned(const TensorSpec& spec, const void* data);

/// An input and an output that may be one tensor: each element of the input is read only to compute the same element
/// of the output. Indices into the arguments.
struct InPlace {
  int input = 0, output = 0;
};

/// The source of a buffer of a launch: an argument by its index, an offset in the workspace in bytes, or a constant
/// of the image by its index.
struct ArgumentSlot {
  std::size_t index = 0;
};
struct WorkspaceSlot {
  std::size_t offset = 0;
};
struct ConstantSlot {
  std::size_t index = 0;
};
using Slot = std::variant<ArgumentSlot, WorkspaceSlot, ConstantSlot>;

/// A flag in the workspace that is set if a data-dependent subscript is out of bounds.
struct FlagTest {
  std::size_t offset = 0;
  std::string message;
};

/// A function of a CPU: Image::functions[function].
struct FunctionCall {
  std::size_t function = 0;
};
/// A kernel of a grid: Image::modules[module].kernels[kernel].
struct KernelCall {
  std::size_t module = 0, kernel = 0;
};
/// A routine of a library: Image::calls[call]. Its buffers are the arguments of the call, in order.
struct RoutineCall {
  std::size_t call = 0;
};
/// The code of a launch.
using LaunchCode = std::variant<FunctionCall, KernelCall, RoutineCall>;

/// One piece of machine code, its buffers, and the flags to test after it has run. Launches that run the same code on
/// other buffers share it.
struct Launch {
  LaunchCode code;
  std::vector<Slot> slots;
  std::vector<FlagTest> tests;
  std::string part = {};  ///< the name of the def that it belongs to: the function, or a part of it
};

/// The result of a compile: everything that a process needs to run it.
struct Image {
  std::string function;  ///< name of the def
  std::string source;    ///< the def as TC text, after the defs that it calls
  std::string target;
  std::string options;
  std::vector<Argument> arguments;
  std::vector<Constant> constants;  ///< constants bound to parameters are last, in the order of the parameters
  std::vector<InPlace> in_place;    ///< none for kernels of GPUs: their arguments are __restrict__
  std::size_t workspace_bytes = 0;
  std::size_t parts = 1;                       ///< that were compiled separately
  std::vector<Launch> launches;                ///< in order
  std::vector<cpu::ObjectCode> functions;      ///< for a CPU
  std::vector<cuda::DeviceCode> modules = {};  ///< for a GPU, with the kernels; none where all launches are calls
  std::vector<library::Call> calls = {};       ///< of routines of libraries
  /// What the compile of each part states about its loops, for the checker of tc/proof: bytes of a proto::Evidence.
  std::vector<std::string> evidence = {};
  /// The sizes that the code is for any values of. A run tells it their values, and the strides of the tensors, by the last argument, which is
  /// memory of the host, or by the constant `told`, for tensors like the arguments: bind_sizes() makes executables of this image.
  lang::SizeRanges symbolic = {};
  std::optional<std::size_t> told = {};  ///< place among the constants

  bool is_for_gpu() const {
    return !modules.empty() || (!calls.empty() && calls.front().machine == library::Machine::Cuda);
  }
  int input_count() const;
  /// The arguments and the constants that are bound to parameters, as the def takes them.
  std::vector<Argument> all_arguments() const;
  /// Bytes that deserialise() reads, also in another process with the same target.
  std::string serialise() const;
  /// Throws ArgumentError for bytes that are not the complete result of serialise(). Only for trusted input: the
  /// bytes contain machine code, so an attacker's bytes can do anything, here, in the constructor of Executable, or
  /// when it runs.
  static Image deserialise(const std::string& bytes);
};

/// A node of a graph that is computed by an equivalent program.
struct DerivedNode {
  std::string node;                    ///< the def that it calls, or stands in
  std::vector<std::string> rules;      ///< that were applied, in order
  std::string text;                    ///< the program, a def whose sizes are numbers
  std::string certificate;             ///< derive::derivation_text, which derive::check_derivation proves
  double before_us = 0, after_us = 0;  ///< of the node in its source form, and derived
  std::string source;  ///< of these times: "model" or "measured"; "given" without times, by CompileOptions::derivation
};

/// A node of a graph as it was compiled.
struct CompiledNode {
  std::string name;                          ///< of the called def, or of the tensor that its statements write
  std::vector<std::string> inputs, outputs;  ///< names of tensors
  std::size_t part = 0;                      ///< nodes of one part run as one
  std::string runs;  ///< "own code", a call of a library, or "folded": it depends on constants alone
};

struct CompileStats {
  double milliseconds = 0;
  bool from_cache = false;  ///< the machine code was read instead of compiled
  std::vector<StageRecord> records;
  std::vector<std::string> fallbacks;  ///< phases that exhausted their quota, and the fallback used
  std::vector<std::string> notes;      ///< reasons why requested libraries are not called
  std::string sizes;  ///< the sizes that the code is for, in words, if CompileOptions::dynamic names some
  std::vector<std::string>
      finalists;                      ///< ways to compile that were measured in turns, with their times, and the choice
  std::vector<std::string> declined;  ///< what was asked for and code for ranges of sizes goes without, in words
  std::vector<std::string> layouts;   ///< the tensors of a graph with layouts, and the cost of conversions, in words
  std::size_t folded_scales = 0;      ///< sums with scales folded into constants: CompileOptions::fold_scales
  std::vector<DerivedNode> derived;   ///< the nodes of a graph that were derived, equal ones once
  std::string graph;                  ///< the graph as a text of defs, if there is one
  std::vector<CompiledNode> nodes;    ///< of a graph, in order
  std::map<std::string, TensorSpec> tensors;  ///< of the graph
};

/// Times of one run.
struct RunProfile {
  std::chrono::nanoseconds total{0};                    ///< of run(), checks included
  std::chrono::nanoseconds kernels{0};                  ///< inside machine code
  std::vector<std::chrono::nanoseconds> launches = {};  ///< of profile(), on a CPU: inside each launch, in order
};

/// Handling of checks of index tensors on a GPU: the run waits for them and throws, or it keeps them for a later
/// call. On a CPU they end before the run returns.
enum class TestOutcome { Awaited, Kept };

class GridRunner;
struct GridMemory;

/// Code of an image that is loaded, which executables for other sizes of its tensors share.
struct LoadedCode {
  std::vector<cpu::Kernel> functions;                              ///< those of the image
  std::vector<std::shared_ptr<cuda::LoadedKernels>> modules = {};  ///< likewise
  std::shared_ptr<GridMemory> memory = nullptr;  ///< of temporaries on a GPU; null: the executable has its own
};

/// The pointer of \p slot of \p image, for the pointers of all arguments and a workspace.
inline void* pointer_of(const Slot& slot, const Image& image, void* const* arguments, std::uint8_t* workspace) {
  if (const auto* argument = std::get_if<ArgumentSlot>(&slot)) return arguments[argument->index];
  if (const auto* constant = std::get_if<ConstantSlot>(&slot)) return image.constants[constant->index].data.get();
  return workspace + std::get<WorkspaceSlot>(slot).offset;
}

/// A def compiled for given tensors: an ordered list of launches with a plan of the workspace. Immutable; any number of
/// threads may run it at once.
class Executable {
 public:
  /// Runs the def instead of machine code; takes the pointers of all arguments.
  using Interpreter = std::function<void(void* const* arguments)>;

  /// Loads the machine code of \p image: the stage `build`, added to \p stats. Code for instructions that this machine
  /// lacks stays unloaded; it can be looked at and saved, and its run() throws OptionsError.
  /// Its calls of libraries are made ready; throws OptionsError for a library that this machine does not have, or in
  /// another version.
  explicit Executable(Image image, CompileStats stats = {}, Interpreter interpreter = nullptr);
  /// The same for code that is loaded: \p loaded is that of \p image.
  Executable(Image image, CompileStats stats, LoadedCode loaded);
  ~Executable();

  const Image& image() const { return image_; }
  const CompileStats& stats() const { return stats_; }
  /// The code of the image, loaded.
  const LoadedCode& loaded() const { return loaded_; }
  const std::vector<cpu::Kernel>& functions() const { return loaded_.functions; }
  bool interpreted() const { return interpreter_ != nullptr; }
  /// Does this machine have the instructions of the image? For GPU kernels this is known only when they run.
  bool runs_here() const { return interpreter_ || grid_ || functions().size() == image_.functions.size(); }

  /// Throws ArgumentError, before anything is written, unless number, type, shape and strides equal the compiled
  /// ones, no output overlaps itself, and no output overlaps another tensor except as InPlace allows.
  void check(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const;
  /// check, then the launches. Throws ArgumentError also for an index tensor with a value outside the tensor it
  /// indexes; the message says whether outputs have been written.
  void run(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const;
  /// On a GPU, pointers are the current place's, and kernels may still be at work when it returns.
  /// The launches only; \p arguments are the first elements of inputs, then outputs. Does not allocate after the first
  /// run. Values of index tensors are tested all the same.
  void run_unchecked(void* const* arguments, TestOutcome outcome = TestOutcome::Awaited) const;
  /// Throws EarlierRunError if a kept check of an earlier run has failed by now, and forgets the check. Does not
  /// wait.
  void check_earlier_runs() const;
  /// Loads kernels and allocates temporaries for the current place (cuda::current_place), as a first run would, so
  /// that a stream can be captured. No effect on a CPU.
  void prepare() const;
  /// As run, with times, also of each launch.
  RunProfile profile(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const;

 private:
  RunProfile timed(std::span<const TensorView> inputs, std::span<const TensorView> outputs, bool each_launch) const;
  void launch(void* const* arguments, RunProfile* profile, TestOutcome outcome = TestOutcome::Awaited) const;
  void run_code(std::size_t launch, void* const* arguments, std::uint8_t* workspace, RunProfile* profile) const;
  void prepare_calls();
  bool may_share(std::size_t input, std::size_t output, const TensorView& a, const TensorView& b) const;

  Image image_;
  CompileStats stats_;
  Interpreter interpreter_;
  LoadedCode loaded_;
  /// By launch, null for one that calls no library: the calls of the image, made ready, with the constants of the launch.
  std::vector<std::shared_ptr<const library::PreparedCall>> calls_;
  std::unique_ptr<GridRunner> grid_;
  mutable WorkspacePool pool_;
};

/// Waits for the devices on which runs have kept tests, then does what check_earlier_runs() of all executables does.
void check_all_earlier_runs();

}  // namespace tc::engine
