#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tc/engine/graph/compile.h"
#include "test/cuda_emulator/emulator.h"
#include "test/cuda_emulator/reference.h"

/// Defs compiled for CUDA and run by the emulator.
namespace tc::test {

/// One kernel of a program: the buffers it takes, in order, are arguments of the def or tensors of the workspace.
struct DeviceKernel {
  std::string name;
  emulator::LaunchShape shape;
  std::vector<std::string> buffers;
  std::vector<int> aligned;                   ///< of these, the ones that begin at multiples of 16 bytes
  std::size_t module = 0;                     ///< the text it stands in
  cuda::KernelShape whole = {};               ///< the shape for the largest sizes
  std::vector<cuda::TakenNumber> taken = {};  ///< numbers of the run that it takes behind the buffers
  std::vector<std::int64_t> numbers = {};     ///< of the run
};

/// Kernels that run without a decision of the host in between, then flags of the workspace that refuse the arguments
/// when they are set, with the message.
struct DeviceLaunch {
  std::vector<DeviceKernel> kernels;
  std::vector<std::pair<std::string, std::string>> flags;
};

struct DeviceProgram {
  std::string text;                  ///< of all kernels, or of those of the first module
  std::vector<std::string> further;  ///< of the other modules
  std::vector<DeviceLaunch> launches;
  std::map<std::string, TensorSpec> workspace;
  std::map<std::string, std::size_t> offsets;  ///< of these tensors in one block of memory; empty: each has its own
  std::vector<std::string> fallbacks;          ///< of the compile
  double compile_milliseconds = 0;

  const std::string& text_of(const DeviceKernel& kernel) const {
    return kernel.module == 0 ? text : further.at(kernel.module - 1);
  }
};

/// \p function for tensors like \p inputs and \p outputs. Throws as engine::compile.
DeviceProgram device_program(const std::shared_ptr<const engine::Function>& function,
                             const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                             const engine::CompileOptions& options);

/// What \p image, a compile for a GPU, launches: its slots and its plan of the workspace, in which the tensors have no
/// names.
DeviceProgram device_program(const engine::Image& image);

/// \p program, a compile with symbolic sizes, where a run on \p arguments of \p function chooses its numbers.
DeviceProgram with_sizes(const DeviceProgram& program, const engine::Function& function, const Arguments& arguments,
                         const std::map<std::string, std::int64_t>& symbolic);

/// Values from \p least to \p sizes for which code of \p symbolic sizes is run: all the least, all the largest, odd ones and others between
/// them, \p count in all, by \p seed.
std::vector<lang::SizeMap> sampled_sizes(const lang::SizeMap& sizes,
                                         const std::map<std::string, std::int64_t>& symbolic, int count,
                                         std::uint64_t seed);

/// How the arguments of a program lie in memory: on multiples of 256 bytes, or no better than its kernels ask for.
enum class Pointers { Aligned, LeastAligned };

/// What an emulated run gave.
struct Emulated {
  std::vector<HostTensor> outputs;
  std::string faults;   ///< empty where there are none
  std::string refusal;  ///< message of the flag that was set, if one was
  std::int64_t accesses = 0;
  double host_compile_milliseconds = 0, run_milliseconds = 0;
  std::vector<std::pair<std::string, emulator::SiteCount>> sites;  ///< by kernel, where they are counted
};

/// Runs \p program on \p arguments. Outputs that are not read and the workspace begin poisoned.
Emulated emulate(const DeviceProgram& program, const engine::Function& function, Arguments arguments,
                 const emulator::RunOptions& options = {}, Pointers pointers = Pointers::Aligned);

/// Runs \p program once a seed, on pointers that are least aligned, and compares with \p want: what is wrong, as text,
/// or nothing. Adds the accesses that were made to \p accesses.
std::optional<std::string> emulated_mismatch(const DeviceProgram& program, const engine::Function& function,
                                             const Arguments& arguments, const std::vector<std::uint64_t>& seeds,
                                             const Reference& want, std::int64_t* accesses = nullptr);

}  // namespace tc::test
