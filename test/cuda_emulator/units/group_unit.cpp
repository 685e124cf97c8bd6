#include "test/cuda_emulator/units/group_unit.h"

#include "tc/base/fragment_lanes.h"

namespace tc::emulator {
namespace {

unsigned field(unsigned long long descriptor, int bit) {
  return static_cast<unsigned>(descriptor >> bit & 0x3fff) << 4;
}

}  // namespace

unsigned long long group_descriptor(unsigned address, int leading, int stride) {
  const auto bits = [](unsigned value) { return static_cast<unsigned long long>((value & 0x3ffff) >> 4); };
  return bits(address) | bits(static_cast<unsigned>(leading)) << 16 | bits(static_cast<unsigned>(stride)) << 32 |
         1ull << 62;
}

bool is_swizzled_128(unsigned long long descriptor) { return descriptor >> 62 == 1 && (descriptor >> 49 & 7) == 0; }

unsigned element_address(unsigned long long descriptor, bool transposed, int along, int step) {
  return fragments::byte_of_operand(field(descriptor, 0), field(descriptor, 16), field(descriptor, 32), transposed,
                                    along, step);
}

}  // namespace tc::emulator
