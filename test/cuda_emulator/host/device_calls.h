#pragma once

/// What kernels call in the program that runs them: the host prelude wraps these in the names CUDA has for them.
/// Included by the text of every kernel, so it includes nothing. `line` is the line of the kernel's text that calls.
extern "C" {

struct tc_emulator_index {
  unsigned x, y, z;
};

#ifndef TC_EMULATOR_HOST
/// Of the thread that runs; constant from where it stands.
extern const tc_emulator_index tc_emulator_thread, tc_emulator_block, tc_emulator_block_size, tc_emulator_grid_size;
#endif

/// __syncthreads; the sum of \p predicate over the block.
int tc_emulator_barrier(int predicate, int line);
/// All threads of all blocks of a cooperative launch; \p word is 0, but for its highest bit.
void tc_emulator_grid_barrier(unsigned* word, int line);
/// __syncwarp
void tc_emulator_warp_barrier(unsigned mask, int line);
/// The bits that another lane of the segment of \p width lanes gives, by a tc_emulator_shuffle_mode.
unsigned long long tc_emulator_shuffle(int mode, unsigned mask, unsigned long long bits, int operand, int width,
                                       int line);
/// The lanes of \p mask where \p predicate holds.
unsigned tc_emulator_ballot(unsigned mask, int predicate, int line);
/// The lanes that have not returned.
unsigned tc_emulator_active_mask();
/// __threadfence_block (0) or __threadfence (1).
void tc_emulator_fence(int device);
/// Comes before an atomic access of \p bytes at \p address.
void tc_emulator_atomic(void* address, int bytes, int line);
/// cp.async: \p valid of \p bytes bytes, zeros behind them; lands at the wait that covers it.
void tc_emulator_copy_async(void* to, const void* from, int bytes, int valid, int line);
void tc_emulator_commit_copies();
/// Returns when at most \p groups of this thread's groups of copies are in flight.
void tc_emulator_wait_copies(int groups);
/// ldmatrix: \p to[i], i < \p count (2 or 4), is the lane's word of matrix i; \p row is a row of a matrix.
void tc_emulator_load_matrices(unsigned* to, const void* row, int count, int transposed, int line);
/// mma.sync of the operands of a tc_emulator_operand: 4 words of \p a, 2 of \p b; \p sums are 4 elements of C.
void tc_emulator_multiply_matrices(int operand, unsigned* sums, const unsigned* a, const unsigned* b, int line);
/// wgmma and its kin. The number that names an operand in shared memory to instructions of the machine (tc_matrix).
unsigned long long tc_emulator_matrix(const void* at, int leading, int stride, int line);
void tc_emulator_proxy_fence();
void tc_emulator_begin_group();
void tc_emulator_commit_group();
/// Returns when at most \p groups of this thread's groups of products are under way.
void tc_emulator_wait_groups(int groups, int line);
/// Begins C += A B of 64 rows and \p columns columns, of a tc_emulator_operand; \p sums are the thread's elements of C in
/// two rows that are \p pitch elements apart.
void tc_emulator_multiply_group(int operand, int columns, float* sums, int pitch, unsigned long long a,
                                unsigned long long b, int transposed_a, int transposed_b, int line);
/// The block's dynamic shared memory, and \p count elements of it that begin at byte \p offset.
void* tc_emulator_dynamic_shared();
void* tc_emulator_shared_array(int offset, int count, int element_bytes);

float tc_emulator_from_half(unsigned short bits);
unsigned short tc_emulator_to_half(float value);
unsigned short tc_emulator_to_bfloat(float value);

}  // extern "C"

enum tc_emulator_shuffle_mode {
  tc_emulator_from_lane,
  tc_emulator_from_below,
  tc_emulator_from_above,
  tc_emulator_xor
};

enum tc_emulator_operand {
  tc_emulator_bfloat16,
  tc_emulator_float16,
  tc_emulator_tfloat32,
  tc_emulator_int8,
  tc_emulator_uint8
};
