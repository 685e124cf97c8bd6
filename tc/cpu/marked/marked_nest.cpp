#include "tc/cpu/marked/marked_nest.h"

#include <Halide.h>

#include "tc/base/str.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;

/// The buffers that an expression loads, or gives the address of.
class Loaded : public ir::IRVisitor {
 public:
  explicit Loaded(const std::vector<BufferUse>& uses) : uses_(uses) {}
  std::set<std::string> buffers;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* op) override {
    if (const auto buffer = buffer_named(uses_, op->name); !buffer.empty()) buffers.insert(buffer);
    ir::IRVisitor::visit(op);
  }
  const std::vector<BufferUse>& uses_;
};

/// Prints a statement and notes which bytes of the text are of which statements of the program.
class Printer : public ir::IRPrinter {
 public:
  struct Mark {
    std::size_t begin, end;
    std::set<std::string> statements;
  };

  Printer(std::ostream& out, const std::vector<BufferUse>& uses) : ir::IRPrinter(out), uses_(uses) {}
  std::vector<Mark> marks;

 private:
  using ir::IRPrinter::visit;

  std::size_t place() { return static_cast<std::size_t>(stream.tellp()); }

  std::set<std::string> loaded(const Halide::Expr& value) {
    Loaded visitor(uses_);
    value.accept(&visitor);
    for (const auto& [name, buffers] : lets_) {
      if (!ir::expr_uses_var(value, name)) continue;
      visitor.buffers.insert(buffers.begin(), buffers.end());
    }
    return visitor.buffers;
  }

  void visit(const ir::Store* op) override {
    const auto begin = place();
    ir::IRPrinter::visit(op);
    marks.push_back({begin, place(), owners(uses_, buffer_named(uses_, op->name), loaded(op->value))});
  }
  void visit(const ir::Evaluate* op) override {
    const auto begin = place();
    ir::IRPrinter::visit(op);
    if (const auto buffers = loaded(op->value); !buffers.empty())
      marks.push_back({begin, place(), owners(uses_, "", buffers)});
  }
  void visit(const ir::LetStmt* op) override {
    lets_.emplace_back(op->name, loaded(op->value));
    around(op, place());
    lets_.pop_back();
  }
  /// A value says what it is without the mark that keeps its meaning.
  void visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::strict_float))
      print(op->args[0]);
    else
      ir::IRPrinter::visit(op);
  }
  void visit(const ir::For* op) override { around(op, place()); }
  void visit(const ir::IfThenElse* op) override { around(op, place()); }
  void visit(const ir::Allocate* op) override { around(op, place()); }

  /// Prints \p op; its first line has the statements of what stands in it.
  template <typename Node>
  void around(const Node* op, std::size_t begin) {
    const auto first = marks.size();
    ir::IRPrinter::visit(op);
    std::set<std::string> inside;
    for (auto i = first; i < marks.size(); ++i) inside.insert(marks[i].statements.begin(), marks[i].statements.end());
    marks.push_back({begin, begin + 1, inside});
  }

  const std::vector<BufferUse>& uses_;
  std::vector<std::pair<std::string, std::set<std::string>>> lets_;
};

}  // namespace

std::vector<MarkedLine> marked_nest(const Halide::Internal::Stmt& body, const std::vector<BufferUse>& uses) {
  TextStream out;
  Printer printer(out, uses);
  printer.print(body);
  auto lines = unmarked_lines(out.str());
  std::vector<std::size_t> ends;
  for (const auto& line : lines) ends.push_back((ends.empty() ? 0 : ends.back()) + line.text.size() + 1);
  for (const auto& mark : printer.marks) {
    auto at = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), mark.begin) - ends.begin());
    for (; at < lines.size() && (at == 0 || ends[at - 1] < mark.end); ++at)
      lines[at].statements.insert(mark.statements.begin(), mark.statements.end());
  }
  return lines;
}

}  // namespace tc::cpu
