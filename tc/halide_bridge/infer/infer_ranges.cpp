#include "tc/halide_bridge/infer/infer_ranges.h"

#include "tc/base/str.h"
#include "tc/halide_bridge/infer/infer_statement.h"

namespace tc::halide_bridge {

using Halide::Expr;

namespace {

/// The box of a parameter; every declared size is taken for not negative.
std::vector<IndexBounds> box_of(const lang::TensorDecl& param, DefState& state) {
  IndexConverter convert([&state](const lang::SizeOf& size) { return size_of(state, size); });
  std::vector<IndexBounds> box;
  for (const auto& dim : param.dims.value_or(std::vector<lang::ExprPtr>{})) {
    const Expr size = state.facts.simplify(convert(dim));
    state.prover.assume(size >= 0);
    state.checker.assume(size >= 0);
    box.push_back({constant(0), state.facts.simplify(size - 1)});
  }
  return box;
}

void take_parameters(DefState& state) {
  for (const auto& param : state.def.params) try {
      state.boxes[param.name] = box_of(param, state);
    } catch (const TooComplicated&) {
      state.boxes[param.name] = std::nullopt;
      state.diagnostics.add({.code = "TC209",
                             .range = param.range,
                             .message = str("the sizes of '", param.name, "' are too complicated"),
                             .help = "declare them as sizes of their own"});
    }
}

}  // namespace

struct RangeInference::Impl {
  Impl(const lang::Def& head, const std::string& text, const std::string& name, const Cancellation& cancellation)
      : prover(cancellation),
        checker(cancellation),
        diagnostics(text, name),
        state{head, SizeFacts(head.sizes), prover, checker, diagnostics, cancellation, {}, {}, {}} {
    take_parameters(state);
  }

  std::vector<lang::Range> ranges_of(const std::vector<IndexBounds>& box) const {
    std::vector<lang::Range> ranges;
    for (const IndexBounds& bounds : box) ranges.push_back(to_range(bounds, state.facts));
    return ranges;
  }

  IndexProver prover, checker;
  lang::Diagnostics diagnostics;
  DefState state;
};

RangeInference::RangeInference(const lang::Def& head, const std::string& text, const std::string& name,
                               const Cancellation& cancellation)
    : impl_(std::make_unique<Impl>(head, text, name, cancellation)) {}

RangeInference::~RangeInference() = default;

void RangeInference::add(const lang::Statement& statement) {
  impl_->state.cancellation.check("range inference");
  if (!impl_->diagnostics.full()) infer_statement(impl_->state, statement);
}

const std::vector<lang::Range>* RangeInference::box(const std::string& tensor) {
  auto& known = impl_->state.result.tensors;
  if (auto found = known.find(tensor); found != known.end()) return &found->second;
  const auto box = impl_->state.boxes.find(tensor);
  if (box == impl_->state.boxes.end() || !box->second) return nullptr;
  return &(known[tensor] = impl_->ranges_of(*box->second));
}

lang::Ranges RangeInference::finish(std::vector<Diagnostic>* warnings) {
  const auto& found = impl_->diagnostics;
  if (warnings) warnings->insert(warnings->end(), found.warnings().begin(), found.warnings().end());
  found.throw_if_errors<SemanticError>();
  for (const auto& [tensor, bounds] : impl_->state.boxes) box(tensor);
  return std::move(impl_->state.result);
}

lang::Ranges infer_ranges(const lang::Def& def, const std::string& text, const std::string& name,
                          std::vector<Diagnostic>* warnings, const Cancellation& cancellation) {
  RangeInference inference(def, text, name, cancellation);
  for (const auto& statement : def.statements) inference.add(statement);
  return inference.finish(warnings);
}

}  // namespace tc::halide_bridge
