#include "tc/halide_bridge/infer/infer_ranges.h"

#include <utility>

#include "tc/base/str.h"
#include "tc/halide_bridge/infer/announce_returns.h"
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

  /// Infers \p statement, or keeps it and those behind it until a later one says what its indices range over.
  void add(const lang::Statement& statement) {
    const auto* assignment = std::get_if<lang::Assignment>(&statement.node);
    if (!statement.loops.empty()) announce_returns(state, statement);
    if (waiting.empty() && !(assignment && waits_for_later(state, *assignment)))
      return infer_statement(state, statement);
    waiting.push_back(statement);
    const auto& first = std::get<lang::Assignment>(waiting.front().node);
    const bool is_later = waiting.size() > 1 && assignment && assignment->target == first.target;
    if (is_later && gives_ranges(state, first, *assignment)) release(assignment);
  }

  /// Infers the first of the statements that wait, whose indices \p later bounds unless it is null, and goes on with the
  /// others.
  void release(const lang::Assignment* later) {
    const auto held = std::exchange(waiting, {});
    infer_statement(state, held.front(), later);
    for (std::size_t s = 1; s < held.size(); ++s) add(held[s]);
  }
  void release_all() {
    while (!waiting.empty()) release(nullptr);
  }

  IndexProver prover, checker;
  lang::Diagnostics diagnostics;
  DefState state;
  std::vector<lang::Statement> waiting;  ///< the first of them for a statement that is to come
};

RangeInference::RangeInference(const lang::Def& head, const std::string& text, const std::string& name,
                               const Cancellation& cancellation)
    : impl_(std::make_unique<Impl>(head, text, name, cancellation)) {}

RangeInference::~RangeInference() = default;

void RangeInference::add(const lang::Statement& statement) {
  impl_->state.cancellation.check("range inference");
  if (!impl_->diagnostics.full()) impl_->add(statement);
}

const std::vector<lang::Range>* RangeInference::box(const std::string& tensor) {
  if (!impl_->state.boxes.count(tensor)) impl_->release_all();
  auto& known = impl_->state.result.tensors;
  if (auto found = known.find(tensor); found != known.end()) return &found->second;
  const auto box = impl_->state.boxes.find(tensor);
  if (box == impl_->state.boxes.end() || !box->second) return nullptr;
  return &(known[tensor] = impl_->ranges_of(*box->second));
}

lang::Ranges RangeInference::finish(std::vector<Diagnostic>* warnings) {
  impl_->release_all();
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
