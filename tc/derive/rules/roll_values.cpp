#include <algorithm>
#include <limits>

#include "tc/base/str.h"
#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/rules/roll_parts.h"

namespace tc::derive {

using lang::ExprPtr;

namespace {

/// The largest number of \p type.
double largest(DType type) {
  return type == DType::Float64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
}

/// { [b, y, b', w] : b' <= b } of the instances \p part, [y, b', w], of \p left dimensions y.
isl::set up_to_block(const RollParts& parts, const isl::set& part, int left) {
  const auto all = part.preimage(index_of(parts.ctx, left + 3, {}, 1, left + 2));
  return all.intersect(isl::set(
      parts.ctx, str("{ ", tuple_text(left + 3), " : 0 <= i0 < ", parts.blocks.count, " and i", left + 1, " <= i0 }")));
}

/// A running value \p tensor of \p like, by the operator of that.
Scope running(const RollParts& parts, const Scope& like, const std::string& tensor) {
  auto result = over_blocks(parts, like, tensor);
  result.op = like.op;
  result.fill = like.fill;
  result.iterators.insert(result.iterators.end(), {parts.blocks.before, parts.blocks.inner});
  return result;
}

/// \p like as the running value \p run of the last block.
Scope copy_of_last(const Scope& like, const std::string& run, const NeededBlocks& needed) {
  auto result = copy_of(like, run, index_of(needed.last.front()), needed.last.front().rows);
  for (std::size_t p = 1; p < needed.last.size(); ++p)
    result.cases.push_back({needed.last[p].rows, only_read(), {{run, index_of(needed.last[p])}}});
  return result;
}

/// The certificate of \p tensor, over [y, b', w], as a running value of its last block, which makes a case of each piece of \p needed: to the
/// instances [y], then [last, y, b', w], then \p more of [y, b', w].
Certificate link_to_last(const RollParts& parts, const std::string& tensor, int y, const NeededBlocks& needed,
                         const isl::multi_aff& more) {
  const auto rows = index_of(parts.ctx, y + 2, {}, 0, y);
  Certificate result;
  auto links = isl::union_map::empty(parts.ctx);
  for (std::size_t p = 0; p < needed.last.size(); ++p)
    links = links.unite(link(0, p,
                             rows.flat_range_product(needed.last[p].last.pullback(rows))
                                 .flat_range_product(index_of(parts.ctx, y + 2, {}, 0, y + 2))
                                 .flat_range_product(more)));
  result.maps.emplace(tensor, links);
  return result;
}

Step running_maximum(const RollParts& parts) {
  const auto& old = parts.maximum();
  const int x = parts.rows();
  auto run = running(parts, old, parts.run);
  RollBody body;
  const auto value =
      body.taken(parts.maximum_body->body, *parts.maximum_body, index_of(parts.ctx, x + 3, {}, 1, x + 2));
  run.cases = {{up_to_block(parts, parts.maximum_body->domain, x), value, body.reads}};

  auto from = over_blocks(parts, old, parts.from);
  const bool is_maximum = old.op == ReductionOp::Max;
  const auto extreme = literal(is_maximum ? -largest(old.type) : largest(old.type), old.type);
  const auto finite = lang::make_expr(lang::Call{is_maximum ? "max" : "min", {read_of(0), extreme}});
  from.cases = {{box_set(parts.ctx, from.box), finite, {{parts.run, index_of(parts.ctx, x + 1, {}, 0, x + 1)}}}};

  return {"running maximum", parts.view.maximum,
          with_scopes(parts.program, parts.view.maximum, {run, from, copy_of_last(old, parts.run, *parts.needed)}),
          link_to_last(parts, parts.view.maximum, x, *parts.needed, projection(parts.ctx, x + 2, {}))};
}

Scope running_sum(const RollParts& parts, const RollParts::Sum& sum, const Scope& old) {
  const int y = old.left(), all = y + 3;
  auto result = running(parts, old, sum.run);
  const auto instance = index_of(parts.ctx, all, {}, 1, y + 2);
  RollBody body;
  if (!sum.view->has_exponential()) {
    const auto value = body.taken(sum.body.body, sum.body, instance);
    result.cases = {{up_to_block(parts, sum.body.domain, y), value, body.reads}};
    return result;
  }
  const auto row = parts.rows_of(*sum.view, y, all, 1);
  const auto s = body.taken(parts.maximum_body->body, *parts.maximum_body,
                            row.flat_range_product(index_of(parts.ctx, all, {}, y + 1, 2)));
  const auto from = body.read(parts.from, index_of(parts.ctx, all, {}, 0, 1).flat_range_product(row));
  std::vector<ExprPtr> factors{
      rounded(exponential_of(s, from, parts.view.factor, old.type), sum.view->rounding, old.type)};
  for (const auto& each : body.taken(sum.view->inside, sum.body, instance)) factors.push_back(each);
  const auto value = quotient_of(factors, body.taken(sum.view->inside_divisors, sum.body, instance));
  result.cases = {{up_to_block(parts, sum.body.domain, y), value, body.reads}};
  return result;
}

/// The sum as the running sum of the last block, with \p factor, a tensor of rows that corrects what was taken off, and what is no part of
/// its terms.
Scope last_sum(const RollParts& parts, const RollParts::Sum& sum, const Scope& old, const std::string& factor) {
  const int y = old.left();
  auto result = old;
  result.op = std::nullopt;
  result.fill = 0;
  result.iterators.resize(static_cast<std::size_t>(y));
  result.cases.clear();
  for (const auto& each : sum.needed.last) {
    RollBody body;
    std::vector<ExprPtr> factors{body.read(sum.run, index_of(each)),
                                 body.read(factor, parts.rows_of(*sum.view, y, y, 0))};
    const auto first = index_of(parts.ctx, y, {}, 0, y, {"0", "0"});
    for (const auto& outside : body.taken(sum.view->outside, sum.body, first)) factors.push_back(outside);
    const auto value = quotient_of(factors, body.taken(sum.view->outside_divisors, sum.body, first));
    result.cases.push_back({each.rows, value, body.reads});
  }
  return result;
}

/// factor(x) = exp(c * (r(last, x) - reference(x))), behind the reference in \p program.
void add_factor(const RollParts& parts, const std::string& factor, const std::string& reference, Program& program) {
  const int x = parts.rows();
  auto made = parts.maximum();
  made.op = std::nullopt;
  made.tensor = factor;
  made.fill = 0;
  made.iterators.resize(static_cast<std::size_t>(x));
  made.cases.clear();
  for (const auto& each : parts.needed->last)
    made.cases.push_back({each.rows,
                          exponential_of(read_of(0), read_of(1), parts.view.factor, made.type),
                          {{parts.from, index_of(each)}, {reference, index_of(parts.ctx, x, {}, 0, x)}}});
  const auto behind = std::find_if(program.scopes.begin(), program.scopes.end(),
                                   [&](const ScopePtr& each) { return each->tensor == reference; });
  program.scopes.insert(behind + 1, std::make_shared<const Scope>(std::move(made)));
}

Step running_sums(const RollParts& parts) {
  Step step{"running sums", join(tensors_of(parts.view)), parts.program, {}};
  std::map<std::string, std::string> factors;
  for (const auto& sum : parts.sums) {
    const auto& tensor = sum.view->tensor;
    const auto old = parts.scope(tensor);
    const int y = old.left();
    if (!sum.view->has_exponential()) {
      step.after =
          with_scopes(step.after, tensor, {running_sum(parts, sum, old), copy_of_last(old, sum.run, sum.needed)});
      const auto one = link_to_last(parts, tensor, y, sum.needed, projection(parts.ctx, y + 2, {}));
      step.certificate.maps.insert(one.maps.begin(), one.maps.end());
      continue;
    }
    const auto [factor, is_new] =
        factors.try_emplace(sum.view->reference, fresh_tensor(step.after, sum.view->reference + "_last"));
    if (is_new) add_factor(parts, factor->second, factor->first, step.after);
    step.after =
        with_scopes(step.after, tensor, {running_sum(parts, sum, old), last_sum(parts, sum, old, factor->second)});
    // and then the row of the factor
    const auto one = link_to_last(parts, tensor, y, sum.needed, parts.rows_of(*sum.view, y, y + 2, 0));
    step.certificate.maps.insert(one.maps.begin(), one.maps.end());
  }
  return step;
}

}  // namespace

std::vector<Step> running_values(RollParts& parts) {
  std::vector<Step> steps;
  if (parts.view.has_maximum()) {
    steps.push_back(running_maximum(parts));
    parts.program = steps.back().after;
  }
  steps.push_back(running_sums(parts));
  parts.program = steps.back().after;
  return steps;
}

}  // namespace tc::derive
