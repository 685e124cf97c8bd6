#include "tc/cpu/marked/mark_instructions.h"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>

namespace tc::cpu {
namespace {

using Statements = std::set<std::string>;
using Slice = std::set<llvm::Instruction*>;

/// What an instruction needs inside of one iteration: its operands, and theirs, up to phis and what is in \p end.
void add_slice(llvm::Value* value, Slice& slice, std::set<llvm::PHINode*>& phis, const Slice& end = {}) {
  std::vector<llvm::Value*> open = {value};
  while (!open.empty()) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(open.back());
    open.pop_back();
    if (!instruction) continue;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
      phis.insert(phi);
      continue;
    }
    if (end.count(instruction) > 0 || !slice.insert(instruction).second) continue;
    for (auto& operand : instruction->operands()) open.push_back(operand.get());
  }
}

class Marker {
 public:
  Marker(llvm::Function& function, const std::vector<BufferUse>& uses) : function_(function), uses_(uses) {}

  std::map<llvm::Instruction*, Statements> run() {
    for (auto& block : function_)
      for (auto& phi : block.phis()) mark_sum(phi);
    for (auto& block : function_)
      for (auto& instruction : block)
        if (auto* stored = stored_value(instruction)) mark_store(instruction, stored);
    for (auto& block : function_) mark_ends_of_sums(block);
    for (auto& block : function_) mark_rest(block);
    return std::move(marks_);
  }

 private:
  /// What \p instruction stores; null where it stores nothing.
  static llvm::Value* stored_value(llvm::Instruction& instruction) {
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->getValueOperand();
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    const bool masked = call && (call->getIntrinsicID() == llvm::Intrinsic::masked_store ||
                                 call->getIntrinsicID() == llvm::Intrinsic::masked_scatter);
    return masked ? call->getArgOperand(0) : nullptr;
  }

  /// The buffer that \p instruction accesses, as Halide's code generator notes it.
  std::string buffer_of(const llvm::Instruction& instruction) const {
    const auto* tag = instruction.getMetadata(llvm::LLVMContext::MD_tbaa);
    const auto* node = tag && tag->getNumOperands() > 1 ? llvm::dyn_cast<llvm::MDNode>(tag->getOperand(1)) : nullptr;
    while (node && node->getNumOperands() > 0) {
      const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(0).get());
      if (name)
        if (auto buffer = buffer_named(uses_, name->getString().str()); !buffer.empty()) return buffer;
      node = node->getNumOperands() > 1 ? llvm::dyn_cast_or_null<llvm::MDNode>(node->getOperand(1).get()) : nullptr;
    }
    return {};
  }

  std::set<std::string> loaded(const Slice& slice) const {
    std::set<std::string> result;
    for (const auto* instruction : slice)
      if (instruction->mayReadFromMemory())
        if (auto buffer = buffer_of(*instruction); !buffer.empty()) result.insert(buffer);
    return result;
  }

  void mark(const Slice& slice, const Statements& statements) {
    for (auto* instruction : slice) marks_[instruction].insert(statements.begin(), statements.end());
  }

  void mark_store(llvm::Instruction& store, llvm::Value* stored) {
    const auto buffer = buffer_of(store);
    if (buffer.empty()) return;
    Slice value, all;
    std::set<llvm::PHINode*> phis;
    add_slice(stored, value, phis, sums_);
    add_slice(&store, all, phis, sums_);
    mark(all, owners(uses_, buffer, loaded(value)));
  }

  /// Marks what \p phi adds up in a register: a value that is made of the phi, and of what is loaded.
  void mark_sum(llvm::PHINode& phi) {
    if (phi.getType()->getScalarType()->isPointerTy()) return;
    for (auto& incoming : phi.incoming_values()) {
      Slice slice;
      std::set<llvm::PHINode*> phis;
      add_slice(incoming.get(), slice, phis);
      if (phis.count(&phi) == 0) continue;
      const auto buffers = loaded(slice);
      if (buffers.empty()) continue;
      mark(slice, owners(uses_, "", buffers));
      if (auto* last = llvm::dyn_cast<llvm::Instruction>(incoming.get())) sums_.insert(last);
    }
  }

  /// What nothing that is stored has claimed and joins lanes of sums is of the statements of these sums.
  void mark_ends_of_sums(llvm::BasicBlock& block) {
    for (auto& instruction : block) {
      if (marks_.count(&instruction) > 0 || llvm::isa<llvm::PHINode>(instruction)) continue;
      for (auto& operand : instruction.operands()) {
        auto* before = llvm::dyn_cast<llvm::Instruction>(operand.get());
        if (!before || sums_.count(before) == 0) continue;
        const auto& statements = marks_[before];
        marks_[&instruction].insert(statements.begin(), statements.end());
        sums_.insert(&instruction);
      }
    }
  }

  void mark_rest(llvm::BasicBlock& block) {
    Statements all;
    for (auto& instruction : block)
      if (auto found = marks_.find(&instruction); found != marks_.end())
        all.insert(found->second.begin(), found->second.end());
    for (auto& instruction : block)
      if (!llvm::isa<llvm::PHINode>(instruction)) marks_.emplace(&instruction, all);
  }

  llvm::Function& function_;
  const std::vector<BufferUse>& uses_;
  Slice sums_;  ///< in registers, as their loops leave them
  std::map<llvm::Instruction*, Statements> marks_;
};

}  // namespace

std::vector<Statements> mark_instructions(llvm::Module& module, const std::vector<BufferUse>& uses) {
  std::vector<Statements> sets;
  auto line_of = [&](const Statements& statements) -> unsigned {
    if (statements.empty()) return 0;
    auto found = std::find(sets.begin(), sets.end(), statements);
    if (found == sets.end()) found = sets.insert(sets.end(), statements);
    return static_cast<unsigned>(found - sets.begin()) + 1;
  };
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm::DIBuilder builder(module);
  auto* file = builder.createFile("statements", "");
  builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "tc", true, "", 0, "",
                            llvm::DICompileUnit::DebugEmissionKind::LineTablesOnly);
  auto* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  for (auto& function : module) {
    if (function.isDeclaration()) continue;
    auto* scope = builder.createFunction(file, function.getName(), "", file, 0, type, 0, llvm::DINode::FlagZero,
                                         llvm::DISubprogram::SPFlagDefinition);
    function.setSubprogram(scope);
    for (const auto& [instruction, statements] : Marker(function, uses).run())
      instruction->setDebugLoc(llvm::DILocation::get(module.getContext(), line_of(statements), 0, scope));
  }
  builder.finalize();
  return sets;
}

}  // namespace tc::cpu
