#include "tc/halide_bridge/stmt/bounded.h"

#include <algorithm>

#include "tc/base/ceil_div.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Int;
using Halide::UInt;
namespace ir = Halide::Internal;
using Wide = __int128;

constexpr std::int64_t int64_low = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t int64_high = std::numeric_limits<std::int64_t>::max();

/// Where a result lies that 64 bits may not hold.
struct WideBounds {
  Wide low, high;
};

bool fits(const WideBounds& i, std::int64_t low, std::int64_t high) { return i.low >= low && i.high <= high; }
bool fits32(const WideBounds& i) {
  return fits(i, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
}

Expr convert(const Expr& expr, int bits) {
  if (expr.type().bits() == bits) return expr;
  return ir::Cast::make(Int(bits, expr.type().lanes()), expr);
}

WideBounds product(const Bounded& a, const Bounded& b) {
  Wide p[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low, Wide(a.high) * b.high};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

/// The node of \p make over \p a and \p b, whose exact result lies in \p range.
template <typename Make>
Bounded arithmetic(Bounded a, Bounded b, const WideBounds& range, Make make) {
  bool narrow = a.fits_int32() && b.fits_int32() && fits32(range);
  int bits = narrow ? 32 : 64;
  a.expr = convert(a.expr, bits);
  b.expr = convert(b.expr, bits);
  match_lanes(a.expr, b.expr);
  if (fits(range, int64_low, int64_high))
    return {make(a.expr, b.expr), static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high)};
  int lanes = a.expr.type().lanes();
  Expr x = ir::Cast::make(UInt(64, lanes), a.expr), y = ir::Cast::make(UInt(64, lanes), b.expr);
  return {ir::Cast::make(Int(64, lanes), make(x, y)), int64_low, int64_high};
}

}  // namespace

bool Bounded::fits_int32() const { return fits32({low, high}); }

Bounded exactly(std::int64_t value) {
  Bounded result{Expr(), value, value};
  result.expr = ir::IntImm::make(Int(result.fits_int32() ? 32 : 64), value);
  return result;
}

Bounded unknown(const Expr& expr) {
  if (expr.type().bits() == 64) return {expr};
  return {expr, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
}

Bounded variable(const std::string& name, std::int64_t low, std::int64_t high) {
  Bounded result{{}, low, high};
  result.expr = ir::Variable::make(Int(result.fits_int32() ? 32 : 64), name);
  return result;
}

Bounded within(const Expr& expr, std::int64_t low, std::int64_t high) {
  Bounded result{expr, low, high};
  result.expr = convert(expr, result.fits_int32() ? 32 : 64);
  return result;
}

Expr as_int64(const Bounded& value) {
  if (const auto* number = value.expr.as<ir::IntImm>()) return ir::IntImm::make(Int(64), number->value);
  return convert(value.expr, 64);
}

Bounded add(const Bounded& a, const Bounded& b) {
  return arithmetic(a, b, {Wide(a.low) + b.low, Wide(a.high) + b.high},
                    [](Expr x, Expr y) { return ir::Add::make(x, y); });
}

Bounded subtract(const Bounded& a, const Bounded& b) {
  return arithmetic(a, b, {Wide(a.low) - b.high, Wide(a.high) - b.low},
                    [](Expr x, Expr y) { return ir::Sub::make(x, y); });
}

Bounded multiply(const Bounded& a, const Bounded& b) {
  return arithmetic(a, b, product(a, b), [](Expr x, Expr y) { return ir::Mul::make(x, y); });
}

Bounded divide(const Bounded& a, const Bounded& b) {
  if (b.low > 0) {
    Wide q[] = {floor_div(a.low, b.low), floor_div(a.low, b.high), floor_div(a.high, b.low), floor_div(a.high, b.high)};
    return arithmetic(a, b, {*std::min_element(q, q + 4), *std::max_element(q, q + 4)},
                      [](Expr x, Expr y) { return ir::Div::make(x, y); });
  }
  Wide most = std::max(a.low < 0 ? -Wide(a.low) : Wide(a.low), a.high < 0 ? -Wide(a.high) : Wide(a.high));
  WideBounds range{std::max(-most - 1, Wide(int64_low)), std::min(most, Wide(int64_high))};
  return arithmetic(a, b, range, [](Expr x, Expr y) { return ir::Div::make(x, y); });
}

Bounded modulo(const Bounded& a, const Bounded& b) {
  if (b.low > 0) {
    Wide high = a.low >= 0 ? std::min(Wide(a.high), Wide(b.high) - 1) : Wide(b.high) - 1;
    return arithmetic(a, b, {0, high}, [](Expr x, Expr y) { return ir::Mod::make(x, y); });
  }
  Wide most = std::max(-Wide(b.low), Wide(b.high));
  return arithmetic(a, b, {0, std::min(most, Wide(int64_high))}, [](Expr x, Expr y) { return ir::Mod::make(x, y); });
}

Bounded minimum(const Bounded& a, const Bounded& b) {
  return arithmetic(a, b, {std::min(a.low, b.low), std::min(a.high, b.high)},
                    [](Expr x, Expr y) { return ir::Min::make(x, y); });
}

Bounded maximum(const Bounded& a, const Bounded& b) {
  return arithmetic(a, b, {std::max(a.low, b.low), std::max(a.high, b.high)},
                    [](Expr x, Expr y) { return ir::Max::make(x, y); });
}

Bounded choose(const Expr& condition, const Bounded& a, const Bounded& b) {
  return arithmetic(a, b, {std::min(a.low, b.low), std::max(a.high, b.high)}, [&](Expr x, Expr y) {
    Expr c = condition;
    if (c.type().is_vector()) {
      x = broadcast(x, c.type().lanes());
      y = broadcast(y, c.type().lanes());
    }
    return ir::Select::make(c, x, y);
  });
}

void match(Bounded& a, Bounded& b) {
  int bits = a.fits_int32() && b.fits_int32() ? 32 : 64;
  a.expr = convert(a.expr, bits);
  b.expr = convert(b.expr, bits);
  match_lanes(a.expr, b.expr);
}

Expr broadcast(const Expr& expr, int lanes) {
  return expr.type().lanes() == lanes ? expr : ir::Broadcast::make(expr, lanes);
}

void match_lanes(Expr& a, Expr& b) {
  int lanes = std::max(a.type().lanes(), b.type().lanes());
  a = broadcast(a, lanes);
  b = broadcast(b, lanes);
}

Bounded simplified(Bounded value) {
  value.expr = ir::simplify(value.expr);
  return value;
}

}  // namespace tc::halide_bridge
