#include "tc/cuda/driver.h"

#include <array>
#include <cstdlib>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/base/target.h"

namespace tc::cuda {
namespace {

/// Codes of the driver's calls.
enum Code : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  deinitialized = 4,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  invalid_source = 300,
  not_found = 500,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  illegal_address = 700,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  cooperative_launch_too_large = 720,
  system_driver_mismatch = 803,
  first_capture_error = 900,
  last_capture_error = 908,
};

std::string text_of(const Driver& driver, int code) {
  const char *name = nullptr, *text = nullptr;
  if (driver.error_name) driver.error_name(code, &name);
  if (driver.error_string) driver.error_string(code, &text);
  return str(name ? name : "error ", name ? "" : std::to_string(code), text ? str(": ", text) : "");
}

void bind(Driver& driver) {
  const Library& library = driver.library;
  library.bind("cuInit", driver.init);
  library.bind("cuGetErrorName", driver.error_name);
  library.bind("cuGetErrorString", driver.error_string);
  library.bind("cuDriverGetVersion", driver.version);
  library.bind("cuDeviceGetCount", driver.device_count);
  library.bind("cuDeviceGet", driver.device_get);
  library.bind("cuDeviceGetName", driver.device_name);
  library.bind("cuDeviceGetAttribute", driver.device_attribute);
  library.bind("cuDevicePrimaryCtxRetain", driver.retain_primary_context);
  library.bind("cuCtxGetCurrent", driver.get_current_context);
  library.bind("cuCtxPushCurrent_v2", driver.push_context);
  library.bind("cuCtxPopCurrent_v2", driver.pop_context);
  library.bind("cuCtxSynchronize", driver.synchronize_context);
  library.bind("cuModuleLoadData", driver.load_module);
  library.bind("cuModuleUnload", driver.unload_module);
  library.bind("cuModuleGetFunction", driver.get_function);
  library.bind("cuFuncSetAttribute", driver.set_function_attribute);
  library.bind("cuLaunchKernel", driver.launch);
  library.bind("cuLaunchCooperativeKernel", driver.launch_cooperative);
  library.bind("cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.resident_blocks);
  library.bind("cuMemAlloc_v2", driver.allocate);
  library.bind("cuMemFree_v2", driver.release);
  library.bind("cuMemHostAlloc", driver.allocate_host);
  library.bind("cuMemFreeHost", driver.release_host);
  library.bind("cuMemsetD8Async", driver.fill);
  library.bind("cuMemcpyHtoDAsync_v2", driver.copy_to_device);
  library.bind("cuMemcpyDtoHAsync_v2", driver.copy_to_host);
  library.bind("cuStreamSynchronize", driver.synchronize);
  library.bind("cuStreamIsCapturing", driver.is_capturing);
  library.bind("cuThreadExchangeStreamCaptureMode", driver.exchange_capture_mode);
  library.bind("cuEventCreate", driver.create_event);
  library.bind("cuEventDestroy_v2", driver.destroy_event);
  library.bind("cuEventRecord", driver.record_event);
  library.bind("cuEventSynchronize", driver.wait_for_event);
  library.bind("cuEventElapsedTime", driver.elapsed);
}

constexpr const char* advice =
    "a target \"cuda:...\" compiles without a GPU, but runs only on a machine with an NVIDIA GPU and its driver; run "
    "there, or compile for \"cpu\"";

/// Names and places of the driver's library: the loader's path, and where containers mount it without telling the
/// loader.
std::vector<std::string> candidates() {
  if (const char* file = std::getenv("TC_CUDA_DRIVER")) return {file};
  return {"libcuda.so.1", "libcuda.so", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
}

Driver open_driver() {
  Driver driver;
  driver.library = Library::open(candidates());
  if (!driver.library) throw DeviceError(str("no CUDA driver was found: ", advice, ". Tried:", driver.library.tried()));
  bind(driver);
  int code = driver.init(0), count = 0;
  if (code == success) code = driver.device_count(&count);
  if (code != success || count == 0)
    throw DeviceError(str("the CUDA driver ", driver.library.file(), " has no device to run on",
                          code ? str(" (", text_of(driver, code), ")") : "", ": ", advice));
  return driver;
}

}  // namespace

void Driver::check(int code, const std::string& what) const {
  if (code == success) return;
  auto text = text_of(*this, code);
  if (code >= first_capture_error && code <= last_capture_error)
    throw DeviceError(str("the CUDA driver cannot ", what, " while a stream records a graph (", text,
                          "): call prepare() on the executable, or run it once, before the capture"));
  switch (code) {
    case out_of_memory:
      throw ResourceError(str("the GPU has no memory left to ", what, " (", text,
                              "): free tensors, use smaller ones, or give back what a framework keeps "
                              "(torch.cuda.empty_cache())"));
    case launch_out_of_resources:
      throw ResourceError(str("the GPU cannot ", what, " (", text,
                              "): a block needs more registers, threads or shared memory than it has; "
                              "choose a smaller block or tile"));
    case cooperative_launch_too_large:
      throw ResourceError(str("the GPU cannot ", what, " (", text,
                              "): its blocks wait for each other, and not all of them fit at once; compile for this "
                              "device, or without cooperative=1"));
    case invalid_value:
      throw InternalError(str("the CUDA driver refuses to ", what, " (", text, ")"));
    case invalid_image:
    case no_binary_for_gpu:
    case invalid_source:
      throw DeviceError(str("the GPU cannot ", what, " (", text,
                            "): the kernels were compiled for another architecture; compile for this one"));
    case illegal_address:
    case launch_timeout:
    case hardware_stack_error:
    case illegal_instruction:
    case misaligned_address:
    case invalid_address_space:
    case invalid_pc:
    case launch_failed:
      throw DeviceError(str("a kernel faulted before or while asked to ", what, " (", text,
                            "): the GPU's state in this process is lost; restart the process. If no other kernel is to "
                            "blame, this is a bug "
                            "of the compiler"));
    default:
      throw DeviceError(str("the CUDA driver could not ", what, " (", text, ")"));
  }
}

/// Kept to the end of the process: executables may be destroyed after this file's statics.
const Driver& driver() {
  static const auto* instance = new Driver(open_driver());
  return *instance;
}

int device_count() {
  int count = 0;
  driver().check(driver().device_count(&count), "count the devices");
  return count;
}

std::optional<std::string> driver_version() try {
  int number = 0;
  driver().check(driver().version(&number), "tell its version");
  return str(number / 1000, ".", number % 1000 / 10);
} catch (const Error&) {
  return std::nullopt;
}

std::string device_name(int ordinal) {
  const Driver& api = driver();
  Driver::Device device = 0;
  std::array<char, 256> text{};
  api.check(api.device_get(&device, ordinal), str("find device ", ordinal));
  api.check(api.device_name(text.data(), static_cast<int>(text.size()) - 1, device), "tell its name");
  return text.data();
}

std::string device_architecture(int ordinal) {
  constexpr int major_attribute = 75, minor_attribute = 76;
  const Driver& api = driver();
  Driver::Device device = 0;
  int major = 0, minor = 0;
  api.check(api.device_get(&device, ordinal), str("find device ", ordinal));
  api.check(api.device_attribute(&major, major_attribute, device), "tell its architecture");
  api.check(api.device_attribute(&minor, minor_attribute, device), "tell its architecture");
  return str("sm_", major, minor);
}

std::string device_target(int ordinal) {
  constexpr int multiprocessors_attribute = 16;
  const Driver& api = driver();
  auto architecture = device_architecture(ordinal);
  Driver::Device device = 0;
  int multiprocessors = 0;
  api.check(api.device_get(&device, ordinal), str("find device ", ordinal));
  api.check(api.device_attribute(&multiprocessors, multiprocessors_attribute, device), "tell its multiprocessors");
  bool usual = multiprocessors == GridLimits::of(architecture).multiprocessors;
  return str("cuda:", architecture, usual ? "" : str(",multiprocessors=", multiprocessors));
}

}  // namespace tc::cuda
