#include "tc/derive/rules/roll_parts.h"

#include "tc/base/str.h"
#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_expressions.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/proof/known_values.h"

namespace tc::derive {

using lang::ExprPtr;

namespace {

/// { [y, b] } of \p set, { [y, b, w] }.
isl::map blocks_of(const isl::set& set, int rows) {
  return set.apply(projection(set.ctx(), rows + 2, run_of(0, rows + 1)).as_map())
      .coalesce()
      .apply(isl::map(set.ctx(), str("{ ", tuple_text(rows + 1), " -> [", tuple_text(rows), " -> [i", rows, "]] }")))
      .unwrap();
}

/// { [b, y] : b >= b', y -> b' in \p rows_to_blocks }
isl::set behind(const isl::map& rows_to_blocks, int rows) {
  const auto ctx = rows_to_blocks.ctx();
  const auto later = isl::map(ctx, "{ [b] -> [c] : c >= b }");
  const auto flat = isl::map(ctx, str("{ [", tuple_text(rows), " -> [i", rows, "]] -> [i", rows, rows > 0 ? ", " : "",
                                      join(dimension_names(rows)), "] }"));
  return rows_to_blocks.apply_range(later).wrap().apply(flat).coalesce();
}

/// All blocks.
NeededBlocks all_blocks(isl::ctx ctx, const Blocks& blocks, const lang::Box& rows) {
  const auto count = static_cast<int>(rows.size());
  const auto from_first = isl::set(ctx, str("{ ", tuple_text(count + 1), " : i0 >= 0 }"));
  return {from_first, {{box_set(ctx, rows), function(ctx, count, {std::to_string(blocks.count - 1)})}}};
}

/// The blocks of \p part, whose instances are [y, b, w] with y in \p rows, reduced by \p op; all of them if some row has none with an effect,
/// because its results then are no numbers.
NeededBlocks needed_blocks(const Case& part, ReductionOp op, const Blocks& blocks, const lang::Box& rows,
                           const KnownValues& known) {
  const auto count = static_cast<int>(rows.size());
  const auto ctx = part.domain.ctx();
  const auto none = without_effect(part, op, known);
  const auto whole = all_blocks(ctx, blocks, rows);
  if (none.is_empty()) return whole;
  const auto run = blocks_of(part.domain.subtract(none), count);
  if (!box_set(ctx, rows).is_subset(run.domain())) return whole;
  NeededBlocks result{behind(run, count), {}};
  run.lexmax_pw_multi_aff().foreach_piece(
      [&](const isl::set& where, const isl::multi_aff& last) { result.last.push_back({where, last}); });
  return result;
}

/// Those of the rows y in \p rows, where \p row takes [y] to the rows that \p blocks has.
NeededBlocks blocks_of_rows(const NeededBlocks& blocks, const isl::multi_aff& row, const lang::Box& rows) {
  const auto ctx = row.ctx();
  const auto count = static_cast<int>(rows.size());
  const auto with_block =
      projection(ctx, count + 1, {0}).flat_range_product(row.pullback(projection(ctx, count + 1, run_of(1, count))));
  NeededBlocks result{blocks.from_first.preimage(with_block), {}};
  for (const auto& each : blocks.last) {
    const auto own = each.rows.preimage(row).intersect(box_set(ctx, rows));
    if (!own.is_empty()) result.last.push_back({own, each.last.pullback(row)});
  }
  return result;
}

}  // namespace

RollParts::RollParts(Program on_the_way, const RollView& rolled, const Blocks& in_blocks)
    : program(std::move(on_the_way)), view(rolled), blocks(in_blocks), ctx(*program.context) {
  const auto named = [&](const std::string& tensor, const char* end) { return fresh_tensor(program, tensor + end); };
  const auto known = known_values(program);
  if (view.has_maximum()) {
    maximum_body = maximum().cases.front();
    needed = needed_blocks(*maximum_body, *maximum().op, blocks, maximum().box, known);
  }
  for (const auto& sum : view.sums) {
    const auto& own = scope(sum.tensor);
    const auto& body = own.cases.front();
    sums.push_back({&sum, body,
                    sum.has_exponential() ? blocks_of_rows(*needed, rows_of(sum, own.left(), own.left(), 0), own.box)
                                          : needed_blocks(body, *own.op, blocks, own.box, known),
                    named(sum.tensor, "_run"), named(sum.tensor, "_part")});
  }
  if (!view.has_maximum()) return;
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

isl::multi_aff index_of(const LastBlock& last) {
  const auto rows = static_cast<int>(polyhedral::dimensions(last.rows));
  return last.last.flat_range_product(projection(last.rows.ctx(), rows, run_of(0, rows)));
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
