#include "tc/halide_bridge/lower/affine.h"

#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/core/scop.h"

#include <algorithm>

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Result = std::optional<isl::pw_aff>;

/// The value of a function that is one constant.
std::optional<isl::val> constant_of(const isl::pw_aff& function) {
  if (!function.isa_aff() || !function.as_aff().is_cst()) return std::nullopt;
  return function.as_aff().constant_val();
}

/// The lowest and highest number of an integer type.
std::pair<isl::val, isl::val> limits(isl::ctx ctx, Halide::Type type) {
  const int bits = type.is_int() ? type.bits() - 1 : type.bits();
  const isl::val power = polyhedral::call(ctx, isl_val_2exp, isl::val(ctx, bits).release());
  return {type.is_int() ? power.neg() : isl::val::zero(ctx), power.sub(1)};
}

bool is_wide_signed(Halide::Type type) { return type.is_int() && type.bits() >= 32; }

/// The operands of a binary node.
template <typename Node>
std::optional<std::pair<Expr, Expr>> operands(const Expr& expr) {
  if (const auto* op = expr.as<Node>()) return std::pair{op->a, op->b};
  return std::nullopt;
}

Result product(const isl::pw_aff& a, const isl::pw_aff& b) {
  if (const auto factor = constant_of(b)) return a.scale(*factor);
  if (const auto factor = constant_of(a)) return b.scale(*factor);
  return std::nullopt;
}

Result quotient(const isl::pw_aff& a, const isl::pw_aff& b) {
  const auto divisor = constant_of(b);
  if (!divisor || !divisor->is_pos()) return std::nullopt;
  return a.scale_down(*divisor).floor();
}

Result remainder(const isl::pw_aff& a, const isl::pw_aff& b) {
  const auto divisor = constant_of(b);
  if (!divisor || !divisor->is_pos()) return std::nullopt;
  return a.mod(*divisor);
}

}  // namespace

AffineReader::AffineReader(isl::set domain, const std::vector<std::string>& iterators)
    : domain_(domain), universe_(isl::set::universe(domain.space())), iterators_(iterators) {}

isl::pw_aff AffineReader::constant(const isl::val& value) const { return universe_.pw_aff_on_domain(value); }

Result AffineReader::index(const Expr& expr) const {
  if (const auto* op = expr.as<ir::IntImm>()) return constant(isl::val(domain_.ctx(), op->value));
  if (const auto* op = expr.as<ir::UIntImm>()) return constant(isl::val(domain_.ctx(), std::to_string(op->value)));
  if (const auto* op = expr.as<ir::Cast>()) return converted(op->value, op->type);
  if (const auto* op = expr.as<ir::Variable>()) {
    const auto found = std::find(iterators_.begin(), iterators_.end(), op->name);
    if (found == iterators_.end()) return parameter(op->name);
    const auto identity = domain_.space().identity_multi_aff_on_domain();
    return isl::pw_aff(identity.at(static_cast<int>(found - iterators_.begin())));
  }
  if (!is_wide_signed(expr.type())) return std::nullopt;
  if (const auto choice = as_conditional(expr)) {
    return conditional(choice->condition, choice->then_value, choice->else_value);
  }
  return arithmetic(expr);
}

Result AffineReader::parameter(const std::string& name) const {
  int position = isl_set_dim(universe_.get(), isl_dim_param);
  while (--position >= 0) {
    const std::string parameter = isl_set_get_dim_name(universe_.get(), isl_dim_param, static_cast<unsigned>(position));
    if (polyhedral::is_size_parameter(parameter) && size_variable(polyhedral::size_of_parameter(parameter)) == name)
      break;
  }
  if (position < 0) return std::nullopt;
  auto* space = isl_local_space_from_space(universe_.space().release());
  return polyhedral::call(domain_.ctx(), isl_pw_aff_var_on_domain, space, isl_dim_param,
                          static_cast<unsigned>(position));
}

Result AffineReader::arithmetic(const Expr& expr) const {
  const auto combine = [&](const auto& sides, auto f) -> Result {
    const Result a = index(sides->first), b = a ? index(sides->second) : std::nullopt;
    return b ? Result(f(*a, *b)) : std::nullopt;
  };
  if (const auto sides = operands<ir::Add>(expr)) return combine(sides, [](auto a, auto b) { return a.add(b); });
  if (const auto sides = operands<ir::Sub>(expr)) return combine(sides, [](auto a, auto b) { return a.sub(b); });
  if (const auto sides = operands<ir::Min>(expr)) return combine(sides, [](auto a, auto b) { return a.min(b); });
  if (const auto sides = operands<ir::Max>(expr)) return combine(sides, [](auto a, auto b) { return a.max(b); });
  if (const auto sides = operands<ir::Mul>(expr)) return combine(sides, product);
  if (const auto sides = operands<ir::Div>(expr)) return combine(sides, quotient);
  if (const auto sides = operands<ir::Mod>(expr)) return combine(sides, remainder);
  return std::nullopt;
}

Result AffineReader::conditional(const Expr& condition, const Expr& then_value, const Expr& else_value) const {
  const Result a = index(then_value), b = a ? index(else_value) : std::nullopt;
  if (!b) return std::nullopt;
  const isl::set holds = where(condition, true), fails = where(condition, false);
  if (!holds.is_disjoint(fails)) return std::nullopt;
  return a->intersect_domain(holds).union_add(b->intersect_domain(fails));
}

Result AffineReader::converted(const Expr& value, Halide::Type type) const {
  const bool integers = type.is_int_or_uint() && value.type().is_int_or_uint();
  if (!integers || type.is_bool()) return std::nullopt;
  if (value.type().is_bool()) return conditional(value, ir::make_one(type), ir::make_zero(type));
  const Result function = index(value);
  if (!function) return std::nullopt;
  const auto [low, high] = limits(domain_.ctx(), type);
  const isl::set kept = function->ge_set(constant(low)).intersect(function->le_set(constant(high)));
  return domain_.is_subset(kept) ? function : std::nullopt;
}

isl::set AffineReader::where(const Expr& condition, bool holds) const {
  if (const auto* op = condition.as<ir::UIntImm>()) {
    return (op->value != 0) == holds ? universe_ : isl::set::empty(universe_.space());
  }
  if (const auto* op = condition.as<ir::Not>()) return where(op->a, !holds);
  if (const auto sides = operands<ir::And>(condition)) {
    const isl::set a = where(sides->first, holds), b = where(sides->second, holds);
    return holds ? a.intersect(b) : a.unite(b);
  }
  if (const auto sides = operands<ir::Or>(condition)) {
    const isl::set a = where(sides->first, holds), b = where(sides->second, holds);
    return holds ? a.unite(b) : a.intersect(b);
  }
  if (const auto choice = as_conditional(condition)) {
    const isl::set taken = where(choice->condition, true).intersect(where(choice->then_value, holds));
    return taken.unite(where(choice->condition, false).intersect(where(choice->else_value, holds)));
  }
  return comparison(condition, holds);
}

isl::set AffineReader::comparison(const Expr& condition, bool holds) const {
  const auto compare = [&](const auto& sides, auto positive, auto negative) {
    const Result a = index(sides->first), b = a ? index(sides->second) : std::nullopt;
    if (!b) return universe_;
    return holds ? positive(*a, *b) : negative(*a, *b);
  };
  const auto lt = [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.lt_set(b); };
  const auto le = [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.le_set(b); };
  const auto gt = [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.gt_set(b); };
  const auto ge = [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.ge_set(b); };
  const auto eq = [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.eq_set(b); };
  const auto ne = [](const isl::pw_aff& a, const isl::pw_aff& b) { return a.ne_set(b); };
  if (const auto sides = operands<ir::LT>(condition)) return compare(sides, lt, ge);
  if (const auto sides = operands<ir::LE>(condition)) return compare(sides, le, gt);
  if (const auto sides = operands<ir::GT>(condition)) return compare(sides, gt, le);
  if (const auto sides = operands<ir::GE>(condition)) return compare(sides, ge, lt);
  if (const auto sides = operands<ir::EQ>(condition)) return compare(sides, eq, ne);
  if (const auto sides = operands<ir::NE>(condition)) return compare(sides, ne, eq);
  return universe_;
}

}  // namespace tc::halide_bridge
