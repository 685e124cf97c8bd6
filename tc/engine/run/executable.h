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

namespace tc::engine {

/// A tensor an executable takes: inputs in order of the parameters, then outputs in order of the returns.
struct Argument {
  std::string name;
  TensorSpec spec;  ///< normalised
  bool output = false;
  bool read = false;               ///< an output that accumulates into what the caller's buffer holds
  std::vector<std::int64_t> mins;  ///< index of the first element; zeros for inputs
  bool aligned = true;             ///< begins at a multiple of vector_alignment; false: anywhere, for GPUs
};

/// Where tensors of a GPU begin whose elements a thread moves several at once: at multiples of so many bytes.
constexpr std::uintptr_t vector_alignment = 16;
/// Does \p data, of a tensor of \p spec, begin there? A tensor without dimensions does anywhere: it has one element.
bool is_aligned(const TensorSpec& spec, const void* data);

/// An input and an output that may be one tensor: each element of the input is read only to compute the same element
/// of the output. Indices into the arguments.
struct InPlace {
  int input = 0, output = 0;
};

/// Where a buffer of a launch comes from: an argument, by its index, a place in the workspace, in bytes, or a constant
/// of the image, by its index.
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

/// A flag in the workspace that says a data-dependent subscript left its tensor.
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
/// A routine of a library: Image::calls[call]. Its buffers are the arguments that the call speaks of, in order.
struct RoutineCall {
  std::size_t call = 0;
};
/// What a launch runs.
using LaunchCode = std::variant<FunctionCall, KernelCall, RoutineCall>;

/// One piece of machine code, its buffers, and what to test when it has run. Launches that run the same code on other
/// buffers share it.
struct Launch {
  LaunchCode code;
  std::vector<Slot> slots;
  std::vector<FlagTest> tests;
  std::string part = {};  ///< the name of the def that it computes a piece of: the function, or a part of it
};

/// What a compile made: everything a process needs to run it.
struct Image {
  std::string function;  ///< name of the def
  std::string source;    ///< the def as TC text, behind those that it calls
  std::string target;
  std::string options;
  std::vector<Argument> arguments;
  std::vector<Constant> constants;  ///< those bound to parameters in the order of these, behind the others
  std::vector<InPlace> in_place;    ///< none for kernels of GPUs: their arguments are __restrict__
  std::size_t workspace_bytes = 0;
  std::size_t parts = 1;                       ///< that were compiled each by itself
  std::vector<Launch> launches;                ///< in order
  std::vector<cpu::ObjectCode> functions;      ///< for a CPU
  std::vector<cuda::DeviceCode> modules = {};  ///< for a GPU: at least one, with the kernels
  std::vector<library::Call> calls = {};       ///< of routines of libraries
  /// Sizes that the last argument tells, and strides: bind_sizes() makes executables of it. Not serialised.
  lang::SizeRanges symbolic = {};

  bool is_for_gpu() const { return !modules.empty(); }
  int input_count() const;
  /// The arguments and the constants that are bound to parameters, as the def takes them.
  std::vector<Argument> all_arguments() const;
  /// Bytes that deserialise() takes back, in another process of the same target too.
  std::string serialise() const;
  /// Throws ArgumentError for bytes that are not, whole, what serialise() wrote. Only for trusted input: the bytes hold
  /// machine code, and those of an attacker can do anything, here, in the constructor of Executable, or when it runs.
  static Image deserialise(const std::string& bytes);
};

/// A node of a graph that an equal program computes.
struct DerivedNode {
  std::string node;                    ///< the def that it calls, or stands in
  std::vector<std::string> rules;      ///< that were applied, in order
  std::string text;                    ///< the program, a def whose sizes are numbers
  std::string certificate;             ///< derive::derivation_text, which derive::check_derivation proves
  double before_us = 0, after_us = 0;  ///< of the node as it is written, and derived
  std::string source;  ///< of these: "model", "measured"; "given" without any, by CompileOptions::derivation
};

/// What a compile cost and decided.
/// A node of a graph as it was compiled.
struct CompiledNode {
  std::string name;                          ///< of the def it calls, or of what its statements write
  std::vector<std::string> inputs, outputs;  ///< names of tensors
  std::size_t part = 0;                      ///< nodes of one part run as one
  std::string runs;                          ///< "own code", a call of a library, or "folded": constants decide it
};

struct CompileStats {
  double milliseconds = 0;
  bool from_cache = false;  ///< the machine code was not made but read
  std::vector<StageRecord> records;
  std::vector<std::string> fallbacks;  ///< phases that ran out of quota and what was done instead
  std::vector<std::string> notes;      ///< why libraries that were asked for are not called
  std::string sizes;  ///< which sizes the code is for, where CompileOptions::dynamic names some, in words
  std::vector<std::string> layouts;  ///< which tensors of a graph have layouts, and what conversions cost, in words
  std::size_t folded_scales = 0;     ///< sums whose scales constants hold: CompileOptions::fold_scales
  std::vector<DerivedNode> derived;  ///< the nodes of a graph that were derived, equal ones once
  std::string graph;                 ///< where there are any of these: the graph as a text of defs
  std::vector<CompiledNode> nodes;   ///< of a graph, in order
  std::map<std::string, TensorSpec> tensors;  ///< of the graph
};

/// Times of one run.
struct RunProfile {
  std::chrono::nanoseconds total{0};                    ///< of run(), checks included
  std::chrono::nanoseconds kernels{0};                  ///< inside machine code
  std::vector<std::chrono::nanoseconds> launches = {};  ///< of profile(), on a CPU: inside each launch, in order
};

/// What becomes of tests of index tensors on a GPU: the run waits for them and throws, or it does not wait and they are
/// kept for a later call. On a CPU they are done before the run ends.
enum class TestOutcome { Awaited, Kept };

class GridRunner;

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
  /// The same for functions that are loaded: \p functions are those of \p image.
  Executable(Image image, CompileStats stats, std::vector<cpu::Kernel> functions);
  ~Executable();

  const Image& image() const { return image_; }
  const CompileStats& stats() const { return stats_; }
  /// The functions of the image, loaded.
  const std::vector<cpu::Kernel>& functions() const { return functions_; }
  bool interpreted() const { return interpreter_ != nullptr; }
  /// Has this machine the instructions of the image? Of kernels of GPUs that shows when they are run.
  bool runs_here() const { return interpreter_ || grid_ || functions_.size() == image_.functions.size(); }

  /// Throws ArgumentError, before anything is written, unless number, type, shape and strides are those compiled for,
  /// no output overlaps itself, and none overlaps another tensor but as InPlace allows.
  void check(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const;
  /// check, then the launches. Throws ArgumentError also for an index tensor with a value outside the tensor it
  /// indexes; the message says whether outputs have been written.
  void run(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const;
  /// On a GPU, pointers are the current place's, and kernels may still be at work when it returns.
  /// The launches only; \p arguments are the first elements of inputs, then outputs. Does not allocate after the first
  /// run. Values of index tensors are tested all the same.
  void run_unchecked(void* const* arguments, TestOutcome outcome = TestOutcome::Awaited) const;
  /// Throws EarlierRunError where a test of a run that kept it has failed by now, and forgets it. Does not wait.
  void check_earlier_runs() const;
  /// Makes what a run on the current place (cuda::current_place) would else make first, kernels loaded and memory for
  /// temporaries, so that a stream can be captured. Nothing for a CPU.
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
  std::vector<cpu::Kernel> functions_;  ///< those of the image, loaded
  /// By launch, null for one that calls no library: the calls of the image, made ready, with the constants of the launch.
  std::vector<std::shared_ptr<const library::PreparedCall>> calls_;
  std::unique_ptr<GridRunner> grid_;
  mutable WorkspacePool pool_;
};

/// Waits for the devices on which runs have kept tests, then does what check_earlier_runs() of all executables does.
void check_all_earlier_runs();

}  // namespace tc::engine
