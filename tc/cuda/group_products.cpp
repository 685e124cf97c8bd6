#include "tc/cuda/group_products.h"

#include <vector>

#include "tc/base/str.h"

namespace tc::cuda {
namespace {

constexpr const char* synchronisation = R"cuda(
TC_INLINE void tc_proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
TC_INLINE void tc_unit_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TC_INLINE void tc_unit_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
TC_INLINE void tc_unit_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// Bits of the descriptor: 0-13 the address, 16-29 leading, 32-45 stride, each without its lowest 4 bits; 62-63 the
// swizzle, 1 is that of 128 bytes.
TC_INLINE unsigned long long tc_matrix(const void* at, int leading, int stride) {
  return static_cast<unsigned long long>((TC_SHARED_ADDRESS(at) & 0x3ffff) >> 4) |
         static_cast<unsigned long long>(leading >> 4) << 16 | static_cast<unsigned long long>(stride >> 4) << 32 |
         1ull << 62;
}
)cuda";

/// The function that multiplies by \p columns columns of the type \p type of PTX.
std::string product(int columns, const std::string& type) {
  std::vector<std::string> registers, sums;
  for (int i = 0; i < columns / 2; ++i) {
    registers.push_back(str("%", i));
    sums.push_back(str("\"+f\"(sums[", i / 2 % 2 == 1 ? "P + " : "", i / 4 * 2 + i % 2, "])"));
  }
  const int next = columns / 2;
  return str("template <int P, int TA, int TB>\nTC_INLINE void tc_multiply_m64n", columns, "k16_", type,
             "(float* sums, unsigned long long a, unsigned long long b) {\n",
             "  asm volatile(\"wgmma.mma_async.sync.aligned.m64n", columns, "k16.f32.", type, ".", type, " {",
             join(registers), "}, %", next, ", %", next + 1, ", 1, 1, 1, %", next + 2, ", %", next + 3,
             ";\"\n    : ", join(sums), "\n    : \"l\"(a), \"l\"(b), \"n\"(TA), \"n\"(TB));\n}\n");
}

}  // namespace

std::string group_products() {
  auto result = str("#ifdef __CUDA_ARCH_FEAT_SM90_ALL", synchronisation);
  for (const char* type : {"bf16", "f16"})
    for (int columns : {64, 128, 192, 256}) result += product(columns, type);
  return result + "#endif\n";
}

}  // namespace tc::cuda
