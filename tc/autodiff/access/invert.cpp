#include "tc/autodiff/access/invert.h"

#include <algorithm>
#include <utility>

#include "tc/autodiff/access/solve_accesses.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/autodiff/terms/free_letters.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/scatter.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// The iterator that \p subscript is, or nothing.
const std::string* lone_iterator(const ExprPtr& subscript) {
  const auto* name = std::get_if<Name>(&subscript->node);
  return name ? &name->id : nullptr;
}

/// Names for coordinates and residues in place of those the solver made.
Renaming final_names(const ReadAccess& read, const Solved& solved, const InverseNames& names) {
  FreeLetters letters("pqrstuvwxyzabcdefghijklmno", names.taken);
  for (const auto& range : solved.reduction) letters.take(range.name);
  Renaming result;
  for (std::size_t d = 0; d < read.subscripts.size(); ++d) {
    const std::string* iterator = lone_iterator(read.subscripts[d]);
    const auto value = iterator ? solved.values.find(*iterator) : solved.values.end();
    if (value == solved.values.end() || print(value->second) != coordinate_name(d)) continue;
    if (letters.take(*iterator)) result[coordinate_name(d)] = index_name(*iterator);
  }
  for (std::size_t d = 0; d < read.subscripts.size(); ++d) {
    if (result.count(coordinate_name(d))) continue;
    result[coordinate_name(d)] = index_name(letters.next());
  }
  for (const auto& range : solved.reduction)
    if (is_made_name(range.name)) result[range.name] = index_name(letters.next());
  return result;
}

std::string name_of(const ExprPtr& name) { return std::get<Name>(name->node).id; }

Inverse named(const ReadAccess& read, const Solved& solved, const InverseNames& names) {
  const Renaming final = final_names(read, solved, names);
  Inverse inverse;
  inverse.by_guard = solved.by_guard;
  for (std::size_t d = 0; d < read.subscripts.size(); ++d)
    inverse.coordinates.push_back(name_of(final.at(coordinate_name(d))));
  for (IteratorRange range : solved.reduction) {
    if (auto found = final.find(range.name); found != final.end()) range.name = name_of(found->second);
    inverse.reduction.push_back(range);
  }
  const auto settle = [&](const ExprPtr& expr) { return replace_names(expr, final); };
  for (const auto& [iterator, value] : solved.values) inverse.values[iterator] = settle(value);
  for (const ExprPtr& guard : solved.guards) inverse.guards.push_back(settle(guard));
  const auto put = [&](const ExprPtr& condition) {
    for (const ExprPtr& part : conjuncts(condition))
      inverse.guards.push_back(normalised(replace_names(part, inverse.values)));
  };
  for (const ExprPtr& condition : read.conditions) put(condition);
  for (const std::size_t d : solved.by_guard)
    put(binary(BinaryOp::Eq, comparable_with_index(replace_names(read.subscripts[d], inverse.values)),
               index_name(inverse.coordinates[d])));
  std::stable_partition(inverse.guards.begin(), inverse.guards.end(),
                        [](const ExprPtr& guard) { return tensors_in(guard).empty(); });
  return inverse;
}

}  // namespace

Inverse invert(const ReadAccess& read, const InverseNames& names) {
  return named(read, solve_accesses(read.iterators, read.subscripts), names);
}

Inverse invert_by_guards(const ReadAccess& read, const InverseNames& names) {
  Solved solved;
  solved.reduction = read.iterators;
  for (std::size_t d = 0; d < read.subscripts.size(); ++d) solved.by_guard.insert(d);
  return named(read, solved, names);
}

Inverse invert_around(const ReadAccess& read, const std::vector<FixedSubscript>& fixed, const InverseNames& names,
                      bool by_guards) {
  if (fixed.empty()) return by_guards ? invert_by_guards(read, names) : invert(read, names);
  ReadAccess rest = read;
  Renaming iterators;
  std::set<std::string> taken = names.taken;
  for (auto subscript = fixed.rbegin(); subscript != fixed.rend(); ++subscript) {
    const auto& [dimension, iterator, distance] = *subscript;
    rest.subscripts.erase(rest.subscripts.begin() + static_cast<std::ptrdiff_t>(dimension));
    std::erase_if(rest.iterators, [&](const IteratorRange& range) { return range.name == iterator; });
    iterators[iterator] = to_expr(read_affine(binary(BinaryOp::Sub, index_name(iterator), integer(distance))));
    taken.insert(iterator);
  }
  const InverseNames others{taken};
  Inverse inverse = by_guards ? invert_by_guards(rest, others) : invert(rest, others);
  const auto settle = [&](ExprPtr& expr) { expr = normalised(replace_names(expr, iterators)); };
  for (auto& [iterator, value] : inverse.values) settle(value);
  for (ExprPtr& guard : inverse.guards) settle(guard);
  for (const auto& subscript : fixed) {
    const auto place = static_cast<std::ptrdiff_t>(subscript.dimension);
    inverse.coordinates.insert(inverse.coordinates.begin() + place, subscript.iterator);
    const auto range = std::find_if(read.iterators.begin(), read.iterators.end(),
                                    [&](const IteratorRange& r) { return r.name == subscript.iterator; });
    const ExprPtr value = iterators.at(subscript.iterator);
    inverse.values[subscript.iterator] = value;
    inverse.guards.insert(inverse.guards.begin(),
                          {binary(BinaryOp::Ge, value, range->low), binary(BinaryOp::Lt, value, range->high)});
    for (const std::size_t d : std::exchange(inverse.by_guard, {}))
      inverse.by_guard.insert(d < subscript.dimension ? d : d + 1);
  }
  return inverse;
}

}  // namespace tc::autodiff
