#include "tc/halide_bridge/lower/iterator_order.h"

#include <cstdlib>

#include "tc/base/count_product.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// variable + offset
struct Shifted {
  std::string variable;
  std::int64_t offset = 0;
};

/// \p expr as an iterator and a number; nothing where it is no such sum.
std::optional<Shifted> shifted(const Expr& expr) {
  if (const auto* variable = expr.as<ir::Variable>()) return Shifted{variable->name, 0};
  const auto* sum = expr.as<ir::Add>();
  const auto* difference = expr.as<ir::Sub>();
  if (!sum && !difference) return std::nullopt;
  const Expr& left = sum ? sum->a : difference->a;
  const Expr& right = sum ? sum->b : difference->b;
  const bool swapped = sum && ir::as_const_int(left);
  const auto* offset = ir::as_const_int(swapped ? left : right);
  const auto* variable = (swapped ? right : left).as<ir::Variable>();
  if (!offset || !variable || std::abs(*offset) > most_counted) return std::nullopt;
  return Shifted{variable->name, sum ? *offset : -*offset};
}

/// \p condition as an order of two iterators, \p a <= \p b or, \p strictly, \p a < \p b.
std::optional<IteratorOrder> order_of(const Expr& a, const Expr& b, bool strictly) {
  const auto left = shifted(a), right = shifted(b);
  if (!left || !right) return std::nullopt;
  return IteratorOrder{left->variable, right->variable, right->offset - left->offset - (strictly ? 1 : 0)};
}

}  // namespace

std::optional<IteratorOrder> iterator_order(const Expr& condition) {
  if (const auto* op = condition.as<ir::LE>()) return order_of(op->a, op->b, false);
  if (const auto* op = condition.as<ir::LT>()) return order_of(op->a, op->b, true);
  if (const auto* op = condition.as<ir::GE>()) return order_of(op->b, op->a, false);
  if (const auto* op = condition.as<ir::GT>()) return order_of(op->b, op->a, true);
  return std::nullopt;
}

}  // namespace tc::halide_bridge
