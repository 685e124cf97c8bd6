#include "test/cuda_emulator/sample_data.h"

#include <algorithm>
#include <memory>
#include <set>

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

}  // namespace

std::map<std::string, std::pair<std::int64_t, std::int64_t>> index_values(const engine::Function& given,
                                                                          const SizeMap& sizes) {
  const auto whole = engine::inlined(std::make_shared<engine::Function>(given));
  const auto& function = *whole;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> result;
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

}  // namespace tc::test
