#pragma once

#include <Halide.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tc/halide_bridge/raise/raise.h"
#include "tc/polyhedral/core/isl.h"
#include "tc/polyhedral/generate/generate.h"
#include "test/support/scop_builder.h"

namespace tc::cpu {
struct ObjectCode;
}

namespace tc {

/// A scop, the values of its statements and what to do with its schedule; compiled and run, for tests.
struct KernelCase {
  polyhedral::Scop scop;
  halide_bridge::Program program;

  explicit KernelCase(polyhedral::Scop s) : scop(std::move(s)) { program.launches.emplace_back(); }

  /// The right-hand side of statement \p id over its scop's iterators.
  KernelCase& value(const std::string& id, const Halide::Expr& value) {
    halide_bridge::ProgramStatement statement;
    statement.id = id;
    statement.iterators = scop.statement(id).iterators;
    statement.value = value;
    program.launches[0].statements.push_back(statement);
    return *this;
  }
  KernelCase& type(const std::string& tensor, DType type) {
    scop.tensor(tensor).type = type;
    return *this;
  }
  /// Runs the only statement \p id in vectors of \p lanes along its innermost iterator, \p iterator.
  KernelCase& vectorise(const std::string& id, const std::string& iterator, int lanes) {
    if (lanes == 1) return *this;
    auto& statement = scop.statement(id);
    statement.vector_lanes = lanes;
    auto instance = str(id, "[", join(statement.iterators), "]");
    auto member = [&](const std::string& f) { return str("{ schedule: \"[{ ", instance, " -> [(", f, ")] }]\""); };
    std::string text = str("{ domain: \"", str(scop.domain()), "\", child: "), end = " }";
    for (const auto& name : statement.iterators) {
      text += member(name == iterator ? str("floor(", name, "/", lanes, ")") : name) + ", child: ";
      end += " }";
    }
    text += "{ mark: vector, child: " + member(str(iterator, " mod ", lanes)) + " } }" + end;
    scop.schedule = isl::schedule(scop.ctx(), text);
    return *this;
  }

  Halide::Internal::Stmt raised(const halide_bridge::RaiseOptions& options = {}) const {
    return halide_bridge::raise(polyhedral::generate_ast(scop), scop, program, options);
  }
  /// Arguments and workspaces in the order of the scop's tensors.
  std::vector<std::string> buffers() const {
    std::vector<std::string> names;
    for (const auto& tensor : scop.tensors)
      if (tensor.storage != polyhedral::Tensor::Storage::Local) names.push_back(tensor.name);
    return names;
  }
  /// Both are defined in kernel_runner.h.
  cpu::ObjectCode compile(const std::string& target) const;
  int run(const std::string& target, std::vector<void*> pointers) const;
};

/// An element read, Call::Halide, for the values of statements.
inline Halide::Expr element(const Halide::Type& type, const std::string& tensor,
                            const std::vector<Halide::Expr>& subscripts) {
  return halide_bridge::element_read(type, tensor, subscripts);
}
inline Halide::Expr iterator(const std::string& name) {
  return Halide::Internal::Variable::make(Halide::Int(64), name);
}

}  // namespace tc
