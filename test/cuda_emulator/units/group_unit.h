#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

/// Products of matrices by groups of 4 warps, which read both operands from shared memory while threads go on (wgmma), by
/// the tables of the PTX manual.
namespace tc::emulator {

/// Threads of a group, rows of a product and its steps.
inline constexpr int group_threads = 128, group_rows = 64, group_steps = 16;

/// C += A B, of 64 rows and `columns` columns; all threads of a group say the same.
struct GroupOperation {
  int operand = 0;  ///< a tc_emulator_operand
  int columns = 0;  ///< 0: none
  unsigned long long a = 0, b = 0;
  bool transposed_a = false, transposed_b = false;
  bool operator==(const GroupOperation&) const = default;
};

/// A thread's part: its sums are in two rows that are `pitch` elements apart.
struct GroupProduct {
  GroupOperation operation;
  float* sums = nullptr;
  int pitch = 0;
  int line = 0;

  std::size_t count() const { return static_cast<std::size_t>(operation.columns / 2); }
  /// The \p i-th sum, in the order of the registers of the instruction.
  float* sum(std::size_t i) const { return sums + (i / 2 % 2) * static_cast<std::size_t>(pitch) + i / 4 * 2 + i % 2; }
};

/// The products that a thread has under way.
struct GroupProducts {
  bool begun = false;  ///< a fence for registers stands before the next product
  std::vector<GroupProduct> open;
  std::deque<std::vector<GroupProduct>> groups;
  std::map<float*, float> sums;  ///< under way, with what they will hold
};

/// The elements that a thread's sums need: two rows of A, all steps; every column of its own of B.
struct GroupOperands {
  std::vector<float> a, b;
};

/// A descriptor of an operand in shared memory from the address \p address on, and what it says.
unsigned long long group_descriptor(unsigned address, int leading, int stride);
/// Is its layout the swizzled one of 128 bytes, the only one that is modelled?
bool is_swizzled_128(unsigned long long descriptor);
/// The address of element \p along of row or column and \p step of the operand \p descriptor; \p transposed: its rows
/// lie along rows of A or columns of B.
unsigned element_address(unsigned long long descriptor, bool transposed, int along, int step);

}  // namespace tc::emulator
