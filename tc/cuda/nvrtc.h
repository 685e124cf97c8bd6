#pragma once

#include <optional>
#include <string>

#include "tc/base/cancellation.h"
#include "tc/base/contraction.h"

namespace tc::cuda {

/// Machine code of one architecture.
struct Cubin {
  std::string bytes;  ///< an ELF file, see cubin.h
  std::string log;    ///< what the compiler had to say
};

/// Compiles CUDA C++ \p text, which may include "tc_prelude.h", for \p architecture ("sm_90"). Thread-safe; threads
/// compile at the same time. NVRTC is looked for in the file that TC_NVRTC names, in toolkit_folders() and on the
/// loader's path. Throws DeviceError where it is not found or does not know the architecture, InternalError with the
/// compiler's log for text that it refuses, CancelledError after a request.
Cubin compile_cubin(const std::string& text, const std::string& architecture, const Cancellation& cancellation = {},
                    Contraction contraction = Contraction::Found);

/// The version of the NVRTC that compile_cubin uses, "13.0"; nothing where there is none.
std::optional<std::string> nvrtc_version();

}  // namespace tc::cuda
