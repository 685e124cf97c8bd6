#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tc/base/contraction.h"
#include "tc/base/target.h"

namespace Halide::Internal {
struct Stmt;
}

namespace llvm {
class Module;
}

namespace tc::cpu {

/// Machine code of one function as a relocatable object; can be stored and loaded in another process of the same
/// target.
struct ObjectCode {
  std::string function;
  std::string target;                ///< text of the Target it needs
  std::vector<std::string> buffers;  ///< names of the pointers the function takes, in order
  std::string bytes;                 ///< the object file

  /// Bytes that deserialise() takes back.
  std::string serialise() const;
  /// Throws ArgumentError for bytes that are not what serialise() wrote, whole.
  static ObjectCode deserialise(const std::string& bytes);
};

/// buffers[i] points at the first element (all indices at their min) of buffer i. Buffers of different names do not
/// overlap, but the last read of an address may be in the statement instance that writes it. Returns 0, or a code when
/// memory ran out.
using KernelFunction = int (*)(void* const* buffers);

/// Code loaded into this process; unloaded with the last copy.
struct Kernel {
  KernelFunction function = nullptr;
  std::shared_ptr<void> owner;
};

/// Compiles \p body, which accesses the flat \p buffers and has been through the passes of stmt/statement_passes.h, for \p
/// target with Halide's code generator and LLVM, products rounded with sums as \p contraction says. Thread-safe. \p mark sees the optimised
/// module before it becomes machine code.
ObjectCode emit_prepared(const std::string& function, const Halide::Internal::Stmt& body,
                         const std::vector<std::string>& buffers, const Target& target,
                         Contraction contraction = Contraction::Found,
                         const std::function<void(llvm::Module&)>& mark = {});
/// The same of a statement that has not, without prefetching.
ObjectCode emit_object(const std::string& function, const Halide::Internal::Stmt& body,
                       const std::vector<std::string>& buffers, const Target& target);
/// Loads \p code. Throws OptionsError when this machine cannot run its target. Thread-safe.
Kernel load_kernel(const ObjectCode& code);

/// A line of assembly, and the line of the source that debug information says it is of; 0: none.
struct AssemblyLine {
  std::string text;
  unsigned source = 0;
};
/// The machine code as assembly.
std::vector<AssemblyLine> assembly_lines(const ObjectCode& code);
/// The same as text.
std::string disassemble(const ObjectCode& code);

}  // namespace tc::cpu
