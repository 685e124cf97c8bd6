#include "tc/derive/proof/known_values.h"

#include <cmath>
#include <functional>
#include <optional>

#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_text.h"

namespace tc::derive {

using lang::ExprPtr;

namespace {

/// Values of expressions of which one read is known, or none.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(std::size_t read, double value) : read_(read), value_(value) {}

  std::optional<double> operator()(const ExprPtr& expr) const {
    if (const auto k = read_number(expr)) return k == read_ ? std::optional(value_) : std::nullopt;
    if (const auto number = literal_value(expr, DType::Float64)) return number;
    if (const auto* cast = std::get_if<lang::Cast>(&expr->node))
      return is_float(cast->type) ? exactly((*this)(cast->value)) : std::nullopt;
    if (const auto* binary = std::get_if<lang::Binary>(&expr->node)) return of_binary(*binary);
    if (const auto* call = std::get_if<lang::Call>(&expr->node)) return of_call(*call);
    return std::nullopt;
  }

 private:
  /// \p value if all types of floats have it.
  static std::optional<double> exactly(const std::optional<double>& value) {
    return value && (*value == 0 || std::isinf(*value)) ? value : std::nullopt;
  }

  std::optional<double> of_binary(const lang::Binary& binary) const {
    const auto left = (*this)(binary.left), right = (*this)(binary.right);
    switch (binary.op) {
      case lang::BinaryOp::Add:
        return sum(left, right);
      case lang::BinaryOp::Sub:
        return sum(left, right ? std::optional(-*right) : std::nullopt);
      case lang::BinaryOp::Mul:
        return product(left, right);
      case lang::BinaryOp::Div:
        return left == 0.0 && right != 0.0 ? left : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  /// What is not known is finite.
  static std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
    const auto result = a.value_or(0) + b.value_or(0);
    return std::isinf(result) || (a == 0.0 && b == 0.0) ? std::optional(result) : std::nullopt;
  }

  static std::optional<double> product(const std::optional<double>& a, const std::optional<double>& b) {
    const bool infinite = (a && std::isinf(*a)) || (b && std::isinf(*b));
    if (!infinite && (a == 0.0 || b == 0.0)) return 0;
    return a && b ? exactly(*a * *b) : std::nullopt;
  }

  std::optional<double> of_call(const lang::Call& call) const {
    const bool is_exponential = call.function == "exp" || call.function == "exp2" || call.function == "exp10";
    if (!is_exponential || (*this)(call.arguments[0]) != -std::numeric_limits<double>::infinity()) return std::nullopt;
    return 0;
  }

  std::optional<std::size_t> read_;
  double value_ = 0;
};

/// Calls \p found with instances of \p part, and the number that its body then is.
void for_each_value(const Case& part, const KnownValues& known,
                    const std::function<void(const isl::set&, double)>& found) {
  if (const auto value = Evaluator()(part.body)) found(part.domain, *value);
  for (const auto k : reads_in(part.body)) {
    const auto tensor = known.find(part.reads[k].tensor);
    if (tensor == known.end()) continue;
    for (const auto& elements : tensor->second)
      if (const auto value = Evaluator(k, elements.value)(part.body))
        found(part.domain.intersect(elements.where.preimage(part.reads[k].at)), *value);
  }
}

}  // namespace

KnownValues known_values(const Program& program) {
  KnownValues result;
  for (const auto& scope : program.scopes) {
    if (scope->op || !is_float(scope->type)) continue;
    std::vector<KnownElements> own;
    const auto left = projection(*program.context, scope->dimensions(), run_of(0, scope->left())).as_map();
    const auto add = [&](const isl::set& instances, double value) {
      if (!instances.is_empty()) own.push_back({instances.apply(left), value});
    };
    if (std::isinf(scope->fill) || scope->fill == 0) {
      isl::set filled = box_set(*program.context, scope->box);
      for (const auto& part : scope->cases) filled = filled.subtract(part.domain.apply(left));
      if (!filled.is_empty()) own.push_back({filled, scope->fill});
    }
    for (const auto& part : scope->cases) for_each_value(part, result, add);
    if (!own.empty()) result.emplace(scope->tensor, std::move(own));
  }
  return result;
}

isl::set without_effect(const Case& part, ReductionOp op, const KnownValues& known) {
  auto result = part.domain.subtract(part.domain);
  for_each_value(part, known, [&](const isl::set& instances, double value) {
    if (value == neutral(op)) result = result.unite(instances);
  });
  return result;
}

}  // namespace tc::derive
