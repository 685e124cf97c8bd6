#include "tc/strategy/cost/work.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tc/base/count_product.h"
#include "tc/base/str.h"

namespace tc::strategy {
namespace {

using Count = std::int64_t Work::*;

/// The kinds of operations and their names, in the order in which they are told.
const std::vector<std::pair<const char*, Count>>& kinds() {
  static const auto& all = *new std::vector<std::pair<const char*, Count>>{{"adds", &Work::adds},
                                                                           {"multiplies", &Work::multiplies},
                                                                           {"fused", &Work::fused},
                                                                           {"divisions", &Work::divisions},
                                                                           {"square_roots", &Work::square_roots},
                                                                           {"functions", &Work::functions},
                                                                           {"comparisons", &Work::comparisons},
                                                                           {"integers", &Work::integers}};
  return all;
}

Work one(Count kind) {
  Work work;
  work.*kind = 1;
  return work;
}

/// \p work, \p times times.
/// Operations of one kind that a statement is said to have, at most: their sums fit 64 bits.
constexpr std::int64_t most_operations = std::int64_t{1} << 56;

Work repeated(Work work, std::int64_t times) {
  for (const auto& [name, kind] : kinds()) work.*kind = count_product(work.*kind, times, most_operations);
  return work;
}

/// Either \p a or \p b, one does not know which.
Work either(const Work& a, const Work& b) {
  if (a == b) return a;
  Work result;
  for (const auto& [name, kind] : kinds()) result.*kind = std::max(a.*kind, b.*kind);
  result.exact = false;
  return result;
}

/// One operation of \p kind on values of \p type.
Work on(DType type, Count kind) { return one(is_float(type) ? kind : &Work::integers); }

Work of_binary(lang::BinaryOp op, DType operands) {
  using lang::BinaryOp;
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return on(operands, &Work::adds);
    case BinaryOp::Mul:
      return on(operands, &Work::multiplies);
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return on(operands, &Work::divisions);
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight:
      return one(&Work::integers);
    default:
      return on(operands, &Work::comparisons);
  }
}

/// One call of the built-in function \p name on values of \p type.
Work of_call(const std::string& name, DType type) {
  static const auto& special =
      *new std::map<std::string, std::vector<Count>>{{"fma", {&Work::fused}},
                                                     {"fdivide", {&Work::divisions}},
                                                     {"sqrt", {&Work::square_roots}},
                                                     {"rsqrt", {&Work::square_roots, &Work::divisions}},
                                                     {"fdim", {&Work::adds, &Work::comparisons}},
                                                     {"min", {&Work::comparisons}},
                                                     {"max", {&Work::comparisons}},
                                                     {"fmin", {&Work::comparisons}},
                                                     {"fmax", {&Work::comparisons}},
                                                     {"relu", {&Work::comparisons}},
                                                     {"clamp", {&Work::comparisons, &Work::comparisons}},
                                                     {"isnan", {&Work::comparisons}},
                                                     {"isinf", {&Work::comparisons}},
                                                     {"abs", {}},
                                                     {"fabs", {}},
                                                     {"copysign", {}},
                                                     {"popcount", {&Work::integers}}};
  auto found = special.find(name);
  if (found == special.end()) return on(type, &Work::functions);
  Work work;
  for (auto kind : found->second) work = work + on(type, kind);
  return work;
}

Work of_reduction(ReductionOp op, DType type) {
  switch (op) {
    case ReductionOp::Sum:
      return on(type, &Work::adds);
    case ReductionOp::Product:
      return on(type, &Work::multiplies);
    case ReductionOp::Min:
    case ReductionOp::Max:
      return on(type, &Work::comparisons);
    default:
      return one(&Work::integers);
  }
}

DType type_of(const lang::ExprPtr& expr) { return expr->type.value_or(DType::Float32); }

Work count_call(const lang::Call& call, const lang::ExprPtr& expr) {
  if (call.function == "select")
    return count_work(call.arguments[0]) + either(count_work(call.arguments[1]), count_work(call.arguments[2]));
  Work work = of_call(call.function, call.arguments.empty() ? type_of(expr) : type_of(call.arguments[0]));
  for (const auto& argument : call.arguments) work = work + count_work(argument);
  return work;
}

Work count_binary(const lang::Binary& binary) {
  auto right = count_work(binary.right);
  if (binary.op == lang::BinaryOp::And || binary.op == lang::BinaryOp::Or) right = either({}, right);
  return of_binary(binary.op, type_of(binary.left)) + count_work(binary.left) + right;
}

}  // namespace

std::int64_t Work::flops() const { return adds + multiplies + 2 * fused + divisions + square_roots + functions; }

Work operator+(const Work& a, const Work& b) {
  Work result;
  for (const auto& [name, kind] : kinds()) result.*kind = a.*kind + b.*kind;
  result.exact = a.exact && b.exact;
  return result;
}

Work count_work(const lang::ExprPtr& expr) {
  return std::visit(
      overloaded{
          [&](const lang::Call& node) { return count_call(node, expr); },
          [&](const lang::Cast& node) { return count_work(node.value); },
          [&](const lang::Unary& node) {
            return (node.op == lang::UnaryOp::Not ? one(&Work::integers) : Work{}) + count_work(node.value);
          },
          [&](const lang::Binary& node) { return count_binary(node); },
          [&](const lang::Select& node) {
            return count_work(node.condition) + either(count_work(node.then_value), count_work(node.else_value));
          },
          [&](const auto&) { return Work{}; },
      },
      expr->node);
}

Work count_work(const lang::Def& def, const lang::Ranges& ranges, const lang::SizeMap& sizes) {
  Work total;
  for (std::size_t i = 0; i < def.statements.size(); ++i) {
    const auto* assignment = std::get_if<lang::Assignment>(&def.statements[i].node);
    if (!assignment) continue;
    std::int64_t points = 1;
    for (const auto& [name, range] : ranges.statements[i])
      points = count_product(points, std::max<std::int64_t>(lang::evaluate_box({range}, sizes)[0].extent, 0),
                             most_operations);
    auto once = count_work(assignment->rhs);
    if (assignment->reduction)
      once = once + of_reduction(*assignment->reduction, def.tensors.at(assignment->target).type);
    total = total + repeated(once, points);
  }
  return total;
}

std::string to_string(const Work& work) {
  std::vector<std::string> parts;
  for (const auto& [name, kind] : kinds())
    if (work.*kind > 0) parts.push_back(str(name, " ", work.*kind));
  if (parts.empty()) return "none";
  return join(parts);
}

}  // namespace tc::strategy
