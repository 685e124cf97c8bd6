#include "test/cuda_emulator/hooks.h"

#include "tc/base/dtype.h"
#include "tc/lang/interpret/math.h"
#include "test/cuda_emulator/machine.h"

#define TC_EMULATOR_HOST
#include "test/cuda_emulator/host/device_calls.h"

/// The functions that libraries of kernels call, exported from the program.
#define TC_EXPORT extern "C" __attribute__((visibility("default")))

TC_EXPORT tc_emulator_index tc_emulator_thread, tc_emulator_block, tc_emulator_block_size, tc_emulator_grid_size;
tc_emulator_index tc_emulator_thread, tc_emulator_block, tc_emulator_block_size, tc_emulator_grid_size;

namespace tc::emulator {
namespace {

tc_emulator_index index_of(const Dim3& d) { return {d.x, d.y, d.z}; }

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

void set_thread(const Dim3& thread) { tc_emulator_thread = index_of(thread); }
void set_block(const Dim3& block) { tc_emulator_block = index_of(block); }
void set_sizes(const LaunchShape& shape) {
  tc_emulator_block_size = index_of(shape.block);
  tc_emulator_grid_size = index_of(shape.grid);
}

}  // namespace tc::emulator

using tc::emulator::AccessKind;
using tc::emulator::address_of;
using tc::emulator::Machine;

#define TC_SITE Machine::current()->site(address_of(__builtin_return_address(0)))

TC_EXPORT int tc_emulator_barrier(int predicate, int line) { return Machine::current()->barrier(predicate, line); }
TC_EXPORT void tc_emulator_grid_barrier(unsigned* word, int line) { Machine::current()->grid_barrier(word, line); }
TC_EXPORT void tc_emulator_warp_barrier(unsigned mask, int line) { Machine::current()->warp_barrier(mask, line); }
TC_EXPORT unsigned long long tc_emulator_shuffle(int mode, unsigned mask, unsigned long long bits, int operand,
                                                 int width, int line) {
  return Machine::current()->shuffle(mode, mask, bits, operand, width, line);
}
TC_EXPORT unsigned tc_emulator_ballot(unsigned mask, int predicate, int line) {
  return Machine::current()->ballot(mask, predicate, line);
}
TC_EXPORT unsigned tc_emulator_active_mask() { return Machine::current()->active_mask(); }
TC_EXPORT void tc_emulator_fence(int device) { Machine::current()->fence(device != 0); }
TC_EXPORT void tc_emulator_atomic(void* address, int bytes, int line) {
  Machine::current()->atomic(address_of(address), static_cast<std::size_t>(bytes),
                             tc::emulator::Module::site_of_line(line));
}
TC_EXPORT void tc_emulator_copy_async(void* to, const void* from, int bytes, int valid, int line) {
  Machine::current()->copy_async(to, from, static_cast<std::size_t>(bytes), static_cast<std::size_t>(valid),
                                 tc::emulator::Module::site_of_line(line));
}
TC_EXPORT void tc_emulator_commit_copies() { Machine::current()->commit_copies(); }
TC_EXPORT void tc_emulator_wait_copies(int groups) { Machine::current()->wait_copies(groups); }
TC_EXPORT void tc_emulator_load_matrices(unsigned* to, const void* row, int count, int transposed, int line) {
  Machine::current()->load_matrices(to, row, count, transposed != 0, line);
}
TC_EXPORT void tc_emulator_multiply_matrices(int operand, unsigned* sums, const unsigned* a, const unsigned* b,
                                             int line) {
  Machine::current()->multiply_matrices(operand, sums, a, b, line);
}
TC_EXPORT unsigned long long tc_emulator_matrix(const void* at, int leading, int stride, int line) {
  return Machine::current()->describe_matrix(at, leading, stride, line);
}
TC_EXPORT void tc_emulator_proxy_fence() { Machine::current()->proxy_fence(); }
TC_EXPORT void tc_emulator_begin_group() { Machine::current()->begin_group(); }
TC_EXPORT void tc_emulator_commit_group() { Machine::current()->commit_group(); }
TC_EXPORT void tc_emulator_wait_groups(int groups, int line) { Machine::current()->wait_groups(groups, line); }
TC_EXPORT void tc_emulator_multiply_group(int operand, int columns, float* sums, int pitch, unsigned long long a,
                                          unsigned long long b, int transposed_a, int transposed_b, int line) {
  Machine::current()->multiply_group(
      {{operand, columns, a, b, transposed_a != 0, transposed_b != 0}, sums, pitch, line});
}
TC_EXPORT void* tc_emulator_dynamic_shared() { return Machine::current()->whole_dynamic_shared(); }
TC_EXPORT void* tc_emulator_shared_array(int offset, int count, int element_bytes) {
  return Machine::current()->shared_array(offset, count, element_bytes);
}

TC_EXPORT float tc_emulator_from_half(unsigned short bits) { return tc::half_to_float(bits); }
TC_EXPORT unsigned short tc_emulator_to_half(float value) { return tc::float_to_half(value); }
TC_EXPORT unsigned short tc_emulator_to_bfloat(float value) { return tc::float_to_bfloat(value); }

/// Functions that the C library lacks.
#define TC_MATH(name)                                                               \
  TC_EXPORT double tc_emulator_##name(double x) { return tc::lang::math::name(x); } \
  TC_EXPORT float tc_emulator_##name##f(float x) { return static_cast<float>(tc::lang::math::name(x)); }
TC_MATH(cospi)
TC_MATH(sinpi)
TC_MATH(cyl_bessel_i0)
TC_MATH(cyl_bessel_i1)
TC_MATH(erfcinv)
TC_MATH(erfcx)
TC_MATH(erfinv)
TC_MATH(normcdf)
TC_MATH(normcdfinv)

/// The hooks of -fsanitize=thread: one before each access.
TC_EXPORT void __tsan_init() {}
TC_EXPORT void __tsan_func_entry(void*) {}
TC_EXPORT void __tsan_func_exit() {}

#define TC_HOOK(name, bytes, kind, aligned)                                                     \
  TC_EXPORT void name(void* address) {                                                          \
    Machine::current()->access(address_of(address), bytes, AccessKind::kind, aligned, TC_SITE); \
  }
#define TC_HOOKS(bytes, number)                              \
  TC_HOOK(__tsan_read##bytes, number, Read, true)            \
  TC_HOOK(__tsan_write##bytes, number, Write, true)          \
  TC_HOOK(__tsan_volatile_read##bytes, number, Read, true)   \
  TC_HOOK(__tsan_volatile_write##bytes, number, Write, true) \
  TC_HOOK(__tsan_unaligned_read##bytes, number, Read, false) \
  TC_HOOK(__tsan_unaligned_write##bytes, number, Write, false)
TC_HOOKS(1, 1)
TC_HOOKS(2, 2)
TC_HOOKS(4, 4)
TC_HOOKS(8, 8)
TC_HOOKS(16, 16)
TC_EXPORT void __tsan_read_range(void* address, unsigned long bytes) {
  Machine::current()->access(address_of(address), bytes, AccessKind::Read, false, TC_SITE);
}
TC_EXPORT void __tsan_write_range(void* address, unsigned long bytes) {
  Machine::current()->access(address_of(address), bytes, AccessKind::Write, false, TC_SITE);
}
