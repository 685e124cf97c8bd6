// tc_check_kernels FILE.tc [--from 0] [--options "fusion=max"] [--target cuda:sm_90] [--compare=false]
//
// Runs the last def of a file on this machine's GPU, for each of its sizes with several options and placements of
// tensors, and compares with the interpreter. Prints a line for each case, "ok 3 run 0, options 'fusion=max'"; ends
// with 0, 1 for a wrong one, 2 without a GPU, 3 where a fault has cost the GPU's state: the cases after the last line
// have not run, and --from runs them.

#include <gflags/gflags.h>

#include <filesystem>
#include <iostream>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/device.h"
#include "test/support/program_file.h"

DEFINE_int32(from, 0, "the first case to run");
DEFINE_string(options, "", "mapping options of a further case");
DEFINE_string(target, "", "the machine to compile for; the GPU of this machine if empty");
DEFINE_bool(compare, true, "compare the results: not what a driver that runs nothing gives");

namespace tc::test {
namespace {

constexpr int all_right = 0, wrong = 1, no_device = 2, device_lost = 3;

struct Case {
  std::size_t run = 0;
  std::string options;
  Placement placement = Placement::Dense;
};

std::vector<Case> cases_of(const ProgramFile& program) {
  std::vector<std::string> further = program.options;
  if (!FLAGS_options.empty()) further.push_back(FLAGS_options);
  std::vector<Case> cases;
  for (std::size_t run = 0; run < program.runs.size(); ++run) {
    cases.push_back({run, "", Placement::Dense});
    cases.push_back({run, "fusion=max", Placement::Reversed});
    cases.push_back({run, "fusion=min,tile=4x8", Placement::Spread});
    if (run == 0) cases.push_back({run, "parallel=0", Placement::Dense});
    if (run == 0) cases.push_back({run, "cooperative=1,fusion=min,reduction_parts=4", Placement::Dense});
    for (const auto& options : further) cases.push_back({run, options, Placement::Dense});
  }
  return cases;
}

/// A copy of a tensor's memory on the device, guards included, whose first element is as aligned as an allocation is.
class DeviceCopy {
 public:
  explicit DeviceCopy(HostTensor& tensor)
      : tensor_(tensor), shift_((alignment - tensor.origin() % alignment) % alignment) {
    const auto& api = cuda::driver();
    api.check(api.allocate(&block_, shift_ + tensor.storage().size()), "allocate a tensor");
    api.check(api.copy_to_device(block_ + shift_, tensor.storage().data(), tensor.storage().size(), nullptr),
              "copy a tensor to the device");
  }
  ~DeviceCopy() { cuda::driver().release(block_); }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  void* first_element() const { return reinterpret_cast<void*>(block_ + shift_ + tensor_.origin()); }
  void copy_back() const {
    const auto& api = cuda::driver();
    api.check(api.copy_to_host(tensor_.storage().data(), block_ + shift_, tensor_.storage().size(), nullptr),
              "copy a tensor to the host");
    cuda::synchronise({});
  }

 private:
  static constexpr std::size_t alignment = 256;
  HostTensor& tensor_;
  std::size_t shift_;
  cuda::Driver::Pointer block_ = 0;
};

void run_on_device(const engine::Executable& executable, Arguments& arguments) {
  cuda::InContext context(0);
  std::vector<std::unique_ptr<DeviceCopy>> copies;
  std::vector<void*> pointers;
  for (auto* tensors : {&arguments.inputs, &arguments.outputs})
    for (auto& tensor : *tensors) {
      copies.push_back(std::make_unique<DeviceCopy>(tensor));
      pointers.push_back(copies.back()->first_element());
    }
  executable.run_unchecked(pointers.data());
  cuda::synchronise({});
  for (std::size_t i = arguments.inputs.size(); i < copies.size(); ++i) copies[i]->copy_back();
}

/// What the device computes otherwise than the interpreter, or nothing. An ArgumentError of one must be one of the
/// other too.
std::optional<std::string> device_mismatch(const engine::Function& function, const engine::Executable& executable,
                                           const Arguments& arguments, const Tolerances& tolerances) {
  std::optional<std::vector<HostTensor>> want;
  std::string refusal;
  try {
    if (FLAGS_compare) want = interpreted(function, arguments);
  } catch (const ArgumentError& error) {
    refusal = error.what();
  }
  Arguments run = arguments;
  try {
    run_on_device(executable, run);
  } catch (const ArgumentError& error) {
    if (!refusal.empty()) return std::nullopt;
    return str("the device refuses what the interpreter runs: ", error.what());
  }
  if (!refusal.empty()) return str("the interpreter refuses what the device runs: ", refusal);
  return want ? first_difference(function, run.outputs, *want, tolerances) : std::nullopt;
}

std::optional<std::string> run_case(const ProgramFile& program, const std::shared_ptr<const engine::Function>& function,
                                    const Case& one, const Target& target) {
  Tolerances tolerances;
  for (const auto& output : function->def.returns) tolerances[output.name] = program.tolerance;
  engine::CompileOptions options;
  options.target = target;
  options.mapping = options::MappingOptions::parse(one.options);
  auto arguments = make_arguments(*function, program, program.runs[one.run], one.placement);
  auto executable = engine::compile(function, arguments.input_specs(), arguments.output_specs(), options);
  return device_mismatch(*function, *executable, arguments, tolerances);
}

int check_file(const std::filesystem::path& path) {
  const auto target = Target::parse(FLAGS_target.empty() ? cuda::device_target(0) : FLAGS_target);
  auto program = read_program(path);
  auto function = function_of(program, path.filename().string());
  auto cases = cases_of(program);
  int result = all_right;
  for (auto i = static_cast<std::size_t>(FLAGS_from); i < cases.size(); ++i) {
    auto name = str(i, " run ", cases[i].run, ", options '", cases[i].options, "'");
    try {
      auto difference = run_case(program, function, cases[i], target);
      if (difference) result = wrong;
      std::cout << (difference ? "WRONG " : "ok ") << name << (difference ? ": " : "") << difference.value_or("")
                << std::endl;
    } catch (const DeviceError& error) {
      std::cout << "FAULT " << name << ": " << error.what() << std::endl;
      return device_lost;
    } catch (const Error& error) {
      std::cout << "FAILED " << name << ": " << error.what() << std::endl;
      result = wrong;
    }
  }
  return result;
}

}  // namespace
}  // namespace tc::test

int main(int argc, char** argv) {
  gflags::SetUsageMessage("tc_check_kernels FILE.tc [--from 0] [--options ...]");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc != 2) {
    std::cerr << gflags::ProgramUsage() << "\n";
    return tc::test::no_device;
  }
  try {
    return tc::test::check_file(argv[1]);
  } catch (const tc::Error& error) {
    std::cerr << error.what() << "\n";
    return tc::test::no_device;
  }
}
