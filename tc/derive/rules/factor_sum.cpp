#include "tc/derive/rules/factor_sum.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

namespace {

bool same_element(const Read& a, const Read& b) { return a.tensor == b.tensor && a.at.plain_is_equal(b.at); }

/// \p term without the factor that is the element \p read; nothing where there is none, or nothing else.
std::optional<lang::ExprPtr> without(const Case& part, const lang::ExprPtr& term, const Read& read, ReductionOp op) {
  const auto times = product_operator(term, op);
  auto all = factors(term, times);
  const auto found = std::find_if(all.begin(), all.end(), [&](const lang::ExprPtr& factor) {
    const auto k = read_number(factor);
    return k && same_element(part.reads[*k], read);
  });
  if (found == all.end() || all.size() == 1) return std::nullopt;
  all.erase(found);
  return product(all, times);
}

/// The dimensions of \p scope that \p expr depends on.
std::vector<int> dimensions_in(const Scope& scope, const lang::ExprPtr& expr) {
  std::vector<int> result;
  for (int d = 0; d < scope.dimensions(); ++d)
    for (const auto k : reads_in(expr))
      if (depends(scope.cases[0].reads[k].at, d)) {
        result.push_back(d);
        break;
      }
  return result;
}

/// \p value over \p dimensions of \p scope as a tensor.
Scope tensor_of(const Program& program, const Scope& scope, const std::vector<int>& dimensions,
                const lang::ExprPtr& value) {
  const auto ranges = iterator_box(scope);
  std::vector<std::string> values(static_cast<std::size_t>(scope.dimensions()), "0");
  Scope made = scope;
  made.tensor = fresh_tensor(program, "T");
  made.fill = neutral(*scope.op);
  made.op = std::nullopt;
  made.iterators = names_of(scope, dimensions);
  made.box.clear();
  for (std::size_t p = 0; p < dimensions.size(); ++p) {
    values[static_cast<std::size_t>(dimensions[p])] = str("i", p);
    made.box.push_back(ranges[static_cast<std::size_t>(dimensions[p])]);
  }
  auto& part = made.cases[0];
  part.domain = part.domain.apply(projection(*program.context, scope.dimensions(), dimensions).as_map());
  part.body = value;
  const auto back = function(*program.context, static_cast<int>(dimensions.size()), values);
  for (auto& read : part.reads) read.at = read.at.pullback(back);
  part = with_used_reads(part);
  return made;
}

}  // namespace

Step factor_sum(const Program& program, const std::string& tensor, std::size_t read) {
  const auto& scope = changeable(program, tensor);
  if (!scope.op || scope.cases.size() != 1) throw Refusal{"it is no sum of one case"};
  const auto& part = scope.cases[0];
  const auto all = terms(part.body, *scope.op);
  std::vector<lang::ExprPtr> others, left;
  std::vector<bool> taken;
  std::string times;
  for (const auto& term : all) {
    const auto rest = without(part, term, part.reads.at(read), *scope.op);
    const auto own = product_operator(term, *scope.op);
    taken.push_back(rest && (times.empty() || times == own));
    if (taken.back()) times = own;
    (taken.back() ? left : others).push_back(taken.back() ? *rest : term);
  }
  if (left.size() < 2) throw Refusal{"it is a factor of fewer than two terms"};
  const auto inner = sum(left, *scope.op);
  const auto dimensions = dimensions_in(scope, inner);
  if (dimensions.empty() || static_cast<int>(dimensions.size()) == scope.dimensions())
    throw Refusal{"what is left depends on all iterators, or on none"};
  const auto made = tensor_of(program, scope, dimensions, inner);

  Scope rest = scope;
  auto& own = rest.cases[0];
  own.reads.push_back({made.tensor, projection(*program.context, scope.dimensions(), dimensions)});
  const auto name = [](std::size_t k) { return lang::make_expr(lang::Name{read_name(k)}); };
  auto terms = others;
  terms.push_back(product({name(read), name(own.reads.size() - 1)}, times));
  own.body = sum(terms, *scope.op);
  own = with_used_reads(own);

  const auto same = run_of(0, scope.dimensions());
  auto written = same;
  written.insert(written.end(), dimensions.begin(), dimensions.end());
  auto map = isl::union_map::empty(*program.context);
  std::size_t other = 0, inside = others.size();
  for (std::size_t t = 0; t < all.size(); ++t)
    map = map.unite(link(t, taken[t] ? inside++ : other++,
                         projection(*program.context, scope.dimensions(), taken[t] ? written : same), term_name));
  Certificate certificate;
  certificate.maps.emplace(tensor, map);
  return {"factor sum", str(part.reads[read].tensor, " of ", left.size(), " terms of ", tensor),
          with_scopes(program, tensor, {made, rest}), certificate};
}

std::vector<Step> sum_factorings(const Program& program) {
  std::vector<Step> result;
  for (const auto& scope : program.scopes) {
    if (!scope->op || !scope->uniform || scope->cases.size() != 1) continue;
    const auto& part = scope->cases[0];
    if (terms(part.body, *scope->op).size() < 2) continue;
    std::vector<std::size_t> tried;
    for (const auto k : reads_in(part.body)) {
      const bool known = std::any_of(tried.begin(), tried.end(),
                                     [&](auto other) { return same_element(part.reads[k], part.reads[other]); });
      if (known) continue;
      tried.push_back(k);
      try {
        result.push_back(factor_sum(program, scope->tensor, k));
      } catch (const Refusal&) {
      }
    }
  }
  return result;
}

}  // namespace tc::derive
