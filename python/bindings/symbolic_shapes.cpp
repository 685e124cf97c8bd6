#include "symbolic_shapes.h"

#include <pybind11/stl.h>

#include <array>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/define/generic.h"
#include "tc/lang/syntax/print.h"

namespace py = pybind11;

namespace tc::python {
namespace {

using lang::ExprPtr;

std::string python_text(const ExprPtr& expr);

/// function(arguments...)
std::string called(const char* function, const std::vector<ExprPtr>& arguments) {
  std::vector<std::string> texts;
  for (const auto& argument : arguments) texts.push_back(python_text(argument));
  return str(function, "(", join(texts), ")");
}

struct Writer {
  const ExprPtr& whole;

  std::string operator()(const lang::IntLiteral& node) const { return str(node.value); }
  std::string operator()(const lang::BoolLiteral& node) const { return node.value ? "True" : "False"; }
  std::string operator()(const lang::Name& node) const { return node.id; }
  std::string operator()(const lang::Cast& node) const { return python_text(node.value); }
  std::string operator()(const lang::Unary& node) const {
    return str(node.op == lang::UnaryOp::Not ? "(not " : "(-", python_text(node.value), ")");
  }
  std::string operator()(const lang::Binary& node) const {
    constexpr std::array names = {"+", "-", "*", "//", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or"};
    return str("(", python_text(node.left), " ", names[static_cast<std::size_t>(node.op)], " ", python_text(node.right),
               ")");
  }
  std::string operator()(const lang::Select& node) const {
    return called("If", {node.condition, node.then_value, node.else_value});
  }
  std::string operator()(const lang::Call& node) const {
    if (node.function == "min") return called("Min", node.arguments);
    if (node.function == "max") return called("Max", node.arguments);
    if (node.function == "select") return called("If", node.arguments);
    if (node.function == "abs") return called("abs", node.arguments);
    if (node.function == "clamp" && node.arguments.size() == 3)
      return str("Min(", called("Max", {node.arguments[0], node.arguments[1]}), ", ", python_text(node.arguments[2]),
                 ")");
    return refused();
  }
  template <typename Node>
  std::string operator()(const Node&) const {
    return refused();
  }
  std::string refused() const { throw InternalError(str("'", lang::print(whole), "' is no size")); }
};

std::string python_text(const ExprPtr& expr) { return std::visit(Writer{expr}, expr->node); }

/// The element type of \p decl as the text of a generic def has it, else as the checker found it.
std::string type_text(const engine::Function& function, const lang::TensorDecl& decl) {
  if (!decl.type_name.empty()) return decl.type_name;
  if (function.generic && !decl.type) return {};
  return std::string(name(decl.type.value_or(function.def.tensors.at(decl.name).type)));
}

/// One of the two lists of signature_of().
py::list declared(const engine::Function& function, const std::vector<lang::TensorDecl>& decls, bool are_parameters,
                  bool as_written) {
  py::list result;
  for (const auto& decl : decls) {
    py::object dimensions = py::none();
    if (decl.dims || are_parameters) {
      py::list texts;
      if (decl.dims)
        for (const auto& dimension : *decl.dims) texts.append(lang::print(dimension));
      dimensions = texts;
    }
    const auto& tensor = function.def.tensors.at(decl.name);
    const auto type = as_written ? type_text(function, decl) : std::string(name(tensor.type));
    result.append(py::make_tuple(decl.name, type, dimensions, tensor.role == lang::Role::InOut));
  }
  return result;
}

py::list shapes_of(const engine::Function& function, const std::vector<lang::TensorDecl>& decls) {
  py::list result;
  for (const auto& decl : decls) {
    py::list shape;
    for (const auto& range : function.ranges.tensors.at(decl.name)) shape.append(python_text(range.extent));
    result.append(shape);
  }
  return result;
}

}  // namespace

py::tuple signature_of(const engine::Function& function) {
  return py::make_tuple(declared(function, function.def.params, true, false),
                        declared(function, function.def.returns, false, false));
}

py::tuple shown_signature_of(const engine::Function& function) {
  const auto& def = function.generic ? function.generic->def() : function.def;
  return py::make_tuple(declared(function, def.params, true, true), declared(function, def.returns, false, true));
}

py::tuple symbolic_shapes(const engine::Function& function) {
  return py::make_tuple(shapes_of(function, function.def.params), shapes_of(function, function.def.returns));
}

}  // namespace tc::python
