#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tc/polyhedral/core/run_extent.h"

namespace Halide::Internal {
struct Stmt;
}

namespace tc::cuda {

/// The grid a kernel is written for.
struct KernelShape {
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::array<std::int64_t, 3> block = {1, 1, 1};
  int blocks_per_multiprocessor = 0;  ///< that registers should allow; 0: no wish
  bool cooperative = false;           ///< all blocks run at once, so that they can wait for each other
  std::array<polyhedral::RunExtent, 3> used =
      {};  ///< blocks of `grid` that have work to do, of the numbers that a run chooses

  /// Number of blocks of the grid, and of threads of a block.
  std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  std::int64_t threads() const { return block[0] * block[1] * block[2]; }
  /// The grid to launch where a run chooses these \p numbers.
  std::array<std::int64_t, 3> grid_for(std::span<const std::int64_t> numbers) const;
};

/// A number that each run chooses, as a kernel takes it: a size, or a stride.
struct RunNumber {
  std::string variable;  ///< free in the body
  std::string name;      ///< in the text
  std::int64_t least = 0, most = 0;
};

/// A number of a run that a kernel takes, behind its pointers.
struct TakenNumber {
  std::size_t index = 0;  ///< among all numbers of the run
  int bytes = 4;          ///< of the integer that the kernel takes
};

/// A kernel as CUDA C++.
struct KernelText {
  std::string name;                  ///< of the function
  std::string text;                  ///< the function; needs "tc_prelude.h"
  std::vector<std::string> buffers;  ///< names of the pointers it takes, in order
  KernelShape shape;
  std::int64_t shared_bytes = 0;          ///< of dynamic shared memory
  std::vector<int> aligned;               ///< of the buffers, those that must begin at multiples of 16 bytes
  std::vector<TakenNumber> numbers = {};  ///< that it takes behind the pointers
  std::size_t number_count =
      0;  ///< of the run; if there are some, the last of the buffers is no parameter but tells them
};

/// \p body, which accesses the flat \p buffers, as a kernel.
///
/// In the body, block_x ... block_z and thread_x ... thread_z are the indices of block and thread, free variables; a
/// call of a prelude function (prelude.h) is printed as such, its pointers are given as Loads; an Allocate in
/// MemoryType::GPUShared is an array in shared memory, any other one a thread's own. Functions of the language are
/// calls tc_<name>_f32|f64. Serial and parallel loops become loops of the thread, unrolled ones with a pragma.
///
///   before  C[(block_x*32) + thread_x] = A[(block_x*32) + thread_x] + 1.0f
///   after   extern "C" __global__ void __launch_bounds__(32) f(const float* __restrict__ A, float* __restrict__ C) {
///             const int block_x = blockIdx.x, thread_x = threadIdx.x;
///             C[block_x * 32 + thread_x] = A[block_x * 32 + thread_x] + 1.0f;
///           }
///
/// Vectors whose index is aligned are moved at once, unless their buffer is one of \p unaligned; the buffers that need to
/// begin at multiples of 16 bytes are KernelText::aligned. The kernel takes those of the \p numbers that the body names.
KernelText emit_kernel(const std::string& name, const Halide::Internal::Stmt& body,
                       const std::vector<std::string>& buffers, const KernelShape& shape = {},
                       const std::set<std::string>& unaligned = {}, const std::vector<RunNumber>& numbers = {});

/// A part of a cooperative kernel, with a grid and a block of its own within those of the kernel.
struct Phase {
  const Halide::Internal::Stmt* body = nullptr;
  KernelShape shape;
  bool grid_waits = false;  ///< behind it all blocks wait for each other, else the threads of each block do
};

/// The pointer that a cooperative kernel takes last: to the word of tc_grid_barrier.
inline const std::string barrier_word = "grid_barrier'";

/// \p phases as one kernel that takes \p buffers and, where its grid waits, barrier_word. Each is written as for
/// emit_kernel; block and threads have their numbers along x only, from which a phase takes its coordinates apart.
///
///   after   extern "C" __global__ void __launch_bounds__(256, 4) f(const float* __restrict__ A, float* parts, unsigned* grid_barrier) {
///             if (blockIdx.x < 64) {
///               const int block_x = blockIdx.x, thread_x = threadIdx.x % 32, thread_y = threadIdx.x / 32;
///               ...
///             }
///             tc_grid_barrier(grid_barrier);
///             { ... }
///           }
KernelText emit_phases(const std::string& name, const std::vector<Phase>& phases,
                       const std::vector<std::string>& buffers, const KernelShape& shape,
                       const std::set<std::string>& unaligned = {}, const std::vector<RunNumber>& numbers = {});

/// The text of several kernels as one program.
std::string program_text(const std::vector<KernelText>& kernels);

}  // namespace tc::cuda
