#include "tc/halide_bridge/infer/range_reports.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/scatter.h"

namespace tc::halide_bridge {

lang::SourceRange place_of(const lang::Assignment& assignment, const std::string& iterator) {
  lang::SourceRange place = assignment.target_range;
  bool found = false;
  auto look = [&](const lang::ExprPtr& root) {
    lang::for_each_expr(root, [&](const lang::ExprPtr& e) {
      auto* name = std::get_if<lang::Name>(&e->node);
      if (found || !name || name->id != iterator) return;
      place = e->range;
      found = true;
    });
  };
  for (const auto& subscript : assignment.subscripts) look(subscript);
  look(assignment.rhs);
  return place;
}

void report_missing_target(DefState& state, const Subscript& s) {
  state.diagnostics.add({.code = "TC206",
                         .range = s.access->range,
                         .message = str("'", s.tensor, "' is read before anything is assigned to it"),
                         .help = str("assign to '", s.tensor, "' in an earlier statement, or make it a parameter")});
  state.boxes[s.tensor] = std::nullopt;
}

void report_too_complicated(DefState& state, const lang::Assignment& assignment) {
  state.diagnostics.add(
      {.code = "TC209",
       .range = assignment.target_range,
       .message = "the ranges of this statement are too complicated",
       .note = "what bounds its indices, written out over sizes, is too large to be compared or exceeds 64 bits",
       .help = "Use a where clause with plain bounds, or split the statement"});
}

namespace {

bool is_return(const DefState& state, const std::string& tensor) {
  return std::any_of(state.def.returns.begin(), state.def.returns.end(),
                     [&](const lang::TensorDecl& decl) { return decl.name == tensor; });
}

/// Does a range of \p assignment that differs by instance, written out as a condition, name \p index?
bool has_instance_range(const lang::Assignment& assignment, const std::string& index) {
  const auto* select = std::get_if<lang::Select>(&assignment.rhs->node);
  bool result = false;
  if (!select || !assignment.reduction) return result;
  lang::for_each_expr(select->condition, [&](const lang::ExprPtr& e) {
    const auto* name = std::get_if<lang::Name>(&e->node);
    result = result || (name && name->id == index);
  });
  return result;
}

/// How to give \p index of \p assignment a range.
std::string ways_to_bound(const DefState& state, const lang::Assignment& assignment, const std::string& index,
                          bool is_left) {
  if (!is_left && has_instance_range(assignment, index))
    return str("bounds of other indices and of elements need a largest range: name a tensor that '", index,
               "' subscripts, for example 'exists X(", index,
               ")' in the where clause, or write the bounds as a condition "
               "and 'where ",
               index, " in 0:10'");
  return str("Use a where clause, for example 'where ", index, " in 0:10'",
             is_left && is_return(state, assignment.target)
                 ? str(", or declare the sizes of '", assignment.target, "' where the returns are")
                 : "");
}

/// Reports \p index as unsolved if it stands for an expression on the left of a scatter; false if it does not.
bool report_unknown_rows(DefState& state, const lang::Assignment& assignment, const std::string& index) {
  const auto scatter = lang::as_scatter(assignment);
  const auto left = lang::left_iterators(assignment);
  const auto d = static_cast<std::size_t>(std::find(left.begin(), left.end(), index) - left.begin());
  if (!scatter || d == left.size() || lang::equal(scatter->subscripts[d], assignment.subscripts[d])) return false;
  state.diagnostics.add(
      {.code = "TC201",
       .range = scatter->subscripts[d]->range,
       .message = str("the size of dimension ", d, " of '", assignment.target, "' is not known"),
       .label = "says where values go, not how many elements there are",
       .help = str(is_return(state, assignment.target)
                       ? str("declare the sizes of '", assignment.target, "' where the returns are, or ")
                       : "",
                   "assign to all of it before, for example ", assignment.target, "(", join(left), ") = 0 where ",
                   index, " in 0:N")});
  return true;
}

}  // namespace

void report_unsolved(DefState& state, const lang::Assignment& assignment, const std::vector<std::string>& iterators,
                     const std::vector<Subscript>& subscripts, const std::vector<const Subscript*>& solved_for) {
  const auto left_iterators = lang::left_iterators(assignment);
  std::vector<std::string> ambiguous, conditions;
  for (const auto& iterator : iterators) {
    bool used = false;
    for (const Subscript& s : subscripts) {
      if (s.opaque || !state.boxes.count(s.tensor) ||
          std::find(s.iterators.begin(), s.iterators.end(), iterator) == s.iterators.end())
        continue;
      used = true;
      const std::string text =
          str("'", lang::print(s.source), "' in ",
              print((*state.boxes.at(s.tensor))[static_cast<std::size_t>(s.dimension)], state.facts),
              std::find(solved_for.begin(), solved_for.end(), &s) == solved_for.end()
                  ? " (held by its condition, which bounds no index)"
                  : "");
      if (std::find(conditions.begin(), conditions.end(), text) == conditions.end()) conditions.push_back(text);
    }
    if (used) {
      ambiguous.push_back(iterator);
      continue;
    }
    if (report_unknown_rows(state, assignment, iterator)) continue;
    const bool left = std::find(left_iterators.begin(), left_iterators.end(), iterator) != left_iterators.end();
    state.diagnostics.add({.code = "TC201",
                           .range = place_of(assignment, iterator),
                           .message = str("index '", iterator, "' has no range"),
                           .label = left ? "no subscript of a read bounds it" : "no subscript bounds it",
                           .help = ways_to_bound(state, assignment, iterator, left)});
  }
  if (ambiguous.empty()) return;
  std::vector<lang::Label> also;
  for (std::size_t i = 1; i < ambiguous.size(); ++i)
    also.push_back({place_of(assignment, ambiguous[i]), str("and '", ambiguous[i], "'")});
  const std::string names = str("'", join(ambiguous, "', '"), "'");
  state.diagnostics.add({.code = "TC202",
                         .range = place_of(assignment, ambiguous[0]),
                         .message = str(ambiguous.size() == 1 ? "the range of index " : "the ranges of indices ", names,
                                        ambiguous.size() == 1 ? " is ambiguous" : " are ambiguous"),
                         .label = "no range follows from the subscripts",
                         .also = also,
                         .note = str("the subscripts say only: ", join(conditions)),
                         .help = str("Use a where clause, for example 'where ", ambiguous.back(), " in 0:10'")});
}

void warn_of_sizes(DefState& state, const IteratorSizes& sizes_of, const std::set<std::string>& given) {
  for (const auto& [iterator, sizes] : sizes_of) {
    if (sizes.size() < 2 || given.count(iterator)) continue;
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
    state.diagnostics.add(
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

void warn_of_unread(DefState& state, const Subscript& subscript, const Environment& ranges,
                    const std::set<std::string>& given) {
  std::set<std::string> guarded;
  for (const auto& guard : subscript.guards)
    for (const auto& name : variables(guard)) guarded.insert(name);
  const auto inferred = std::find_if(subscript.iterators.begin(), subscript.iterators.end(),
                                     [&](const auto& name) { return !given.count(name) && guarded.count(name); });
  const bool is_first = subscript.dimension == 0 && !subscript.in_exists;
  if (subscript.guards.empty() || subscript.opaque || !is_first || inferred == subscript.iterators.end()) return;
  if (!is_never_read(state, subscript, ranges)) return;
  state.diagnostics.add(
      {.code = "TC211",
       .range = subscript.access->range,
       .message = str("no element of '", subscript.tensor, "' is read here, because the condition holds for no '",
                      *inferred, "' in ", print(ranges.at(*inferred), state.facts)),
       .note = str("the range of '", *inferred, "' follows from the other accesses"),
       .help = str("write the range that is meant, for example 'where ", *inferred, " in 0:...'"),
       .is_error = false});
}

}  // namespace tc::halide_bridge
