#pragma once

#include <cstdint>

namespace tc {

/// Which products machine code rounds together with the sums that they go into.
enum class Contraction : std::uint8_t {
  Found,      ///< those for which the code generator finds an instruction
  AsWritten,  ///< calls of fused operations alone
};

}  // namespace tc
