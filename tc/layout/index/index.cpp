#include "tc/layout/index/index.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/syntax/print.h"

namespace tc::layout {

using namespace lang;

namespace {

/// part is dividend / divisor or dividend % divisor.
struct Division {
  BinaryOp op = BinaryOp::Div;
  ExprPtr dividend;
  std::int64_t divisor = 1;
};

std::optional<std::int64_t> positive_literal(const ExprPtr& expr) {
  const auto* number = std::get_if<IntLiteral>(&expr->node);
  if (!number || number->value == 0 || number->value > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(number->value);
}

std::optional<Division> division(const ExprPtr& part) {
  const auto* pair = std::get_if<Binary>(&part->node);
  if (!pair || (pair->op != BinaryOp::Div && pair->op != BinaryOp::Mod)) return std::nullopt;
  const auto divisor = positive_literal(pair->right);
  return divisor ? std::optional(Division{pair->op, pair->left, *divisor}) : std::nullopt;
}

/// The only part of \p index, if it is a division and nothing stands beside it.
std::optional<Division> only_division(const Index& index) {
  if (index.terms.size() != 1 || index.terms[0].coefficient != 1 || index.constant != 0) return std::nullopt;
  return division(index.terms[0].part);
}

/// \p expr, made by this file or read before, once more.
Index read_again(const ExprPtr& expr, const IteratorRanges& ranges) {
  static const auto& none = *new std::map<std::string, Index>;
  return read_index(expr, {none, ranges, [](const ExprPtr& part) { return part; }});
}

/// index = divisor * multiples + rest, without a look at ranges.
struct Multiples {
  Index multiples, rest;
};
Multiples take_multiples(const Index& index, std::int64_t divisor) {
  Multiples result;
  for (const auto& term : index.terms) {
    const bool whole = term.coefficient % divisor == 0;
    (whole ? result.multiples : result.rest).add(term.part, whole ? term.coefficient / divisor : term.coefficient);
  }
  result.multiples.constant = floor_div(index.constant, divisor);
  result.rest.constant = floor_mod(index.constant, divisor);
  return result;
}

/// The number k with k * divisor <= rest < (k + 1) * divisor for all values, if there is one.
std::optional<std::int64_t> block_of(const Index& rest, std::int64_t divisor, const IteratorRanges& ranges) {
  const auto range = bounds(rest, ranges);
  if (!range || floor_div(range->low, divisor) != floor_div(range->high, divisor)) return std::nullopt;
  return floor_div(range->low, divisor);
}

/// index = factor * multiples + rest with rest in 0:factor, factor a divisor of \p divisor beyond 1.
struct CommonFactor {
  std::int64_t factor = 1;
  Multiples parts;
};
std::optional<CommonFactor> common_factor(const Index& index, std::int64_t divisor, const IteratorRanges& ranges) {
  std::set<std::int64_t, std::greater<>> factors;
  for (const auto& term : index.terms) factors.insert(std::gcd(divisor, term.coefficient));
  for (const std::int64_t factor : factors) {
    if (factor == 1 || factor == divisor) continue;
    CommonFactor found{factor, take_multiples(index, factor)};
    if (block_of(found.parts.rest, factor, ranges) == 0) return found;
  }
  return std::nullopt;
}

/// c * d * (a / d) + c * (a % d) becomes c * a.
bool join_division(Index& index, const IteratorRanges& ranges) {
  for (const auto& rest : index.terms) {
    const auto mod = division(rest.part);
    if (!mod || mod->op != BinaryOp::Mod) continue;
    const std::string whole = print(make_expr(Binary{BinaryOp::Div, mod->dividend, literal(mod->divisor)}));
    for (const auto& term : index.terms) {
      if (term.text != whole || term.coefficient != rest.coefficient * mod->divisor) continue;
      const Index::Term quotient_term = term, rest_term = rest;
      index.add(quotient_term.part, -quotient_term.coefficient);
      index.add(rest_term.part, -rest_term.coefficient);
      index.add(read_again(mod->dividend, ranges), rest_term.coefficient);
      return true;
    }
  }
  return false;
}

class Reader {
 public:
  explicit Reader(const IndexReading& reading) : reading_(reading) {}

  Index read(const ExprPtr& expr) {
    Index result = read_once(expr);
    while (join_division(result, reading_.ranges)) continue;
    return result;
  }

 private:
  Index read_once(const ExprPtr& expr) {
    Index result;
    if (const auto* number = std::get_if<IntLiteral>(&expr->node)) {
      result.constant = static_cast<std::int64_t>(number->value);
    } else if (const auto* name = std::get_if<Name>(&expr->node)) {
      const auto value = reading_.values.find(name->id);
      result = value == reading_.values.end() ? index_of(name->id) : value->second;
    } else if (const auto* cast = std::get_if<Cast>(&expr->node); cast && cast->type == DType::Int64) {
      result = read(cast->value);
    } else if (const auto* unary = std::get_if<Unary>(&expr->node); unary && unary->op == UnaryOp::Negate) {
      result.add(read(unary->value), -1);
    } else if (const auto* pair = std::get_if<Binary>(&expr->node)) {
      result = read_binary(expr, *pair);
    } else {
      result.add(reading_.of_others(expr), 1);
    }
    return result;
  }

  Index read_binary(const ExprPtr& expr, const Binary& pair) {
    Index left, right;
    const bool arithmetic = pair.op <= BinaryOp::Mod;
    if (arithmetic) {
      left = read(pair.left);
      right = read(pair.right);
    }
    switch (pair.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
        left.add(right, pair.op == BinaryOp::Add ? 1 : -1);
        return left;
      case BinaryOp::Mul:
        if (!left.terms.empty() && !right.terms.empty()) break;
        return product(left.terms.empty() ? right : left, left.terms.empty() ? left.constant : right.constant);
      case BinaryOp::Div:
      case BinaryOp::Mod:
        if (!right.terms.empty() || right.constant < 1) break;
        return pair.op == BinaryOp::Div ? quotient(left, right.constant, reading_.ranges)
                                        : remainder(left, right.constant, reading_.ranges);
      default:
        break;
    }
    Index result;
    result.add(arithmetic ? make_expr(Binary{pair.op, to_expr(left), to_expr(right)}) : reading_.of_others(expr), 1);
    return result;
  }

  static Index product(const Index& index, std::int64_t factor) {
    Index result;
    result.add(index, factor);
    return result;
  }

  const IndexReading& reading_;
};

std::optional<Bounds> bounds_of_part(const ExprPtr& part, const IteratorRanges& ranges);

/// The bounds of min or max of arguments that all have some.
std::optional<Bounds> bounds_of_call(const Call& call, const IteratorRanges& ranges) {
  if (call.function != "min" && call.function != "max") return std::nullopt;
  std::optional<Bounds> all;
  for (const auto& argument : call.arguments) {
    const auto one = bounds(read_again(argument, ranges), ranges);
    if (!one) return std::nullopt;
    const bool least = call.function == "min";
    all = !all ? *one
               : Bounds{least ? std::min(all->low, one->low) : std::max(all->low, one->low),
                        least ? std::min(all->high, one->high) : std::max(all->high, one->high)};
  }
  return all;
}

std::optional<Bounds> bounds_of_part(const ExprPtr& part, const IteratorRanges& ranges) {
  if (const auto* name = std::get_if<Name>(&part->node)) {
    const auto found = ranges.find(name->id);
    if (found == ranges.end() || found->second.extent < 1) return std::nullopt;
    return Bounds{found->second.min, found->second.min + found->second.extent - 1};
  }
  if (const auto* call = std::get_if<Call>(&part->node)) return bounds_of_call(*call, ranges);
  const auto quotient = division(part);
  if (!quotient) return std::nullopt;
  if (quotient->op == BinaryOp::Mod) return Bounds{0, quotient->divisor - 1};
  const auto dividend = bounds(read_again(quotient->dividend, ranges), ranges);
  if (!dividend) return std::nullopt;
  return Bounds{floor_div(dividend->low, quotient->divisor), floor_div(dividend->high, quotient->divisor)};
}

}  // namespace

void Index::add(const ExprPtr& part, std::int64_t coefficient) {
  const std::string text = print(part);
  const auto found = std::find_if(terms.begin(), terms.end(), [&](const Term& term) { return term.text == text; });
  if (found == terms.end()) {
    if (coefficient != 0) terms.push_back({part, text, coefficient});
    return;
  }
  found->coefficient += coefficient;
  if (found->coefficient == 0) terms.erase(found);
}

void Index::add(const Index& other, std::int64_t factor) {
  for (const Term& term : std::vector<Term>(other.terms)) add(term.part, term.coefficient * factor);
  constant += other.constant * factor;
}

bool Index::operator==(const Index& other) const {
  Index difference = *this;
  difference.add(other, -1);
  return difference.terms.empty() && difference.constant == 0;
}

Index index_of(const std::string& name) {
  Index result;
  result.add(make_expr(Name{name}), 1);
  return result;
}

std::optional<Bounds> bounds(const Index& index, const IteratorRanges& ranges) {
  Bounds all{index.constant, index.constant};
  for (const auto& term : index.terms) {
    const auto part = bounds_of_part(term.part, ranges);
    if (!part) return std::nullopt;
    std::int64_t first = 0, last = 0;
    if (__builtin_mul_overflow(part->low, term.coefficient, &first)) return std::nullopt;
    if (__builtin_mul_overflow(part->high, term.coefficient, &last)) return std::nullopt;
    if (__builtin_add_overflow(all.low, std::min(first, last), &all.low)) return std::nullopt;
    if (__builtin_add_overflow(all.high, std::max(first, last), &all.high)) return std::nullopt;
  }
  return all;
}

Index quotient(const Index& index, std::int64_t divisor, const IteratorRanges& ranges) {
  if (divisor == 1) return index;
  if (const auto inner = only_division(index)) {
    if (inner->op == BinaryOp::Div)
      return quotient(read_again(inner->dividend, ranges), inner->divisor * divisor, ranges);
    if (inner->divisor % divisor == 0)
      return remainder(quotient(read_again(inner->dividend, ranges), divisor, ranges), inner->divisor / divisor,
                       ranges);
  }
  auto [result, rest] = take_multiples(index, divisor);
  if (const auto block = block_of(rest, divisor, ranges)) {
    result.constant += *block;
  } else if (const auto common = common_factor(rest, divisor, ranges)) {
    result.add(quotient(common->parts.multiples, divisor / common->factor, ranges));
  } else {
    if (index.constant < 0 && rest.constant > 0) {
      rest.constant -= divisor;
      result.constant += 1;
    }
    result.add(make_expr(Binary{BinaryOp::Div, to_expr(rest), literal(divisor)}), 1);
  }
  return result;
}

Index remainder(const Index& index, std::int64_t divisor, const IteratorRanges& ranges) {
  if (divisor == 1) return Index();
  if (const auto inner = only_division(index);
      inner && inner->op == BinaryOp::Mod && inner->divisor % divisor == 0 && inner->divisor != divisor)
    return remainder(read_again(inner->dividend, ranges), divisor, ranges);
  Index rest = take_multiples(index, divisor).rest, result;
  if (const auto block = block_of(rest, divisor, ranges)) {
    rest.constant -= *block * divisor;
    return rest;
  }
  if (const auto common = common_factor(rest, divisor, ranges)) {
    result.add(remainder(common->parts.multiples, divisor / common->factor, ranges), common->factor);
    result.add(common->parts.rest);
    return result;
  }
  if (index.constant < 0 && rest.constant > 0) rest.constant -= divisor;
  result.add(make_expr(Binary{BinaryOp::Mod, to_expr(rest), literal(divisor)}), 1);
  return result;
}

Index read_index(const ExprPtr& expr, const IndexReading& reading) { return Reader(reading).read(expr); }

ExprPtr literal(std::int64_t value) {
  auto magnitude = make_expr(IntLiteral{static_cast<std::uint64_t>(value < 0 ? -value : value)});
  return value < 0 ? make_expr(Unary{UnaryOp::Negate, magnitude}) : magnitude;
}

ExprPtr to_expr(const Index& index) {
  ExprPtr sum;
  const auto put = [&](const ExprPtr& value, bool positive) {
    if (sum) {
      sum = make_expr(Binary{positive ? BinaryOp::Add : BinaryOp::Sub, sum, value});
    } else {
      sum = positive ? value : make_expr(Unary{UnaryOp::Negate, value});
    }
  };
  const auto put_terms = [&](bool positive) {
    for (const auto& term : index.terms) {
      if ((term.coefficient > 0) != positive) continue;
      const std::int64_t size = std::abs(term.coefficient);
      put(size == 1 ? term.part : make_expr(Binary{BinaryOp::Mul, literal(size), term.part}), positive);
    }
  };
  put_terms(true);
  const bool constant_first = !sum && index.constant > 0;
  if (constant_first) put(literal(index.constant), true);
  put_terms(false);
  if (!sum) return literal(index.constant);
  if (index.constant != 0 && !constant_first) put(literal(std::abs(index.constant)), index.constant > 0);
  return sum;
}

}  // namespace tc::layout
