#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tc/base/dtype.h"

namespace tc {

/// An instruction by which the threads of a warp, or of a group of `warps` neighbouring ones, multiply small matrices together: D = A B + D, of `rows` x `steps` and
/// `steps` x `columns` elements. Thread x + 4 y of a warp of 4 x 8 threads has the elements (m, n) of D with m mod 8 = y
/// and floor(n / 2) mod 4 = x; warp w of a group those with floor(m / 16) mod 4 = w. Source: PTX ISA, "Warp Level Matrix
/// Instructions", mma, and "Asynchronous Warpgroup Level Matrix Instructions", wgmma.
struct MatrixUnit {
  std::string_view name;         ///< in mappings and nests
  std::string_view instruction;  ///< the function of kernel text: tc_multiply_...
  DType operand = DType::Float32, sum = DType::Float32;
  int rows = 16, columns = 8, steps = 16;
  int warps = 1;
  /// Operands are read from shared memory, in the 128-byte swizzled layout, while threads go on: sums are there, and
  /// operands may change, after a wait for the group of products. Else threads load fragments to registers.
  bool from_shared = false;

  bool operator==(const MatrixUnit& other) const { return instruction == other.instruction; }
};

/// Threads of a warp along x and y, as units have them, and neighbouring columns of a thread.
inline constexpr std::int64_t unit_threads_x = 4, unit_threads_y = 8, unit_run = 2;

/// Rows of a unit that one warp of a group has.
inline constexpr std::int64_t unit_rows_of_warp = 16;
/// Elements of 16 bits in a row of the swizzled layout.
inline constexpr std::int64_t unit_row_elements = 64;

/// All units.
std::span<const MatrixUnit> matrix_units();
/// The unit \p name that multiplies elements of \p operand, null where there is none.
const MatrixUnit* matrix_unit(std::string_view name, DType operand);
/// The unit of a warp that multiplies elements of \p operand and adds them up in \p sum, null where there is none.
const MatrixUnit* matrix_unit_for(DType operand, DType sum);

}  // namespace tc
