#include "tc/cuda/emit_kernel.h"

#include <Halide.h>

#include <algorithm>
#include <map>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/exchange_stores.h"
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

/// The type of each buffer's elements, whether it is written, which free variables there are, and whether threads wait for
/// each other.
class Uses : public ir::IRVisitor {
 public:
  std::map<std::string, Use> buffers;
  std::map<std::string, Halide::Type> variables;
  bool waits = false;

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
    waits = waits || op->name == "tc_barrier" || op->name == "tc_warp_barrier";
    for (std::size_t i = 0; i < op->args.size(); ++i)
      if (const auto* pointee = op->args[i].as<ir::Load>(); pointee && writes_through(op->name, static_cast<int>(i)))
        buffers[pointee->name].written = true;
  }
  void visit(const ir::Variable* op) override { variables[op->name] = op->type; }
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

/// Coordinate \p d of number \p number of a box of \p extents, x fastest.
std::string coordinate(const char* number, const std::array<std::int64_t, 3>& extents, int d) {
  std::int64_t below = 1, above = 1;
  for (int i = 0; i < d; ++i) below *= extents[static_cast<std::size_t>(i)];
  for (int i = d + 1; i < 3; ++i) above *= extents[static_cast<std::size_t>(i)];
  return str(number, below > 1 ? str(" / ", below) : "",
             above > 1 ? str(" % ", extents[static_cast<std::size_t>(d)]) : "");
}

/// As bind_indices, from the numbers of block and thread along x.
std::string bind_coordinates(const Uses& uses, const KernelShape& shape, Names& names, KernelPrinter& printer) {
  std::vector<std::string> parts;
  for (bool thread : {false, true})
    for (int d = 0; d < 3; ++d) {
      auto name = str(thread ? "thread_" : "block_", "xyz"[d]);
      if (!uses.variables.count(name)) continue;
      const auto& extents = thread ? shape.block : shape.grid;
      printer.bind(name, 0, extents[static_cast<std::size_t>(d)] - 1);
      parts.push_back(str(*names.find(name), " = ", coordinate(thread ? "threadIdx.x" : "blockIdx.x", extents, d)));
    }
  return parts.empty() ? "" : str("    const int ", join(parts), ";\n");
}

/// The parameters for \p buffers. \p waits: threads read what others write, so that only what is never written is
/// __restrict__: compilers keep elements of other such memory in registers beyond a barrier.
std::vector<std::string> parameters_of(const Uses& uses, const std::vector<std::string>& buffers,
                                       const std::string& kernel, bool waits, Names& names) {
  std::vector<std::string> result;
  for (const auto& buffer : buffers) {
    auto use = uses.buffers.find(buffer);
    if (use == uses.buffers.end())
      throw InternalError(str("kernel '", kernel, "' takes '", buffer, "' and does not use it"));
    bool written = use->second.written;
    result.push_back(str(written ? "" : "const ", type_name(use->second.type),
                         written && waits ? "* " : "* __restrict__ ", names.declare(buffer)));
  }
  return result;
}

/// The parameters for those of \p numbers that \p uses names, which \p kernel notes.
std::vector<std::string> take_numbers(const Uses& uses, const std::vector<RunNumber>& numbers, Names& names,
                                      KernelText& kernel) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto use = uses.variables.find(numbers[i].variable);
    if (use == uses.variables.end()) continue;
    kernel.numbers.push_back({i, use->second.bytes()});
    names.alias(numbers[i].variable, names.fresh(numbers[i].name));
    result.push_back(str("const ", type_name(use->second), " ", *names.find(numbers[i].variable)));
  }
  return result;
}

/// Tells \p printer which values \p numbers can have.
void bind_numbers(const Uses& uses, const std::vector<RunNumber>& numbers, KernelPrinter& printer) {
  for (const auto& number : numbers)
    if (const auto use = uses.variables.find(number.variable); use != uses.variables.end())
      printer.bound(number.variable, use->second, number.least, number.most);
}

/// The head of a kernel, up to its body.
std::string head(const KernelText& kernel, const std::vector<std::string>& parameters) {
  const auto& shape = kernel.shape;
  auto bounds = shape.blocks_per_multiprocessor > 0 ? str(shape.threads(), ", ", shape.blocks_per_multiprocessor)
                                                    : str(shape.threads());
  return str("extern \"C\" __global__ void __launch_bounds__(", bounds, ") ", kernel.name, "(", join(parameters),
             ") {\n");
}

/// A line for each dimension of the grid of \p shape that the \p numbers of a run decide.
std::string text_of_grid(const KernelShape& shape, const std::vector<RunNumber>& numbers) {
  std::vector<std::string> names;
  for (const auto& number : numbers) names.push_back(number.name);
  std::string result;
  for (std::size_t d = 0; d < shape.used.size(); ++d)
    if (!shape.used[d].is_fixed())
      result += str("// blocks along ", "xyz"[d], ": ", polyhedral::to_text(shape.used[d], names), ", at most ",
                    shape.grid[d], "\n");
  return result;
}

/// Prints a kernel by \p print; what Halide throws becomes ours.
template <typename Print>
void print_guarded(const std::string& kernel, Print&& print) {
  try {
    print();
  } catch (const Halide::Error& error) {
    throw InternalError(str("Halide cannot print '", kernel, "': ", error.what()));
  }
}

/// Notes what \p printer found out about the kernel, part of which it printed.
void note(const KernelPrinter& printer, KernelText& kernel) {
  kernel.shared_bytes = std::max(kernel.shared_bytes, printer.shared_bytes());
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    auto index = static_cast<int>(i);
    bool known = std::find(kernel.aligned.begin(), kernel.aligned.end(), index) != kernel.aligned.end();
    if (!known && printer.moved_at_once().count(kernel.buffers[i])) kernel.aligned.push_back(index);
  }
}

/// \p phase of a kernel of \p blocks blocks, in a scope of its own.
std::string phase_text(const Phase& phase, std::int64_t blocks, const std::set<std::string>& unaligned,
                       const std::vector<RunNumber>& numbers, Names& names, KernelText& kernel) {
  Uses uses;
  phase.body->accept(&uses);
  names.open_scope();
  KernelPrinter printer(names, unaligned, 2);
  bind_numbers(uses, numbers, printer);
  auto indices = bind_coordinates(uses, phase.shape, names, printer);
  printer.statement(*phase.body);
  names.close_scope();
  note(printer, kernel);
  auto open = phase.shape.blocks() < blocks ? str("  if (blockIdx.x < ", phase.shape.blocks(), ") {\n") : "  {\n";
  return str(open, indices, printer.take_text(), "  }\n");
}

}  // namespace

KernelText emit_kernel(const std::string& name, const ir::Stmt& given, const std::vector<std::string>& buffers,
                       const KernelShape& shape, const std::set<std::string>& unaligned,
                       const std::vector<RunNumber>& numbers) {
  std::set<std::string> aligned(buffers.begin(), buffers.end());
  for (const auto& buffer : unaligned) aligned.erase(buffer);
  const auto body = exchange_stores(given, shape, aligned);
  Uses uses;
  body.accept(&uses);
  Names names;
  KernelPrinter printer(names, unaligned);
  KernelText result{names.fresh(name), "", buffers, shape, 0, {}};
  auto parameters = parameters_of(uses, buffers, name, uses.waits, names);
  for (auto& number : take_numbers(uses, numbers, names, result)) parameters.push_back(std::move(number));
  print_guarded(name, [&] {
    bind_numbers(uses, numbers, printer);
    auto indices = bind_indices(uses, shape, names, printer);
    printer.statement(body);
    result.text = str(text_of_grid(shape, numbers), head(result, parameters), indices, printer.take_text(), "}\n");
  });
  note(printer, result);
  return result;
}

KernelText emit_phases(const std::string& name, const std::vector<Phase>& phases,
                       const std::vector<std::string>& buffers, const KernelShape& shape,
                       const std::set<std::string>& unaligned, const std::vector<RunNumber>& numbers) {
  Uses uses;
  for (const auto& phase : phases) phase.body->accept(&uses);
  Names names;
  KernelText result{names.fresh(name), "", buffers, shape, 0, {}};
  auto parameters = parameters_of(uses, buffers, name, true, names);
  std::string word;
  if (shape.cooperative) {
    word = names.declare(barrier_word);
    parameters.push_back(str("unsigned* ", word));
    result.buffers.push_back(barrier_word);
  }
  for (auto& number : take_numbers(uses, numbers, names, result)) parameters.push_back(std::move(number));
  result.text = head(result, parameters);
  print_guarded(name, [&] {
    for (std::size_t i = 0; i < phases.size(); ++i) {
      result.text += phase_text(phases[i], shape.blocks(), unaligned, numbers, names, result);
      if (i + 1 < phases.size())
        result.text += phases[i].grid_waits ? str("  tc_grid_barrier(", word, ");\n") : "  tc_barrier();\n";
    }
  });
  result.text += "}\n";
  std::sort(result.aligned.begin(), result.aligned.end());
  return result;
}

std::array<std::int64_t, 3> KernelShape::grid_for(std::span<const std::int64_t> numbers) const {
  auto result = grid;
  for (std::size_t d = 0; d < result.size(); ++d) result[d] = used[d].at(numbers, grid[d]);
  return result;
}

std::string program_text(const std::vector<KernelText>& kernels) {
  auto text = str("#include \"", prelude_file, "\"\n");
  for (const auto& kernel : kernels) text += "\n" + kernel.text;
  return text;
}

}  // namespace tc::cuda
