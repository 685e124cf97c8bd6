#include "tc/halide_bridge/infer/infer_statement.h"

#include <algorithm>
#include <functional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/infer/range_reports.h"
#include "tc/lang/syntax/print.h"

namespace tc::halide_bridge {

using Halide::Expr;
namespace ir = Halide::Internal;

namespace {

class StatementInference {
 public:
  StatementInference(DefState& state, const lang::Assignment& assignment, const lang::Assignment* later = nullptr,
                     bool in_loop = false)
      : state_(state),
        assignment_(assignment),
        in_loop_(in_loop),
        later_(later),
        left_(lang::left_iterators(assignment)),
        convert_([&state](const lang::SizeOf& size) { return size_of(state, size); }) {}

  void run();
  /// The range of each index on the left as far as the statement bounds it alone, before its tensor has a box.
  std::vector<std::optional<IndexBounds>> left_ranges();

 private:
  void name_iterators();
  void take_where_ranges();
  void rounds();
  bool round();
  void settle(const std::string& iterator, Solution solution);
  void take_target_extents();
  void take_later_ranges();
  void collect();
  void join_guarded();
  bool proved_inside(const Subscript& s) const;
  bool all_solved();
  void check();
  void check_target();
  void check_own();
  void note_size(const std::string& iterator, const Subscript& s);
  void infer();
  void check_annotation(const std::vector<IndexBounds>& box);
  void record();

  /// Is \p s of the target, whose box this statement decides: in `exists`, a read of the caller's buffer, or of an earlier
  /// iteration of a loop?
  bool waits_for_target(const Subscript& s) const {
    return (s.in_exists || in_loop_ || !assignment_.reduction) && s.tensor == assignment_.target && !target_box();
  }
  bool unsolved(const std::string& iterator) const { return ranges_.count(iterator) == 0; }
  const std::optional<std::vector<IndexBounds>>* target_box() const {
    auto found = state_.boxes.find(assignment_.target);
    return found == state_.boxes.end() ? nullptr : &found->second;
  }
  const lang::TensorDecl* annotation() const;

  DefState& state_;
  const lang::Assignment& assignment_;
  const bool in_loop_;
  const lang::Assignment* later_;
  std::vector<std::string> left_, iterators_;
  IndexConverter convert_;
  std::vector<Subscript> subscripts_;
  std::vector<const Subscript*> pending_, guarded_;
  std::vector<const Subscript*> own_;     ///< that wait for the target's box
  std::set<const Subscript*> satisfied_;  ///< inside their tensors because ranges were made so
  std::set<std::string> given_;           ///< iterators with a range in `where`
  Environment ranges_;                    ///< of solved iterators and opaque values
  IteratorSizes sizes_;
};

void StatementInference::name_iterators() {
  iterators_ = left_;
  auto add = [&](const std::string& name) {
    if (std::find(iterators_.begin(), iterators_.end(), name) == iterators_.end()) iterators_.push_back(name);
  };
  for (const auto& name : assignment_.reduction_iterators) add(name);
  for (const auto& clause : assignment_.clauses)
    if (auto* range = std::get_if<lang::RangeClause>(&clause.node)) add(range->index);
}

void StatementInference::take_where_ranges() {
  for (const auto& clause : assignment_.clauses) {
    auto* range = std::get_if<lang::RangeClause>(&clause.node);
    if (!range) continue;
    IndexBounds bounds{state_.facts.simplify(convert_(range->low)), state_.facts.simplify(convert_(range->high) - 1)};
    for (const Expr& end : {bounds.min, bounds.max}) {
      for (const std::string& name : variables(end)) {
        if (std::find(state_.def.sizes.begin(), state_.def.sizes.end(), name) != state_.def.sizes.end()) continue;
        state_.diagnostics.add({.code = "TC207",
                                .range = clause.range,
                                .message = str("the range of '", range->index, "' is not an expression over sizes"),
                                .help = "bounds hold sizes, constants, + - * / min and max only"});
        bounds = {constant(0), constant(0)};
        break;
      }
    }
    auto& known = ranges_[range->index];
    if (known.min.defined())
      bounds = {state_.facts.simplify(Halide::max(bounds.min, known.min)),
                state_.facts.simplify(Halide::min(bounds.max, known.max))};
    known = bounds;
    given_.insert(range->index);
  }
}

/// Fixes the range of a solved iterator: from 0 if nothing bounds it below, inside the box its tensor has already.
void StatementInference::settle(const std::string& iterator, Solution solution) {
  IndexBounds& bounds = solution.bounds;
  if (!bounds.min.defined()) bounds.min = constant(0);
  const auto* box = target_box();
  const auto at = std::find(left_.begin(), left_.end(), iterator);
  if (box && *box && at != left_.end()) {
    const IndexBounds& outer = (**box)[static_cast<std::size_t>(at - left_.begin())];
    bounds = {Halide::max(bounds.min, outer.min), Halide::min(bounds.max, outer.max)};
  }
  ranges_[iterator] = {state_.facts.simplify(bounds.min), state_.facts.simplify(bounds.max)};
  for (const Expr& assumption : solution.assumptions)
    state_.require(assumption, str("a stride of index '", iterator, "' must be at least 1"),
                   place_of(assignment_, iterator));
}

/// Solves every iterator that is the only unknown of a pending subscript; all solutions of a round are intersected.
bool StatementInference::round() {
  std::map<std::string, Solution> found;
  std::map<std::string, std::vector<const Subscript*>> used;
  for (const Subscript* s : pending_) {
    state_.cancellation.check("range inference");
    const auto& box = state_.boxes.at(s->tensor);
    if (!box || std::count_if(s->iterators.begin(), s->iterators.end(), [&](auto& i) { return unsolved(i); }) != 1)
      continue;
    const auto unknown = *std::find_if(s->iterators.begin(), s->iterators.end(), [&](auto& i) { return unsolved(i); });
    const auto solution =
        solve_for(unknown, s->value, (*box)[static_cast<std::size_t>(s->dimension)], ranges_, state_.facts);
    if (!solution) continue;
    if (solution->complete) used[unknown].push_back(s);
    Solution& all = found[unknown];
    const auto& [low, high] = solution->bounds;
    auto& [least, most] = all.bounds;
    if (low.defined()) least = least.defined() ? state_.facts.simplify(Halide::max(least, low)) : low;
    if (high.defined()) most = most.defined() ? state_.facts.simplify(Halide::min(most, high)) : high;
    all.assumptions.insert(all.assumptions.end(), solution->assumptions.begin(), solution->assumptions.end());
    note_size(unknown, *s);
  }
  bool progress = false;
  for (auto& [iterator, solution] : found) {
    if (!solution.bounds.max.defined()) continue;
    settle(iterator, solution);
    satisfied_.insert(used[iterator].begin(), used[iterator].end());
    progress = true;
  }
  return progress;
}

void StatementInference::rounds() {
  while (round()) {
  }
}

const lang::TensorDecl* StatementInference::annotation() const {
  for (const auto& decl : state_.def.returns)
    if (decl.name == assignment_.target && decl.dims) return &decl;
  return nullptr;
}

/// Gives left-hand iterators that no subscript settles the extent their tensor has already or is declared with.
void StatementInference::take_target_extents() {
  const auto* box = target_box();
  const auto* decl = annotation();
  for (std::size_t d = 0; d < left_.size(); ++d) {
    if (!unsolved(left_[d])) continue;
    if (box && *box)
      ranges_[left_[d]] = (**box)[d];
    else if (!box && decl && d < decl->dims->size())
      ranges_[left_[d]] = {constant(0), state_.facts.simplify(convert_((*decl->dims)[d]) - 1)};
  }
}

void StatementInference::take_later_ranges() {
  if (!later_ || target_box()) return;
  const auto ranges = StatementInference(state_, *later_).left_ranges();
  for (std::size_t d = 0; d < left_.size() && d < ranges.size(); ++d)
    if (unsolved(left_[d]) && ranges[d]) ranges_[left_[d]] = *ranges[d];
}

std::vector<std::optional<IndexBounds>> StatementInference::left_ranges() {
  collect();
  rounds();
  std::vector<std::optional<IndexBounds>> result;
  for (const auto& iterator : left_)
    result.push_back(unsolved(iterator) ? std::nullopt : std::optional(ranges_.at(iterator)));
  return result;
}

bool StatementInference::proved_inside(const Subscript& s) const {
  const auto& box = state_.boxes.at(s.tensor);
  if (!box) return true;
  const IndexBounds& allowed = (*box)[static_cast<std::size_t>(s.dimension)];
  std::vector<Expr> conditions = s.guards;
  for (const auto& [name, bounds] : ranges_) {
    const Expr value = ir::Variable::make(Halide::Int(64), name);
    if (bounds.min.defined()) conditions.push_back(bounds.min <= value);
    if (bounds.max.defined()) conditions.push_back(value <= bounds.max);
  }
  conditions.push_back(!(allowed.min <= s.value && s.value <= allowed.max));
  return !state_.prover.feasible(conditions);
}

/// Lets the guarded subscripts that are not proved inside take part in the rounds.
void StatementInference::join_guarded() {
  std::vector<const Subscript*> joining;
  for (const Subscript* s : guarded_) {
    const bool matters = std::any_of(s->iterators.begin(), s->iterators.end(), [&](auto& i) { return unsolved(i); });
    if (matters && !proved_inside(*s)) joining.push_back(s);
  }
  pending_.insert(pending_.end(), joining.begin(), joining.end());
}

/// Reports iterators without a range, unless an earlier error may be the reason.
bool StatementInference::all_solved() {
  std::vector<std::string> blamed;
  for (const auto& iterator : iterators_)
    if (unsolved(iterator)) blamed.push_back(iterator);
  bool excused = target_box() && !*target_box();
  for (const Subscript& s : subscripts_) excused = excused || (!waits_for_target(s) && !state_.boxes.at(s.tensor));
  if (!blamed.empty() && !excused) report_unsolved(state_, assignment_, blamed, subscripts_, pending_);
  return blamed.empty();
}

void StatementInference::check_annotation(const std::vector<IndexBounds>& box) {
  const auto* decl = annotation();
  if (!decl || decl->dims->size() != box.size()) return;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const Expr declared = state_.facts.simplify(convert_((*decl->dims)[d])), inferred = extent(box[d], state_.facts);
    if (ir::equal(declared, inferred)) continue;
    const auto known = decide(state_, declared == inferred, {});
    if (known == true) continue;
    const std::string text = str("dimension ", d, " of ", decl->name, " is declared ", lang::print((*decl->dims)[d]),
                                 " but its elements are ", print(box[d], state_.facts));
    if (known == false)
      state_.diagnostics.add({.code = "TC205",
                              .range = (*decl->dims)[d]->range,
                              .message = text,
                              .label = "declared here",
                              .also = {{assignment_.target_range, "first assigned here"}},
                              .help = "declare the inferred size, or Use a where clause that gives the declared one"});
    else
      state_.require(declared == inferred, text, (*decl->dims)[d]->range);
  }
}

/// Keeps in mind that the extent of what \p iterator subscripts is a size of its own.
void StatementInference::note_size(const std::string& iterator, const Subscript& s) {
  if (!s.bare) return;
  const auto& box = (*state_.boxes.at(s.tensor))[static_cast<std::size_t>(s.dimension)];
  const Expr size = extent(box, state_.facts);
  if (const auto* name = size.as<ir::Variable>()) sizes_[iterator].emplace(name->name, &s);
}

void StatementInference::check() {
  const auto& place = state_.def.range;
  const auto& own = assignment_.target_range;
  const bool is_written = place.begin <= own.begin && own.end <= place.end;
  if (is_written) warn_of_sizes(state_, sizes_, given_);
  for (const auto& iterator : iterators_) {
    const IndexBounds& bounds = ranges_.at(iterator);
    if (decide(state_, bounds.min <= bounds.max + 1, {}) != false) continue;
    state_.diagnostics.add({.code = "TC203",
                            .range = place_of(assignment_, iterator),
                            .message = str("the range of index '", iterator, "' is ", print(bounds, state_.facts),
                                           ", which ends before it begins"),
                            .label = str("extent ", lang::print(to_lang(extent(bounds, state_.facts)))),
                            .help = "Use a where clause low:high with low <= high"});
    return;
  }
  for (const Subscript& s : subscripts_)
    if (!satisfied_.count(&s) && !waits_for_target(s)) check_subscript(state_, s, ranges_);
  if (is_written)
    for (const Subscript& s : subscripts_) warn_of_unread(state_, s, ranges_, given_);
  check_target();
}

/// The elements that a scatter writes lie in the box that the statement gives its target.
void StatementInference::check_own() {
  for (const Subscript* s : own_) check_subscript(state_, *s, ranges_);
}

/// Elements that are written lie in the box that the target has already. A sum over nothing writes them too, so nothing
/// is known of the reduction's indices.
void StatementInference::check_target() {
  const auto* box = target_box();
  Environment written;
  for (const auto& iterator : left_) written[iterator] = ranges_.at(iterator);
  for (std::size_t d = 0; box && *box && d < left_.size(); ++d) {
    if (!given_.count(left_[d])) continue;
    Subscript s{nullptr,
                assignment_.target,
                static_cast<int>(d),
                assignment_.subscripts[d],
                convert_(assignment_.subscripts[d]),
                {},
                {left_[d]}};
    check_subscript(state_, s, written);
  }
}

void StatementInference::record() {
  auto& entry = state_.result.statements.back();
  std::vector<IndexBounds> box;
  for (const auto& iterator : iterators_) entry[iterator] = to_range(ranges_.at(iterator), state_.facts);
  for (const auto& iterator : given_) state_.checker.assume(ranges_.at(iterator).min <= ranges_.at(iterator).max + 1);
  const bool is_announced = state_.announced.erase(assignment_.target) > 0;
  if (target_box() && !is_announced) return;
  for (const auto& iterator : left_) box.push_back(ranges_.at(iterator));
  check_annotation(box);
  state_.boxes[assignment_.target] = box;
}

void StatementInference::run() {
  state_.result.statements.emplace_back();
  try {
    infer();
  } catch (const TooComplicated&) {
    report_too_complicated(state_, assignment_);
    if (!target_box()) state_.boxes[assignment_.target] = std::nullopt;
  }
}

/// The iterators, their ranges in `where` and the subscripts that bound them.
void StatementInference::collect() {
  name_iterators();
  take_where_ranges();
  subscripts_ = collect_subscripts(assignment_, iterators_, convert_);
  for (const auto& value : convert_.opaque()) ranges_[value.name] = value.bounds;
  for (const Subscript& s : subscripts_) {
    if (waits_for_target(s)) {
      own_.push_back(&s);
      continue;
    }
    if (!state_.boxes.count(s.tensor)) {
      if (s.tensor == assignment_.target) continue;
      report_missing_target(state_, s);
    }
    const bool waits = !s.guards.empty() && !(s.bare && !given_.count(s.iterators[0]));
    if (!s.opaque) (waits ? guarded_ : pending_).push_back(&s);
  }
}

void StatementInference::infer() {
  collect();
  rounds();
  take_target_extents();
  take_later_ranges();
  rounds();
  join_guarded();
  rounds();
  if (all_solved()) {
    check();
    record();
    check_own();
  } else if (!target_box()) {
    state_.boxes[assignment_.target] = std::nullopt;
  }
}

/// Does anything of \p assignment but reads of its own target mention the index \p id of its left?
bool is_bounded(const lang::Assignment& assignment, const std::string& id) {
  const std::function<bool(const lang::ExprPtr&)> mentions = [&](const lang::ExprPtr& e) {
    if (const auto* name = std::get_if<lang::Name>(&e->node)) return name->id == id;
    const auto* access = std::get_if<lang::Access>(&e->node);
    if (access && access->tensor == assignment.target) return false;
    const auto parts = lang::children(e);
    return std::any_of(parts.begin(), parts.end(), mentions);
  };
  return mentions(assignment.rhs) ||
         std::any_of(assignment.clauses.begin(), assignment.clauses.end(), [&](const lang::Clause& clause) {
           return std::visit(overloaded{[&](const lang::RangeClause& x) { return x.index == id; },
                                        [&](const lang::LetClause& x) { return mentions(x.value); },
                                        [&](const lang::ExistsClause& x) {
                                          const auto parts = lang::children(x.value);
                                          return std::any_of(parts.begin(), parts.end(), mentions);
                                        }},
                             clause.node);
         });
}

}  // namespace

bool waits_for_later(const DefState& state, const lang::Assignment& assignment) {
  const bool is_declared = std::any_of(state.def.returns.begin(), state.def.returns.end(),
                                       [&](const auto& decl) { return decl.name == assignment.target && decl.dims; });
  if (state.boxes.count(assignment.target) || is_declared) return false;
  const auto left = lang::left_iterators(assignment);
  return std::any_of(left.begin(), left.end(), [&](const auto& index) { return !is_bounded(assignment, index); });
}

bool gives_ranges(DefState& state, const lang::Assignment& assignment, const lang::Assignment& later) {
  const auto left = lang::left_iterators(assignment);
  try {
    const auto ranges = StatementInference(state, later).left_ranges();
    for (std::size_t d = 0; d < left.size(); ++d)
      if (!is_bounded(assignment, left[d]) && (d >= ranges.size() || !ranges[d])) return false;
  } catch (const TooComplicated&) {
    return false;
  }
  return true;
}

void infer_statement(DefState& state, const lang::Statement& statement, const lang::Assignment* later) {
  if (auto* assignment = std::get_if<lang::Assignment>(&statement.node))
    StatementInference(state, *assignment, later, !statement.loops.empty()).run();
  else
    throw InternalError("infer_ranges: calls must be inlined before");
}

}  // namespace tc::halide_bridge
