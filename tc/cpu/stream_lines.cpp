#include "tc/cpu/stream_lines.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

#include "tc/base/target.h"
#include "tc/cpu/stmt/stream_stores.h"

namespace tc::cpu {
namespace {

/// Does Halide's note of the buffer that \p store goes to, or a note above it, name a streamed one?
bool goes_to_streamed(const llvm::StoreInst& store) {
  const llvm::MDNode* node = store.getMetadata(llvm::LLVMContext::MD_tbaa);
  if (node && node->getNumOperands() > 0) node = llvm::dyn_cast_or_null<llvm::MDNode>(node->getOperand(0));
  while (node && node->getNumOperands() > 0) {
    const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(0));
    if (name && is_streamed(name->getString().str())) return true;
    node = node->getNumOperands() > 1 ? llvm::dyn_cast_or_null<llvm::MDNode>(node->getOperand(1)) : nullptr;
  }
  return false;
}

std::vector<llvm::StoreInst*> streamed_stores(llvm::Function& function) {
  std::vector<llvm::StoreInst*> result;
  for (auto& block : function)
    for (auto& instruction : block)
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
        if (store->getValueOperand()->getType()->isVectorTy() && goes_to_streamed(*store)) result.push_back(store);
  return result;
}

void stream(llvm::StoreInst& store) {
  llvm::IRBuilder<> builder(&store);
  auto* address = builder.CreatePtrToInt(store.getPointerOperand(), builder.getInt64Ty());
  auto* in_line = builder.CreateAnd(address, builder.getInt64(Target::cache_line - 1));
  llvm::Instruction *aligned = nullptr, *other = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(builder.CreateIsNull(in_line), &store, &aligned, &other);
  auto* past = llvm::cast<llvm::StoreInst>(store.clone());
  past->insertBefore(aligned);
  past->setAlignment(llvm::Align(Target::cache_line));
  auto* one = llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(store.getContext()), 1));
  past->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(store.getContext(), {one}));
  store.moveBefore(other);
}

void fence_before_returns(llvm::Function& function) {
  for (auto& block : function)
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
      llvm::IRBuilder<>(end).CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
}

}  // namespace

void stream_lines(llvm::Module& module) {
  for (auto& function : module) {
    const auto stores = streamed_stores(function);
    for (auto* store : stores) stream(*store);
    if (!stores.empty()) fence_before_returns(function);
  }
}

}  // namespace tc::cpu
