#include "tc/halide_bridge/laws/symbolic_value.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Number = std::optional<std::int64_t>;

/// \p number, if values of \p type have numbers here, wrapped to it.
Number in_type(Number number, Halide::Type type) {
  if (!number || !(type.is_int_or_uint() || type.is_bool())) return std::nullopt;
  if (type.bits() >= 64) return number;
  const std::int64_t values = std::int64_t{1} << type.bits();
  const auto wrapped = *number & (values - 1);
  return type.is_int() && wrapped >= values / 2 ? wrapped - values : wrapped;
}

SymbolicLane joined(const SymbolicLane& a, const SymbolicLane& b, Number number) {
  SymbolicLane result{number, a.from};
  result.from.insert(b.from.begin(), b.from.end());
  return result;
}

SymbolicValue unknown(int lanes, const Symbols& from = {}) {
  return SymbolicValue(static_cast<std::size_t>(lanes), {std::nullopt, from});
}

std::int64_t euclidean_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  auto result = a / b, rest = a - result * b;
  return rest >= 0 ? result : b > 0 ? result - 1 : result + 1;
}

/// Wraps around.
std::int64_t wrapped(unsigned __int128 value) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(value)); }

}  // namespace

SymbolicLane combined(ReductionOp op, const SymbolicLane& a, const SymbolicLane& b) {
  if (op != ReductionOp::And && op != ReductionOp::Or) return joined(a, b, std::nullopt);
  const std::int64_t decides = op == ReductionOp::Or;
  if (a.number == decides && b.number != decides) return a;
  if (b.number == decides && a.number != decides) return b;
  return joined(a, b, a.number && b.number ? a.number : std::nullopt);
}

SymbolicValue SymbolicEvaluator::operator()(const Expr& expr) {
  expr.accept(this);
  return std::move(result_);
}

/// Sums, differences and products of unsigned numbers of 64 bits are those of signed ones; all else of them has none.
template <typename Node, typename Compute>
void SymbolicEvaluator::binary(const Node* op, const Compute& compute) {
  constexpr bool wraps =
      std::is_same_v<Node, ir::Add> || std::is_same_v<Node, ir::Sub> || std::is_same_v<Node, ir::Mul>;
  const bool has_number = wraps || !(op->a.type().is_uint() && op->a.type().bits() == 64);
  auto a = (*this)(op->a), b = (*this)(op->b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    Number number;
    if (has_number && a[i].number && b[i].number) number = compute(*a[i].number, *b[i].number);
    a[i] = joined(a[i], b[i], in_type(number, op->type.element_of()));
  }
  result_ = std::move(a);
}

void SymbolicEvaluator::visit(const ir::IntImm* op) { result_ = {{in_type(op->value, op->type), {}}}; }
void SymbolicEvaluator::visit(const ir::UIntImm* op) {
  result_ = {{in_type(static_cast<std::int64_t>(op->value), op->type), {}}};
}
void SymbolicEvaluator::visit(const ir::FloatImm*) { result_ = unknown(1); }
void SymbolicEvaluator::visit(const ir::StringImm*) { result_ = unknown(1); }

void SymbolicEvaluator::visit(const ir::Cast* op) {
  auto value = (*this)(op->value);
  bool integers = op->value.type().is_int_or_uint() && op->type.is_int_or_uint();
  for (auto& lane : value) {
    if (!integers || (op->type.is_bool() && lane.number && !op->value.type().is_bool()))
      lane.number.reset();
    else
      lane.number = in_type(lane.number, op->type.element_of());
  }
  result_ = std::move(value);
}

void SymbolicEvaluator::visit(const ir::Variable* op) {
  auto found = variables.find(op->name);
  result_ = found == variables.end() ? unknown(op->type.lanes()) : found->second;
}

void SymbolicEvaluator::visit(const ir::Add* op) {
  binary(op, [](auto a, auto b) { return wrapped(static_cast<unsigned __int128>(a) + b); });
}
void SymbolicEvaluator::visit(const ir::Sub* op) {
  binary(op, [](auto a, auto b) { return wrapped(static_cast<unsigned __int128>(a) - b); });
}
void SymbolicEvaluator::visit(const ir::Mul* op) {
  binary(op, [](auto a, auto b) { return wrapped(static_cast<unsigned __int128>(a) * b); });
}
void SymbolicEvaluator::visit(const ir::Div* op) {
  binary(op, [](auto a, auto b) {
    return b == -1 ? wrapped(-static_cast<unsigned __int128>(a)) : euclidean_quotient(a, b);
  });
}
void SymbolicEvaluator::visit(const ir::Mod* op) {
  binary(op, [](auto a, auto b) { return b == 0 || b == -1 ? 0 : a - b * euclidean_quotient(a, b); });
}
void SymbolicEvaluator::visit(const ir::Min* op) {
  binary(op, [](auto a, auto b) { return std::min(a, b); });
}
void SymbolicEvaluator::visit(const ir::Max* op) {
  binary(op, [](auto a, auto b) { return std::max(a, b); });
}
void SymbolicEvaluator::visit(const ir::EQ* op) {
  binary(op, [](auto a, auto b) { return a == b; });
}
void SymbolicEvaluator::visit(const ir::NE* op) {
  binary(op, [](auto a, auto b) { return a != b; });
}
void SymbolicEvaluator::visit(const ir::LT* op) {
  binary(op, [](auto a, auto b) { return a < b; });
}
void SymbolicEvaluator::visit(const ir::LE* op) {
  binary(op, [](auto a, auto b) { return a <= b; });
}
void SymbolicEvaluator::visit(const ir::GT* op) {
  binary(op, [](auto a, auto b) { return a > b; });
}
void SymbolicEvaluator::visit(const ir::GE* op) {
  binary(op, [](auto a, auto b) { return a >= b; });
}

void SymbolicEvaluator::truth(ReductionOp op, const Expr& left, const Expr& right) {
  auto a = (*this)(left), b = (*this)(right);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = combined(op, a[i], b[i]);
  result_ = std::move(a);
}

void SymbolicEvaluator::visit(const ir::And* op) { truth(ReductionOp::And, op->a, op->b); }
void SymbolicEvaluator::visit(const ir::Or* op) { truth(ReductionOp::Or, op->a, op->b); }

void SymbolicEvaluator::visit(const ir::Not* op) {
  auto value = (*this)(op->a);
  for (auto& lane : value)
    if (lane.number) lane.number = 1 - *lane.number;
  result_ = std::move(value);
}

void SymbolicEvaluator::visit(const ir::Select* op) {
  auto condition = (*this)(op->condition), a = (*this)(op->true_value), b = (*this)(op->false_value);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto& decides = condition[condition.size() == 1 ? 0 : i];
    a[i] = decides.number ? joined(decides, *decides.number ? a[i] : b[i], *decides.number ? a[i].number : b[i].number)
                          : joined(decides, joined(a[i], b[i], std::nullopt), std::nullopt);
  }
  result_ = std::move(a);
}

void SymbolicEvaluator::visit(const ir::Load* op) {
  auto address = (*this)(op->index), runs = (*this)(op->predicate);
  result_ = read_(*op, address, runs, certain_);
}

void SymbolicEvaluator::visit(const ir::Ramp* op) {
  auto base = (*this)(op->base), stride = (*this)(op->stride);
  SymbolicValue value;
  for (int lane = 0; lane < op->lanes; ++lane)
    for (std::size_t i = 0; i < base.size(); ++i) {
      Number number;
      if (base[i].number && stride[i].number) number = *base[i].number + lane * *stride[i].number;
      value.push_back(joined(base[i], stride[i], in_type(number, op->type.element_of())));
    }
  result_ = std::move(value);
}

void SymbolicEvaluator::visit(const ir::Broadcast* op) {
  auto value = (*this)(op->value);
  result_.clear();
  for (int lane = 0; lane < op->lanes; ++lane) result_.insert(result_.end(), value.begin(), value.end());
}

/// Arms run where they are chosen; both where data choose. Whether any lane wants an element for all lanes says nothing
/// of a lane's value.
void SymbolicEvaluator::conditional(const ir::Call* op) {
  auto condition = (*this)(op->args[0]);
  if (op->args[0].as<ir::VectorReduce>())
    for (auto& lane : condition) lane.from.clear();
  const bool around = std::exchange(certain_, false);
  if (condition.size() == 1 && condition[0].number) {
    certain_ = around;
    const bool holds = *condition[0].number;
    if (!holds && skip) skip(op->args[1]);
    auto value = (*this)(op->args[holds ? 1 : 2]);
    if (holds && skip) skip(op->args[2]);
    for (auto& lane : value) lane = joined(condition[0], lane, lane.number);
    result_ = std::move(value);
    return;
  }
  auto a = (*this)(op->args[1]), b = (*this)(op->args[2]);
  certain_ = around;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto& decides = condition[condition.size() == 1 ? 0 : i];
    a[i] = decides.number ? joined(decides, *decides.number ? a[i] : b[i], *decides.number ? a[i].number : b[i].number)
                          : joined(decides, joined(a[i], b[i], std::nullopt), std::nullopt);
  }
  result_ = std::move(a);
}

void SymbolicEvaluator::exclusive_or(const ir::Call* op) {
  auto a = (*this)(op->args[0]), b = (*this)(op->args[1]);
  for (std::size_t i = 0; i < a.size(); ++i) {
    Number number;
    if (a[i].number && b[i].number) number = *a[i].number ^ *b[i].number;
    a[i] = joined(a[i], b[i], in_type(number, op->type.element_of()));
  }
  result_ = std::move(a);
}

void SymbolicEvaluator::visit(const ir::Call* op) {
  if (op->is_intrinsic(ir::Call::if_then_else) && op->args.size() == 3) return conditional(op);
  if (op->call_type == ir::Call::Halide) {
    SymbolicValue subscripts;
    for (const auto& arg : op->args) subscripts.push_back((*this)(arg).at(0));
    result_ = {element_(*op, subscripts)};
    return;
  }
  if (op->is_intrinsic(ir::Call::strict_float) || op->name == "tc_uniform") return op->args[0].accept(this);
  if (op->is_intrinsic(ir::Call::bitwise_xor)) return exclusive_or(op);
  auto value = unknown(op->type.lanes());
  for (const auto& arg : op->args) {
    auto lanes = (*this)(arg);
    for (std::size_t i = 0; i < value.size(); ++i)
      value[i] = joined(value[i], lanes[lanes.size() == 1 ? 0 : i], std::nullopt);
  }
  result_ = std::move(value);
}

void SymbolicEvaluator::visit(const ir::Let* op) {
  auto value = (*this)(op->value);
  auto outer = std::exchange(variables[op->name], value);
  auto body = (*this)(op->body);
  variables[op->name] = std::move(outer);
  result_ = std::move(body);
}

void SymbolicEvaluator::visit(const ir::Shuffle* op) {
  SymbolicValue all, value;
  for (const auto& part : op->vectors) {
    auto lanes = (*this)(part);
    all.insert(all.end(), lanes.begin(), lanes.end());
  }
  for (int index : op->indices) value.push_back(all.at(static_cast<std::size_t>(index)));
  result_ = std::move(value);
}

void SymbolicEvaluator::visit(const ir::VectorReduce* op) {
  auto value = (*this)(op->value);
  const auto lanes = static_cast<std::size_t>(op->type.lanes()), each = value.size() / lanes;
  const auto how = op->op == ir::VectorReduce::Or    ? ReductionOp::Or
                   : op->op == ir::VectorReduce::And ? ReductionOp::And
                                                     : ReductionOp::Sum;
  SymbolicValue reduced;
  for (std::size_t i = 0; i < lanes; ++i) {
    auto all = value[i * each];
    for (std::size_t j = 1; j < each; ++j) all = combined(how, all, value[i * each + j]);
    reduced.push_back(all);
  }
  result_ = std::move(reduced);
}

}  // namespace tc::halide_bridge
