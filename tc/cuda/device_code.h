#pragma once

#include <string>
#include <vector>

#include "tc/base/cancellation.h"
#include "tc/base/contraction.h"
#include "tc/cuda/emit_kernel.h"

namespace tc::cuda {

/// Kernels as text and as machine code; can be stored and loaded in another process.
struct DeviceCode {
  struct Kernel {
    std::string name;
    KernelShape shape;
    std::int64_t shared_bytes = 0;          ///< of dynamic shared memory
    std::vector<int> aligned;               ///< of the pointers it takes, those that must be multiples of 16 bytes
    std::vector<TakenNumber> numbers = {};  ///< that it takes behind the pointers
    /// Where a run chooses numbers, so many; a launch has their address in the host, int64, as its last pointer.
    std::size_t number_count = 0;

    bool is_told() const { return number_count > 0; }
  };

  std::string architecture;  ///< "sm_90"
  std::string text;          ///< CUDA C++
  std::string cubin;
  std::string log;  ///< of the compiler
  std::vector<Kernel> kernels;

  /// Are there no kernels?
  bool empty() const { return kernels.empty(); }
  /// Bytes that deserialise() takes back.
  std::string serialise() const;
  /// Throws ArgumentError for bytes that are not what serialise() wrote, whole.
  static DeviceCode deserialise(const std::string& bytes);
};

/// Compiles \p kernels, whose names differ, as one program; for sm_90a where they use instructions that only it has. Products are
/// rounded with sums as \p contraction says. Throws what compile_cubin throws.
DeviceCode build_device_code(const std::vector<KernelText>& kernels, const std::string& architecture,
                             const Cancellation& cancellation = {}, Contraction contraction = Contraction::Found);

}  // namespace tc::cuda
