#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The instructions of NVIDIA's machines since sm_70: 16 bytes each, the opcode in the low 9 bits, the width of a
/// memory access in bits 73 to 75. The opcodes were found by compiling kernels with known counts for sm_80 and sm_90;
/// other machines spell some accesses differently.
namespace tc::cuda {

struct Instruction {
  std::uint64_t low = 0, high = 0;
};

/// The instructions of a kernel's section of a cubin, in order.
std::vector<Instruction> decode(std::string_view code);

/// "FFMA"; "0x1ab" for an opcode that is not in the table; "LDS.RZ" for a load from shared memory whose value goes
/// nowhere, of which ptxas puts some before asynchronous copies.
std::string opcode_name(const Instruction& instruction);
/// Bits a thread moves; 0 for anything but a load or store of memory.
int access_bits(const Instruction& instruction);
bool is_local_load(const Instruction& instruction);
bool is_local_store(const Instruction& instruction);

/// The longest loop that contains no other, as a range of instructions with the branch back; empty without loops.
/// \p architecture is a number: 90 for sm_90.
std::pair<std::size_t, std::size_t> main_loop(const std::vector<Instruction>& code, int architecture);

}  // namespace tc::cuda
