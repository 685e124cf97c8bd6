#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/halide_bridge/infer/index_bounds.h"

namespace tc::halide_bridge {

using Halide::Expr;
namespace ir = Halide::Internal;

namespace {

constexpr int most_nodes = 600;
constexpr int most_depth = 300;
constexpr std::size_t most_monomials = 500;

/// Counts nodes of a tree, not of a graph, up to the limits. A constant beyond 64 bits is too much.
class Meter : public ir::IRGraphVisitor {
 public:
  bool too_much = false;
  using ir::IRGraphVisitor::visit;
  void visit(const ir::Call* op) override {
    too_much = too_much || op->is_intrinsic(ir::Call::signed_integer_overflow);
    ir::IRGraphVisitor::visit(op);
  }
  using ir::IRGraphVisitor::include;
  void include(const Expr& expr) override {
    if (too_much) return;
    too_much = ++nodes_ > most_nodes || ++depth_ > most_depth;
    if (!too_much) expr.accept(this);
    --depth_;
  }

 private:
  int nodes_ = 0, depth_ = 0;
};

/// Factors in order, each by its text, and the coefficient of their product.
using Polynomial = std::map<std::vector<std::string>, std::int64_t>;

Polynomial add(Polynomial a, const Polynomial& b, std::int64_t factor) {
  for (const auto& [monomial, coefficient] : b) a[monomial] += factor * coefficient;
  std::erase_if(a, [](const auto& term) { return term.second == 0; });
  return a;
}

Polynomial multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [x, p] : a) {
    for (const auto& [y, q] : b) {
      std::vector<std::string> factors = x;
      factors.insert(factors.end(), y.begin(), y.end());
      std::sort(factors.begin(), factors.end());
      result = add(std::move(result), {{factors, p * q}}, 1);
      if (result.size() > most_monomials) throw TooComplicated();
    }
  }
  return result;
}

/// \p expr multiplied out; what is no sum or product is a factor of its own.
Polynomial expand(const Expr& expr) {
  if (const std::int64_t* value = ir::as_const_int(expr)) return add({}, {{{}, *value}}, 1);
  if (const auto* op = expr.as<ir::Add>()) return add(expand(op->a), expand(op->b), 1);
  if (const auto* op = expr.as<ir::Sub>()) return add(expand(op->a), expand(op->b), -1);
  if (const auto* op = expr.as<ir::Mul>()) return multiply(expand(op->a), expand(op->b));
  const auto* variable = expr.as<ir::Variable>();
  return {{{variable ? variable->name : str(expr)}, 1}};
}

}  // namespace

SizeFacts::SizeFacts(const std::vector<std::string>& sizes) : sizes_(sizes.begin(), sizes.end()) {
  for (const std::string& size : sizes) scope_.push(size, ir::Interval(constant(0), ir::Interval::pos_inf()));
}

void check_moderate(const Expr& expr) {
  if (!expr.defined()) return;
  Meter meter;
  meter.include(expr);
  if (meter.too_much) throw TooComplicated();
}

Expr SizeFacts::simplify(const Expr& expr) const {
  check_moderate(expr);
  const Expr result = ir::simplify(expr, true, scope_);
  check_moderate(result);
  return result;
}

bool SizeFacts::proves(const Expr& condition) const { return ir::is_const_one(simplify(condition)); }

bool SizeFacts::proves_less_equal(const Expr& a, const Expr& b) const {
  if (proves(a <= b)) return true;
  const Polynomial difference = add(expand(b), expand(a), -1);
  return std::all_of(difference.begin(), difference.end(), [&](const auto& term) {
    const bool sizes_only =
        std::all_of(term.first.begin(), term.first.end(), [&](const std::string& f) { return sizes_.count(f) > 0; });
    return term.second > 0 && sizes_only;
  });
}

}  // namespace tc::halide_bridge
