#include "tc/halide_bridge/infer/infer_statement.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::halide_bridge {

using Halide::Expr;
namespace ir = Halide::Internal;

namespace {

Expr extent(const IndexBounds& b, const SizeFacts& facts) { return facts.simplify(b.max - b.min + 1); }

class StatementInference {
 public:
  StatementInference(DefState& state, const lang::Assignment& assignment)
      : state_(state),
        assignment_(assignment),
        left_(lang::left_iterators(assignment)),
        convert_([&state](const lang::SizeOf& size) { return size_of(state, size); }) {}

  void run();

 private:
  void name_iterators();
  void take_where_ranges();
  void rounds();
  bool round();
  void settle(const std::string& iterator, Solution solution);
  void take_target_extents();
  void join_guarded();
  bool proved_inside(const Subscript& s) const;
  void report_missing_target(const Subscript& s);
  bool all_solved();
  void report_unsolved(const std::vector<std::string>& iterators);
  void check();
  void check_target();
  void note_size(const std::string& iterator, const Subscript& s);
  void warn_of_sizes() const;
  void report_too_complicated();
  void infer();
  void check_annotation(const std::vector<IndexBounds>& box);
  void record();

  bool unsolved(const std::string& iterator) const { return ranges_.count(iterator) == 0; }
  const std::optional<std::vector<IndexBounds>>* target_box() const {
    auto found = state_.boxes.find(assignment_.target);
    return found == state_.boxes.end() ? nullptr : &found->second;
  }
  const lang::TensorDecl* annotation() const;
  lang::SourceRange place_of(const std::string& iterator) const;

  DefState& state_;
  const lang::Assignment& assignment_;
  std::vector<std::string> left_, iterators_;
  IndexConverter convert_;
  std::vector<Subscript> subscripts_;
  std::vector<const Subscript*> pending_, guarded_;
  std::set<const Subscript*> satisfied_;  ///< inside their tensors because ranges were made so
  std::set<std::string> given_;           ///< iterators with a range in `where`
  Environment ranges_;                    ///< of solved iterators and opaque values
  /// The sizes that stand alone as extents of what an iterator subscripts by itself, with where they do.
  std::map<std::string, std::map<std::string, const Subscript*>> sizes_;
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

void StatementInference::report_missing_target(const Subscript& s) {
  state_.diagnostics.add({.code = "TC206",
                          .range = s.access->range,
                          .message = str("'", s.tensor, "' is read before anything is assigned to it"),
                          .help = str("assign to '", s.tensor, "' in an earlier statement, or make it a parameter")});
  state_.boxes[s.tensor] = std::nullopt;
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
    state_.require(assumption, str("a stride of index '", iterator, "' must be at least 1"), place_of(iterator));
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

lang::SourceRange StatementInference::place_of(const std::string& iterator) const {
  lang::SourceRange place = assignment_.target_range;
  bool found = false;
  auto look = [&](const lang::ExprPtr& root) {
    lang::for_each_expr(root, [&](const lang::ExprPtr& e) {
      auto* name = std::get_if<lang::Name>(&e->node);
      if (found || !name || name->id != iterator) return;
      place = e->range;
      found = true;
    });
  };
  for (const auto& subscript : assignment_.subscripts) look(subscript);
  look(assignment_.rhs);
  return place;
}

/// One error for the iterators nothing constrains, each its own, and one for those that depend on one another.
void StatementInference::report_unsolved(const std::vector<std::string>& iterators) {
  std::vector<std::string> ambiguous, conditions;
  for (const auto& iterator : iterators) {
    bool used = false;
    for (const Subscript& s : subscripts_) {
      if (s.opaque || std::find(s.iterators.begin(), s.iterators.end(), iterator) == s.iterators.end()) continue;
      used = true;
      const std::string text =
          str("'", lang::print(s.source), "' in ",
              print((*state_.boxes.at(s.tensor))[static_cast<std::size_t>(s.dimension)], state_.facts),
              std::find(pending_.begin(), pending_.end(), &s) == pending_.end()
                  ? " (held by its condition, which bounds no index)"
                  : "");
      if (std::find(conditions.begin(), conditions.end(), text) == conditions.end()) conditions.push_back(text);
    }
    if (used) {
      ambiguous.push_back(iterator);
      continue;
    }
    const bool left = std::find(left_.begin(), left_.end(), iterator) != left_.end();
    state_.diagnostics.add({.code = "TC201",
                            .range = place_of(iterator),
                            .message = str("index '", iterator, "' has no range"),
                            .label = left ? "no subscript of a read bounds it" : "no subscript bounds it",
                            .help = str("Use a where clause, for example 'where ", iterator, " in 0:10'",
                                        left ? str(", or declare the sizes of '", assignment_.target, "'") : "")});
  }
  if (ambiguous.empty()) return;
  std::vector<lang::Label> also;
  for (std::size_t i = 1; i < ambiguous.size(); ++i)
    also.push_back({place_of(ambiguous[i]), str("and '", ambiguous[i], "'")});
  const std::string names = str("'", join(ambiguous, "', '"), "'");
  state_.diagnostics.add({.code = "TC202",
                          .range = place_of(ambiguous[0]),
                          .message = str(ambiguous.size() == 1 ? "the range of index " : "the ranges of indices ",
                                         names, ambiguous.size() == 1 ? " is ambiguous" : " are ambiguous"),
                          .label = "no range follows from the subscripts",
                          .also = also,
                          .note = str("the subscripts say only: ", join(conditions)),
                          .help = str("Use a where clause, for example 'where ", ambiguous.back(), " in 0:10'")});
}

/// Reports iterators without a range, unless an earlier error may be the reason.
bool StatementInference::all_solved() {
  std::vector<std::string> blamed;
  for (const auto& iterator : iterators_)
    if (unsolved(iterator)) blamed.push_back(iterator);
  bool excused = target_box() && !*target_box();
  for (const Subscript& s : subscripts_) excused = excused || !state_.boxes.at(s.tensor);
  if (!blamed.empty() && !excused) report_unsolved(blamed);
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

/// An index that takes the smaller of two sizes seldom means to.
void StatementInference::warn_of_sizes() const {
  for (const auto& [iterator, sizes] : sizes_) {
    if (sizes.size() < 2 || given_.count(iterator)) continue;
    std::vector<std::string> names;
    std::vector<lang::Label> also;
    for (const auto& [name, subscript] : sizes) {
      names.push_back(name);
      also.push_back({subscript->source->range,
                      str("dimension ", subscript->dimension, " of '", subscript->tensor, "' has the size ", name)});
    }
    const std::string last = names.back(), list = join(names);
    names.pop_back();
    const lang::Label first = also.front();
    also.erase(also.begin());
    state_.diagnostics.add(
        {.code = "TC210",
         .range = first.range,
         .message = str("the index '", iterator, "' runs over the smaller of the sizes ", join(names), " and ", last),
         .label = first.text,
         .also = also,
         .help =
             str("give these dimensions one name if they are equal, or exchange the subscripts if they are meant for "
                 "other ones; 'where ",
                 iterator, " in 0:", sizes.size() == 2 ? str("min(", list, ")") : "...", "' says that it is meant"),
         .is_error = false});
  }
}

void StatementInference::check() {
  const auto& place = state_.def.range;
  const auto& own = assignment_.target_range;
  if (place.begin <= own.begin && own.end <= place.end) warn_of_sizes();
  for (const auto& iterator : iterators_) {
    const IndexBounds& bounds = ranges_.at(iterator);
    if (decide(state_, bounds.min <= bounds.max + 1, {}) != false) continue;
    state_.diagnostics.add({.code = "TC203",
                            .range = place_of(iterator),
                            .message = str("the range of index '", iterator, "' is ", print(bounds, state_.facts),
                                           ", which ends before it begins"),
                            .label = str("extent ", lang::print(to_lang(extent(bounds, state_.facts)))),
                            .help = "Use a where clause low:high with low <= high"});
    return;
  }
  for (const Subscript& s : subscripts_)
    if (!satisfied_.count(&s)) check_subscript(state_, s, ranges_);
  check_target();
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
  if (target_box()) return;
  for (const auto& iterator : left_) box.push_back(ranges_.at(iterator));
  check_annotation(box);
  state_.boxes[assignment_.target] = box;
}

void StatementInference::report_too_complicated() {
  state_.diagnostics.add(
      {.code = "TC209",
       .range = assignment_.target_range,
       .message = "the ranges of this statement are too complicated",
       .note = "what bounds its indices, written out over sizes, is too large to be compared or exceeds 64 bits",
       .help = "Use a where clause with plain bounds, or split the statement"});
  if (!target_box()) state_.boxes[assignment_.target] = std::nullopt;
}

void StatementInference::run() {
  state_.result.statements.emplace_back();
  try {
    infer();
  } catch (const TooComplicated&) {
    report_too_complicated();
  }
}

void StatementInference::infer() {
  name_iterators();
  take_where_ranges();
  subscripts_ = collect_subscripts(assignment_, iterators_, convert_);
  for (const auto& value : convert_.opaque()) ranges_[value.name] = value.bounds;
  for (const Subscript& s : subscripts_) {
    if (!state_.boxes.count(s.tensor)) report_missing_target(s);
    const bool waits = !s.guards.empty() && !(s.bare && !given_.count(s.iterators[0]));
    if (!s.opaque) (waits ? guarded_ : pending_).push_back(&s);
  }
  rounds();
  take_target_extents();
  rounds();
  join_guarded();
  rounds();
  if (all_solved()) {
    check();
    record();
  } else if (!target_box()) {
    state_.boxes[assignment_.target] = std::nullopt;
  }
}

}  // namespace

void DefState::require(const Expr& condition, const std::string& reason, lang::SourceRange range) {
  const lang::ExprPtr tree = to_lang(tidy_condition(facts.simplify(condition)));
  if (conditions.insert(lang::print(tree)).second) result.preconditions.push_back({tree, reason, range});
}

lang::Range to_range(const IndexBounds& bounds, const SizeFacts& facts) {
  return {to_lang(bounds.min), to_lang(extent(bounds, facts))};
}

std::string print(const IndexBounds& bounds, const SizeFacts& facts) {
  return str("[", lang::print(to_lang(bounds.min)), ", ", lang::print(to_lang(facts.simplify(bounds.max + 1))), ")");
}

Expr size_of(const DefState& state, const lang::SizeOf& size) {
  auto found = state.boxes.find(size.tensor);
  if (found == state.boxes.end() || !found->second) return constant(0);
  return extent((*found->second)[static_cast<std::size_t>(size.dimension)], state.facts);
}

void infer_statement(DefState& state, const lang::Statement& statement) {
  if (auto* assignment = std::get_if<lang::Assignment>(&statement.node))
    StatementInference(state, *assignment).run();
  else
    throw InternalError("infer_ranges: calls must be inlined before");
}

}  // namespace tc::halide_bridge
