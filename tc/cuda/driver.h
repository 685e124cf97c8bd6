#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tc/cuda/library.h"

namespace tc::cuda {

/// CUDA's driver, as far as it is used here: libcuda.so.1, opened at the first use. Handles are the driver's own.
struct Driver {
  using Device = int;
  using Context = void*;
  using Module = void*;
  using Function = void*;
  using Stream = void*;
  using Event = void*;
  using Pointer = std::uint64_t;

  Library library;
  int (*init)(unsigned flags) = nullptr;
  int (*error_name)(int code, const char** text) = nullptr;
  int (*error_string)(int code, const char** text) = nullptr;
  int (*version)(int* number) = nullptr;  ///< 1000 times the major one, 10 times the minor one
  int (*device_count)(int* count) = nullptr;
  int (*device_get)(Device*, int ordinal) = nullptr;
  int (*device_name)(char* text, int size, Device) = nullptr;
  int (*device_attribute)(int* value, int attribute, Device) = nullptr;
  int (*retain_primary_context)(Context*, Device) = nullptr;
  int (*get_current_context)(Context*) = nullptr;
  int (*push_context)(Context) = nullptr;
  int (*pop_context)(Context*) = nullptr;
  int (*synchronize_context)() = nullptr;
  int (*load_module)(Module*, const void* image) = nullptr;
  int (*unload_module)(Module) = nullptr;
  int (*get_function)(Function*, Module, const char* name) = nullptr;
  int (*set_function_attribute)(Function, int attribute, int value) = nullptr;
  int (*launch)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, Stream, void** parameters, void** extra) = nullptr;
  int (*launch_cooperative)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream,
                            void** parameters) = nullptr;
  int (*resident_blocks)(int* of_a_processor, Function, int threads, std::size_t shared_bytes) = nullptr;
  int (*allocate)(Pointer*, std::size_t bytes) = nullptr;
  int (*release)(Pointer) = nullptr;
  int (*allocate_host)(void**, std::size_t bytes, unsigned flags) = nullptr;
  int (*release_host)(void*) = nullptr;
  int (*fill)(Pointer, unsigned char value, std::size_t bytes, Stream) = nullptr;
  int (*copy_to_device)(Pointer, const void* from, std::size_t bytes, Stream) = nullptr;
  int (*copy_to_host)(void* to, Pointer, std::size_t bytes, Stream) = nullptr;
  int (*synchronize)(Stream) = nullptr;
  int (*is_capturing)(Stream, int* status) = nullptr;
  int (*exchange_capture_mode)(int* mode) = nullptr;
  int (*create_event)(Event*, unsigned flags) = nullptr;
  int (*destroy_event)(Event) = nullptr;
  int (*record_event)(Event, Stream) = nullptr;
  int (*wait_for_event)(Event) = nullptr;
  int (*elapsed)(float* milliseconds, Event begin, Event end) = nullptr;

  /// Throws what stands for the error \p code of a call that was to do \p what: ResourceError where memory or a limit
  /// of the machine ran out, DeviceError for a fault, InternalError for a call that was wrong.
  void check(int code, const std::string& what) const;
};

/// The driver of this machine, or that in the file TC_CUDA_DRIVER names. Throws DeviceError, which says what to do,
/// where there is none or no device.
const Driver& driver();

/// The number of devices, 1 or more. Throws DeviceError.
int device_count();
/// The version of CUDA that the driver is for, "13.0"; nothing where there is no driver or no device.
std::optional<std::string> driver_version();
/// The name of device \p ordinal, "NVIDIA H100 PCIe". Throws DeviceError.
std::string device_name(int ordinal);
/// The architecture of device \p ordinal, "sm_90". Throws DeviceError.
std::string device_architecture(int ordinal);
/// Device \p ordinal as the text of a target: "cuda:sm_90", or "cuda:sm_90,multiprocessors=114" where it has not as many as
/// the architecture's best known machine. Throws DeviceError, and OptionsError for an architecture that is not known.
std::string device_target(int ordinal);

}  // namespace tc::cuda
