#include <Halide.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <mutex>
#include <tuple>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/cpu/code_counts.h"
#include "tc/cpu/kernel.h"
#include "tc/cpu/lane_functions.h"
#include "tc/cpu/llvm_target.h"
#include "tc/cpu/machine/tile_functions.h"
#include "tc/cpu/stmt/statement_passes.h"
#include "tc/cpu/stream_lines.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

const std::string pointers = "tc.buffers";

/// \p body with each buffer's name bound to its pointer in the array the function takes.
Stmt bind_buffers(Stmt body, const std::vector<std::string>& buffers) {
  for (int i = static_cast<int>(buffers.size()); i-- > 0;) {
    Expr pointer = ir::Load::make(Halide::Handle(), pointers, i, Halide::Buffer<>(), ir::Parameter(), ir::const_true(),
                                  ir::ModulusRemainder());
    body = ir::LetStmt::make(buffers[i], pointer, body);
  }
  return body;
}

/// Whether \p body calls a function whose name \p is_one says it is.
bool calls(const Stmt& body, bool (*is_one)(const std::string& name)) {
  struct Finder : ir::IRVisitor {
    using ir::IRVisitor::visit;
    bool (*is_one)(const std::string& name) = nullptr;
    bool found = false;
    void visit(const ir::Call* op) override {
      if (is_one(op->name)) found = true;
      if (!found) ir::IRVisitor::visit(op);
    }
  } finder;
  finder.is_one = is_one;
  body.accept(&finder);
  return finder.found;
}

std::vector<std::uint8_t> bitcode_of(const std::string& functions) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(functions, error, context);
  if (!module) throw InternalError(str("LLVM cannot read the functions to inline: ", error.getMessage().str()));
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  llvm::WriteBitcodeToFile(*module, out);
  out.flush();
  return {bytes.begin(), bytes.end()};
}

/// The lane functions for the instruction set of \p target, made once.
const std::vector<std::uint8_t>& lane_function_bitcode_once(const Target& target) {
  static ForkMutex& mutex = *new ForkMutex;
  static auto& made = *new std::map<std::tuple<const InstructionSet*, bool, bool>, std::vector<std::uint8_t>>;
  std::lock_guard lock(mutex);
  auto& bitcode = made[{target.instructions, target.bf16_dot, target.int8_dot}];
  if (bitcode.empty()) bitcode = bitcode_of(lane_functions(target));
  return bitcode;
}

bool computes_on_lanes(const std::string& name) { return is_lane_function(name) && !is_pointer_function(name); }

const std::vector<std::uint8_t>& tile_function_bitcode_once() {
  const NoFork making;
  static const auto& bitcode = *new auto(bitcode_of(tile_functions()));
  return bitcode;
}

Halide::Module make_module(const std::string& function, const Stmt& prepared, const std::vector<std::string>& buffers,
                           const Target& machine) {
  auto target = halide_target(machine);
  std::vector<ir::LoweredFunc> tasks;
  Stmt lowered = bind_buffers(ir::lower_parallel_tasks(prepared, tasks, function, target), buffers);
  Halide::Module module(function, target);
  module.set_any_strict_float(true);
  for (const auto& task : tasks) module.append(task);
  if (calls(prepared, computes_on_lanes))
    module.append(
        Halide::ExternalCode::bitcode_wrapper(target, lane_function_bitcode_once(machine), "tc_lane_functions"));
  else if (calls(prepared, is_pointer_function))
    module.append(
        Halide::ExternalCode::bitcode_wrapper(target, bitcode_of(pointer_functions()), "tc_pointer_functions"));
  if (calls(prepared, is_tile_function))
    module.append(Halide::ExternalCode::bitcode_wrapper(target, tile_function_bitcode_once(), "tc_tile_functions"));
  std::vector<ir::LoweredArgument> arguments = {
      ir::LoweredArgument(pointers, Halide::Argument::InputScalar, Halide::Handle(), 0, Halide::ArgumentEstimates{})};
  module.append(ir::LoweredFunc(function, arguments, lowered, Halide::LinkageType::External, Halide::NameMangling::C));
  return module;
}

/// Forgets what Halide derives from the belief that buffers start at vector boundaries.
void assume_no_alignment(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) load->setAlignment(llvm::Align(1));
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) store->setAlignment(llvm::Align(1));
  if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) memory->setDestAlignment(llvm::Align(1));
  if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) copy->setSourceAlignment(llvm::Align(1));
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return;
  auto id = call->getIntrinsicID();
  bool loads = id == llvm::Intrinsic::masked_load || id == llvm::Intrinsic::masked_gather;
  bool stores = id == llvm::Intrinsic::masked_store || id == llvm::Intrinsic::masked_scatter;
  if (!loads && !stores) return;
  unsigned place = loads ? 1 : 2;
  call->setArgOperand(place, llvm::ConstantInt::get(call->getArgOperand(place)->getType(), 1));
}

/// Drops the functions that have been inlined everywhere.
void drop_lane_functions(llvm::Module& module) {
  for (auto& function : llvm::make_early_inc_range(module))
    if (function.hasFnAttribute(llvm::Attribute::AlwaysInline) && function.use_empty()) function.eraseFromParent();
}

/// Calls the tasks of \p made, the last function of which they belong to, by numbers: Halide calls them as nothing was called
/// before in the process, and the code of a body is not to depend on what was compiled earlier.
void number_tasks(const Halide::Module& made, llvm::Module& module) {
  const auto& functions = made.functions();
  for (std::size_t i = 0; i + 1 < functions.size(); ++i)
    if (auto* task = module.getFunction(functions[i].name)) task->setName(str(functions.back().name, "_task_", i));
}

std::string emit(llvm::Module& module, const Target& target, Contraction contraction,
                 const std::function<void(llvm::Module&)>& mark) {
  drop_lane_functions(module);
  for (auto& function : module)
    for (auto& block : function)
      for (auto& instruction : block) assume_no_alignment(instruction);
  stream_lines(module);
  if (mark) mark(module);

  auto machine = target_machine(module, target, contraction);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CGFT_ObjectFile))
    throw InternalError("LLVM cannot write object files here");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

ObjectCode emit_prepared(const std::string& function, const Stmt& body, const std::vector<std::string>& buffers,
                         const Target& target, Contraction contraction,
                         const std::function<void(llvm::Module&)>& mark) {
  count_emitted();
  initialize_llvm();
  try {
    auto module = make_module(function, body, buffers, target);
    llvm::LLVMContext context;
    auto llvm_module = Halide::compile_module_to_llvm_module(module, context);
    number_tasks(module, *llvm_module);
    return {function, to_string(target), buffers, emit(*llvm_module, target, contraction, mark)};
  } catch (const Halide::Error& error) {
    throw InternalError(str("Halide cannot compile '", function, "': ", error.what()));
  }
}

ObjectCode emit_object(const std::string& function, const Stmt& body, const std::vector<std::string>& buffers,
                       const Target& target) {
  try {
    return emit_prepared(function, run_statement_passes(body, {.target = target, .prefetch = false}), buffers, target);
  } catch (const Halide::Error& error) {
    throw InternalError(str("Halide cannot compile '", function, "': ", error.what()));
  }
}

}  // namespace tc::cpu
