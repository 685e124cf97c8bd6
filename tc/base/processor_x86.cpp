#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "tc/base/processor.h"
#include "tc/base/target.h"

namespace tc {
namespace {

/// The instructions of the level that LLVM calls x86-64-v2, of which code needs SSE 4.1.
bool has_plain() { return __builtin_cpu_supports("sse4.1"); }

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

constexpr std::array<InstructionSet, 3> sets = {{{.name = "plain",
                                                  .register_bytes = 16,
                                                  .registers = 16,
                                                  .fused_multiply_add = false,
                                                  .half_conversions = false,
                                                  .byte_dots = false,
                                                  .masked_load_bits = 0,
                                                  .on_this_machine = has_plain},
                                                 {.name = "avx2",
                                                  .register_bytes = 32,
                                                  .registers = 16,
                                                  .fused_multiply_add = true,
                                                  .half_conversions = true,
                                                  .byte_dots = true,
                                                  .masked_load_bits = 32,
                                                  .on_this_machine = has_avx2},
                                                 {.name = "avx512",
                                                  .register_bytes = 64,
                                                  .registers = 32,
                                                  .fused_multiply_add = true,
                                                  .half_conversions = true,
                                                  .byte_dots = true,
                                                  .masked_load_bits = 8,
                                                  .on_this_machine = has_avx512}}};

bool is_avx2(const InstructionSet& set) { return &set == &sets[1]; }
bool is_avx512(const InstructionSet& set) { return &set == &sets[2]; }

/// AVX-VNNI, which the compiler's own test does not know.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4);
}

/// May this process use registers for matrices? The kernel saves them only for processes that ask.
bool may_use_matrix_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned bf16 = 1u << 22, tile = 1u << 24, int8 = 1u << 25, all = bf16 | tile | int8;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & all) != all) return false;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

/// AVX512_BF16.
bool has_bf16_dot(const InstructionSet& set) { return is_avx512(set) && __builtin_cpu_supports("avx512bf16"); }

/// AVX512_VNNI, for the level before it AVX_VNNI.
bool has_int8_dot(const InstructionSet& set) {
  return is_avx512(set) ? __builtin_cpu_supports("avx512vnni") : is_avx2(set) && has_avx_vnni();
}

/// AMX_TILE, AMX_BF16 and AMX_INT8. Asks the operating system once.
bool has_amx(const InstructionSet& set) {
  static const bool allowed = may_use_matrix_tiles();
  return is_avx512(set) && allowed;
}

constexpr std::array<InstructionFlag, 3> flags = {{{"bf16_dot", &Target::bf16_dot, has_bf16_dot},
                                                   {"int8_dot", &Target::int8_dot, has_int8_dot},
                                                   {"amx", &Target::matrix_tiles, has_amx}}};

constexpr std::array<std::string_view, 1> cores = {"zen4"};

/// Family and model of the processor, each with its extension; 0 where it tells none.
std::pair<unsigned, unsigned> family_and_model() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return {};
  return {(a >> 8 & 0xf) + (a >> 20 & 0xff), (a >> 4 & 0xf) | (a >> 12 & 0xf0)};
}

/// AMD's family 19h is Zen 3 and Zen 4, of which the latter alone has AVX-512.
bool is_zen4() { return family_and_model().first == 0x19 && __builtin_cpu_is("amd") && has_avx512(); }

}  // namespace

std::span<const std::string_view> processor_cores() { return cores; }

std::string_view processor_core_here() { return is_zen4() ? cores[0] : ""; }

std::span<const InstructionSet> instruction_sets() { return sets; }

std::span<const InstructionFlag> instruction_flags() { return flags; }

std::string processor_brand() {
  constexpr unsigned first_leaf = 0x80000002, leaves = 3;
  std::array<unsigned, 4 * leaves + 1> words{};
  for (unsigned i = 0; i < leaves; ++i)
    if (auto* w = words.data() + 4 * i; !__get_cpuid(first_leaf + i, w, w + 1, w + 2, w + 3)) return "";
  return reinterpret_cast<const char*>(words.data());
}

}  // namespace tc
