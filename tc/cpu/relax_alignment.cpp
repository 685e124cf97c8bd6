#include "tc/cpu/relax_alignment.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace tc::cpu {
namespace {

/// Does \p pointer point into an allocation of the function or a constant?
bool is_own(const llvm::Value* pointer) {
  const llvm::Value* object = llvm::getUnderlyingObject(pointer);
  return llvm::isa<llvm::AllocaInst>(object) || llvm::isa<llvm::GlobalVariable>(object) || llvm::isa<llvm::CallBase>(object);
}

llvm::Align element_alignment(const llvm::Type* type) {
  auto bytes = type->getScalarSizeInBits() / 8;
  return llvm::Align(bytes == 0 ? 1 : llvm::PowerOf2Ceil(bytes));
}

template <typename Access>
void relax(Access* access, const llvm::Type* type) {
  if (type->isPtrOrPtrVectorTy() || is_own(access->getPointerOperand())) return;
  access->setAlignment(std::min(access->getAlign(), element_alignment(type)));
}

/// The alignment is argument \p position of a masked load or store through argument \p pointer.
void relax_masked(llvm::IntrinsicInst* call, unsigned pointer, unsigned position, const llvm::Type* type) {
  if (is_own(call->getArgOperand(pointer))) return;
  auto* given = llvm::cast<llvm::ConstantInt>(call->getArgOperand(position));
  auto bytes = std::min(given->getZExtValue(), element_alignment(type).value());
  call->setArgOperand(position, llvm::ConstantInt::get(given->getType(), bytes));
}

void relax(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) relax(load, load->getType());
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) relax(store, store->getValueOperand()->getType());
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    if (call->getIntrinsicID() == llvm::Intrinsic::masked_load) relax_masked(call, 0, 1, call->getType());
    if (call->getIntrinsicID() == llvm::Intrinsic::masked_store) relax_masked(call, 1, 2, call->getArgOperand(0)->getType());
  }
}

}  // namespace

void relax_alignment(llvm::Module& module) {
  for (auto& function : module)
    for (auto& block : function)
      for (auto& instruction : block) relax(instruction);
}

}  // namespace tc::cpu
