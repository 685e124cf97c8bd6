#include "tc/halide_bridge/infer/subscripts.h"

#include <algorithm>

#include "tc/halide_bridge/infer/index_bounds.h"
#include "tc/lang/syntax/operators.h"

namespace tc::halide_bridge {

using Halide::Expr;
namespace ir = Halide::Internal;

namespace {

class Collector {
 public:
  Collector(const std::vector<std::string>& iterators, IndexConverter& convert)
      : iterators_(iterators), convert_(convert) {}

  void walk(const lang::ExprPtr& expr) {
    if (auto* access = std::get_if<lang::Access>(&expr->node)) {
      for (const auto& subscript : access->subscripts) walk(subscript);
      for (std::size_t d = 0; d < access->subscripts.size(); ++d) add(expr, *access, static_cast<int>(d));
    } else if (auto* select = std::get_if<lang::Select>(&expr->node)) {
      walk(select->condition);
      const Expr condition = convert_(select->condition);
      walk_under(condition, select->then_value);
      walk_under(!condition, select->else_value);
    } else if (auto* logical = std::get_if<lang::Binary>(&expr->node); logical && is_logical(logical->op)) {
      walk(logical->left);
      const Expr condition = convert_(logical->left);
      walk_under(logical->op == lang::BinaryOp::And ? condition : !condition, logical->right);
    } else {
      for (const auto& child : lang::children(expr)) walk(child);
    }
  }

  bool in_exists = false;
  std::vector<Subscript> found;

 private:
  void walk_under(const Expr& condition, const lang::ExprPtr& expr) {
    guards_.push_back(condition);
    walk(expr);
    guards_.pop_back();
  }

  bool is_iterator(const std::string& name) const {
    return std::find(iterators_.begin(), iterators_.end(), name) != iterators_.end();
  }

  void add(const lang::ExprPtr& expr, const lang::Access& access, int dimension) {
    Subscript s;
    s.access = expr.get();
    s.tensor = access.tensor;
    s.dimension = dimension;
    s.source = access.subscripts[static_cast<std::size_t>(dimension)];
    s.value = convert_(s.source);
    s.bare = s.value.as<ir::Variable>() != nullptr;
    if (!s.bare) {
      check_moderate(s.value);
      s.value = ir::simplify(s.value);
    }
    s.guards = guards_;
    s.in_exists = in_exists;
    for (const std::string& name : variables(s.value)) {
      if (is_iterator(name)) s.iterators.push_back(name);
      s.opaque = s.opaque || name.front() == '#';
    }
    s.bare = s.bare && !s.iterators.empty();
    found.push_back(std::move(s));
  }

  const std::vector<std::string>& iterators_;
  IndexConverter& convert_;
  std::vector<Expr> guards_;
};

}  // namespace

std::vector<Subscript> collect_subscripts(const lang::Assignment& assignment, const std::vector<std::string>& iterators,
                                          IndexConverter& convert) {
  Collector collector(iterators, convert);
  collector.walk(assignment.rhs);
  collector.in_exists = true;
  for (const auto& clause : assignment.clauses)
    if (auto* exists = std::get_if<lang::ExistsClause>(&clause.node)) collector.walk(exists->value);
  return std::move(collector.found);
}

}  // namespace tc::halide_bridge
