#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/Host.h>
#include <llvm/Support/raw_ostream.h>

#include <functional>
#include <map>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/kernel.h"
#include "tc/cpu/llvm_expected.h"
#include "tc/cpu/llvm_target.h"

namespace tc::cpu {
namespace {

namespace object = llvm::object;

/// LLVM's disassembler of this machine with every extension it knows.
class Disassembler {
 public:
  Disassembler() {
    initialize_llvm();
    auto triple = llvm::sys::getProcessTriple();
    std::string error;
    const auto* target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target) throw DeviceError(str("LLVM has no disassembler for ", triple, ": ", error));
    registers_.reset(target->createMCRegInfo(triple));
    assembler_.reset(target->createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions()));
    subtarget_.reset(target->createMCSubtargetInfo(triple, "sapphirerapids", ""));
    instructions_.reset(target->createMCInstrInfo());
    context_ =
        std::make_unique<llvm::MCContext>(llvm::Triple(triple), assembler_.get(), registers_.get(), subtarget_.get());
    disassembler_.reset(target->createMCDisassembler(*subtarget_, *context_));
    printer_.reset(target->createMCInstPrinter(llvm::Triple(triple), 1, *assembler_, *instructions_, *registers_));
    printer_->setPrintImmHex(false);
  }

  /// One line per instruction of \p code; relocations name what an instruction refers to, \p source_of the line of the source of a place.
  void print(llvm::ArrayRef<std::uint8_t> code, const std::map<std::uint64_t, std::string>& labels,
             const std::map<std::uint64_t, std::string>& relocations,
             const std::function<unsigned(std::uint64_t)>& source_of, std::vector<AssemblyLine>& lines) {
    for (std::uint64_t at = 0, size = 1; at < code.size(); at += size) {
      if (auto label = labels.find(at); label != labels.end()) lines.push_back({label->second + ":"});
      llvm::MCInst instruction;
      std::string text;
      llvm::raw_string_ostream out(text);
      if (disassembler_->getInstruction(instruction, size, code.slice(at), at, llvm::nulls()) ==
          llvm::MCDisassembler::Fail) {
        lines.push_back({str("\t.byte\t", static_cast<unsigned>(code[at]))});
        size = 1;
        continue;
      }
      printer_->printInst(&instruction, at, "", *subtarget_, out);
      if (auto used = relocations.lower_bound(at); used != relocations.end() && used->first < at + size)
        out << "\t# " << used->second;
      lines.push_back({out.str(), source_of(at)});
    }
  }

 private:
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembler_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

std::map<std::uint64_t, std::string> labels_in(const object::ObjectFile& file, const object::SectionRef& section) {
  std::map<std::uint64_t, std::string> labels;
  for (const auto& symbol : file.symbols()) {
    auto home = check(symbol.getSection());
    if (home != file.section_end() && *home == section && check(symbol.getType()) == object::SymbolRef::ST_Function)
      labels[check(symbol.getValue())] = check(symbol.getName()).str();
  }
  return labels;
}

/// Names by the offset of the bytes they are filled into in \p section.
std::map<std::uint64_t, std::string> relocations_of(const object::ObjectFile& file, const object::SectionRef& section) {
  std::map<std::uint64_t, std::string> names;
  for (const auto& other : file.sections()) {
    auto target = other.getRelocatedSection();
    if (!target || *target == file.section_end() || **target != section) continue;
    for (const auto& relocation : other.relocations())
      if (relocation.getSymbol() != file.symbol_end())
        names[relocation.getOffset()] = check(relocation.getSymbol()->getName()).str();
  }
  return names;
}

}  // namespace

std::vector<AssemblyLine> assembly_lines(const ObjectCode& code) {
  Disassembler disassembler;
  auto file = check(object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(code.bytes, code.function)));
  auto debug = llvm::DWARFContext::create(*file);
  std::vector<AssemblyLine> lines;
  for (const auto& section : file->sections()) {
    if (!section.isText() || section.getSize() == 0) continue;
    auto bytes = check(section.getContents());
    disassembler.print(
        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, labels_in(*file, section),
        relocations_of(*file, section),
        [&](std::uint64_t at) { return debug->getLineInfoForAddress({at, section.getIndex()}).Line; }, lines);
  }
  return lines;
}

std::string disassemble(const ObjectCode& code) {
  std::string text;
  for (const auto& line : assembly_lines(code)) text += line.text + "\n";
  return text;
}

}  // namespace tc::cpu
