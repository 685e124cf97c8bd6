#include "tc/lang/syntax/range_check.h"

namespace tc::lang {

bool reads_element(const ExprPtr& expr) {
  bool found = false;
  for_each_expr(expr, [&](const ExprPtr& part) {
    const auto* access = std::get_if<Access>(&part->node);
    found = found || (access && !access->subscripts.empty());
  });
  return found;
}

ExprPtr make_range_check(const RangeCheck& range, SourceRange place) {
  const ExprPtr index = make_expr(Name{range.index, Name::Kind::Iterator}, place, DType::Int64);
  return make_expr(Call{"in", {index, range.low, range.high}}, place, DType::Bool);
}

std::optional<RangeCheck> as_range_check(const ExprPtr& value) {
  const auto* call = std::get_if<Call>(&value->node);
  if (!call || call->function != "in" || call->arguments.size() != 3) return std::nullopt;
  const auto* index = std::get_if<Name>(&call->arguments[0]->node);
  if (!index) return std::nullopt;
  return RangeCheck{index->id, call->arguments[1], call->arguments[2]};
}

}  // namespace tc::lang
