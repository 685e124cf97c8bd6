#include "tc/derive/rules/roll_parts.h"

#include "tc/base/str.h"
#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_expressions.h"
#include "tc/derive/form/isl_text.h"

namespace tc::derive {

using lang::ExprPtr;

RollParts::RollParts(Program on_the_way, const RollView& rolled, const Blocks& in_blocks)
    : program(std::move(on_the_way)), view(rolled), blocks(in_blocks), ctx(*program.context) {
  const auto named = [&](const std::string& tensor, const char* end) { return fresh_tensor(program, tensor + end); };
  for (const auto& sum : view.sums)
    sums.push_back({&sum, scope(sum.tensor).cases.front(), named(sum.tensor, "_run"), named(sum.tensor, "_part")});
  if (!view.has_maximum()) return;
  maximum_body = maximum().cases.front();
  run = named(view.maximum, "_run"), part = named(view.maximum, "_part"), from = named(view.maximum, "_from");
  step = named(view.maximum, "_step"), exp = named(view.maximum, "_exp");
  for (const auto& sum : view.sums)
    if (sum.rounding) rounded_exp.emplace(*sum.rounding, fresh_tensor(program, str(view.maximum, "_", *sum.rounding)));
}

isl::multi_aff RollParts::rows_of(const RolledSum& sum, int count, int dimensions, int first) const {
  // The row depends on left dimensions alone; the instances of RolledSum::row have one more.
  return sum.row->pullback(index_of(ctx, dimensions, {}, first, count, {"0"}));
}

isl::multi_aff index_of(isl::ctx ctx, int all, const std::vector<std::string>& before, int first, int count,
                        const std::vector<std::string>& after) {
  auto values = before;
  for (const auto& name : dimension_names(count, first)) values.push_back(name);
  values.insert(values.end(), after.begin(), after.end());
  return function(ctx, all, values);
}

ExprPtr read_of(std::size_t k) { return lang::make_expr(lang::Name{read_name(k)}); }

ExprPtr exponential_of(const ExprPtr& a, const ExprPtr& b, double factor, DType type) {
  auto difference = joined(a, lang::BinaryOp::Sub, b);
  if (factor != 1) difference = joined(literal(factor, type), lang::BinaryOp::Mul, difference);
  return lang::make_expr(lang::Call{"exp", {difference}});
}

ExprPtr quotient_of(const std::vector<ExprPtr>& factors, const std::vector<ExprPtr>& divisors) {
  auto result = product(factors, "*");
  for (const auto& divisor : divisors) result = joined(result, lang::BinaryOp::Div, divisor);
  return result;
}

ExprPtr RollBody::read(const std::string& tensor, const isl::multi_aff& at) {
  reads.push_back({tensor, at});
  return read_of(reads.size() - 1);
}

ExprPtr RollBody::taken(const ExprPtr& expr, const Case& part, const isl::multi_aff& at) {
  return with_reads(expr, [&](std::size_t k) { return read(part.reads[k].tensor, part.reads[k].at.pullback(at)); });
}

std::vector<ExprPtr> RollBody::taken(const std::vector<ExprPtr>& all, const Case& part, const isl::multi_aff& at) {
  std::vector<ExprPtr> result;
  for (const auto& each : all) result.push_back(taken(each, part, at));
  return result;
}

Scope over_blocks(const RollParts& parts, const Scope& like, const std::string& tensor) {
  auto result = like;
  result.tensor = tensor;
  result.op = std::nullopt;
  result.fill = 0;
  result.box.insert(result.box.begin(), {0, parts.blocks.count});
  result.iterators.resize(static_cast<std::size_t>(like.left()));
  result.iterators.insert(result.iterators.begin(), parts.blocks.outer);
  result.cases.clear();
  return result;
}

}  // namespace tc::derive
