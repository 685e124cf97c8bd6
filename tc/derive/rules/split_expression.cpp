#include "tc/derive/rules/split_expression.h"

#include <set>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

namespace {

/// The part of \p scope with index \p dimension in \p range, as \p name.
Scope part_of(const Scope& scope, const std::string& name, int dimension, const lang::IntegerRange& range) {
  Scope part = scope;
  part.tensor = name;
  part.box[static_cast<std::size_t>(dimension)] = range;
  const isl::ctx ctx = scope.cases[0].domain.ctx();
  const auto inside = box_set(ctx, part.box).preimage(projection(ctx, scope.dimensions(), left_dimensions(scope)));
  part.cases.clear();
  for (const auto& one : scope.cases) {
    auto made = one;
    made.domain = one.domain.intersect(inside).coalesce();
    if (!made.domain.is_empty()) part.cases.push_back(made);
  }
  return part;
}

}  // namespace

Step split_expression(const Program& program, const std::string& tensor, int dimension, std::int64_t at) {
  const auto& scope = changeable(program, tensor);
  const isl::ctx ctx = *program.context;
  const auto& range = scope.box.at(static_cast<std::size_t>(dimension));
  if (at <= range.min || at >= range.min + range.extent) throw Refusal{"one side of the split is empty"};
  const auto names = std::pair(fresh_tensor(program, "T"), fresh_tensor(program, "U"));
  const auto low = part_of(scope, names.first, dimension, {range.min, at - range.min});
  const auto high = part_of(scope, names.second, dimension, {at, range.min + range.extent - at});
  if (low.cases.empty() || high.cases.empty()) throw Refusal{"one side of the split is all fill"};
  const auto same = projection(ctx, scope.left(), left_dimensions(scope));
  auto whole = copy_of(scope, low.tensor, same, box_set(ctx, low.box));
  whole.cases.push_back({box_set(ctx, high.box), only_read(), {{high.tensor, same}}});

  std::vector<int> kept = left_dimensions(scope);
  for (int d = 0; d < scope.dimensions(); ++d) kept.push_back(d);
  const auto map = projection(ctx, scope.dimensions(), kept);
  isl::union_map all = link(0, 0, map);
  for (std::size_t k = 0; k < scope.cases.size(); ++k)
    for (std::size_t l = 0; l < low.cases.size() + high.cases.size(); ++l) all = all.unite(link(k, l, map));
  Step step{"split expression",
            str(tensor, ": ", scope.iterators[static_cast<std::size_t>(dimension)], " at ", at),
            with_scopes(program, tensor, {low, high, whole}),
            {},
            {tensor}};
  step.certificate.maps.emplace(tensor, all);
  return step;
}

std::vector<Step> expression_splits(const Program& program) {
  std::vector<Step> result;
  for (const auto& scope : program.scopes) {
    if (!scope->uniform || scope->cases.size() < 2) continue;
    for (int d = 0; d < scope->left(); ++d) {
      std::set<std::int64_t> ends;
      for (const auto& part : scope->cases)
        if (!part.domain.is_empty()) ends.insert(hull(part.domain)[static_cast<std::size_t>(d)].min);
      for (const auto at : ends) {
        try {
          result.push_back(split_expression(program, scope->tensor, d, at));
        } catch (const Refusal&) {
        }
      }
    }
  }
  return result;
}

}  // namespace tc::derive
