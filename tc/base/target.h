#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tc {

/// A machine to compile for, as limits. A frozen value; prints as for example
/// "cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m" and parses back. Passes read limits only.
struct Target {
  enum class Isa : std::uint8_t { Plain, Avx2, Avx512 };

  Isa isa = Isa::Plain;
  int cores = 1;
  std::int64_t l1_bytes = 32 << 10;  ///< data cache of one core
  std::int64_t l2_bytes = 1 << 20;   ///< of one core
  std::int64_t l3_bytes = 16 << 20;  ///< shared
  int widest_vector = 64;            ///< bytes; vectors are not wider even where registers are
  bool bf16_dot = false;             ///< AVX512_BF16
  bool int8_dot = false;             ///< AVX512_VNNI, with avx2 AVX_VNNI

  /// Width of a vector: of a register (16, 32 or 64) or less.
  int vector_bytes() const;
  int vector_registers() const;
  bool has_fma() const { return isa != Isa::Plain; }

  /// Whether this machine has these instructions for vectors of \p isa.
  static bool machine_has_bf16_dot(Isa isa);
  static bool machine_has_int8_dot(Isa isa);

  bool operator==(const Target&) const = default;

  /// The machine this process runs on. The environment variable TC_TARGET (a target text) takes its place.
  static const Target& host();
  /// The target a text denotes. Fields that are not given are the host's, a missing "cpu:" prefix is added:
  /// "cpu", "cpu:avx2", "avx512,cores=4"; an instruction set brings the machine's flags, flags after it add to them. Throws OptionsError that lists what is known.
  static Target parse(std::string_view text);
};

std::string to_string(const Target& target);
std::ostream& operator<<(std::ostream& out, const Target& target);

}  // namespace tc
