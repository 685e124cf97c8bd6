#include "test/cuda_emulator/sample_data.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tc/lang/builtins.h"

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

/// Does the value of \p expr round for operands that are small integers?
bool rounds(const ExprPtr& expr) {
  if (!expr->type || !is_float(*expr->type)) return false;
  static const std::set<std::string> exact = {"min",    "max",  "fmin",     "fmax",  "fabs",     "abs",
                                              "floor",  "ceil", "round",    "trunc", "relu",     "clamp",
                                              "select", "fmod", "copysign", "fdim",  "remainder"};
  if (const auto* call = std::get_if<Call>(&expr->node)) return !exact.count(call->function);
  if (const auto* binary = std::get_if<Binary>(&expr->node)) return binary->op == BinaryOp::Div;
  if (const auto* literal = std::get_if<FloatLiteral>(&expr->node))
    return literal->value * 16 != std::floor(literal->value * 16);
  return false;
}

/// Half an ulp of 1 in the narrowest type that a value of \p def rounds to.
double unit(const Def& def) {
  double result = 0;
  for (const auto& [name, tensor] : def.tensors) {
    if (tensor.type == DType::Float64) result = std::max(result, std::ldexp(1.0, -52));
    if (tensor.type == DType::Float32) result = std::max(result, std::ldexp(1.0, -23));
    if (tensor.type == DType::Float16) result = std::max(result, std::ldexp(1.0, -10));
    if (tensor.type == DType::BFloat16) result = std::max(result, std::ldexp(1.0, -7));
  }
  return result;
}

}  // namespace

std::map<std::string, std::pair<std::int64_t, std::int64_t>> index_values(const engine::Function& function,
                                                                          const SizeMap& sizes) {
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

double rounding_tolerance(const engine::Function& function, const SizeMap& sizes) {
  bool exact = true;
  double longest = 1;
  for_each_assignment(function.def, [&](std::size_t i, const Assignment& assignment) {
    for_each_expr(assignment.rhs, [&](const ExprPtr& expr) { exact = exact && !rounds(expr); });
    double length = 1;
    for (const auto& iterator : assignment.reduction_iterators)
      length *= static_cast<double>(
          std::max<std::int64_t>(1, evaluate_size(function.ranges.statements[i].at(iterator).extent, sizes)));
    longest *= length;
  });
  return exact ? 0 : unit(function.def) * (32 * std::sqrt(longest) + 2 * longest);
}

}  // namespace tc::test
