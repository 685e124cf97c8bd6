#include "tc/cuda/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/machine_code.h"

namespace tc::cuda {
namespace {

/// Attributes of the sections .nv.info and .nv.info.<kernel>.
enum Attribute : int { frame_size = 0x11, min_stack_size = 0x12, register_count = 0x2f, barrier_count = 0x4c };
/// Attributes come with a value in place, or with the size of the bytes that follow.
constexpr int sized_format = 4;
/// What the driver keeps of a block's shared memory, part of the section's size since sm_80.
constexpr std::uint64_t reserved_shared_bytes = 1024;

[[noreturn]] void reject() { throw ArgumentError("these bytes are not a cubin"); }

/// The sections of an ELF file.
class Elf {
 public:
  struct Section {
    std::string name;
    Elf64_Shdr header;
  };

  explicit Elf(std::string_view bytes) : bytes_(bytes) {
    auto header = read<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) reject();
    architecture_ =
        static_cast<int>(header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff);
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) reject();
    for (int i = 0; i < header.e_shnum; ++i)
      sections_.push_back({"", read<Elf64_Shdr>(header.e_shoff + static_cast<std::uint64_t>(i) * sizeof(Elf64_Shdr))});
    const auto& names = sections_[header.e_shstrndx].header;
    for (auto& section : sections_) section.name = text(names.sh_offset + section.header.sh_name);
  }

  /// 90 for sm_90.
  int architecture() const { return architecture_; }
  const std::vector<Section>& sections() const { return sections_; }
  const Section* find(const std::string& name) const {
    for (const auto& section : sections_)
      if (section.name == name) return &section;
    return nullptr;
  }
  std::string_view contents(const Section& section) const {
    if (section.header.sh_type == SHT_NOBITS) return {};
    return part(section.header.sh_offset, section.header.sh_size);
  }
  /// The name of symbol \p index.
  std::string symbol(std::uint32_t index) const {
    const auto* symbols = find(".symtab");
    if (!symbols || symbols->header.sh_link >= sections_.size()) reject();
    auto entry = read<Elf64_Sym>(symbols->header.sh_offset + index * sizeof(Elf64_Sym));
    return text(sections_[symbols->header.sh_link].header.sh_offset + entry.st_name);
  }

 private:
  std::string_view part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) reject();
    return bytes_.substr(offset, size);
  }
  template <typename T>
  T read(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, part(offset, sizeof value).data(), sizeof value);
    return value;
  }
  std::string text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) reject();
    auto end = bytes_.find('\0', offset);
    if (end == std::string_view::npos) reject();
    return std::string(bytes_.substr(offset, end - offset));
  }

  std::string_view bytes_;
  std::vector<Section> sections_;
  int architecture_ = 0;
};

/// Calls visit(attribute, bytes) for the attributes of an .nv.info section.
template <typename Visit>
void for_each_attribute(std::string_view bytes, const Visit& visit) {
  for (std::size_t at = 0; at + 4 <= bytes.size();) {
    auto format = static_cast<unsigned char>(bytes[at]), attribute = static_cast<unsigned char>(bytes[at + 1]);
    std::uint16_t size = 0;
    std::memcpy(&size, bytes.data() + at + 2, sizeof size);
    if (format != sized_format) {
      visit(attribute, bytes.substr(at + 2, 2));
      at += 4;
      continue;
    }
    if (size > bytes.size() - at - 4) reject();
    visit(attribute, bytes.substr(at + 4, size));
    at += 4u + size;
  }
}

std::uint32_t word(std::string_view bytes, std::size_t index) {
  std::uint32_t value = 0;
  if (bytes.size() < 4 * (index + 1)) reject();
  std::memcpy(&value, bytes.data() + 4 * index, sizeof value);
  return value;
}

/// Registers and stack of the kernels, from the section they share.
void read_shared_info(const Elf& elf, std::map<std::string, KernelStats>& kernels) {
  const auto* info = elf.find(".nv.info");
  if (!info) return;
  for_each_attribute(elf.contents(*info), [&](int attribute, std::string_view value) {
    if (attribute != register_count && attribute != frame_size && attribute != min_stack_size) return;
    auto kernel = kernels.find(elf.symbol(word(value, 0)));
    if (kernel == kernels.end()) return;
    auto number = static_cast<int>(word(value, 1));
    if (attribute == register_count) kernel->second.registers = number;
    if (attribute == frame_size) kernel->second.stack_bytes = std::max(kernel->second.stack_bytes, number);
  });
}

void read_own_sections(const Elf& elf, KernelStats& stats) {
  if (const auto* info = elf.find(".nv.info." + stats.name))
    for_each_attribute(elf.contents(*info), [&](int attribute, std::string_view value) {
      if (attribute == barrier_count && !value.empty()) stats.barriers = static_cast<unsigned char>(value[0]);
    });
  if (const auto* shared = elf.find(".nv.shared." + stats.name)) {
    auto size = shared->header.sh_size;
    stats.shared_bytes = static_cast<int>(size >= reserved_shared_bytes ? size - reserved_shared_bytes : size);
  }
}

void read_code(std::string_view code, int architecture, KernelStats& stats) {
  auto instructions = decode(code);
  stats.instructions = static_cast<int>(instructions.size());
  for (const auto& instruction : instructions) {
    ++stats.opcodes[opcode_name(instruction)];
    if (int bits = access_bits(instruction)) {
      ++stats.accesses[str(opcode_name(instruction), ".", bits)];
      if (is_local_load(instruction)) stats.spill_load_bytes += bits / 8;
      if (is_local_store(instruction)) stats.spill_store_bytes += bits / 8;
    }
  }
  auto [first, last] = main_loop(instructions, architecture);
  for (std::size_t i = first; i < last; ++i) ++stats.main_loop[opcode_name(instructions[i])];
  stats.main_loop_instructions = static_cast<int>(last - first);
}

}  // namespace

int KernelStats::count(const std::string& opcode) const {
  auto found = opcodes.find(opcode);
  return found == opcodes.end() ? 0 : found->second;
}

double KernelStats::main_loop_share(const std::string& opcode) const {
  auto found = main_loop.find(opcode);
  return found == main_loop.end() ? 0 : static_cast<double>(found->second) / main_loop_instructions;
}

std::vector<KernelStats> read_cubin(std::string_view bytes) {
  Elf elf(bytes);
  const std::string prefix = ".text.";
  std::map<std::string, KernelStats> kernels;
  for (const auto& section : elf.sections()) {
    if (section.name.rfind(prefix, 0) != 0) continue;
    auto& stats = kernels[section.name.substr(prefix.size())];
    stats.name = section.name.substr(prefix.size());
    read_code(elf.contents(section), elf.architecture(), stats);
    read_own_sections(elf, stats);
  }
  read_shared_info(elf, kernels);
  std::vector<KernelStats> result;
  for (auto& [name, stats] : kernels) result.push_back(std::move(stats));
  return result;
}

std::string to_string(const KernelStats& stats) {
  std::vector<std::pair<int, std::string>> frequent;
  for (const auto& [opcode, count] : stats.opcodes) frequent.emplace_back(-count, opcode);
  std::sort(frequent.begin(), frequent.end());
  frequent.resize(std::min<std::size_t>(frequent.size(), 8));
  std::vector<std::string> mix, widths;
  for (const auto& [count, opcode] : frequent) mix.push_back(str(-count, " ", opcode));
  for (const auto& [access, count] : stats.accesses) widths.push_back(str(count, " ", access));
  return str(stats.name, ": ", stats.registers, " registers, ", stats.spill_store_bytes, "+", stats.spill_load_bytes,
             " bytes spilled, ", stats.shared_bytes, " bytes shared, ", stats.instructions, " instructions (",
             join(mix), "), accesses ", widths.empty() ? "none" : join(widths));
}

}  // namespace tc::cuda
