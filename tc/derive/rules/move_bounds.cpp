#include "tc/derive/rules/move_bounds.h"

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

namespace {

/// \p made, of which \p scope is the copy where it had elements.
Step copied(const Program& program, const Scope& scope, Scope made, const std::string& rule) {
  const isl::ctx ctx = *program.context;
  const auto left = left_dimensions(scope);
  const auto copy = copy_of(scope, made.tensor, projection(ctx, scope.left(), left), written_cells(scope));
  std::vector<int> kept = left;
  for (int d = 0; d < scope.dimensions(); ++d) kept.push_back(d);
  return {rule,
          scope.tensor,
          with_scopes(program, scope.tensor, {std::move(made), copy}),
          by_cases(scope.tensor, scope.cases.size(), projection(ctx, scope.dimensions(), kept)),
          {scope.tensor}};
}

}  // namespace

Step relax_bounds(const Program& program, const std::string& tensor) {
  const auto& scope = changeable(program, tensor);
  if (scope.cases.size() != 1) throw Refusal{"a scope of several cases has no bounds to relax"};
  Scope made = scope;
  made.tensor = fresh_tensor(program, "T");
  auto& part = made.cases[0];
  const auto whole = box_set(*program.context, iterator_box(scope)).intersect(reads_inside(program, part));
  if (whole.is_subset(part.domain)) throw Refusal{str("'", tensor, "' is computed in all of its box")};
  const auto cells = written_cells(scope);
  const auto writes = projection(*program.context, scope.dimensions(), left_dimensions(scope));
  if (!whole.intersect(cells.preimage(writes)).is_subset(part.domain))
    throw Refusal{str("elements of '", tensor, "' would be other sums")};
  part.domain = whole.coalesce();
  return copied(program, scope, std::move(made), "relax bounds");
}

Step tighten_bounds(const Program& program, const std::string& tensor) {
  const auto& scope = changeable(program, tensor);
  Scope made = scope;
  made.tensor = fresh_tensor(program, "T");
  made.box = hull(written_cells(scope));
  if (made.box == scope.box) throw Refusal{str("'", tensor, "' has no elements to leave out")};
  return copied(program, scope, std::move(made), "tighten bounds");
}

namespace {

template <typename F>
std::vector<Step> all_of(const Program& program, F&& rule) {
  std::vector<Step> result;
  for (const auto& scope : program.scopes) {
    if (program.is_output(scope->tensor)) continue;
    try {
      result.push_back(rule(program, scope->tensor));
    } catch (const Refusal&) {
    }
  }
  return result;
}

}  // namespace

std::vector<Step> relaxed_bounds(const Program& program) { return all_of(program, relax_bounds); }
std::vector<Step> tightened_bounds(const Program& program) { return all_of(program, tighten_bounds); }

}  // namespace tc::derive
