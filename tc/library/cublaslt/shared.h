#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tc/cuda/library.h"
#include "tc/library/description/library.h"

namespace tc::library {

/// The functions of cuBLASLt, with the values of its enumerations as numbers (NVIDIA, cuBLAS documentation, "Using the
/// cuBLASLt API"). Handles and descriptors are opaque pointers.
struct CublasLt {
  using Handle = void*;
  using Descriptor = void*;  ///< of an operation, of a matrix, of preferences
  /// An algorithm with its configuration.
  struct Algorithm {
    std::array<std::uint64_t, 8> data;
  };
  /// An answer of the heuristic.
  struct Proposal {
    Algorithm algorithm;
    std::size_t workspace;
    int status;
    float waves;
    std::array<int, 4> reserved;
  };

  cuda::Library library;
  Presence presence;
  std::size_t (*version)() = nullptr;
  const char* (*status_name)(int) = nullptr;
  int (*create)(Handle*) = nullptr;
  int (*operation_create)(Descriptor*, int compute_type, int scale_type) = nullptr;
  int (*operation_destroy)(Descriptor) = nullptr;
  int (*operation_set)(Descriptor, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*matrix_create)(Descriptor*, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t leading) = nullptr;
  int (*matrix_destroy)(Descriptor) = nullptr;
  int (*matrix_set)(Descriptor, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*preference_create)(Descriptor*) = nullptr;
  int (*preference_destroy)(Descriptor) = nullptr;
  int (*preference_set)(Descriptor, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*propose)(Handle, Descriptor operation, Descriptor a, Descriptor b, Descriptor c, Descriptor d,
                 Descriptor preference, int wanted, Proposal*, int* found) = nullptr;
  int (*multiply)(Handle, Descriptor operation, const void* alpha, const void* a, Descriptor of_a, const void* b,
                  Descriptor of_b, const void* beta, const void* c, Descriptor of_c, void* d, Descriptor of_d,
                  const Algorithm*, void* workspace, std::size_t bytes, void* stream) = nullptr;

  /// Throws ResourceError where memory ran out, DeviceError for another \p status of a call that was to do \p what.
  void check(int status, const char* what) const;
  /// The handle of \p device, whose context is current; made at the first use and kept as long as the process.
  Handle handle(int device) const;
};

/// That of this process, opened at the first use.
const CublasLt& shared_cublaslt();

namespace cublaslt_values {

constexpr int compute_f32 = 68, compute_f64 = 70;
constexpr int f32 = 0, f64 = 1, f16 = 2, bf16 = 14;
constexpr int transposed = 1;

constexpr int batch_count = 5, batch_stride = 6;  ///< attributes of a matrix

constexpr int transpose_a = 3, transpose_b = 4, epilogue = 7, bias_pointer = 8, bias_batch_stride = 10,
              bias_type = 26;  ///< attributes of an operation

/// Epilogues; with a bias, `bias` is added.
constexpr std::uint32_t no_epilogue = 1, relu = 2, bias = 4, gelu = 32;

constexpr int most_workspace = 1, reduction_schemes = 3, alignment_a = 5, alignment_b = 6, alignment_c = 7,
              alignment_d = 8;  ///< attributes of preferences

/// Parts of a sum may be added in the type that it is computed in, not in that of the result.
constexpr std::uint32_t in_compute_type = 2;

}  // namespace cublaslt_values

}  // namespace tc::library
