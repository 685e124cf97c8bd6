#include "tc/autodiff/terms/affine.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// The multiples of \p divisor in \p form, divided by it; \p form keeps the rest.
Affine take_multiples(Affine& form, std::int64_t divisor) {
  Affine multiples;
  for (const auto* part : form.in_order())
    if (part->coefficient % divisor == 0) multiples.add(part->expr, part->coefficient / divisor);
  std::erase_if(form.parts, [&](const auto& part) { return part.second.coefficient % divisor == 0; });
  multiples.constant = floor_div(form.constant, divisor);
  form.constant -= multiples.constant * divisor;
  return multiples;
}

bool stays_below(const Affine& rest, std::int64_t divisor) { return rest.is_constant() && rest.constant < divisor; }

/// a / c and a % c of one a, which \p form may hold both.
struct Division {
  ExprPtr dividend;
  std::int64_t divisor = 0;
};

std::optional<Division> division(const ExprPtr& part, BinaryOp op) {
  const auto* pair = std::get_if<Binary>(&part->node);
  if (!pair || pair->op != op) return std::nullopt;
  const auto divisor = constant_value(pair->right);
  if (!divisor || *divisor < 1) return std::nullopt;
  return Division{pair->left, static_cast<std::int64_t>(*divisor)};
}

/// c * (a / c) + a % c becomes a.
bool join_division(Affine& form) {
  for (const auto& [text, part] : form.parts) {
    const auto rest = division(part.expr, BinaryOp::Mod);
    if (!rest) continue;
    const std::string whole = print(binary(BinaryOp::Div, rest->dividend, integer(rest->divisor)));
    const auto found = form.parts.find(whole);
    if (found == form.parts.end() || found->second.coefficient != part.coefficient * rest->divisor) continue;
    const std::int64_t factor = part.coefficient;
    const std::string rest_text = text;
    form.parts.erase(whole);
    form.parts.erase(rest_text);
    form.add(read_affine(rest->dividend), factor);
    return true;
  }
  return false;
}

Affine read_product(const Binary& product) {
  const Affine left = read_affine(product.left), right = read_affine(product.right);
  Affine result;
  if (left.is_constant()) {
    result.add(right, left.constant);
  } else if (right.is_constant()) {
    result.add(left, right.constant);
  } else {
    result.add(binary(BinaryOp::Mul, to_expr(left), to_expr(right)), 1);
  }
  return result;
}

Affine read_division(const Binary& pair) {
  const Affine left = read_affine(pair.left), right = read_affine(pair.right);
  Affine result;
  if (right.is_constant() && right.constant > 0) {
    Affine rest = left;
    const Affine multiples = take_multiples(rest, right.constant);
    if (pair.op == BinaryOp::Div) result.add(multiples);
    if (stays_below(rest, right.constant)) {
      result.constant += pair.op == BinaryOp::Mod ? rest.constant : 0;
    } else {
      result.add(binary(pair.op, to_expr(rest), integer(right.constant)), 1);
    }
  } else {
    result.add(binary(pair.op, to_expr(left), to_expr(right)), 1);
  }
  return result;
}

Affine read_binary(const ExprPtr& expr, const Binary& pair) {
  Affine result;
  switch (pair.op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
      result = read_affine(pair.left);
      result.add(read_affine(pair.right), pair.op == BinaryOp::Add ? 1 : -1);
      break;
    case BinaryOp::Mul:
      result = read_product(pair);
      break;
    case BinaryOp::Div:
    case BinaryOp::Mod:
      result = read_division(pair);
      break;
    default:
      result.add(expr, 1);
  }
  while (join_division(result)) continue;
  return result;
}

}  // namespace

void Affine::add(const ExprPtr& part, std::int64_t coefficient) {
  std::size_t next = 0;
  for (const auto& [text, known] : parts) next = std::max(next, known.order + 1);
  auto [found, added] = parts.try_emplace(print(part), Part{part, 0, next});
  found->second.coefficient += coefficient;
  if (found->second.coefficient == 0) parts.erase(found);
}

void Affine::add(const Affine& other, std::int64_t factor) {
  for (const Part* part : other.in_order()) add(part->expr, part->coefficient * factor);
  constant += other.constant * factor;
}

std::vector<const Affine::Part*> Affine::in_order() const {
  std::vector<const Part*> all;
  for (const auto& [text, part] : parts) all.push_back(&part);
  std::sort(all.begin(), all.end(), [](const Part* a, const Part* b) { return a->order < b->order; });
  return all;
}

std::int64_t Affine::coefficient(const std::string& name) const {
  const auto found = parts.find(name);
  return found == parts.end() ? 0 : found->second.coefficient;
}

bool Affine::operator==(const Affine& other) const {
  return constant == other.constant && std::equal(parts.begin(), parts.end(), other.parts.begin(), other.parts.end(),
                                                  [](const auto& a, const auto& b) {
                                                    return a.first == b.first &&
                                                           a.second.coefficient == b.second.coefficient;
                                                  });
}

Affine read_affine(const ExprPtr& expr) {
  Affine result;
  if (const auto* literal = std::get_if<IntLiteral>(&expr->node)) {
    result.constant = static_cast<std::int64_t>(literal->value);
    return result;
  }
  if (const auto* unary = std::get_if<Unary>(&expr->node); unary && unary->op == UnaryOp::Negate) {
    result.add(read_affine(unary->value), -1);
    return result;
  }
  if (const auto* pair = std::get_if<Binary>(&expr->node)) return read_binary(expr, *pair);
  result.add(expr, 1);
  return result;
}

ExprPtr to_expr(const Affine& form) {
  ExprPtr sum;
  const auto put = [&](const ExprPtr& value, bool positive) {
    if (sum) {
      sum = binary(positive ? BinaryOp::Add : BinaryOp::Sub, sum, value);
    } else {
      sum = positive ? value : negation(value);
    }
  };
  const auto put_parts = [&](bool positive) {
    for (const auto* part : form.in_order()) {
      if ((part->coefficient > 0) != positive) continue;
      const std::int64_t size = std::abs(part->coefficient);
      put(size == 1 ? part->expr : binary(BinaryOp::Mul, integer(size), part->expr), positive);
    }
  };
  put_parts(true);
  if (!sum && form.constant > 0) put(integer(form.constant), true);
  const bool constant_first = sum && form.constant > 0 && std::get_if<IntLiteral>(&sum->node);
  put_parts(false);
  if (!sum) return integer(form.constant);
  if (form.constant != 0 && !constant_first) put(integer(std::abs(form.constant)), form.constant > 0);
  return sum;
}

ExprPtr quotient(const Affine& form, std::int64_t divisor) {
  return to_expr(read_affine(binary(BinaryOp::Div, to_expr(form), integer(divisor))));
}

ExprPtr remainder(const Affine& form, std::int64_t divisor) {
  return to_expr(read_affine(binary(BinaryOp::Mod, to_expr(form), integer(divisor))));
}

bool is_plain(const Affine& form) {
  return std::all_of(form.parts.begin(), form.parts.end(),
                     [](const auto& part) { return std::holds_alternative<Name>(part.second.expr->node); });
}

bool hidden_names(const Affine& form, const std::set<std::string>& names) {
  return std::any_of(form.parts.begin(), form.parts.end(), [&](const auto& part) {
    return !std::holds_alternative<Name>(part.second.expr->node) && mentions_any(part.second.expr, names);
  });
}

ExprPtr normalised(const ExprPtr& expr) {
  const auto is_index = [](const ExprPtr& e) { return e->type == DType::Int64; };
  return rebuild(expr, [&](const ExprPtr& part) -> ExprPtr {
    std::vector<ExprPtr> sides = children(part);
    const auto* pair = std::get_if<Binary>(&part->node);
    const bool compares = pair && is_comparison(pair->op);
    if (!std::holds_alternative<Access>(part->node) && !compares) return part;
    if (compares && !(is_index(sides[0]) && is_index(sides[1]))) return part;
    for (ExprPtr& side : sides) side = to_expr(read_affine(side));
    return with_children(part, sides);
  });
}

}  // namespace tc::autodiff
