#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tc::cuda {

/// What a kernel's machine code says about it, without a GPU.
struct KernelStats {
  using Counts = std::map<std::string, int>;

  std::string name;
  int registers = 0;    ///< of a thread
  int stack_bytes = 0;  ///< of a thread
  int spill_store_bytes =
      0;  ///< written to and read from local memory by the instructions of the text, each counted once
  int spill_load_bytes = 0;
  int shared_bytes = 0;  ///< static; dynamic shared memory is the launch's
  int barriers = 0;      ///< hardware barriers in use
  int instructions = 0;
  Counts opcodes;                  ///< "FFMA" -> 64; an opcode without a name here is "0x1ab"
  Counts accesses;                 ///< memory accesses by width in bits: "LDG.128" -> 4
  int main_loop_instructions = 0;  ///< the longest loop that contains no other; 0 without loops
  Counts main_loop;                ///< its opcodes

  /// How often \p opcode occurs in the kernel.
  int count(const std::string& opcode) const;
  /// The share of \p opcode in the main loop, from 0 to 1.
  double main_loop_share(const std::string& opcode) const;
};

/// The kernels of a cubin, by name. Throws ArgumentError for bytes that are no cubin.
std::vector<KernelStats> read_cubin(std::string_view bytes);

/// One line per kernel: registers, spills, shared bytes, instructions, the most frequent opcodes, widths.
std::string to_string(const KernelStats& stats);

}  // namespace tc::cuda
