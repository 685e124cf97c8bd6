#include "tc/autodiff/reverse/adjoint_reads.h"

#include <algorithm>

#include "tc/autodiff/terms/derivatives.h"
#include "tc/base/str.h"

namespace tc::autodiff {

using namespace lang;

namespace {

class ChainRule {
 public:
  ChainRule(const std::set<std::string>& active, const UnknownDerivative& unknown)
      : active_(active), unknown_(unknown) {}

  /// Sends \p adjoint through \p expr; \p result is another name of its value, or null.
  void visit(const ExprPtr& expr, const ExprPtr& result, const Guarded& adjoint) {
    if (!reaches(expr)) return;
    std::visit(overloaded{
                   [&](const Access&) { put(expr, adjoint); },
                   [&](const Cast& x) { visit(x.value, x.implicit ? result : nullptr, adjoint); },
                   [&](const Unary& x) { visit(x.value, nullptr, {adjoint.conditions, scaled(adjoint.value, -1)}); },
                   [&](const Binary& x) { visit_binary(x, expr, result, adjoint); },
                   [&](const Select& x) { visit_choice(x.condition, x.then_value, x.else_value, adjoint); },
                   [&](const Call& x) { visit_call(x, expr, result, adjoint); },
                   [](const auto&) {},
               },
               expr->node);
  }

  std::vector<ReadAdjoint> take() { return std::move(reads_); }

 private:
  /// Does \p expr hold an active read that is no subscript?
  bool reaches(const ExprPtr& expr) const {
    if (!expr->type || !is_float(*expr->type)) return false;
    if (const auto* read = std::get_if<Access>(&expr->node)) return active_.count(read->tensor) > 0;
    const auto parts = children(expr);
    return std::any_of(parts.begin(), parts.end(), [&](const ExprPtr& part) { return reaches(part); });
  }

  void put(const ExprPtr& read, const Guarded& adjoint) {
    for (ReadAdjoint& known : reads_)
      if (equal(known.read, read) && equal(known.conditions, adjoint.conditions)) {
        known.value = plus(std::move(known.value), adjoint.value);
        return;
      }
    reads_.push_back({read, adjoint.conditions, adjoint.value});
  }

  void visit_binary(const Binary& pair, const ExprPtr& expr, const ExprPtr& result, const Guarded& adjoint) {
    const auto send = [&](const ExprPtr& to, const Sum& value) { visit(to, nullptr, {adjoint.conditions, value}); };
    switch (pair.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
        send(pair.left, adjoint.value);
        send(pair.right, scaled(adjoint.value, pair.op == BinaryOp::Add ? 1 : -1));
        break;
      case BinaryOp::Mul:
        send(pair.left, times(adjoint.value, pair.right));
        send(pair.right, times(adjoint.value, pair.left));
        break;
      case BinaryOp::Div:
        send(pair.left, times(adjoint.value, pair.right, -1));
        if (reaches(pair.right))
          send(pair.right, times(times(scaled(adjoint.value, -1), result ? result : expr), pair.right, -1));
        break;
      case BinaryOp::Mod:
        send_partials("fmod", {pair.left, pair.right}, result ? result : expr, adjoint, expr->range);
        break;
      default:
        break;
    }
  }

  void visit_choice(const ExprPtr& condition, const ExprPtr& yes, const ExprPtr& no, const Guarded& adjoint) {
    Guarded then = adjoint, otherwise = adjoint;
    for (const ExprPtr& part : conjuncts(condition)) then.conditions.push_back(part);
    otherwise.conditions.push_back(opposite(condition));
    visit(yes, nullptr, then);
    visit(no, nullptr, otherwise);
  }

  void visit_call(const Call& call, const ExprPtr& expr, const ExprPtr& result, const Guarded& adjoint) {
    if (call.function == "select") {
      visit_choice(call.arguments[0], call.arguments[1], call.arguments[2], adjoint);
    } else {
      send_partials(call.function, call.arguments, result ? result : expr, adjoint, expr->range);
    }
  }

  void send_partials(const std::string& function, const std::vector<ExprPtr>& arguments, const ExprPtr& result,
                     const Guarded& adjoint, SourceRange place) {
    const auto all = partials(function, arguments, result);
    if (!all) {
      unknown_(function, place);
      return;
    }
    for (const Partial& partial : *all) {
      if (!reaches(arguments[partial.argument])) continue;
      Guarded to{adjoint.conditions, times(adjoint.value, partial.value)};
      to.conditions.insert(to.conditions.end(), partial.conditions.begin(), partial.conditions.end());
      visit(arguments[partial.argument], nullptr, to);
    }
  }

  const std::set<std::string>& active_;
  const UnknownDerivative& unknown_;
  std::vector<ReadAdjoint> reads_;
};

}  // namespace

std::vector<ReadAdjoint> adjoint_reads(const ExprPtr& value, const ExprPtr& result, const Guarded& adjoint,
                                       const std::set<std::string>& active, const UnknownDerivative& unknown) {
  ChainRule rule(active, unknown);
  rule.visit(value, result, adjoint);
  return rule.take();
}

}  // namespace tc::autodiff
