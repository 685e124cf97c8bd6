#include "tc/polyhedral/generate/run_ast.h"

#include <algorithm>
#include <map>
#include <string>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/marks.h"

namespace tc::polyhedral {
namespace {

using Number = std::int64_t;

Number floor_quotient(Number a, Number b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// An AST expression, ready to be computed. A condition is 0 or 1.
struct Formula {
  isl_ast_expr_type kind = isl_ast_expr_int;
  isl_ast_expr_op_type operation = isl_ast_expr_op_error;
  Number number = 0;  ///< its value, or the place of its iterator
  std::vector<Formula> arguments;
};

/// The iterators of loops and their present values.
class Iterators {
 public:
  Number place_of(const std::string& name) {
    auto place = places_.emplace(name, static_cast<Number>(values_.size())).first->second;
    values_.resize(places_.size());
    return place;
  }
  Number& operator[](Number place) { return values_[static_cast<std::size_t>(place)]; }

 private:
  std::map<std::string, Number> places_;
  std::vector<Number> values_;
};

Formula formula_of(const isl::ast_expr& expr, Iterators& iterators) {
  Formula result{.kind = isl_ast_expr_get_type(expr.get())};
  if (result.kind == isl_ast_expr_int)
    result.number = call(expr.ctx(), isl_ast_expr_get_val, expr.get()).num_si();
  else if (result.kind == isl_ast_expr_id)
    result.number = iterators.place_of(call(expr.ctx(), isl_ast_expr_get_id, expr.get()).name());
  else
    result.operation = isl_ast_expr_get_op_type(expr.get());
  for (int i = 0; result.kind == isl_ast_expr_op && i < isl_ast_expr_get_op_n_arg(expr.get()); ++i)
    result.arguments.push_back(formula_of(call(expr.ctx(), isl_ast_expr_get_op_arg, expr.get(), i), iterators));
  return result;
}

Number value_of(const Formula& formula, Iterators& iterators);

Number combined(isl_ast_expr_op_type operation, Number a, Number b) {
  switch (operation) {
    case isl_ast_expr_op_add:
      return a + b;
    case isl_ast_expr_op_sub:
      return a - b;
    case isl_ast_expr_op_mul:
      return a * b;
    case isl_ast_expr_op_min:
      return std::min(a, b);
    case isl_ast_expr_op_max:
      return std::max(a, b);
    case isl_ast_expr_op_div:
    case isl_ast_expr_op_fdiv_q:
    case isl_ast_expr_op_pdiv_q:
      return floor_quotient(a, b);
    case isl_ast_expr_op_pdiv_r:
    case isl_ast_expr_op_zdiv_r:
      return a - b * floor_quotient(a, b);
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then:
      return a && b;
    case isl_ast_expr_op_or:
    case isl_ast_expr_op_or_else:
      return a || b;
    case isl_ast_expr_op_eq:
      return a == b;
    case isl_ast_expr_op_le:
      return a <= b;
    case isl_ast_expr_op_lt:
      return a < b;
    case isl_ast_expr_op_ge:
      return a >= b;
    case isl_ast_expr_op_gt:
      return a > b;
    default:
      throw InternalError(str("an AST operation of the unknown kind ", static_cast<int>(operation)));
  }
}

Number value_of(const Formula& formula, Iterators& iterators) {
  if (formula.kind == isl_ast_expr_int) return formula.number;
  if (formula.kind == isl_ast_expr_id) return iterators[formula.number];
  auto argument = [&](std::size_t i) { return value_of(formula.arguments.at(i), iterators); };
  if (formula.operation == isl_ast_expr_op_minus) return -argument(0);
  if (formula.operation == isl_ast_expr_op_cond || formula.operation == isl_ast_expr_op_select)
    return argument(0) ? argument(1) : argument(2);
  auto result = argument(0);
  for (std::size_t i = 1; i < formula.arguments.size(); ++i) result = combined(formula.operation, result, argument(i));
  return result;
}

/// An access, ready for its address to be computed.
struct Address {
  std::vector<Formula> subscripts;
  const Tensor* tensor = nullptr;
};

/// A node of the AST, ready to run.
struct Step {
  isl_ast_node_type kind = isl_ast_node_error;
  Number iterator = 0, increment = 1;
  Formula first, condition;  ///< of a loop, or of an if
  bool once = false;         ///< a loop of one iteration
  bool vector = false;       ///< a mark that turns the loop below into a vector
  std::vector<Step> below;   ///< of an if: then, else
  int site = 0;
};

class AstRun {
 public:
  AstRun(const Ast& ast, const Scop& scop, const std::function<void(const SiteRun&)>& visit)
      : ast_(ast), scop_(scop), visit_(visit) {
    for (const auto& site : ast.sites) prepare(site);
  }

  void run() { run(step_of(ast_.root)); }

 private:
  struct Prepared {
    std::vector<Formula> iterators;
    std::optional<Address> write;
    std::vector<std::optional<Address>> reads;
  };

  void prepare(const Site& site) {
    Prepared result;
    for (const auto& iterator : site.iterators) result.iterators.push_back(formula_of(iterator, iterators_));
    result.write = address_of(site.write);
    for (const auto& read : site.reads) result.reads.push_back(address_of(read));
    sites_.push_back(std::move(result));
  }

  std::optional<Address> address_of(const Nullable<isl::ast_expr>& access) {
    if (access.is_null()) return std::nullopt;
    auto argument = [&](int i) { return call(access.ctx(), isl_ast_expr_get_op_arg, access.get(), i); };
    Address result;
    result.tensor = &scop_.tensor(call(access.ctx(), isl_ast_expr_get_id, argument(0).get()).name());
    for (int i = 1; i < isl_ast_expr_get_op_n_arg(access.get()); ++i)
      result.subscripts.push_back(formula_of(argument(i), iterators_));
    return result;
  }

  Step step_of(const isl::ast_node& node) {
    Step result{.kind = isl_ast_node_get_type(node.get())};
    if (result.kind == isl_ast_node_for) {
      auto loop = node.as<isl::ast_node_for>();
      result.iterator = formula_of(loop.iterator(), iterators_).number;
      result.first = formula_of(loop.init(), iterators_);
      result.once = loop.is_degenerate();
      if (!result.once) {
        result.condition = formula_of(loop.cond(), iterators_);
        result.increment = formula_of(loop.inc(), iterators_).number;
      }
      result.below.push_back(step_of(loop.body()));
    } else if (result.kind == isl_ast_node_if) {
      auto branch = node.as<isl::ast_node_if>();
      result.condition = formula_of(branch.cond(), iterators_);
      result.below.push_back(step_of(branch.then_node()));
      if (branch.has_else_node()) result.below.push_back(step_of(branch.else_node()));
    } else if (result.kind == isl_ast_node_block) {
      for (const auto& child : elements(node.as<isl::ast_node_block>().children()))
        result.below.push_back(step_of(child));
    } else if (result.kind == isl_ast_node_mark) {
      result.vector = call(node.ctx(), isl_ast_node_mark_get_id, node.get()).name() == marks::vector;
      result.below.push_back(step_of(call(node.ctx(), isl_ast_node_mark_get_node, node.get())));
    } else {
      result.site = annotation(node);
    }
    return result;
  }

  void run(const Step& step) {
    if (step.kind == isl_ast_node_for) return run_loop(step);
    if (step.kind == isl_ast_node_user) return run_site(step.site);
    if (step.kind == isl_ast_node_if) {
      if (value_of(step.condition, iterators_))
        run(step.below[0]);
      else if (step.below.size() > 1)
        run(step.below[1]);
      return;
    }
    if (step.vector) vector_ = ++vectors_;
    for (const auto& below : step.below) run(below);
    if (step.vector) vector_ = -1;
  }

  void run_loop(const Step& loop) {
    auto value = value_of(loop.first, iterators_);
    do {
      iterators_[loop.iterator] = value;
      if (!loop.once && !value_of(loop.condition, iterators_)) return;
      run(loop.below[0]);
      value += loop.increment;
    } while (!loop.once);
  }

  void run_site(int number) {
    const auto& site = sites_.at(static_cast<std::size_t>(number));
    if (!site.write) return;
    SiteRun result{.site = number, .vector = vector_};
    for (const auto& iterator : site.iterators) result.iterators.push_back(value_of(iterator, iterators_));
    result.write = value_of(*site.write);
    for (const auto& read : site.reads) result.reads.push_back(read ? std::optional(value_of(*read)) : std::nullopt);
    visit_(result);
  }

  Number value_of(const Formula& formula, Iterators& iterators) { return polyhedral::value_of(formula, iterators); }
  Number value_of(const Address& address) {
    Number sum = 0;
    for (std::size_t i = 0; i < address.subscripts.size(); ++i)
      if (address.tensor->extent[i] != 1)
        sum += (value_of(address.subscripts[i], iterators_) - address.tensor->min[i]) * address.tensor->strides[i];
    return sum;
  }

  const Ast& ast_;
  const Scop& scop_;
  const std::function<void(const SiteRun&)>& visit_;
  Iterators iterators_;
  std::vector<Prepared> sites_;
  int vector_ = -1, vectors_ = 0;
};

}  // namespace

void run_ast(const Ast& ast, const Scop& scop, const std::function<void(const SiteRun&)>& visit) {
  AstRun(ast, scop, visit).run();
}

}  // namespace tc::polyhedral
