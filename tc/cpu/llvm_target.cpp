#include "tc/cpu/llvm_target.h"

#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/InitializePasses.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/Host.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include <mutex>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/cpu/machine/halide_processor.h"
#include "tc/cpu/machine/instructions.h"

namespace tc::cpu {
namespace {

std::string flag(const llvm::Module& module, const char* name) {
  const auto* value = llvm::dyn_cast_or_null<llvm::MDString>(module.getModuleFlag(name));
  if (!value) throw InternalError(str("Halide left no flag ", name, " in its module"));
  return value->getString().str();
}

/// LLVM takes half of a register of 64 bytes at a time where it chooses the width, as for buffers that are zeroed, on processors
/// whose clock wider ones slow. Code here is as wide as its target, and a load as wide waits for two stores of halves.
constexpr const char* whole_registers = ",-prefer-256-bit";

/// Registers the passes of LLVM, which else each does the first time it is made.
void register_passes() {
  auto& passes = *llvm::PassRegistry::getPassRegistry();
  llvm::initializeCore(passes);
  llvm::initializeTransformUtils(passes);
  llvm::initializeScalarOpts(passes);
  llvm::initializeVectorization(passes);
  llvm::initializeInstCombine(passes);
  llvm::initializeAggressiveInstCombine(passes);
  llvm::initializeIPO(passes);
  llvm::initializeAnalysis(passes);
  llvm::initializeCodeGen(passes);
  llvm::initializeGlobalISel(passes);
  llvm::initializeTarget(passes);
}

}  // namespace

void initialize_llvm() {
  static ForkMutex& mutex = *new ForkMutex;
  static bool done = false;
  std::lock_guard lock(mutex);
  if (done) return;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetDisassembler();
  register_passes();
  Halide::set_compiler_stack_size(0);
  done = true;
}

Halide::Target halide_target(const Target& target) {
  using H = Halide::Target;
  return halide_processor(target)
      .with_feature(H::NoRuntime)
      .with_feature(H::NoBoundsQuery)
      .with_feature(H::DisableLLVMLoopOpt);
}

std::unique_ptr<llvm::TargetMachine> target_machine(const llvm::Module& module, const Target& machine,
                                                    Contraction contraction) {
  auto triple = llvm::sys::getProcessTriple();
  std::string error;
  const auto* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) throw DeviceError(str("LLVM has no code generator for ", triple, ": ", error));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = contraction == Contraction::Found ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, flag(module, "halide_mcpu"), flag(module, "halide_mattrs") + llvm_features(machine) + whole_registers,
      options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOpt::Default));
}

void require_instructions(const Target& target) {
  if (!target.runs_here()) throw OptionsError(str("this machine cannot run code for target '", target, "'"));
}

}  // namespace tc::cpu
