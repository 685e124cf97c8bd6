#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>

/// The parts of DLPack 1 that the system's header of an earlier version lacks, by the layout its specification fixes:
/// versioned tensors, and the table of C functions a tensor class offers as `__dlpack_c_exchange_api__`.
namespace tc::python {

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;  ///< bit 0: read only
  DLTensor dl_tensor;
};

struct DLPackExchangeHeader {
  DLPackVersion version;
  DLPackExchangeHeader* prev_api;
};

struct DLPackExchangeAPI {
  DLPackExchangeHeader header;
  void* managed_tensor_allocator;
  void* managed_tensor_from_py_object_no_sync;
  void* managed_tensor_to_py_object_no_sync;
  /// Fills a borrowed view of a Python tensor; -1 with a Python error set when it cannot.
  int (*dltensor_from_py_object_no_sync)(void* object, DLTensor* out);
  void* current_work_stream;
};

}  // namespace tc::python
