#include "tc/halide_bridge/lower/program.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;

/// Prints values without the types that the tensors and the context already say.
class ValuePrinter : public ir::IRPrinter {
 public:
  using ir::IRPrinter::IRPrinter;

 protected:
  void visit(const ir::IntImm* op) override { stream << op->value; }
  void visit(const ir::UIntImm* op) override {
    if (op->type.is_bool()) {
      stream << (op->value ? "true" : "false");
    } else {
      stream << op->value << 'u';
    }
  }
  void visit(const ir::FloatImm* op) override { stream << float_text(op->value); }
  void visit(const ir::Variable* op) override { stream << op->name; }
  void visit(const ir::Call* op) override {
    stream << op->name << '(';
    print_list(op->args);
    stream << ')';
  }

 private:
  /// Shortest text with a point or an exponent.
  static std::string float_text(double value) {
    const std::string text = str(value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
};

std::string print_interval(const lang::IntegerRange& interval) {
  return str(interval.min, ':', interval.min + interval.extent);
}

std::string_view print_role(lang::Role role) {
  switch (role) {
    case lang::Role::Input:
      return "input";
    case lang::Role::Output:
      return "output";
    case lang::Role::InOut:
      return "inout";
    case lang::Role::Temporary:
      return "temporary";
  }
  throw InternalError("print(Program): a tensor without a role");
}

std::string print_expr(const Halide::Expr& expr) {
  TextStream out;
  ValuePrinter(out).print_no_parens(expr);
  return out.str();
}

std::string print_tensor(const ProgramTensor& tensor) {
  std::vector<std::string> sizes;
  for (std::size_t d = 0; d < tensor.box.size(); ++d)
    sizes.push_back(str(print_interval(tensor.box[d]),
                        tensor.is_symbolic(d) ? str(", of these ", print_expr(tensor.extents[d])) : ""));
  return str(print_role(tensor.role), ' ', tensor.type, ' ', tensor.name, '(', join(sizes), ')');
}

std::string print_assign(const ProgramStatement& statement) {
  if (statement.kind != ProgramStatement::Kind::Update) return "=";
  const std::string op(spelling(statement.op));
  return op + "=";
}

std::string print_right_side(const ProgramStatement& statement) {
  if (statement.kind == ProgramStatement::Kind::Init) return str("identity(", statement.op, ')');
  return print_expr(statement.value);
}

std::string print_statement(const ProgramStatement& statement) {
  std::vector<std::string> iterators;
  for (std::size_t i = 0; i < statement.iterators.size(); ++i) {
    iterators.push_back(str(statement.iterators[i], " in ", print_interval(statement.domain.at(i))));
  }
  std::vector<std::string> subscripts;
  for (const auto& subscript : statement.subscripts) subscripts.push_back(print_expr(subscript));
  std::vector<std::string> conditions;
  for (const auto& condition : statement.conditions) conditions.push_back(print_expr(condition));
  std::string where = conditions.empty() ? "" : str(" where ", join(conditions, " and "));
  if (const auto& loop = statement.ragged)
    where += str(" for ", loop->iterator, " from ", print_expr(loop->begin), " to ", print_expr(loop->end));
  return str(statement.id, '[', join(iterators), where, "]: ", statement.target, '(', join(subscripts), ") ",
             print_assign(statement), ' ', print_right_side(statement));
}

}  // namespace

const ProgramTensor& Program::tensor(const std::string& name) const {
  for (const auto& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw InternalError(str("the program '", this->name, "' has no tensor '", name, "'"));
}

std::string size_variable(const std::string& name) { return name + "''"; }

Halide::Type halide_type(DType type) {
  const DType compute = compute_type(type);
  if (compute == DType::Bool) return Halide::Bool();
  const int bits = bit_size(compute);
  if (is_float(compute)) return Halide::Float(bits);
  return is_signed_integer(compute) ? Halide::Int(bits) : Halide::UInt(bits);
}

std::vector<Halide::Expr> conditions_of(const std::vector<std::string>& iterators,
                                        const std::vector<Halide::Expr>& conditions) {
  std::vector<Halide::Expr> result;
  for (const auto& condition : conditions)
    if (std::any_of(iterators.begin(), iterators.end(),
                    [&](const std::string& name) { return ir::expr_uses_var(condition, name); }))
      result.push_back(condition);
  return result;
}

Halide::Expr index_value(std::int64_t value) { return ir::make_const(Halide::Int(64), value); }

std::vector<Halide::Expr> iterator_values(const std::vector<std::string>& names) {
  std::vector<Halide::Expr> result;
  for (const auto& name : names) result.push_back(ir::Variable::make(Halide::Int(64), name));
  return result;
}

lang::IntegerRange range_of(const ProgramStatement& statement, const std::string& iterator) {
  const auto at = std::find(statement.iterators.begin(), statement.iterators.end(), iterator);
  return statement.domain.at(static_cast<std::size_t>(at - statement.iterators.begin()));
}

std::vector<const ir::Call*> element_reads(const Halide::Expr& expr) {
  struct Finder : ir::IRVisitor {
    using ir::IRVisitor::visit;
    std::vector<const ir::Call*> reads;
    void visit(const ir::Call* op) override {
      if (op->call_type == ir::Call::Halide) reads.push_back(op);
      ir::IRVisitor::visit(op);
    }
  } finder;
  if (expr.defined()) expr.accept(&finder);
  return finder.reads;
}

Halide::Expr element_read(Halide::Type type, const std::string& tensor, const std::vector<Halide::Expr>& subscripts) {
  auto* call = new ir::Call;
  call->type = type;
  call->name = tensor;
  call->args = subscripts;
  call->call_type = ir::Call::Halide;
  call->value_index = 0;
  return call;
}

std::string print_value(const Halide::Expr& value) {
  auto text = print_expr(value);
  std::erase(text, '\'');
  return text;
}

std::string print(const Program& program) {
  TextStream out;
  out << program.name << '\n';
  for (const auto& [name, range] : program.symbolic)
    out << "  " << range.min << " <= " << size_variable(name) << " <= " << range.max << '\n';
  for (const auto& condition : program.preconditions) out << "  " << print_expr(condition) << '\n';
  for (const auto& tensor : program.tensors) out << "  " << print_tensor(tensor) << '\n';
  for (std::size_t i = 0; i < program.launches.size(); ++i) {
    out << "launch " << i << '\n';
    for (const auto& statement : program.launches[i].statements) out << "  " << print_statement(statement) << '\n';
    for (const auto& check : program.launches[i].checks) {
      out << "  check " << check.flag << (check.before_writes ? " (before writes)" : "") << ": " << check.message
          << '\n';
    }
  }
  return out.str();
}

}  // namespace tc::halide_bridge
