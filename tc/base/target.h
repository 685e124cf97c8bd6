#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "tc/base/processor.h"

namespace tc {

/// Limits of a machine that runs a grid of blocks of threads. A block runs on one multiprocessor; its threads share memory
/// and run in warps, in lock step. The values are those of "sm_90".
struct GridLimits {
  std::string architecture = "sm_90";  ///< name for the machine's own compiler; no pass reads it
  std::int64_t multiprocessors = 132;
  std::int64_t warp_size = 32;                           ///< threads
  std::int64_t block_threads = 1024;                     ///< at most
  std::array<std::int64_t, 3> block = {1024, 1024, 64};  ///< at most in each dimension
  std::array<std::int64_t, 3> grid = {2147483647, 65535, 65535};
  std::int64_t multiprocessor_threads = 2048;  ///< resident on one multiprocessor, at most
  std::int64_t multiprocessor_blocks = 32;
  std::int64_t multiprocessor_registers = 65536;          ///< of 4 bytes
  std::int64_t thread_registers = 255;                    ///< at most
  std::int64_t block_shared_bytes = 48 << 10;             ///< without a request at launch
  std::int64_t block_shared_bytes_requested = 227 << 10;  ///< with one
  std::int64_t multiprocessor_shared_bytes = 228 << 10;
  std::int64_t reserved_shared_bytes = 1 << 10;  ///< of these, for each resident block
  std::int64_t shared_banks = 32;                ///< of 4 bytes
  std::int64_t sector_bytes = 32;                ///< of memory that are read at once at least
  std::int64_t l2_bytes = 50 << 20;
  bool asynchronous_copies = true;  ///< from memory to what a block shares, while its threads go on
  bool matrix_units = true;         ///< warps multiply small matrices (matrix_unit.h)
  bool group_units = true;          ///< groups of warps do, from memory that a block shares

  bool operator==(const GridLimits&) const = default;

  /// The limits of \p architecture on its best known machine; throws OptionsError that lists what is known.
  static GridLimits of(std::string_view architecture);
};

/// A machine to compile for, as limits. A frozen value; prints as for example "cpu:LEVEL,cores=2,l1=48k,l2=2m,l3=32m",
/// LEVEL the name of an instruction set, or "cuda:sm_90,multiprocessors=132" and parses back. Passes read limits only.
struct Target {
  const InstructionSet* instructions = &instruction_sets().front();
  int cores = 1;
  std::int64_t l1_bytes = 32 << 10;  ///< data cache of one core
  std::int64_t l2_bytes = 1 << 20;   ///< of one core
  std::int64_t l3_bytes = 16 << 20;  ///< shared
  std::string_view core = "";        ///< one of processor_cores(), whose rates are known; "": none of them
  int widest_vector = 64;            ///< bytes; vectors are not wider even where registers are
  bool bf16_dot = false;             ///< sums of two products of bfloat16 for each lane of float32
  bool int8_dot = false;             ///< sums of four products of bytes for each lane of int32
  bool matrix_tiles = false;         ///< registers for small matrices of bfloat16 and bytes
  /// Of a GPU; a processor has none. With it, the fields above but `widest_vector` are those of no machine.
  std::optional<GridLimits> grid;

  /// Is it a grid of threads on a GPU of NVIDIA?
  bool is_cuda() const { return grid.has_value(); }
  /// Width of a vector: of a register, of the widest access of a GPU (16), or less.
  int vector_bytes() const;
  int vector_registers() const;
  bool has_fma() const { return instructions->fused_multiply_add; }

  /// Bytes that move between caches at once.
  static constexpr std::int64_t cache_line = 64;

  /// Registers for small matrices, where `matrix_tiles`.
  static constexpr int matrix_tile_rows = 16, matrix_tile_row_bytes = 64, matrix_tile_registers = 8;

  /// May code for it run on the processor of this process?
  bool runs_here() const;

  bool operator==(const Target&) const = default;

  /// The machine this process runs on. The environment variable TC_TARGET (a target text) takes its place.
  static const Target& host();
  /// The target a text denotes. Fields that are not given are the host's, a missing "cpu:" prefix is added:
  /// "cpu", "cpu:LEVEL", "LEVEL,cores=4"; an instruction set brings the machine's flags and no core, flags after it
  /// ("int8_dot") add to them, with a minus ("-int8_dot") they take one away, "core=NAME" names the core. "cuda:sm_90,multiprocessors=114,shared=100k": fields that
  /// are not given are those of the architecture, which comes first. Throws OptionsError that lists what is known.
  static Target parse(std::string_view text);
};

/// The target as text that Target::parse() takes back.
std::string to_string(const Target& target);
std::ostream& operator<<(std::ostream& out, const Target& target);

}  // namespace tc
