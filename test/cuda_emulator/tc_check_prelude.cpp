// tc_check_prelude [--compare=false]
//
// Runs a kernel about every function of the prelude on this machine's GPU. The same kernels, inputs and results are a
// test of the emulator (prelude_test.cpp), so that the two agree where this says "ok". Prints one line a kernel; ends
// with 0, 1 for a wrong value or a fault, 2 without a GPU. A fault costs the kernel that made it only: the others run
// in a new process. With --compare=false values are not looked at: for a driver that runs nothing.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <string_view>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/device.h"
#include "tc/cuda/device_code.h"
#include "test/cuda_emulator/prelude_cases.h"

namespace tc::emulator {
namespace {

/// Numbers on the device.
class DeviceNumbers {
 public:
  explicit DeviceNumbers(const std::vector<double>& values) : count_(values.size()) {
    cuda::driver().check(cuda::driver().allocate(&address_, count_ * sizeof(double)), "allocate");
    cuda::driver().check(cuda::driver().copy_to_device(address_, values.data(), count_ * sizeof(double), nullptr),
                         "copy to the device");
  }
  ~DeviceNumbers() { cuda::driver().release(address_); }
  DeviceNumbers(const DeviceNumbers&) = delete;
  DeviceNumbers& operator=(const DeviceNumbers&) = delete;

  void* pointer() const { return reinterpret_cast<void*>(address_); }
  std::vector<double> values() const {
    std::vector<double> result(count_);
    cuda::driver().check(cuda::driver().copy_to_host(result.data(), address_, count_ * sizeof(double), nullptr),
                         "copy to the host");
    cuda::synchronise({});
    return result;
  }

 private:
  cuda::Driver::Pointer address_ = 0;
  std::size_t count_;
};

std::vector<double> run_on_device(const PreludeCase& one, const std::string& architecture) {
  cuda::KernelText kernel;
  kernel.name = "check";
  kernel.text = one.text.substr(one.text.find('\n') + 1);  // build_device_code includes the prelude
  kernel.shape.grid[0] = one.blocks;
  kernel.shape.block[0] = one.threads;
  kernel.shape.cooperative = one.cooperative;
  kernel.shared_bytes = static_cast<std::int64_t>(one.shared_bytes);
  cuda::LoadedKernels kernels(
      cuda::build_device_code({kernel}, one.architecture.empty() ? architecture : one.architecture));
  cuda::InContext context(0);
  DeviceNumbers in(one.in), out(std::vector<double>(one.want.size(), 0));
  void* const pointers[] = {in.pointer(), out.pointer()};
  kernels.launch({}, 0, pointers, 2);
  cuda::synchronise({});
  return out.values();
}

/// The largest relative difference of \p got, or nothing where a value is further off than \p one allows.
std::optional<double> largest_difference(const PreludeCase& one, const std::vector<double>& got) {
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::fabs(got[i] - one.want[i]) / (1 + std::fabs(one.want[i]));
    if (!(difference <= one.tolerance)) {
      std::cout << "WRONG " << one.name << ": out[" << i << "] is " << got[i] << ", expected " << one.want[i] << "\n"
                << one.text;
      return std::nullopt;
    }
    largest = std::max(largest, difference);
  }
  return largest;
}

constexpr int no_device = 2, faulted = 3;

/// What the processes that run cases share.
struct Progress {
  std::size_t next = 0;  ///< the case to begin with
  int wrong = 0;
};

/// Runs the cases from progress.next on, until one faults; the exit status of the process that does so.
int run_cases(const std::vector<PreludeCase>& cases, bool compare, Progress& progress) {
  std::string architecture;
  try {
    architecture = cuda::device_architecture(0);
  } catch (const Error& error) {
    std::cerr << error.what() << std::endl;
    return no_device;
  }
  while (progress.next < cases.size()) {
    const auto& one = cases[progress.next++];
    if (one.uses_units && std::stoi(architecture.substr(3)) < 80) continue;  // after "sm_"
    if (!one.architecture.starts_with(architecture) && !one.architecture.empty()) continue;
    ++progress.wrong;
    try {
      auto got = run_on_device(one, architecture);
      auto difference = compare ? largest_difference(one, got) : 0;
      if (!difference) continue;
      std::cout << "ok " << join(one.functions) << ": largest difference " << *difference << std::endl;
      --progress.wrong;
    } catch (const Error& error) {
      std::cout << "FAULT " << one.name << ": " << error.what() << std::endl;
      return faulted;
    }
  }
  return 0;
}

int check(bool compare) {
  const auto cases = prelude_cases();
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return no_device;
  auto& progress = *new (shared) Progress;
  while (progress.next < cases.size()) {
    const auto child = fork();
    if (child < 0) return no_device;
    if (child == 0) _exit(run_cases(cases, compare, progress));
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == no_device) return no_device;
    if (WIFSIGNALED(status))
      std::cout << "DIED after " << progress.next << " cases, by signal " << WTERMSIG(status) << std::endl;
  }
  std::cout << cases.size() << " kernels, "
            << (progress.wrong ? str(progress.wrong, " WRONG") : std::string("all right")) << std::endl;
  return progress.wrong ? 1 : 0;
}

}  // namespace
}  // namespace tc::emulator

int main(int argc, char** argv) {
  return tc::emulator::check(argc < 2 || std::string_view(argv[1]) != "--compare=false");
}
