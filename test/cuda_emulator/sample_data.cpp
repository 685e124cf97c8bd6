#include "test/cuda_emulator/sample_data.h"

#include <algorithm>
#include <memory>
#include <set>

#include "test/cuda_emulator/reference.h"

namespace tc::test {
namespace {

using namespace lang;

template <typename Visit>
void for_each_assignment(const Def& def, Visit&& visit) {
  for (std::size_t i = 0; i < def.statements.size(); ++i) visit(i, std::get<Assignment>(def.statements[i].node));
}

const Access* as_access(ExprPtr expr) {
  while (const auto* cast = std::get_if<Cast>(&expr->node)) expr = cast->value;
  return std::get_if<Access>(&expr->node);
}

using Values = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

/// [low, high) for the values of each parameter of \p given that subscripts use: all of them in bounds where a subscript is
/// such an element and nothing else.
Values index_values(const engine::Function& given, const SizeMap& sizes) {
  const auto whole = engine::inlined(std::make_shared<engine::Function>(given));
  const auto& function = *whole;
  Values result;
  auto limit = [&](const std::string& name, std::int64_t low, std::int64_t high) {
    auto [it, added] = result.emplace(name, std::pair{low, high});
    if (!added) it->second = {std::max(it->second.first, low), std::min(it->second.second, high)};
  };
  std::set<std::string> params;
  for (const auto& param : function.def.params) params.insert(param.name);
  auto visit = [&](const ExprPtr& expr) {
    const auto* access = std::get_if<Access>(&expr->node);
    if (!access) return;
    const auto box = evaluate_box(function.ranges.tensors.at(access->tensor), sizes);
    for (std::size_t d = 0; d < access->subscripts.size(); ++d) {
      const auto* direct = as_access(access->subscripts[d]);
      for_each_expr(access->subscripts[d], [&](const ExprPtr& inner) {
        const auto* index = std::get_if<Access>(&inner->node);
        if (!index || !params.count(index->tensor)) return;
        if (index == direct)
          limit(index->tensor, box[d].min, std::max(box[d].min + box[d].extent, box[d].min + 1));
        else
          limit(index->tensor, 0, 1);
      });
    }
  };
  for_each_assignment(function.def,
                      [&](std::size_t, const Assignment& assignment) { for_each_expr(assignment.rhs, visit); });
  return result;
}

constexpr std::int64_t farthest = 64, widest = 8;  ///< of numbers that are tried from 0, of ranges that are from there

/// Gives \p names in \p values one number near 0 that all of them may hold; whether there is one.
template <typename Refused>
bool hold_one(Values& values, const std::set<std::string>& names, bool negative, Refused&& refused) {
  const auto hold = [&](std::int64_t number) {
    for (const auto& name : names) values[name] = {number, number + 1};
    return !refused(values);
  };
  for (std::int64_t distance = 0; distance <= farthest; ++distance)
    if (hold(distance) || (negative && hold(-distance))) return true;
  return false;
}

/// Moves the ends of \p range, of accepted \p values, as far as that is not refused.
template <typename Refused>
void widen(std::pair<std::int64_t, std::int64_t>& range, const Values& values, bool negative, Refused&& refused) {
  for (const bool up : {true, false})
    for (std::int64_t steps = 0; steps < widest && (up || negative || range.first > 0); ++steps) {
      const auto before = range;
      (up ? range.second : range.first) += up ? 1 : -1;
      if (!refused(values)) continue;
      range = before;
      break;
    }
}

}  // namespace

void complete_data(ProgramFile& program, const engine::Function& function, const SizeMap& sizes) {
  std::set<std::string> names;
  bool negative = true;
  for (const auto& [name, range] : index_values(function, sizes)) {
    if (!program.data.emplace(name, range).second) continue;
    names.insert(name);
    negative &= !is_unsigned_integer(function.def.tensors.at(name).type);
  }
  const auto refused = [&](const Values& values) {
    ProgramFile tried = program;
    tried.data = values;
    return !reference(function, make_arguments(function, tried, sizes)).refusal.empty();
  };
  Values values = program.data;
  if (names.empty() || (refused(values) && !hold_one(values, names, negative, refused))) return;
  for (const auto& name : names)
    if (auto& range = values.at(name); range.second - range.first == 1) widen(range, values, negative, refused);
  program.data = std::move(values);
}

}  // namespace tc::test
