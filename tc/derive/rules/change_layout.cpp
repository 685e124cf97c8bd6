#include "tc/derive/rules/change_layout.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/fuse.h"
#include "tc/derive/rules/substitute_variables.h"

namespace tc::derive {

namespace {

/// Of a tensor whose orders are tried.
constexpr int most_dimensions = 6;

}  // namespace

Step copy_operand(const Program& program, const std::string& tensor, std::size_t read, const std::vector<int>& order) {
  const auto& scope = changeable(program, tensor);
  if (scope.cases.size() != 1) throw Refusal{"an operand of one of several cases is not copied"};
  const isl::ctx ctx = *program.context;
  const auto& part = scope.cases[0];
  const auto old = part.reads.at(read);
  const auto ranges = iterator_box(scope);
  const int count = static_cast<int>(order.size());
  std::vector<std::string> values;
  for (int d = 0; d < scope.dimensions(); ++d) {
    const auto& range = ranges[static_cast<std::size_t>(d)];
    values.push_back(str(range.min));  // of an iterator of one value, and of others that the operand does not depend on
    if (range.extent > 1 && depends(old.at, d) && std::find(order.begin(), order.end(), d) == order.end())
      throw Refusal{"the copy lacks an iterator that the operand depends on"};
  }
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

namespace {

/// The left dimensions of \p scope in the order in which \p read subscripts them alone; nothing for another read.
std::optional<std::vector<int>> order_of(const Scope& scope, const Read& read) {
  const isl::ctx ctx = scope.cases[0].domain.ctx();
  auto order = left_dimensions(scope);
  if (read.tensor.empty() || read.at.size() != order.size()) return std::nullopt;
  do {
    if (read.at.plain_is_equal(projection(ctx, scope.dimensions(), order))) return order;
  } while (std::next_permutation(order.begin(), order.end()));
  return std::nullopt;
}

/// One step that follows an order, and what fuses its copy.
std::vector<Step> follow_an_order(const Program& program) {
  for (const auto& scope : program.scopes) {
    if (program.is_output(scope->tensor) || !scope->uniform || scope->cases.size() != 1 ||
        scope->left() > most_dimensions)
      continue;
    std::vector<std::vector<int>> orders;
    for (const auto k : reads_in(scope->cases[0].body))
      if (auto order = order_of(*scope, scope->cases[0].reads[k])) orders.push_back(std::move(*order));
    if (orders.empty() || std::count(orders.begin(), orders.end(), left_dimensions(*scope)) > 0) continue;
    try {
      std::vector<Step> steps{reorder_dimensions(program, scope->tensor, orders.front())};
      for (const auto& copy : std::vector<std::string>(steps.back().copies))
        steps.push_back(fuse(steps.back().after, copy));
      return steps;
    } catch (const Refusal&) {
    }
  }
  return {};
}

}  // namespace

std::vector<Step> follow_orders(const Program& program) {
  std::vector<Step> steps;
  for (;;) {
    auto more = follow_an_order(steps.empty() ? program : steps.back().after);
    if (more.empty()) return steps;
    for (auto& step : more) steps.push_back(std::move(step));
  }
}

}  // namespace tc::derive
