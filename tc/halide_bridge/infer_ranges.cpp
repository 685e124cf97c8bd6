#include "tc/halide_bridge/infer_ranges.h"

#include "tc/halide_bridge/infer_statement.h"

namespace tc::halide_bridge {

using Halide::Expr;

namespace {

/// The boxes of the parameters; every declared size is taken for not negative.
void take_parameters(DefState& state) {
  IndexConverter convert([&state](const lang::SizeOf& size) { return size_of(state, size); });
  for (const auto& param : state.def.params) {
    std::vector<IndexBounds> box;
    for (const auto& dim : param.dims.value_or(std::vector<lang::ExprPtr>{})) {
      const Expr size = state.facts.simplify(convert(dim));
      state.prover.assume(size >= 0);
      box.push_back({constant(0), state.facts.simplify(size - 1)});
    }
    state.boxes[param.name] = box;
  }
}

}  // namespace

lang::Ranges infer_ranges(const lang::Def& def, const std::string& text, const std::string& name) {
  IndexProver prover;
  lang::Diagnostics diagnostics(text, name);
  DefState state{def, SizeFacts(def.sizes), prover, diagnostics, {}, {}, {}};
  take_parameters(state);
  for (const auto& statement : def.statements) infer_statement(state, statement);
  diagnostics.throw_if_errors<SemanticError>();
  for (const auto& [tensor, box] : state.boxes) {
    auto& ranges = state.result.tensors[tensor];
    for (const IndexBounds& bounds : *box) ranges.push_back(to_range(bounds, state.facts));
  }
  return std::move(state.result);
}

}  // namespace tc::halide_bridge
