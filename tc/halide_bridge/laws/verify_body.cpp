#include "tc/halide_bridge/laws/verify_body.h"

#include <map>
#include <optional>
#include <string>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/laws/symbolic_ast.h"
#include "tc/halide_bridge/laws/symbolic_body.h"
#include "tc/polyhedral/core/cluster_view.h"

namespace tc::halide_bridge {
namespace {

using polyhedral::Scop;

/// How many instances the statements of \p scop have, at most `most_counted` of each.
std::int64_t instance_count(const Scop& scop) {
  std::int64_t result = 0;
  for (const auto& statement : scop.statements) result += polyhedral::instance_count(statement.domain);
  return result;
}

/// How many times as many instances a body of matrix instructions may have: the smallest product that one warp computes has
/// thousands.
constexpr std::int64_t more_of_units = 64;

bool runs_units(const Halide::Internal::Stmt& body) {
  struct Finder : Halide::Internal::IRVisitor {
    using Halide::Internal::IRVisitor::visit;
    bool found = false;
    void visit(const Halide::Internal::Call* op) override {
      Halide::Internal::IRVisitor::visit(op);
      found = found || SymbolicUnits::is_unit(*op);
    }
  } finder;
  body.accept(&finder);
  return finder.found;
}

/// The values of a run: symbolic sizes, \p largest or the least that they may be, as parameters and as variables, and strides by
/// which each element has an address of its own. Nothing where a run has no such sizes.
std::optional<std::map<std::string, std::int64_t>> told_values(const Scop& scop, bool largest) {
  std::map<std::string, std::int64_t> result;
  auto sizes = scop.sizes;
  for (const auto& parameter : scop.parameters) {
    if (!polyhedral::is_size_parameter(parameter.name)) continue;
    const auto value = largest ? parameter.max : parameter.min;
    result[parameter.name] = result[size_variable(polyhedral::size_of_parameter(parameter.name))] = value;
    sizes = sizes.intersect(
        isl::set(scop.ctx(), str("[", parameter.name, "] -> { : ", parameter.name, " = ", value, " }")));
  }
  if (!sizes.is_null() && sizes.is_empty()) return std::nullopt;
  for (const auto& tensor : scop.tensors)
    for (std::size_t d = 0; d < tensor.stride_variables.size(); ++d)
      if (!tensor.stride_variables[d].empty()) result[tensor.stride_variables[d]] = tensor.strides[d];
  return result;
}

void compare(const Halide::Internal::Stmt& body, const polyhedral::Ast& ast, const Scop& scop, const Program& program,
             const ThreadGrid& threads) {
  SymbolicAst ast_run(ast, scop, program, threads);
  SymbolicBody body_run(body, scop, threads);
  const auto& wanted = ast_run.run();
  const auto& made = body_run.run();
  for (const auto& tensor : scop.tensors) {
    if (tensor.storage == polyhedral::Tensor::Storage::Local) continue;
    auto addresses = wanted.written(tensor.name);
    addresses.merge(made.written(tensor.name));
    for (auto address : addresses)
      if (wanted.read(tensor.name, address) != made.read(tensor.name, address))
        throw InternalError(str("law 'body accesses' is broken: the body computes ", tensor.name, "[", address,
                                "], which ", ast_run.writer(tensor.name, address),
                                " writes, from other elements than the scop"));
  }
}

}  // namespace

bool verify_body(const Halide::Internal::Stmt& body, const polyhedral::Ast& ast, const Scop& scop,
                 const Program& program, const ThreadGrid& threads, std::int64_t most_runs) {
  if (runs_units(body)) most_runs *= more_of_units;
  if (instance_count(scop) > most_runs || threads.blocks() > most_runs / threads.threads()) return false;
  try {
    for (const bool largest : {true, false}) {
      if (!largest && scop.sizes.is_null()) continue;
      auto told = told_values(scop, largest);
      if (!told) continue;
      auto with_values = threads;
      with_values.told = std::move(*told);
      compare(body, ast, scop, program, with_values);
    }
  } catch (const Undecided&) {
    return false;
  } catch (const InternalError& error) {
    throw InternalError(str(error.what(), "; the AST is\n", polyhedral::print(ast), "the body is\n", body));
  }
  return true;
}

}  // namespace tc::halide_bridge
