#include "tc/derive/form/program.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "tc/base/str.h"
#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_expressions.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

using lang::BinaryOp;
using lang::ExprPtr;

bool Scope::rounds() const {
  if (op || !is_half(type) || cases.size() != 1) return false;
  const auto* cast = std::get_if<lang::Cast>(&cases.front().body->node);
  return cast && cast->type == type;
}

std::optional<RoundedValue> rounded_value(const ExprPtr& expr) {
  const auto* outer = std::get_if<lang::Cast>(&expr->node);
  const auto* inner = outer ? std::get_if<lang::Cast>(&outer->value->node) : nullptr;
  if (!inner || !is_half(inner->type) || !is_float(outer->type) || is_half(outer->type)) return std::nullopt;
  return RoundedValue{inner->type, inner->value};
}

ExprPtr rounded(const ExprPtr& value, const std::optional<DType>& half, DType type) {
  if (!half) return value;
  return lang::make_expr(lang::Cast{type, lang::make_expr(lang::Cast{*half, value})});
}

ScopePtr Program::find(const std::string& tensor) const {
  for (const auto& scope : scopes)
    if (scope->tensor == tensor) return scope;
  return nullptr;
}

bool Program::is_output(const std::string& tensor) const {
  return std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
}

const lang::Box& Program::box(const std::string& tensor) const {
  for (const auto& input : inputs)
    if (input.tensor == tensor) return input.box;
  for (const auto& scope : scopes)
    if (scope->tensor == tensor) return scope->box;
  throw Refusal{str("there is no tensor '", tensor, "'")};
}

DType Program::type(const std::string& tensor) const {
  for (const auto& input : inputs)
    if (input.tensor == tensor) return input.type;
  for (const auto& scope : scopes)
    if (scope->tensor == tensor) return scope->type;
  throw Refusal{str("there is no tensor '", tensor, "'")};
}

bool Program::has_loops() const {
  return std::any_of(scopes.begin(), scopes.end(), [](const ScopePtr& scope) { return scope->loop.has_value(); });
}

bool reads_itself(const Scope& scope) {
  return std::any_of(scope.cases.begin(), scope.cases.end(), [&](const Case& part) {
    return std::any_of(part.reads.begin(), part.reads.end(),
                       [&](const Read& read) { return read.tensor == scope.tensor; });
  });
}

double neutral(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum:
    case ReductionOp::Or:
      return 0;
    case ReductionOp::Product:
    case ReductionOp::And:
      return 1;
    case ReductionOp::Min:
      return std::numeric_limits<double>::infinity();
    case ReductionOp::Max:
      return -std::numeric_limits<double>::infinity();
  }
  return 0;
}

std::string read_name(std::size_t read) { return str("#", read); }

std::optional<std::size_t> read_number(const ExprPtr& expr) {
  const auto* name = std::get_if<lang::Name>(&expr->node);
  if (!name || name->id.empty() || name->id[0] != '#') return std::nullopt;
  std::size_t value = 0;
  std::from_chars(name->id.data() + 1, name->id.data() + name->id.size(), value);
  return value;
}

ExprPtr with_reads(const ExprPtr& body, const std::function<ExprPtr(std::size_t)>& change) {
  if (const auto read = read_number(body)) return change(*read);
  std::vector<ExprPtr> parts;
  for (const auto& child : lang::children(body)) parts.push_back(with_reads(child, change));
  return parts.empty() ? body : lang::with_children(body, parts);
}

std::vector<std::string> distributing(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum:
      return {"*"};
    case ReductionOp::Max:
      return {"+", "min"};
    case ReductionOp::Min:
      return {"+", "max"};
    case ReductionOp::Or:
      return {"&&"};
    case ReductionOp::And:
      return {"||"};
    case ReductionOp::Product:
      return {};
  }
  return {};
}

std::string operator_of(const ExprPtr& expr) {
  if (const auto* call = std::get_if<lang::Call>(&expr->node))
    return (call->function == "min" || call->function == "max") && call->arguments.size() == 2 ? call->function : "";
  const auto* binary = std::get_if<lang::Binary>(&expr->node);
  if (!binary) return "";
  switch (binary->op) {
    case BinaryOp::Mul:
      return "*";
    case BinaryOp::Add:
      return "+";
    case BinaryOp::And:
      return "&&";
    case BinaryOp::Or:
      return "||";
    default:
      return "";
  }
}

std::vector<ExprPtr> factors(const ExprPtr& expr, const std::string& times) {
  if (times.empty() || operator_of(expr) != times) return {expr};
  std::vector<ExprPtr> result;
  for (const auto& child : lang::children(expr))
    for (const auto& factor : factors(child, times)) result.push_back(factor);
  return result;
}

ExprPtr product(const std::vector<ExprPtr>& factors, const std::string& times) {
  ExprPtr result;
  for (const auto& factor : factors) {
    if (!result)
      result = factor;
    else if (times == "min" || times == "max")
      result = lang::make_expr(lang::Call{times, {result, factor}});
    else
      result = joined(result,
                      times == "*"    ? BinaryOp::Mul
                      : times == "+"  ? BinaryOp::Add
                      : times == "&&" ? BinaryOp::And
                                      : BinaryOp::Or,
                      factor);
  }
  return result;
}

std::string product_operator(const ExprPtr& body, ReductionOp op) {
  const auto all = distributing(op);
  const auto own = operator_of(body);
  if (std::find(all.begin(), all.end(), own) != all.end()) return own;
  return all.empty() ? "" : all.front();
}

namespace {

/// The operator of two operands that a reduction by \p op repeats.
std::string plus_of(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum:
      return "+";
    case ReductionOp::Product:
      return "*";
    case ReductionOp::Max:
      return "max";
    case ReductionOp::Min:
      return "min";
    case ReductionOp::Or:
      return "||";
    case ReductionOp::And:
      return "&&";
  }
  return "";
}

ExprPtr minus_one() { return number(-1); }
bool is_minus_one(const ExprPtr& expr) { return lang::equal(expr, minus_one()); }

bool is_zero(const ExprPtr& expr) { return literal_value(expr, DType::Float64) == 0.0; }

/// Each of \p a times each of \p b; a product with 0 is 0.
std::vector<ExprPtr> products(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b, const std::string& times) {
  std::vector<ExprPtr> result;
  for (const auto& x : a)
    for (const auto& y : b)
      result.push_back(times == "*" && (is_zero(x) || is_zero(y)) ? number(0) : product({x, y}, times));
  return result;
}

/// A product without what is -1 in it, an odd number of times.
std::optional<ExprPtr> taken_off(const ExprPtr& term) {
  std::vector<ExprPtr> rest;
  const auto all = factors(term, "*");
  std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [](const auto& each) { return !is_minus_one(each); });
  if (rest.empty() || (all.size() - rest.size()) % 2 == 0) return std::nullopt;
  return product(rest, "*");
}

}  // namespace

std::vector<ExprPtr> terms(const ExprPtr& body, ReductionOp op) {
  const auto all = lang::children(body);
  const auto append = [&](std::vector<ExprPtr> to, const std::vector<ExprPtr>& from) {
    to.insert(to.end(), from.begin(), from.end());
    return to;
  };
  const auto own = operator_of(body);
  if (own == plus_of(op)) return append(terms(all[0], op), terms(all[1], op));
  const auto products_of = distributing(op);
  if (std::find(products_of.begin(), products_of.end(), own) != products_of.end())
    return products(terms(all[0], op), terms(all[1], op), own);
  if (op != ReductionOp::Sum) return {body};
  if (const auto* unary = std::get_if<lang::Unary>(&body->node); unary && unary->op == lang::UnaryOp::Negate)
    return is_minus_one(body) ? std::vector{body} : products({minus_one()}, terms(all[0], op), "*");
  if (const auto* binary = std::get_if<lang::Binary>(&body->node); binary && binary->op == BinaryOp::Sub)
    return append(terms(all[0], op), products({minus_one()}, terms(all[1], op), "*"));
  return {body};
}

ExprPtr sum(const std::vector<ExprPtr>& terms, ReductionOp op) {
  ExprPtr result;
  for (const auto& term : terms) {
    const auto off = op == ReductionOp::Sum && result ? taken_off(term) : std::nullopt;
    result = !result ? term : off ? joined(result, BinaryOp::Sub, *off) : product({result, term}, plus_of(op));
  }
  return result;
}

std::set<std::size_t> reads_in(const ExprPtr& expr) {
  std::set<std::size_t> result;
  lang::for_each_expr(expr, [&](const ExprPtr& part) {
    if (const auto read = read_number(part)) result.insert(*read);
  });
  return result;
}

bool is_linear(const ExprPtr& body, std::size_t read, ReductionOp op) {
  int alone = 0, holding = 0;
  for (const auto& factor : factors(body, product_operator(body, op))) {
    alone += read_number(factor) == read;
    holding += static_cast<int>(reads_in(factor).count(read));
  }
  return alone == 1 && holding == 1;
}

}  // namespace tc::derive
