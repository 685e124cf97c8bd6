#include "tc/derive/rules/change_layout.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/substitute_variables.h"

namespace tc::derive {

Step copy_operand(const Program& program, const std::string& tensor, std::size_t read, const std::vector<int>& order) {
  const auto& scope = changeable(program, tensor);
  if (scope.cases.size() != 1) throw Refusal{"an operand of one of several cases is not copied"};
  const isl::ctx ctx = *program.context;
  const auto& part = scope.cases[0];
  const auto old = part.reads.at(read);
  for (int d = 0; d < scope.dimensions(); ++d)
    if (depends(old.at, d) && std::find(order.begin(), order.end(), d) == order.end())
      throw Refusal{"the copy lacks an iterator that the operand depends on"};
  const auto ranges = iterator_box(scope);
  const int count = static_cast<int>(order.size());
  std::vector<std::string> values(static_cast<std::size_t>(scope.dimensions()), "0");
  Scope copy;
  copy.tensor = fresh_tensor(program, "C");
  copy.type = scope.type;
  copy.iterators = names_of(scope, order);
  copy.fill = scope.op ? neutral(*scope.op) : scope.fill;
  for (std::size_t p = 0; p < order.size(); ++p) {
    values[static_cast<std::size_t>(order[p])] = str("i", p);
    copy.box.push_back(ranges[static_cast<std::size_t>(order[p])]);
  }
  const auto at = old.at.pullback(function(ctx, count, values));
  const auto inside = box_set(ctx, program.box(old.tensor)).preimage(at).intersect(box_set(ctx, copy.box));
  copy.cases.push_back({inside, only_read(), {{old.tensor, at}}});

  const auto element = projection(ctx, scope.dimensions(), order);
  Scope reader = scope;
  auto& made = reader.cases[0];
  made.reads[read] = {copy.tensor, element};
  const bool factor = scope.op && is_linear(part.body, read, *scope.op);
  const auto whole = box_set(ctx, ranges);
  if (factor && part.domain.is_equal(whole.intersect(reads_inside(program, part)))) {
    isl::set domain = whole;
    for (std::size_t k = 0; k < made.reads.size(); ++k)
      if (k != read)
        domain = domain.intersect(box_set(ctx, program.box(made.reads[k].tensor)).preimage(made.reads[k].at));
    made.domain = domain;
  }
  std::vector<int> own;
  for (int d = 0; d < scope.dimensions(); ++d) own.push_back(d);
  const auto what = str(old.tensor, " of ", tensor, " as ", copy.tensor, "(", join(copy.iterators), ")");
  return {"change layout", what, with_scopes(program, tensor, {copy, reader}),
          by_cases(tensor, 1, projection(ctx, scope.dimensions(), own).flat_range_product(element))};
}

Step reorder_dimensions(const Program& program, const std::string& tensor, const std::vector<int>& order) {
  const auto& scope = changeable(program, tensor);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != left_dimensions(scope) || order == sorted) throw Refusal{"the order is no other one of the dimensions"};
  auto step =
      substitute_variables(program, tensor, projection(*program.context, scope.left(), order), names_of(scope, order));
  step.rule = "change layout";
  step.what = str(tensor, " as (", join(names_of(scope, order)), ")");
  return step;
}

}  // namespace tc::derive
