#include "tc/halide_bridge/infer/announce_returns.h"

#include <algorithm>
#include <vector>

#include "tc/halide_bridge/infer/convert_expr.h"

namespace tc::halide_bridge {
namespace {

/// The declared box of \p decl; nothing where its sizes are too complicated to be compared.
std::optional<std::vector<IndexBounds>> declared_box(const lang::TensorDecl& decl, const DefState& state) {
  IndexConverter convert([&state](const lang::SizeOf& size) { return size_of(state, size); });
  std::vector<IndexBounds> box;
  try {
    for (const auto& dim : *decl.dims) box.push_back({constant(0), state.facts.simplify(convert(dim) - 1)});
  } catch (const TooComplicated&) {
    return std::nullopt;
  }
  return box;
}

}  // namespace

void announce_returns(DefState& state, const lang::Statement& statement) {
  const auto& assignment = std::get<lang::Assignment>(statement.node);
  const auto announce = [&](const lang::ExprPtr& e) {
    const auto* access = std::get_if<lang::Access>(&e->node);
    if (!access || access->tensor == assignment.target || state.boxes.count(access->tensor)) return;
    const auto& returns = state.def.returns;
    const auto decl = std::find_if(returns.begin(), returns.end(), [&](const lang::TensorDecl& each) {
      return each.name == access->tensor && each.dims;
    });
    if (decl == returns.end()) return;
    state.boxes[decl->name] = declared_box(*decl, state);
    state.announced.insert(decl->name);
  };
  lang::for_each_expr(assignment.rhs, announce);
  for (const auto& clause : assignment.clauses) {
    if (const auto* let = std::get_if<lang::LetClause>(&clause.node)) lang::for_each_expr(let->value, announce);
    if (const auto* exists = std::get_if<lang::ExistsClause>(&clause.node))
      lang::for_each_expr(exists->value, announce);
  }
}

}  // namespace tc::halide_bridge
