#include "tc/autodiff/access/invert.h"

#include <algorithm>

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

}  // namespace tc::autodiff
