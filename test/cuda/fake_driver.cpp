// A stand-in for libcuda.so.1: two devices of architecture sm_90, of 132 and 114 multiprocessors, whose kernels do nothing.
// It refuses what the driver refuses: calls without a context, launches beyond the device's limits or with more shared
// memory than was asked for, waiting, allocating and, but in relaxed mode, freeing while a stream records a graph. For
// processes that cannot call the functions below, environment variables say what happens:
//
//   TC_FAKE_COPIES          a kernel copies its first tensor to its last one, and takes 1 ms / threads of a block
//   TC_FAKE_FAULTY_DEVICE   the number of a device on which kernels fault

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

std::mutex mutex;  ///< of everything here but the contexts; held by each function below
std::string calls;
std::map<std::string, int> failures;
bool capturing = false, recording = true;
int capture_mode = 0;
int given_byte = -1;
thread_local std::vector<void*> contexts;     ///< the stack of a thread's current ones
std::map<std::string, int> requested_shared;  ///< by kernel
std::uintptr_t next_handle = 0x1000;

std::map<std::uintptr_t, std::size_t> blocks;  ///< of memory: address and size
std::map<void*, double> event_times;           ///< milliseconds
double clock_milliseconds = 0;

bool copies() { return std::getenv("TC_FAKE_COPIES") != nullptr; }

/// Bytes from \p pointer to the end of its block.
std::size_t bytes_behind(const void* pointer) {
  auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin()) return 0;
  --next;
  return next->first + next->second > address ? next->first + next->second - address : 0;
}

void copy_first_to_last(void** pointers, std::size_t count, unsigned threads) {
  auto *from = pointers[0], *to = pointers[count - 1];
  std::memmove(to, from, std::min(bytes_behind(from), bytes_behind(to)));
  clock_milliseconds += 1.0 / threads;
}

/// What the kernel of the runtime does that raises flags of the host: \p pointers are these, then bytes of the device.
void raise_flags(void** pointers, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    if (!pointers[i]) continue;
    const int value = given_byte >= 0 ? given_byte : *static_cast<unsigned char*>(pointers[i]);
    if (value != 0) static_cast<unsigned char*>(pointers[0])[i - 1] = 1;
  }
}

bool is_faulty(const void* context) {
  const char* device = std::getenv("TC_FAKE_FAULTY_DEVICE");
  return device && reinterpret_cast<std::uintptr_t>(context) == 0x100u + static_cast<unsigned>(std::atoi(device));
}

void* new_handle() { return reinterpret_cast<void*>(next_handle += 0x10); }

/// Writes a call down; the code it fails with, or 0.
template <typename... Args>
int called(const char* function, const Args&... args) {
  if (!recording) return 0;
  std::ostringstream out;
  out << function;
  ((out << " " << args), ...);
  calls += out.str() + "\n";
  auto failure = failures.find(function);
  if (failure == failures.end()) return 0;
  int code = failure->second;
  failures.erase(failure);
  return code;
}

constexpr int invalid_value = 1, invalid_context = 201, capture_unsupported = 900, relaxed_mode = 2;

/// The code of a call that needs a context.
template <typename... Args>
int called_in_context(const char* function, const Args&... args) {
  int code = called(function, args...);
  return code != 0 ? code : contexts.empty() ? invalid_context : 0;
}

/// The code of a call that is unsafe while a stream records a graph, unless the thread says it knows what it does.
int called_relaxed_in_capture(const char* function) {
  int code = called(function);
  return code != 0 ? code : capturing && capture_mode != relaxed_mode ? capture_unsupported : 0;
}

/// The code of a call that a stream which records a graph does not take.
template <typename... Args>
int called_outside_capture(const char* function, const Args&... args) {
  int code = called_in_context(function, args...);
  return code != 0 ? code : capturing ? capture_unsupported : 0;
}

bool is_within(unsigned value, unsigned most) { return value >= 1 && value <= most; }

std::string name_of(const void* function) { return function ? static_cast<const char*>(function) : "null"; }

}  // namespace

extern "C" {

#define EXPORT __attribute__((visibility("default")))

EXPORT const char* fake_calls() {
  std::lock_guard lock(mutex);
  return calls.c_str();
}
EXPORT void fake_forget() {
  std::lock_guard lock(mutex);
  calls.clear();
}
EXPORT void fake_fail(const char* function, int code) {
  std::lock_guard lock(mutex);
  failures[function] = code;
}
EXPORT void fake_capture(int on) {
  std::lock_guard lock(mutex);
  capturing = on != 0;
}
EXPORT void fake_record(int on) {
  std::lock_guard lock(mutex);
  recording = on != 0;
}
EXPORT int fake_blocks() {
  std::lock_guard lock(mutex);
  return static_cast<int>(blocks.size());
}
EXPORT void fake_give_byte(int value) {
  std::lock_guard lock(mutex);
  given_byte = value;
}

EXPORT int cuInit(unsigned) {
  std::lock_guard lock(mutex);
  return called("cuInit");
}
EXPORT int cuGetErrorName(int code, const char** text) {
  std::lock_guard lock(mutex);
  static std::string name;
  name = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
         : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
         : code == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                       : "CUDA_ERROR_UNKNOWN";
  *text = name.c_str();
  return 0;
}
EXPORT int cuGetErrorString(int, const char** text) {
  std::lock_guard lock(mutex);
  *text = "as the test wants";
  return 0;
}
EXPORT int cuDriverGetVersion(int* number) {
  std::lock_guard lock(mutex);
  *number = 13000;
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  std::lock_guard lock(mutex);
  *count = 2;
  return called("cuDeviceGetCount");
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
  std::lock_guard lock(mutex);
  *device = ordinal;
  return ordinal < 2 ? 0 : 101;
}
EXPORT int cuDeviceGetName(char* text, int size, int device) {
  std::lock_guard lock(mutex);
  std::strncpy(text, device == 0 ? "Fake 132" : "Fake 114", static_cast<std::size_t>(size));
  return 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  std::lock_guard lock(mutex);
  constexpr int multiprocessors = 16, major = 75, cooperative = 95;
  const int number = device == 0 ? 132 : 114;
  *value = attribute == major ? 9 : attribute == multiprocessors ? number : attribute == cooperative ? 1 : 0;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  std::lock_guard lock(mutex);
  *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(0x100 + device));
  return called("cuDevicePrimaryCtxRetain", device);
}
EXPORT int cuCtxGetCurrent(void** context) {
  std::lock_guard lock(mutex);
  *context = contexts.empty() ? nullptr : contexts.back();
  return 0;
}
EXPORT int cuCtxPushCurrent_v2(void* context) {
  std::lock_guard lock(mutex);
  contexts.push_back(context);
  return 0;
}
EXPORT int cuCtxPopCurrent_v2(void** context) {
  std::lock_guard lock(mutex);
  if (contexts.empty()) return invalid_context;
  *context = contexts.back();
  contexts.pop_back();
  return 0;
}
EXPORT int cuCtxSynchronize() {
  std::lock_guard lock(mutex);
  return called_outside_capture("cuCtxSynchronize");
}
EXPORT int cuModuleLoadData(void** module, const void*) {
  std::lock_guard lock(mutex);
  *module = new_handle();
  if (contexts.empty()) return invalid_context;
  if (capturing && capture_mode != relaxed_mode) return capture_unsupported;
  return called("cuModuleLoadData", contexts.empty() ? "without context" : "on",
                contexts.empty() ? nullptr : contexts.back());
}
EXPORT int cuModuleUnload(void*) {
  std::lock_guard lock(mutex);
  return called_relaxed_in_capture("cuModuleUnload");
}
EXPORT int cuModuleGetFunction(void** function, void*, const char* name) {
  std::lock_guard lock(mutex);
  *function = strdup(name);
  return called("cuModuleGetFunction", name);
}
EXPORT int cuFuncSetAttribute(void* function, int attribute, int value) {
  std::lock_guard lock(mutex);
  constexpr int most_shared = 227 << 10;
  if (attribute == 8) requested_shared[name_of(function)] = value;
  int code = called_in_context("cuFuncSetAttribute", name_of(function), attribute, value);
  return code != 0 ? code : value > most_shared ? invalid_value : 0;
}
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void* stream, void** parameters, void** extra) {
  std::lock_guard lock(mutex);
  if (!contexts.empty() && is_faulty(contexts.back())) return 700;
  if (name_of(function) == "tc_raise")
    raise_flags(static_cast<void**>(extra[1]), *static_cast<std::size_t*>(extra[3]) / sizeof(void*));
  else if (copies() && extra)
    copy_first_to_last(static_cast<void**>(extra[1]), *static_cast<std::size_t*>(extra[3]) / sizeof(void*),
                       bx * by * bz);
  if (!recording) return 0;
  std::ostringstream pointers;
  if (!parameters && extra) {
    auto* values = static_cast<void**>(extra[1]);
    const std::size_t bytes = *static_cast<std::size_t*>(extra[3]), count = bytes / sizeof(void*);
    for (std::size_t i = 0; i < count; ++i) pointers << (i ? "," : "") << values[i];
    if (bytes % sizeof(void*) != 0) pointers << "," << *reinterpret_cast<std::int32_t*>(values + count);
  }
  std::ostringstream shape;
  shape << gx << "x" << gy << "x" << gz << " " << bx << "x" << by << "x" << bz;
  int code = called_in_context("cuLaunchKernel", name_of(function), shape.str(), shared, stream, pointers.str());
  if (code != 0) return code;
  constexpr unsigned most = 0x7fffffff, most_yz = 65535, most_threads = 1024;
  const bool fits = is_within(gx, most) && is_within(gy, most_yz) && is_within(gz, most_yz) &&
                    is_within(bx, most_threads) && is_within(by, most_threads) && is_within(bz, 64) &&
                    bx * by * bz <= most_threads;
  auto requested = requested_shared.find(name_of(function));
  const unsigned allowed = requested == requested_shared.end() ? 48u << 10 : static_cast<unsigned>(requested->second);
  return fits && shared <= allowed ? 0 : invalid_value;
}
EXPORT int cuLaunchCooperativeKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, void* stream, void** parameters) {
  std::lock_guard lock(mutex);
  std::ostringstream shape;
  shape << gx << "x" << gy << "x" << gz << " " << bx << "x" << by << "x" << bz;
  return called_in_context("cuLaunchCooperativeKernel", name_of(function), shape.str(), shared, stream,
                           parameters && *parameters ? *static_cast<void**>(*parameters) : nullptr);
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, std::size_t shared) {
  std::lock_guard lock(mutex);
  *blocks = 2048 / threads;
  return called_in_context("cuOccupancyMaxActiveBlocksPerMultiprocessor", name_of(function), threads, shared);
}
EXPORT int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
  std::lock_guard lock(mutex);
  int code = called_outside_capture("cuMemAlloc", bytes);
  if (code != 0) return code;
  constexpr int poison = 0xa5;
  *pointer = reinterpret_cast<std::uint64_t>(std::memset(std::malloc(bytes), poison, bytes));
  blocks[*pointer] = bytes;
  return 0;
}
EXPORT int cuMemFree_v2(std::uint64_t pointer) {
  std::lock_guard lock(mutex);
  int code = called_relaxed_in_capture("cuMemFree");
  if (code != 0) return code;
  blocks.erase(pointer);
  std::free(reinterpret_cast<void*>(pointer));
  return 0;
}
EXPORT int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  std::lock_guard lock(mutex);
  int code = called_in_context("cuMemHostAlloc", bytes, flags);
  if (code != 0) return code;
  if (capturing && capture_mode != relaxed_mode) return capture_unsupported;
  constexpr int poison = 0xa5;
  *pointer = std::memset(std::malloc(bytes), poison, bytes);
  return 0;
}
EXPORT int cuMemFreeHost(void* pointer) {
  std::lock_guard lock(mutex);
  int code = called_relaxed_in_capture("cuMemFreeHost");
  if (code == 0) std::free(pointer);
  return code;
}
EXPORT int cuMemsetD8Async(std::uint64_t pointer, unsigned char value, std::size_t bytes, void*) {
  std::lock_guard lock(mutex);
  std::memset(reinterpret_cast<void*>(pointer), value, bytes);
  return called_in_context("cuMemsetD8Async", bytes);
}
EXPORT int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  std::lock_guard lock(mutex);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return called_in_context("cuMemcpyHtoDAsync", bytes);
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  std::lock_guard lock(mutex);
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  if (given_byte >= 0) *static_cast<unsigned char*>(to) = static_cast<unsigned char>(given_byte);
  return called_in_context("cuMemcpyDtoHAsync", bytes);
}
EXPORT int cuStreamSynchronize(void* stream) {
  std::lock_guard lock(mutex);
  return called_outside_capture("cuStreamSynchronize", stream);
}
EXPORT int cuStreamIsCapturing(void*, int* status) {
  std::lock_guard lock(mutex);
  *status = capturing ? 1 : 0;
  return 0;
}
EXPORT int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::lock_guard lock(mutex);
  std::swap(*mode, capture_mode);
  return 0;
}
EXPORT int cuEventCreate(void** event, unsigned) {
  std::lock_guard lock(mutex);
  *event = new_handle();
  return called_in_context("cuEventCreate");
}
EXPORT int cuEventDestroy_v2(void*) {
  std::lock_guard lock(mutex);
  return called("cuEventDestroy");
}
EXPORT int cuEventRecord(void* event, void* stream) {
  std::lock_guard lock(mutex);
  event_times[event] = clock_milliseconds;
  return called_in_context("cuEventRecord", stream);
}
EXPORT int cuEventSynchronize(void*) {
  std::lock_guard lock(mutex);
  return called("cuEventSynchronize");
}
EXPORT int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  std::lock_guard lock(mutex);
  *milliseconds = copies() ? static_cast<float>(event_times[end] - event_times[begin]) : 0.25f;
  return called("cuEventElapsedTime");
}
}
