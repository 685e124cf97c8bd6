#include "tc/derive/rules/reassociate.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

namespace {

constexpr std::size_t most_factors = 6;

bool depends_on(const Case& part, const lang::ExprPtr& factor, int dimension) {
  for (const auto k : reads_in(factor))
    if (depends(part.reads[k].at, dimension)) return true;
  return false;
}

/// A scope over \p dimensions of \p scope, the product of \p chosen factors.
Scope of_factors(const Scope& scope, const std::vector<int>& dimensions, int left,
                 const std::vector<lang::ExprPtr>& chosen, const std::string& times) {
  const isl::ctx ctx = scope.cases[0].domain.ctx();
  const auto& part = scope.cases[0];
  const auto ranges = iterator_box(scope);
  Scope made = scope;
  made.iterators = names_of(scope, dimensions);
  made.box.clear();
  std::vector<std::string> values(static_cast<std::size_t>(scope.dimensions()), "0");
  for (std::size_t p = 0; p < dimensions.size(); ++p) {
    values[static_cast<std::size_t>(dimensions[p])] = str("i", p);
    if (static_cast<int>(p) < left) made.box.push_back(ranges[static_cast<std::size_t>(dimensions[p])]);
  }
  const auto back = function(ctx, static_cast<int>(dimensions.size()), values);
  made.cases = {{part.domain.apply(projection(ctx, scope.dimensions(), dimensions).as_map()), product(chosen, times),
                 part.reads}};
  for (auto& read : made.cases[0].reads) read.at = read.at.pullback(back);
  return made;
}

}  // namespace

Step reassociate(const Program& program, const std::string& tensor, const std::set<std::size_t>& inner) {
  const auto& scope = changeable(program, tensor);
  if (!scope.op || scope.cases.size() != 1) throw Refusal{"it is no sum of products"};
  const isl::ctx ctx = *program.context;
  const auto& part = scope.cases[0];
  const auto times = product_operator(part.body, *scope.op);
  const auto all = factors(part.body, times);
  std::vector<lang::ExprPtr> chosen, others;
  for (std::size_t f = 0; f < all.size(); ++f) (inner.count(f) ? chosen : others).push_back(all[f]);
  if (chosen.empty() || others.empty()) throw Refusal{"some factors are to be taken, and not all"};
  if (times == "*" &&
      std::any_of(all.begin(), all.end(), [&](const auto& factor) { return literal_value(factor, scope.type) == 0.0; }))
    throw Refusal{"a factor is 0"};

  std::vector<int> element, sums, kept = left_dimensions(scope);
  const auto in = [&](const std::vector<lang::ExprPtr>& list, int d) {
    return std::any_of(list.begin(), list.end(), [&](const auto& factor) { return depends_on(part, factor, d); });
  };
  for (int d = 0; d < scope.dimensions(); ++d) {
    const bool summed_here = d >= scope.left() && in(chosen, d) && !in(others, d);
    if (summed_here)
      sums.push_back(d);
    else if (in(chosen, d))
      element.push_back(d);
    if (d >= scope.left() && !summed_here) kept.push_back(d);
  }
  if (sums.empty()) throw Refusal{"nothing is summed in these factors alone"};
  auto order = element;
  order.insert(order.end(), sums.begin(), sums.end());
  Scope made = of_factors(scope, order, static_cast<int>(element.size()), chosen, times);
  made.tensor = fresh_tensor(program, "T");

  Scope rest = of_factors(scope, kept, scope.left(), others, times);
  rest.box = scope.box;
  std::vector<int> at;
  for (int d : element) at.push_back(static_cast<int>(std::find(kept.begin(), kept.end(), d) - kept.begin()));
  rest.cases[0].reads.push_back({made.tensor, projection(ctx, rest.dimensions(), at)});
  others.push_back(lang::make_expr(lang::Name{read_name(rest.cases[0].reads.size() - 1)}));
  rest.cases[0].body = product(others, times);
  const auto both = made.cases[0]
                        .domain.preimage(projection(ctx, scope.dimensions(), order))
                        .intersect(rest.cases[0].domain.preimage(projection(ctx, scope.dimensions(), kept)));
  if (!both.is_subset(part.domain)) throw Refusal{"the instances are no product"};
  for (Scope* one : {&made, &rest}) one->cases[0] = with_used_reads(one->cases[0]);
  if (rest.dimensions() == rest.left()) rest.op = std::nullopt;
  auto ends = kept;
  ends.insert(ends.end(), order.begin(), order.end());
  const auto what =
      str(tensor, ": ", join(names_of(scope, sums)), " in ", chosen.size(), " of ", all.size(), " factors");
  return {"reassociate", what, with_scopes(program, tensor, {made, rest}),
          by_cases(tensor, 1, projection(ctx, scope.dimensions(), ends))};
}

std::vector<Step> reassociations(const Program& program) {
  std::vector<Step> result;
  for (const auto& scope : program.scopes) {
    if (!scope->op || !scope->uniform || scope->cases.size() != 1) continue;
    const auto count = factors(scope->cases[0].body, product_operator(scope->cases[0].body, *scope->op)).size();
    if (count < 2 || count > most_factors) continue;
    for (unsigned bits = 1; bits + 1 < 1u << count; ++bits) {
      std::set<std::size_t> inner;
      for (std::size_t f = 0; f < count; ++f)
        if (bits >> f & 1) inner.insert(f);
      try {
        result.push_back(reassociate(program, scope->tensor, inner));
      } catch (const Refusal&) {
      }
    }
  }
  return result;
}

}  // namespace tc::derive
