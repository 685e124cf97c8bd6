#include "tc/cpu/marked_assembly.h"

#include "tc/cpu/kernel.h"
#include "tc/cpu/marked/mark_instructions.h"

namespace tc::cpu {

std::vector<MarkedLine> marked_assembly(const std::string& function, const Halide::Internal::Stmt& body,
                                        const std::vector<std::string>& buffers, const Target& target,
                                        const std::vector<BufferUse>& uses, Contraction contraction) {
  std::vector<std::set<std::string>> sets;
  const auto code = emit_prepared(function, body, buffers, target, contraction,
                                  [&](llvm::Module& module) { sets = mark_instructions(module, uses); });
  std::vector<MarkedLine> lines;
  for (auto& line : assembly_lines(code)) {
    lines.push_back({std::move(line.text)});
    if (line.source > 0 && line.source <= sets.size()) lines.back().statements = sets[line.source - 1];
  }
  return lines;
}

}  // namespace tc::cpu
