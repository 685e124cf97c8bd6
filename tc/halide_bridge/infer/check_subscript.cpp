#include <algorithm>

#include "tc/base/str.h"
#include "tc/halide_bridge/infer/infer_statement.h"
#include "tc/lang/syntax/print.h"

namespace tc::halide_bridge {

using Halide::Expr;
namespace ir = Halide::Internal;

namespace {

constexpr std::size_t most_sizes_in_a_plain_condition = 2;

/// Every value of \p ranges in its range.
std::vector<Expr> inside(const Environment& ranges) {
  std::vector<Expr> conditions;
  for (const auto& [name, bounds] : ranges) {
    const Expr value = ir::Variable::make(Halide::Int(64), name);
    if (bounds.min.defined()) conditions.push_back(bounds.min <= value);
    if (bounds.max.defined()) conditions.push_back(value <= bounds.max);
  }
  return conditions;
}

bool proved(DefState& state, const Subscript& subscript, const Environment& ranges, const Expr& claim) {
  std::vector<Expr> conditions = inside(ranges);
  conditions.insert(conditions.end(), subscript.guards.begin(), subscript.guards.end());
  conditions.push_back(!claim);
  return !state.checker.feasible(conditions);
}

/// \p ranges with nothing known of opaque values.
Environment without_types(Environment ranges) {
  for (auto& [name, bounds] : ranges)
    if (name.front() == '#') bounds = {};
  return ranges;
}

std::string describe(const Subscript& s) {
  return str("subscript ", s.dimension, " of ", s.tensor, ", '", lang::print(s.source), "'");
}

/// "i in [0, N), j in [0, M)"
std::string describe_ranges(const Subscript& s, const Environment& ranges, const SizeFacts& facts) {
  std::vector<std::string> parts;
  for (const std::string& name : s.iterators) parts.push_back(str(name, " in ", print(ranges.at(name), facts)));
  return join(parts);
}

/// `size >= 1` where that says the same as \p condition, else \p condition.
Expr plainer(DefState& state, const Expr& condition) {
  const Expr simple = state.facts.simplify(condition);
  const std::vector<std::string> sizes = variables(simple);
  if (sizes.size() > most_sizes_in_a_plain_condition) return simple;
  for (const std::string& size : sizes) {
    const Expr positive = ir::Variable::make(Halide::Int(64), size) >= constant(1);
    if (!state.prover.feasible({simple, !positive}) && !state.prover.feasible({positive, !simple})) return positive;
  }
  return simple;
}

/// The extents of \p ranges, loops around what \p condition protects, that may be 0 where it does not hold.
std::vector<Expr> extents_that_may_be_empty(DefState& state, const Expr& condition, const Environment& ranges) {
  std::vector<Expr> result;
  for (const auto& [name, bounds] : ranges) {
    if (name.front() == '#') continue;
    const Expr size = extent(bounds, state.facts);
    if (!ir::is_const(size) && state.prover.feasible({!condition, size == 0})) result.push_back(size);
  }
  return result;
}

/// What sizes must fulfil for \p claim about \p s to hold at all points, where none of \p extents is 0: \p condition, or what is
/// asked of fewer sizes, as guards, quotients and remainders let points be that the bounds of \p s do not know of.
Expr weakest(DefState& state, const Subscript& s, const Environment& ranges, const Expr& claim, const Expr& condition,
             const std::vector<Expr>& extents) {
  std::vector<Expr> outside = inside(ranges), given;
  outside.insert(outside.end(), s.guards.begin(), s.guards.end());
  outside.push_back(!claim);
  for (const Expr& extent : extents) given.push_back(extent >= 1);
  const auto exact = state.checker.condition_against(outside, state.def.sizes, given);
  if (!exact) return condition;
  const Expr simple = state.facts.simplify(*exact);
  given.insert(given.end(), {simple, !condition});
  return state.prover.feasible(given) ? simple : condition;
}

void check_at_run_time(DefState& state, const Subscript& s) {
  auto& checked = state.result.data_dependent;
  if (std::find(checked.begin(), checked.end(), s.access) == checked.end()) checked.push_back(s.access);
}

void report_outside(DefState& state, const Subscript& s, const Environment& ranges, const IndexBounds& box,
                    const Expr& condition) {
  const std::string where = describe_ranges(s, ranges, state.facts);
  std::string note = ir::is_const(condition)
                         ? ""
                         : str("it needs ", lang::print(to_lang(tidy_condition(condition))), ", which never holds");
  if (!where.empty()) note += (note.empty() ? "here " : "; here ") + where;
  const bool guarded = !s.guards.empty();
  const auto* negative = std::get_if<lang::Unary>(&s.source->node);
  const bool from_end = negative && std::holds_alternative<lang::IntLiteral>(negative->value->node);
  state.diagnostics.add(
      {.code = "TC204",
       .range = s.source->range,
       .message = str(describe(s), ", leaves ", print(box, state.facts),
                      ir::is_const(box.max) ? "" : " whatever the sizes are"),
       .label = str("must stay inside ", print(box, state.facts)),
       .note = note,
       .help = from_end  ? str("the last elements are at ", s.tensor, ".", s.dimension, " - 1 and before: write ",
                               s.tensor, ".", s.dimension, " - ", lang::print(negative->value))
               : guarded ? "the condition around the access does not keep it inside: make it stricter, or "
                           "Use a where clause with smaller ranges"
                         : "Use a where clause with smaller ranges, or guard the access by a condition"});
}

}  // namespace

bool is_never_read(DefState& state, const Subscript& subscript, const Environment& ranges) {
  auto conditions = inside(ranges);
  conditions.insert(conditions.end(), subscript.guards.begin(), subscript.guards.end());
  return !state.checker.feasible(conditions);
}

std::optional<bool> decide(DefState& state, const Expr& condition, const Environment& ranges) {
  const Expr simple = state.facts.simplify(condition);
  if (ir::is_const_one(simple)) return true;
  if (ir::is_const_zero(simple)) return false;
  const auto* equation = simple.as<ir::EQ>();
  if (equation && state.facts.proves_less_equal(equation->a, equation->b) &&
      state.facts.proves_less_equal(equation->b, equation->a))
    return true;
  std::vector<Expr> possible{simple}, counter{!simple};
  for (const auto& [name, bounds] : ranges) {
    if (name.front() == '#') continue;
    possible.push_back(bounds.min <= bounds.max + 1);
    counter.push_back(bounds.min <= bounds.max);
  }
  if (!state.prover.feasible(possible)) return false;
  if (!state.prover.feasible(counter)) return true;
  return std::nullopt;
}

void check_subscript(DefState& state, const Subscript& s, const Environment& ranges) {
  const auto& box = state.boxes.at(s.tensor);
  if (!box) return;
  const IndexBounds& allowed = (*box)[static_cast<std::size_t>(s.dimension)];
  const IndexBounds values = bounds_over(s.value, ranges, state.facts);
  const IndexBounds decidable = s.opaque ? bounds_over(s.value, without_types(ranges), state.facts) : values;
  const std::pair<Expr, Expr> sides[] = {{allowed.min, values.min}, {values.max, allowed.max}};
  const Expr claims[] = {allowed.min <= s.value, s.value <= allowed.max};
  for (int side = 0; side < 2; ++side) {
    const auto& [low, high] = sides[side];
    const bool bounded = low.defined() && high.defined();
    if (bounded && (ir::equal(low, high) || state.facts.proves_less_equal(low, high))) continue;
    if (proved(state, s, ranges, claims[side])) continue;
    const bool guard_may_hold = state.checker.gave_up() && !s.guards.empty();
    if (guard_may_hold || !(side == 0 ? decidable.min : decidable.max).defined()) return check_at_run_time(state, s);
    const Expr inside_box = side == 0 ? allowed.min <= decidable.min : decidable.max <= allowed.max;
    const auto known = decide(state, inside_box, ranges);
    if (known == true) continue;
    const Expr bound = known ? ir::const_false() : plainer(state, inside_box);
    const auto extents = extents_that_may_be_empty(state, bound, ranges);
    const Expr condition = weakest(state, s, ranges, claims[side], bound, extents);
    if (ir::is_const_zero(condition))
      return report_outside(state, s, ranges, allowed, state.facts.simplify(inside_box));
    state.require(condition, str(describe(s), ", must stay inside ", print(allowed, state.facts)), s.source->range,
                  extents);
  }
}

}  // namespace tc::halide_bridge
