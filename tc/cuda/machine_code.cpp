#include "tc/cuda/machine_code.h"

#include <cstring>
#include <iomanip>
#include <map>

#include "tc/base/str.h"

namespace tc::cuda {
namespace {

constexpr unsigned local_load = 0x183, shared_load = 0x184, local_store = 0x187, branch = 0x147;

const std::map<unsigned, const char*>& names() {
  static const auto& table = *new std::map<unsigned, const char*>{
      {0x020, "FMUL"},      {0x021, "FADD"},     {0x023, "FFMA"},      {0x02b, "DFMA"},      {0x024, "IMAD"},
      {0x025, "IMAD.WIDE"}, {0x037, "IMMA"},     {0x03b, "LDSM"},      {0x03c, "HMMA"},      {0x03e, "F2FP"},
      {0x03f, "DMMA"},      {0x044, "STSM"},     {0x0ca, "R2UR"},      {0x108, "MUFU"},      {0x118, "NOP"},
      {0x119, "S2R"},       {0x11a, "DEPBAR"},   {0x11d, "BAR"},       {branch, "BRA"},      {0x14d, "EXIT"},
      {0x181, "LDG"},       {local_load, "LDL"}, {shared_load, "LDS"}, {0x186, "STG"},       {local_store, "STL"},
      {0x188, "STS"},       {0x189, "SHFL"},     {0x1a7, "SYNCS"},     {0x1ae, "LDGSTS"},    {0x1af, "LDGDEPBAR"},
      {0x1b2, "SYNCS"},     {0x1b4, "UTMALDG"},  {0x1b5, "UTMASTG"},   {0x1c5, "WARPGROUP"}, {0x1c8, "USETMAXREG"},
      {0x1f0, "HGMMA"},
  };
  return table;
}

unsigned opcode(const Instruction& instruction) { return instruction.low & 0x1ff; }

/// How many instructions the branch \p instruction jumps, counted from itself; 0 for another instruction. The offset,
/// in words from the next instruction, is a signed number of 48 bits at bit 34; since sm_90 its low 8 bits stand at
/// bit 16.
std::int64_t jump(const Instruction& instruction, int architecture) {
  if (opcode(instruction) != branch) return 0;
  constexpr int words_of_instruction = 4;
  std::uint64_t field = instruction.low >> 34 | (instruction.high & 0x3ffff) << 30;
  auto words = static_cast<std::int64_t>(field << 16) >> 16;
  if (architecture >= 90) words = words * 256 + static_cast<std::int64_t>(instruction.low >> 16 & 0xff);
  return words / words_of_instruction + 1;
}

/// Is \p instruction a load from shared memory to the register that is always 0? ptxas puts some before asynchronous
/// copies.
bool goes_nowhere(const Instruction& instruction) {
  constexpr unsigned zero = 255;
  return opcode(instruction) == shared_load && (instruction.low >> 16 & 0xff) == zero;
}

}  // namespace

std::vector<Instruction> decode(std::string_view code) {
  std::vector<Instruction> result(code.size() / sizeof(Instruction));
  if (!result.empty()) std::memcpy(result.data(), code.data(), result.size() * sizeof(Instruction));
  return result;
}

std::string opcode_name(const Instruction& instruction) {
  auto found = names().find(opcode(instruction));
  if (found != names().end()) return goes_nowhere(instruction) ? found->second + std::string(".RZ") : found->second;
  TextStream out;
  out << "0x" << std::hex << std::setw(3) << std::setfill('0') << opcode(instruction);
  return out.str();
}

int access_bits(const Instruction& instruction) {
  if (goes_nowhere(instruction)) return 0;
  switch (opcode(instruction)) {
    case 0x181:
    case shared_load:
    case 0x186:
    case 0x188:
    case 0x1ae:
    case local_load:
    case local_store:
      break;
    default:
      return 0;
  }
  constexpr int bits[] = {8, 8, 16, 16, 32, 64, 128, 0};
  return bits[instruction.high >> 9 & 7];
}

bool is_local_load(const Instruction& instruction) { return opcode(instruction) == local_load; }
bool is_local_store(const Instruction& instruction) { return opcode(instruction) == local_store; }

std::pair<std::size_t, std::size_t> main_loop(const std::vector<Instruction>& code, int architecture) {
  std::pair<std::size_t, std::size_t> longest{0, 0};
  std::size_t last_start =
      0;  ///< of the loops seen so far, the latest start: one that begins before it contains another
  for (std::size_t i = 0; i < code.size(); ++i) {
    auto distance = jump(code[i], architecture);
    if (distance >= 0 || static_cast<std::uint64_t>(-distance) > i) continue;
    std::size_t start = i - static_cast<std::size_t>(-distance);
    if (start >= last_start && i + 1 - start > longest.second - longest.first) longest = {start, i + 1};
    last_start = std::max(last_start, start);
  }
  return longest;
}

}  // namespace tc::cuda
