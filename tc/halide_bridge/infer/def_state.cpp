#include "tc/halide_bridge/infer/def_state.h"

#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::halide_bridge {

using Halide::Expr;

Expr extent(const IndexBounds& bounds, const SizeFacts& facts) { return facts.simplify(bounds.max - bounds.min + 1); }

void DefState::require(const Expr& condition, const std::string& reason, lang::SourceRange range,
                       const std::vector<Expr>& extents) {
  const lang::ExprPtr tree = to_lang(tidy_condition(facts.simplify(condition)));
  lang::Precondition precondition{tree, reason, range};
  std::string text = lang::print(tree);
  if (conditions.count(text)) return;
  for (const Expr& extent : extents) {
    precondition.extents.push_back(to_lang(extent));
    text += str(" or not ", lang::print(precondition.extents.back()));
  }
  if (conditions.insert(text).second) result.preconditions.push_back(precondition);
}

lang::Range to_range(const IndexBounds& bounds, const SizeFacts& facts) {
  return {to_lang(bounds.min), to_lang(extent(bounds, facts))};
}

std::string print(const IndexBounds& bounds, const SizeFacts& facts) {
  return str("[", lang::print(to_lang(bounds.min)), ", ", lang::print(to_lang(facts.simplify(bounds.max + 1))), ")");
}

Expr size_of(const DefState& state, const lang::SizeOf& size) {
  auto found = state.boxes.find(size.tensor);
  if (found == state.boxes.end() || !found->second) return constant(0);
  return extent((*found->second)[static_cast<std::size_t>(size.dimension)], state.facts);
}

}  // namespace tc::halide_bridge
