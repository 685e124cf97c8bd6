#include "tc/derive/rules/split_summation.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

Step split_summation(const Program& program, const std::string& tensor, const std::vector<int>& inner) {
  const auto& scope = changeable(program, tensor);
  const auto left = left_dimensions(scope), summed = summed_dimensions(scope);
  std::vector<int> outer;
  for (int d : summed)
    if (std::find(inner.begin(), inner.end(), d) == inner.end()) outer.push_back(d);
  if (!scope.op || inner.empty() || outer.empty() || inner.size() + outer.size() != summed.size())
    throw Refusal{"some summed iterators are to be split off"};

  const isl::ctx ctx = *program.context;
  std::vector<int> order = outer;
  order.insert(order.end(), left.begin(), left.end());
  order.insert(order.end(), inner.begin(), inner.end());
  std::vector<int> back(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) back[static_cast<std::size_t>(order[p])] = static_cast<int>(p);
  const auto to_scope = projection(ctx, scope.dimensions(), back);

  const auto ranges = iterator_box(scope);
  Scope part = scope;
  part.tensor = fresh_tensor(program, "T");
  part.iterators = names_of(scope, order);
  part.box.clear();
  for (std::size_t p = 0; p < outer.size() + left.size(); ++p)
    part.box.push_back(ranges[static_cast<std::size_t>(order[p])]);
  for (auto& one : part.cases) {
    one.domain = one.domain.preimage(to_scope);
    for (auto& read : one.reads) read.at = read.at.pullback(to_scope);
  }

  std::vector<int> kept = left;
  kept.insert(kept.end(), outer.begin(), outer.end());
  Scope rest = scope;
  rest.iterators = names_of(scope, kept);
  lang::Box box = scope.box;
  for (int d : outer) box.push_back(ranges[static_cast<std::size_t>(d)]);
  std::vector<int> element;
  for (std::size_t o = 0; o < outer.size(); ++o) element.push_back(static_cast<int>(left.size() + o));
  element.insert(element.end(), left.begin(), left.end());
  rest.cases = {
      {box_set(ctx, box), only_read(), {{part.tensor, projection(ctx, static_cast<int>(kept.size()), element)}}}};

  kept.insert(kept.end(), order.begin(), order.end());
  const auto what = str(tensor, " over ", join(names_of(scope, inner)));
  return {"split summation", what, with_scopes(program, tensor, {part, rest}),
          by_cases(tensor, scope.cases.size(), projection(ctx, scope.dimensions(), kept))};
}

namespace {

/// Does \p dimension share a subscript with an iterator of the tensor?
bool is_window(const Scope& scope, int dimension) {
  for (const auto& read : scope.cases[0].reads)
    for (std::size_t o = 0; o < read.at.size(); ++o)
      for (int d = 0; d < scope.left() && depends(read.at, static_cast<int>(o), dimension); ++d)
        if (depends(read.at, static_cast<int>(o), d)) return true;
  return false;
}

/// Sums over windows stay outside, some or all, those that are alike together, and are split off all together; without windows any may
/// be split off.
bool is_wanted(const Scope& scope, const std::vector<int>& inner, const lang::Box& ranges) {
  const auto is_inside = [&](int d) { return std::find(inner.begin(), inner.end(), d) != inner.end(); };
  std::size_t windows = 0, inside = 0;
  for (int d : summed_dimensions(scope)) {
    windows += is_window(scope, d);
    inside += is_window(scope, d) && is_inside(d);
    if (is_window(scope, d))
      for (int other : alike_dimensions(scope, d, ranges))
        if (is_inside(other) != is_inside(d)) return false;
  }
  const auto others = summed_dimensions(scope).size() - windows;
  return windows == 0 || others == 0 || inner.size() - inside == others ||
         (inside == windows && inner.size() == inside);
}

}  // namespace

std::vector<Step> summation_splits(const Program& program) {
  std::vector<Step> result;
  for (const auto& scope : program.scopes) {
    const auto summed = summed_dimensions(*scope);
    if (!scope->op || !scope->uniform || scope->cases.size() != 1 || summed.size() < 2 || summed.size() > 6) continue;
    if (reads_in(scope->cases[0].body).size() < 2) continue;
    const auto ranges = iterator_box(*scope);
    for (unsigned bits = 1; bits + 1 < 1u << summed.size(); ++bits) {
      std::vector<int> inner;
      for (std::size_t s = 0; s < summed.size(); ++s)
        if (bits >> s & 1) inner.push_back(summed[s]);
      if (is_wanted(*scope, inner, ranges)) result.push_back(split_summation(program, scope->tensor, inner));
    }
  }
  return result;
}

}  // namespace tc::derive
