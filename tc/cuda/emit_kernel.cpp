#include "tc/cuda/emit_kernel.h"

#include <Halide.h>

#include <map>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/kernel_printer.h"
#include "tc/cuda/prelude.h"
#include "tc/cuda/spelling.h"

namespace tc::cuda {
namespace {

namespace ir = Halide::Internal;

struct Use {
  Halide::Type type;
  bool written = false;
};

/// The type of each buffer's elements, whether it is written, and which free variables there are.
class Uses : public ir::IRVisitor {
 public:
  std::map<std::string, Use> buffers;
  std::map<std::string, bool> variables;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* op) override {
    buffers[op->name].type = op->type.element_of();
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Store* op) override {
    auto& use = buffers[op->name];
    use.type = op->value.type().element_of();
    use.written = true;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    ir::IRVisitor::visit(op);
    for (std::size_t i = 0; i < op->args.size(); ++i)
      if (const auto* pointee = op->args[i].as<ir::Load>(); pointee && writes_through(op->name, static_cast<int>(i)))
        buffers[pointee->name].written = true;
  }
  void visit(const ir::Variable* op) override { variables[op->name] = true; }
};

/// Declares the indices of block and thread that \p uses names; the line that does so, if any.
std::string bind_indices(const Uses& uses, const KernelShape& shape, Names& names, KernelPrinter& printer) {
  std::vector<std::string> parts;
  for (bool thread : {false, true})
    for (int d = 0; d < 3; ++d) {
      auto name = str(thread ? "thread_" : "block_", "xyz"[d]);
      if (!uses.variables.count(name)) continue;
      printer.bind(name, 0, (thread ? shape.block : shape.grid)[static_cast<std::size_t>(d)] - 1);
      parts.push_back(str(*names.find(name), " = ", thread ? "threadIdx." : "blockIdx.", "xyz"[d]));
    }
  return parts.empty() ? "" : str("  const int ", join(parts), ";\n");
}

}  // namespace

KernelText emit_kernel(const std::string& name, const ir::Stmt& body, const std::vector<std::string>& buffers,
                       const KernelShape& shape) {
  Uses uses;
  body.accept(&uses);
  Names names;
  KernelPrinter printer(names);
  KernelText result{names.fresh(name), "", buffers, shape, 0, {}};
  std::vector<std::string> parameters;
  for (const auto& buffer : buffers) {
    auto use = uses.buffers.find(buffer);
    if (use == uses.buffers.end())
      throw InternalError(str("kernel '", name, "' takes '", buffer, "' and does not use it"));
    parameters.push_back(str(use->second.written ? "" : "const ", type_name(use->second.type), "* __restrict__ ",
                             names.declare(buffer)));
  }
  try {
    auto indices = bind_indices(uses, shape, names, printer);
    printer.statement(body);
    auto bounds =
        shape.blocks_per_processor > 0 ? str(shape.threads(), ", ", shape.blocks_per_processor) : str(shape.threads());
    result.text = str("extern \"C\" __global__ void __launch_bounds__(", bounds, ") ", result.name, "(",
                      join(parameters), ") {\n", indices, printer.take_text(), "}\n");
  } catch (const Halide::Error& error) {
    throw InternalError(str("Halide cannot print '", name, "': ", error.what()));
  }
  result.shared_bytes = printer.shared_bytes();
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (printer.moved_at_once().count(buffers[i])) result.aligned.push_back(static_cast<int>(i));
  return result;
}

std::string program_text(const std::vector<KernelText>& kernels) {
  auto text = str("#include \"", prelude_file, "\"\n");
  for (const auto& kernel : kernels) text += "\n" + kernel.text;
  return text;
}

}  // namespace tc::cuda
