#include "test/support/random/random_value.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/syntax/operators.h"

namespace tc::test {

using namespace lang;

namespace {

constexpr double float_limit = 1 << 20;

Knowledge join(const Knowledge& a, const Knowledge& b) {
  return {std::max(a.magnitude, b.magnitude), std::max(a.fraction_bits, b.fraction_bits), a.finite && b.finite,
          a.exact && b.exact};
}

double type_limit(DType type) {
  if (type == DType::Float16) return 8192;
  return is_float(type)
             ? float_limit
             : std::max(std::fabs(to_double(type, lowest_integer(type))), to_double(type, highest_integer(type)));
}

bool inside(std::int64_t low, std::int64_t high, const IntegerRange& box) {
  return low >= box.min && high < box.min + box.extent;
}

}  // namespace

ExprPtr integer(std::int64_t value) {
  auto literal = make_expr(IntLiteral{static_cast<std::uint64_t>(value < 0 ? -value : value)});
  return value < 0 ? make_expr(Unary{UnaryOp::Negate, literal}) : literal;
}
ExprPtr name(const std::string& id) { return make_expr(Name{id}); }
ExprPtr binary(BinaryOp op, ExprPtr left, ExprPtr right) { return make_expr(Binary{op, left, right}); }
ExprPtr call(const std::string& function, std::vector<ExprPtr> arguments) {
  return make_expr(Call{function, std::move(arguments)});
}
ExprPtr cast(DType type, ExprPtr value) { return make_expr(Cast{type, std::move(value), false}); }

Term ValueGenerator::pinned(Term term) {
  if (term.literal) term.expr = cast(term.type, term.expr);
  term.literal = false;
  return term;
}

Term ValueGenerator::limit(Term term, double magnitude) {
  if (!is_float(term.type)) return term;
  if (term.knowledge.fraction_bits > 3 && term.knowledge.exact) {
    term.expr = call("floor", {pinned(term).expr});
    term.knowledge.fraction_bits = 0;
    term.literal = false;
  }
  if (term.knowledge.magnitude * std::exp2(term.knowledge.fraction_bits) > magnitude) {
    double bound = std::max(1.0, std::min(8.0, std::floor(magnitude)));
    term = pinned(term);
    term.expr = call(
        "clamp", {term.expr, integer(-static_cast<std::int64_t>(bound)), integer(static_cast<std::int64_t>(bound))});
    term.knowledge.magnitude = bound;
  }
  return term;
}

Term ValueGenerator::convert(Term term, DType type) {
  if (term.type == type) return term;
  term = pinned(term);
  if (type == DType::Bool) {
    bool comparable = term.knowledge.exact;
    auto expr = comparable ? binary(BinaryOp::Gt, term.expr, integer(0)) : make_expr(BoolLiteral{true});
    return {expr, type, {1, 0, true, true}, false};
  }
  if (is_float(term.type) && !is_float(type)) {
    if (!term.knowledge.finite || !term.knowledge.exact) return pinned(literal(type));
    term = limit(term, 100);
    term.expr = cast(DType::Int32, term.expr);
    if (type != DType::Int32) term.expr = cast(type, term.expr);
    term.knowledge.fraction_bits = 0;
  } else if (is_float(type) && !is_float(term.type)) {
    if (term.knowledge.magnitude > 4096) {
      term.expr = binary(BinaryOp::Mod, term.expr, integer(8));
      term.knowledge.magnitude = 8;
    }
    term.expr = cast(type, term.expr);
  } else {
    if (type == DType::Float16) term = limit(term, type_limit(type));
    term.expr = cast(type, term.expr);
  }
  if (!is_float(type)) {
    bool negative_wraps = is_unsigned_integer(type);
    if (negative_wraps || term.knowledge.magnitude > type_limit(type)) term.knowledge.magnitude = type_limit(type);
  }
  term.type = type;
  return term;
}

Term ValueGenerator::literal(DType type) {
  if (type == DType::Bool) return {make_expr(BoolLiteral{random_.chance(50)}), type, {1, 0, true, true}, false};
  std::int64_t value = random_.between(is_unsigned_integer(type) ? 0 : -3, 4);
  if (is_float(type) && random_.chance(30)) {
    double fraction = static_cast<double>(value) + 0.5;
    auto expr = make_expr(FloatLiteral{std::fabs(fraction), ""});
    if (fraction < 0) expr = make_expr(Unary{UnaryOp::Negate, expr});
    return {expr, type, {5, 1, true, true}, true};
  }
  return {integer(value), type, {4, 0, true, true}, true};
}

/// i, i / d or i % d of a random iterator, with its bounds.
ValueGenerator::Subscript ValueGenerator::digit() {
  const KnownIterator& iterator = random_.pick(iterators_);
  const std::int64_t low = iterator.low, high = iterator.high - 1, divisor = random_.between(2, 5);
  if (random_.chance(85)) return {name(iterator.name), low, high};
  if (random_.chance(50))
    return {binary(BinaryOp::Div, name(iterator.name), integer(divisor)), floor_div(low, divisor),
            floor_div(high, divisor)};
  return {binary(BinaryOp::Mod, name(iterator.name), integer(divisor)), 0, divisor - 1};
}

/// c0 * i + c1 * j + c over random iterators or digits of them, with its bounds.
ValueGenerator::Subscript ValueGenerator::affine() {
  Subscript result{nullptr, 0, 0};
  int terms = iterators_.empty() ? 0 : static_cast<int>(random_.between(1, 2));
  for (int t = 0; t < terms; ++t) {
    const Subscript factor = digit();
    std::int64_t coefficient = random_.chance(60) ? 1 : random_.pick(std::vector<std::int64_t>{-1, -1, 2, 3, -2});
    ExprPtr product = factor.expr;
    if (coefficient != 1 && coefficient != -1) product = binary(BinaryOp::Mul, integer(coefficient), product);
    if (coefficient == -1) product = make_expr(Unary{UnaryOp::Negate, product});
    result.expr = result.expr ? binary(BinaryOp::Add, result.expr, product) : product;
    std::int64_t a = coefficient * factor.low, b = coefficient * factor.high;
    result.low += coefficient > 0 ? a : b;
    result.high += coefficient > 0 ? b : a;
  }
  if (!result.expr || random_.chance(40)) {
    std::int64_t constant = random_.between(-3, 3);
    ExprPtr shift = integer(std::abs(constant));
    BinaryOp op = constant < 0 ? BinaryOp::Sub : BinaryOp::Add;
    result.expr = result.expr ? binary(op, result.expr, shift) : integer(constant);
    result.low += constant;
    result.high += constant;
  }
  return result;
}

/// The value of an index tensor, if one fits into \p box.
std::optional<ValueGenerator::Subscript> ValueGenerator::gather(const IntegerRange& box) {
  for (const auto& tensor : tensors_) {
    if (!tensor.index_values || tensor.box.size() > 2 || !random_.chance(50)) continue;
    const IntegerRange& values = *tensor.index_values;
    if (!inside(values.min, values.min + values.extent - 1, box)) continue;
    std::vector<ExprPtr> subscripts;
    for (std::size_t d = 0; d < tensor.box.size(); ++d)
      for (const auto& iterator : iterators_)
        if (subscripts.size() == d && inside(iterator.low, iterator.high - 1, tensor.box[d]) && !iterator.inferred)
          subscripts.push_back(name(iterator.name));
    if (subscripts.size() != tensor.box.size()) continue;
    return Subscript{make_expr(Access{tensor.name, subscripts, subscripts.empty()}), values.min,
                     values.min + values.extent - 1};
  }
  return std::nullopt;
}

/// A subscript that mostly stays inside \p box, of a dimension of \p extent.
ValueGenerator::Subscript ValueGenerator::subscript_inside(const IntegerRange& box, const ExprPtr& extent) {
  if (random_.chance(50)) {
    std::vector<const KnownIterator*> fitting;
    for (const auto& iterator : iterators_)
      if (inside(iterator.low, iterator.high - 1, box)) fitting.push_back(&iterator);
    if (!fitting.empty()) {
      const KnownIterator* iterator = random_.pick(fitting);
      return {name(iterator->name), iterator->low, iterator->high - 1};
    }
  }
  if (random_.chance(30))
    if (auto index = gather(box)) return *index;
  Subscript s = affine();
  if (box.extent <= 0) return s;
  switch (random_.between(0, 5)) {
    case 0: {
      ExprPtr rest = binary(BinaryOp::Mod, s.expr, extent);
      if (box.min != 0) rest = binary(BinaryOp::Add, rest, integer(box.min));
      return {rest, box.min, box.min + box.extent - 1};
    }
    case 1: {
      ExprPtr upper = box.min == 1 ? extent : binary(BinaryOp::Add, extent, integer(box.min - 1));
      if (box.min < 1) upper = binary(BinaryOp::Sub, extent, integer(1 - box.min));
      return {call("min", {call("max", {s.expr, integer(box.min)}), upper}), box.min, box.min + box.extent - 1};
    }
    case 2: {
      std::int64_t divisor = random_.between(2, 4);
      return {binary(BinaryOp::Div, s.expr, integer(divisor)), floor_div(s.low, divisor), floor_div(s.high, divisor)};
    }
    case 3: {
      std::int64_t constant = random_.between(box.min, box.min + std::min<std::int64_t>(box.extent, 5) - 1);
      return {integer(constant), constant, constant};
    }
    default:
      return s;
  }
}

Term ValueGenerator::guarded(Term term, const ExprPtr& guard) {
  if (term.type == DType::Bool && random_.chance(50)) {
    term.expr = binary(BinaryOp::And, guard, term.expr);
    return term;
  }
  Term other = literal(term.type);
  bool negated = random_.chance(20);
  ExprPtr condition = negated ? make_expr(Unary{UnaryOp::Not, guard}) : guard;
  term.expr = negated ? make_expr(Select{condition, other.expr, term.expr})
                      : make_expr(Select{condition, term.expr, other.expr});
  term.knowledge = join(term.knowledge, other.knowledge);
  return term;
}

/// Is \p expr an iterator that has no range of its own? Out of bounds it would narrow its range, guarded or not.
bool ValueGenerator::is_inferred(const ExprPtr& expr) const {
  auto* id = std::get_if<Name>(&expr->node);
  return id && std::any_of(iterators_.begin(), iterators_.end(),
                           [&](const KnownIterator& i) { return i.name == id->id && i.inferred; });
}

Term ValueGenerator::read(const KnownTensor& tensor) {
  std::vector<ExprPtr> subscripts;
  ExprPtr guard;
  for (std::size_t d = 0; d < tensor.box.size(); ++d) {
    const IntegerRange& box = tensor.box[d];
    Subscript s = subscript_inside(box, tensor.extents[d]);
    subscripts.push_back(s.expr);
    if (inside(s.low, s.high, box)) continue;
    if (is_inferred(s.expr)) return literal(tensor.type);
    ExprPtr end = tensor.extents[d];
    if (box.min != 0) end = binary(BinaryOp::Add, end, integer(box.min));
    std::vector<ExprPtr> conditions;
    if (s.low < box.min) conditions.push_back(binary(BinaryOp::Ge, s.expr, integer(box.min)));
    if (s.high >= box.min + box.extent) conditions.push_back(binary(BinaryOp::Lt, s.expr, end));
    for (const auto& condition : conditions) guard = guard ? binary(BinaryOp::And, guard, condition) : condition;
  }
  Term term{make_expr(Access{tensor.name, subscripts, subscripts.empty() && random_.chance(50)}), tensor.type,
            tensor.knowledge, false};
  return guard ? guarded(term, guard) : term;
}

Term ValueGenerator::leaf(DType type) {
  std::vector<const KnownTensor*> same, others;
  for (const auto& tensor : tensors_) (tensor.type == type ? same : others).push_back(&tensor);
  if (!same.empty() && random_.chance(70)) return read(*random_.pick(same));
  if (!others.empty() && random_.chance(60)) return convert(read(*random_.pick(others)), type);
  if (!iterators_.empty() && random_.chance(40)) {
    const KnownIterator& iterator = random_.pick(iterators_);
    double magnitude =
        std::max(std::fabs(static_cast<double>(iterator.low)), std::fabs(static_cast<double>(iterator.high)));
    if (is_float(type) && Random(random_).chance(30)) {
      ExprPtr half = binary(BinaryOp::Mul, name(iterator.name), make_expr(FloatLiteral{0.5, ""}));
      return {half, type, {magnitude, 1, true, true}, true};
    }
    return convert({name(iterator.name), DType::Int64, {magnitude, 0, true, true}, false}, type);
  }
  if (!sizes_.empty() && random_.chance(20))
    return convert({name(random_.pick(sizes_)), DType::Int64, {127, 0, true, true}, false}, type);
  return literal(type);
}

Term ValueGenerator::condition(int depth) {
  switch (depth <= 0 ? 0 : random_.between(0, 4)) {
    case 1: {
      BinaryOp op = random_.chance(50) ? BinaryOp::And : BinaryOp::Or;
      ExprPtr right = condition(depth - 1).expr, left = condition(depth - 1).expr;
      return {binary(op, left, right), DType::Bool, {1, 0, true, true}, false};
    }
    case 2:
      return {make_expr(Unary{UnaryOp::Not, condition(depth - 1).expr}), DType::Bool, {1, 0, true, true}, false};
    case 3:
      return leaf(DType::Bool);
    default: {
      static const std::vector<DType> types = {DType::Float32, DType::Int32, DType::Int64, DType::Float64,
                                               DType::UInt8};
      DType type = random_.pick(types);
      Term left = value(type, depth - 1), right = value(type, depth - 1);
      if (!left.knowledge.exact || !right.knowledge.exact) return literal(DType::Bool);
      if (left.literal && right.literal) left = pinned(left);
      static const std::vector<BinaryOp> ops = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                                                BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
      return {binary(random_.pick(ops), left.expr, right.expr), DType::Bool, {1, 0, true, true}, false};
    }
  }
}

/// An operator on the bits of integers of \p type.
Term ValueGenerator::bits(DType type, int depth) {
  Term left = pinned(value(type, depth - 1)), right = value(type, depth - 1);
  static const std::vector<BinaryOp> ops = {BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::ShiftLeft,
                                            BinaryOp::ShiftRight};
  const BinaryOp op = random_.pick(ops);
  const bool shifts = is_shift(op);
  if ((shifts && right.literal) || random_.chance(40)) right.expr = integer(random_.between(0, bit_size(type) - 1));
  ExprPtr result = binary(op, left.expr, right.expr);
  if (random_.chance(20)) result = make_expr(Unary{UnaryOp::Complement, result});
  return {result, type, {type_limit(type), 0, true, true}, false};
}

/// A binary operator or a conditional of \p type.
Term ValueGenerator::combine(DType type, int depth) {
  if (is_integer(type) && random_.chance(15)) return bits(type, depth);
  Term left = value(type, depth - 1), right = value(type, depth - 1);
  if (left.literal && right.literal) left = pinned(left);
  Knowledge known = join(left.knowledge, right.knowledge);
  if (random_.chance(25)) {
    ExprPtr guard = condition(depth - 1).expr;
    if (random_.chance(30)) return {call("select", {guard, left.expr, right.expr}), type, known, false};
    return {make_expr(Select{guard, left.expr, right.expr}), type, known, false};
  }
  if (is_float(type) && random_.chance(2)) {
    ExprPtr zero = random_.chance(50) ? integer(0) : binary(BinaryOp::Sub, cast(type, integer(1)), integer(1));
    return {binary(BinaryOp::Div, pinned(left).expr, zero), type, {1, 0, false, true}, false};
  }
  static const std::vector<BinaryOp> float_ops = {BinaryOp::Add, BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul};
  static const std::vector<BinaryOp> integer_ops = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div,
                                                    BinaryOp::Mod};
  BinaryOp op = random_.pick(is_float(type) ? float_ops : integer_ops);
  if (op == BinaryOp::Mul) {
    left = limit(left, 512);
    right = limit(right, 512);
    known = join(left.knowledge, right.knowledge);
    known.magnitude = left.knowledge.magnitude * right.knowledge.magnitude;
    known.fraction_bits = left.knowledge.fraction_bits + right.knowledge.fraction_bits;
    if (left.literal && right.literal) left = pinned(left);
  } else {
    known.magnitude = left.knowledge.magnitude + right.knowledge.magnitude;
  }
  if (op == BinaryOp::Div || op == BinaryOp::Mod) {
    if (right.literal) right = {integer(random_.between(1, 5)), type, {5, 0, true, true}, true};
    if (left.literal) left = pinned(left);
  }
  if (!is_float(type))
    known.magnitude = is_unsigned_integer(type) ? type_limit(type) : std::min(known.magnitude, type_limit(type));
  return {binary(op, left.expr, right.expr), type, known, false};
}

/// A function whose result is exact.
Term ValueGenerator::function(DType type, int depth) {
  Term x = pinned(value(type, depth - 1));
  Knowledge known = x.knowledge;
  if (is_float(type) && random_.chance(5))
    return {call("min", {x.expr, make_expr(FloatLiteral{std::numeric_limits<double>::infinity(), ""})}), type, known,
            false};
  if (random_.chance(8)) {
    x = limit(x, 512);
    known = x.knowledge;
    known.magnitude = is_float(type) ? known.magnitude * known.magnitude : type_limit(type);
    known.fraction_bits *= 2;
    return {binary(BinaryOp::Power, x.expr, integer(2)), type, known, false};
  }
  switch (random_.between(0, is_float(type) ? 9 : 4)) {
    case 0:
      return {call(random_.chance(50) ? "abs" : "relu", {x.expr}), type, known, false};
    case 1: {
      Term y = value(type, depth - 1);
      return {call(random_.chance(50) ? "min" : "max", {x.expr, y.expr}), type, join(known, y.knowledge), false};
    }
    case 2:
      return {call("clamp", {x.expr, integer(is_unsigned_integer(type) ? 1 : -2), integer(5)}), type,
              join(known, {5, 0, true, true}), false};
    case 3:
      if (is_float(type)) return {make_expr(Unary{UnaryOp::Negate, x.expr}), type, known, false};
      return {call("popcount", {x.expr}), type, {64, 0, true, true}, false};
    case 4:
      if (is_unsigned_integer(type)) known.magnitude = type_limit(type);
      return {make_expr(Unary{UnaryOp::Negate, x.expr}), type, known, false};
    case 5: {
      Term y = value(type, depth - 1);
      return {call(random_.chance(50) ? "fmin" : "fmax", {x.expr, y.expr}), type, join(known, y.knowledge), false};
    }
    case 6: {
      Term y = limit(value(type, depth - 1), 64);
      Term z = limit(x, 64);
      known = join(z.knowledge, y.knowledge);
      known.magnitude = z.knowledge.magnitude * y.knowledge.magnitude + 5;
      known.fraction_bits = z.knowledge.fraction_bits + y.knowledge.fraction_bits;
      return {call("fma", {z.expr, y.expr, integer(2)}), type, known, false};
    }
    case 7:
      if (!known.exact) return x;
      return {call(random_.pick(std::vector<std::string>{"floor", "ceil", "trunc"}), {x.expr}),
              type,
              {known.magnitude + 1, 0, known.finite, true},
              false};
    case 8:
      known.fraction_bits += 1;
      return {binary(BinaryOp::Mul, x.expr, make_expr(FloatLiteral{0.5, ""})), type, known, false};
    default:
      return {call("isnan", {x.expr}), DType::Bool, {1, 0, true, true}, false};
  }
}

/// A function that rounds, of a bounded argument.
Term ValueGenerator::smooth_function(DType type, int depth) {
  Term x = pinned(limit(value(type, depth - 1), 16));
  if (random_.chance(10)) x.expr = binary(BinaryOp::Mul, x.expr, make_expr(FloatLiteral{std::numbers::pi, "pi"}));
  static const std::vector<std::string> bounded = {"tanh", "sigmoid", "sin", "cos", "erf", "atan"};
  static const std::vector<std::string> growing = {"silu", "gelu", "softplus", "asinh"};
  if (random_.chance(30)) {
    auto argument = binary(BinaryOp::Mul, x.expr, make_expr(FloatLiteral{0.125, ""}));
    return {call("exp", {argument}), type, {8, 0, x.knowledge.finite, false}, false};
  }
  if (random_.chance(30))
    return {call("sqrt", {call("fabs", {x.expr})}), type, {8, 0, x.knowledge.finite, false}, false};
  if (random_.chance(50))
    return {call(random_.pick(growing), {x.expr}), type, {17, 0, x.knowledge.finite, false}, false};
  return {call(random_.pick(bounded), {x.expr}), type, {2, 0, x.knowledge.finite, false}, false};
}

Term ValueGenerator::value(DType type, int depth) {
  if (type == DType::Bool) return condition(depth);
  Term term = depth <= 0 ? leaf(type) : Term{};
  if (depth > 0) {
    std::int64_t kind = random_.between(0, 9);
    if (kind <= 1)
      term = leaf(type);
    else if (kind <= 6)
      term = combine(type, depth);
    else if (kind <= 8)
      term = inexact_ && is_float(type) && random_.chance(30) ? smooth_function(type, depth) : function(type, depth);
    else {
      static const std::vector<DType> sources = {DType::Float32, DType::Int32,   DType::Int8,
                                                 DType::UInt16,  DType::Float64, DType::UInt64,
                                                 DType::Bool,    DType::Float16, DType::BFloat16};
      term = value(random_.pick(sources), depth - 1);
    }
  }
  return limit(convert(term, type), type_limit(type));
}

}  // namespace tc::test
