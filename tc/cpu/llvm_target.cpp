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

namespace tc::cpu {
namespace {

std::string flag(const llvm::Module& module, const char* name) {
  const auto* value = llvm::dyn_cast_or_null<llvm::MDString>(module.getModuleFlag(name));
  if (!value) throw InternalError(str("Halide left no flag ", name, " in its module"));
  return value->getString().str();
}

/// The instructions of \p target that Halide does not ask for.
std::string dot_features(const Target& target) {
  std::string features;
  bool avx512 = target.isa == Target::Isa::Avx512;
  if (target.bf16_dot && avx512) features += ",+avx512bf16";
  if (target.int8_dot && target.isa != Target::Isa::Plain) features += avx512 ? ",+avx512vnni" : ",+avxvnni";
  if (target.matrix_tiles && avx512) features += ",+amx-tile,+amx-bf16,+amx-int8";
  return features;
}

}  // namespace

namespace {

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
  std::vector<H::Feature> features = {H::NoRuntime, H::NoBoundsQuery, H::DisableLLVMLoopOpt, H::SSE41};
  if (target.isa != Target::Isa::Plain) features.insert(features.end(), {H::AVX, H::AVX2, H::FMA, H::F16C});
  if (target.isa == Target::Isa::Avx512) features.insert(features.end(), {H::AVX512, H::AVX512_Skylake});
  return {H::Linux, H::X86, 64, features};
}

std::unique_ptr<llvm::TargetMachine> target_machine(const llvm::Module& module, const Target& machine) {
  auto triple = llvm::sys::getProcessTriple();
  std::string error;
  const auto* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) throw DeviceError(str("LLVM has no code generator for ", triple, ": ", error));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, flag(module, "halide_mcpu"), flag(module, "halide_mattrs") + dot_features(machine), options,
      llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOpt::Default));
}

void require_instructions(const Target& target) {
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd");
  bool runs = target.isa == Target::Isa::Plain  ? __builtin_cpu_supports("sse4.1")
              : target.isa == Target::Isa::Avx2 ? avx2
                                                : avx512;
  runs = runs && (!target.bf16_dot || Target::machine_has_bf16_dot(target.isa)) &&
         (!target.int8_dot || Target::machine_has_int8_dot(target.isa)) &&
         (!target.matrix_tiles || Target::machine_has_matrix_tiles(target.isa));
  if (!runs) throw OptionsError(str("this machine cannot run code for target '", target, "'"));
}

}  // namespace tc::cpu
