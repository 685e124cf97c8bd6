// A stand-in for libcuda.so.1: two devices of architecture sm_90 whose kernels do nothing.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string calls;
std::map<std::string, int> failures;
bool capturing = false, recording = true;
int given_byte = -1;
std::vector<void*> contexts;  ///< the stack of current ones
std::uintptr_t next_handle = 0x1000;

void* new_handle() {
  return reinterpret_cast<void*>(next_handle += 0x10);
}

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

std::string name_of(const void* function) {
  return function ? static_cast<const char*>(function) : "null";
}

}  // namespace

extern "C" {

#define EXPORT __attribute__((visibility("default")))

EXPORT const char* fake_calls() {
  return calls.c_str();
}
EXPORT void fake_forget() {
  calls.clear();
}
EXPORT void fake_fail(const char* function, int code) {
  failures[function] = code;
}
EXPORT void fake_capture(int on) {
  capturing = on != 0;
}
EXPORT void fake_record(int on) {
  recording = on != 0;
}
EXPORT void fake_give_byte(int value) {
  given_byte = value;
}

EXPORT int cuInit(unsigned) {
  return called("cuInit");
}
EXPORT int cuGetErrorName(int code, const char** text) {
  static std::string name;
  name = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
         : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
         : code == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                       : "CUDA_ERROR_UNKNOWN";
  *text = name.c_str();
  return 0;
}
EXPORT int cuGetErrorString(int, const char** text) {
  *text = "as the test wants";
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  *count = 2;
  return called("cuDeviceGetCount");
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < 2 ? 0 : 101;
}
EXPORT int cuDeviceGetName(char* text, int size, int) {
  std::strncpy(text, "Fake", static_cast<std::size_t>(size));
  return 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(0x100 + device));
  return called("cuDevicePrimaryCtxRetain", device);
}
EXPORT int cuCtxGetCurrent(void** context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return 0;
}
EXPORT int cuCtxPushCurrent_v2(void* context) {
  contexts.push_back(context);
  return 0;
}
EXPORT int cuCtxPopCurrent_v2(void** context) {
  *context = contexts.back();
  contexts.pop_back();
  return 0;
}
EXPORT int cuModuleLoadData(void** module, const void*) {
  *module = new_handle();
  return called("cuModuleLoadData", contexts.empty() ? "without context" : "on",
                contexts.empty() ? nullptr : contexts.back());
}
EXPORT int cuModuleUnload(void*) {
  return called("cuModuleUnload");
}
EXPORT int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = strdup(name);
  return called("cuModuleGetFunction", name);
}
EXPORT int cuFuncSetAttribute(void* function, int attribute, int value) {
  return called("cuFuncSetAttribute", name_of(function), attribute, value);
}
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void* stream, void** parameters, void** extra) {
  if (!recording) return 0;
  std::ostringstream pointers;
  if (!parameters && extra) {
    auto* values = static_cast<void**>(extra[1]);
    for (std::size_t i = 0; i < *static_cast<std::size_t*>(extra[3]) / sizeof(void*); ++i)
      pointers << (i ? "," : "") << values[i];
  }
  std::ostringstream shape;
  shape << gx << "x" << gy << "x" << gz << " " << bx << "x" << by << "x" << bz;
  return called("cuLaunchKernel", name_of(function), shape.str(), shared, stream, pointers.str());
}
EXPORT int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
  int code = called("cuMemAlloc", bytes);
  if (code == 0) *pointer = reinterpret_cast<std::uint64_t>(std::calloc(bytes, 1));
  return code;
}
EXPORT int cuMemFree_v2(std::uint64_t pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  return called("cuMemFree");
}
EXPORT int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return called("cuMemcpyHtoDAsync", bytes);
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  if (given_byte >= 0) *static_cast<unsigned char*>(to) = static_cast<unsigned char>(given_byte);
  return called("cuMemcpyDtoHAsync", bytes);
}
EXPORT int cuStreamSynchronize(void* stream) {
  return called("cuStreamSynchronize", stream);
}
EXPORT int cuStreamIsCapturing(void*, int* status) {
  *status = capturing ? 1 : 0;
  return 0;
}
EXPORT int cuEventCreate(void** event, unsigned) {
  *event = new_handle();
  return called("cuEventCreate");
}
EXPORT int cuEventDestroy_v2(void*) {
  return called("cuEventDestroy");
}
EXPORT int cuEventRecord(void*, void* stream) {
  return called("cuEventRecord", stream);
}
EXPORT int cuEventSynchronize(void*) {
  return called("cuEventSynchronize");
}
EXPORT int cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 0.25f;
  return called("cuEventElapsedTime");
}
}
