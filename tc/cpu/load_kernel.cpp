#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/cpu/code_counts.h"
#include "tc/cpu/code_memory.h"
#include "tc/cpu/kernel.h"
#include "tc/cpu/llvm_expected.h"
#include "tc/cpu/llvm_target.h"
#include "tc/cpu/runtime.h"

namespace tc::cpu {
namespace {

using llvm::orc::JITDylib;
using llvm::orc::LLJIT;

template <typename T>
T& check_reference(llvm::Expected<T&> value) {
  if (!value) throw InternalError(str("LLVM: ", llvm::toString(value.takeError())));
  return *value;
}

llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> object_layer(llvm::orc::ExecutionSession& session,
                                                                     const llvm::Triple&) {
  const auto memory = [] { return std::make_unique<CodeMemory>(); };
  return std::make_unique<llvm::orc::RTDyldObjectLinkingLayer>(session, memory);
}

/// The linker of the process: a library of runtime functions, and one library for each loaded object.
class Linker {
 public:
  Linker() {
    initialize_llvm();
    jit_ = check(llvm::orc::LLJITBuilder().setObjectLinkingLayerCreator(object_layer).create());
    runtime_ = &check_reference(jit_->createJITDylib("tc_runtime"));
    auto& session = jit_->getExecutionSession();
    llvm::orc::SymbolMap symbols;
    for (const auto& symbol : runtime_symbols())
      symbols[jit_->mangleAndIntern(symbol.name)] =
          llvm::JITEvaluatedSymbol(llvm::pointerToJITTargetAddress(symbol.address), llvm::JITSymbolFlags::Exported);
    check(runtime_->define(llvm::orc::absoluteSymbols(std::move(symbols))));
    runtime_->addGenerator(
        check(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit_->getDataLayout().getGlobalPrefix())));
    session.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  }

  JITDylib& load(const ObjectCode& code) {
    std::lock_guard lock(mutex_);
    auto& library = check_reference(jit_->createJITDylib(str(code.function, ".", next_++)));
    library.addToLinkOrder(*runtime_);
    check(jit_->addObjectFile(library, llvm::MemoryBuffer::getMemBufferCopy(code.bytes, code.function)));
    return library;
  }

  KernelFunction find(JITDylib& library, const std::string& function) {
    std::lock_guard lock(mutex_);
    auto symbol = check(jit_->lookup(library, function));
    return llvm::jitTargetAddressToFunction<KernelFunction>(symbol.getAddress());
  }

  void unload(JITDylib& library) {
    std::lock_guard lock(mutex_);
    llvm::consumeError(jit_->getExecutionSession().removeJITDylib(library));
  }

 private:
  ForkMutex mutex_;  ///< no fork finds the linker at work: its own locks are no child's to open
  std::unique_ptr<LLJIT> jit_;
  JITDylib* runtime_ = nullptr;
  std::atomic<int> next_{0};
};

/// Lives until the process ends: kernels may be unloaded by destructors of static objects.
Linker& linker() {
  static Linker& instance = *new Linker;
  return instance;
}

}  // namespace

Kernel load_kernel(const ObjectCode& code) {
  count_loaded();
  require_instructions(Target::parse(code.target));
  JITDylib& library = linker().load(code);
  std::shared_ptr<void> owner(&library, [](void* loaded) { linker().unload(*static_cast<JITDylib*>(loaded)); });
  return {linker().find(library, code.function), std::move(owner)};
}

}  // namespace tc::cpu
