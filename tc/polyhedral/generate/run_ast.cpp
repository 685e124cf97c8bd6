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

/// Where the iterators of loops and parameters have their values.
class Places {
 public:
  Number of(const std::string& name) {
    return places_.emplace(name, static_cast<Number>(places_.size())).first->second;
  }
  std::optional<Number> find(const std::string& name) const {
    auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  std::size_t count() const { return places_.size(); }

 private:
  std::map<std::string, Number> places_;
};

/// The present values.
class Iterators {
 public:
  explicit Iterators(std::size_t count) : values_(count) {}
  Number& operator[](Number place) { return values_[static_cast<std::size_t>(place)]; }
  Number operator[](Number place) const { return values_[static_cast<std::size_t>(place)]; }

 private:
  std::vector<Number> values_;
};

Formula formula_of(const isl::ast_expr& expr, Places& places) {
  Formula result{.kind = isl_ast_expr_get_type(expr.get())};
  if (result.kind == isl_ast_expr_int)
    result.number = call(expr.ctx(), isl_ast_expr_get_val, expr.get()).num_si();
  else if (result.kind == isl_ast_expr_id)
    result.number = places.of(call(expr.ctx(), isl_ast_expr_get_id, expr.get()).name());
  else
    result.operation = isl_ast_expr_get_op_type(expr.get());
  for (int i = 0; result.kind == isl_ast_expr_op && i < isl_ast_expr_get_op_n_arg(expr.get()); ++i)
    result.arguments.push_back(formula_of(call(expr.ctx(), isl_ast_expr_get_op_arg, expr.get(), i), places));
  return result;
}

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

Number value_of(const Formula& formula, const Iterators& iterators) {
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

/// A site, ready to run.
struct Prepared {
  std::vector<Formula> iterators;
  std::optional<Address> write;
  std::vector<std::optional<Address>> reads;
};

Number value_of(const Address& address, const Iterators& iterators) {
  Number sum = 0;
  for (std::size_t i = 0; i < address.subscripts.size(); ++i)
    if (address.tensor->extent[i] != 1)
      sum += (value_of(address.subscripts[i], iterators) - address.tensor->min[i]) * address.tensor->strides[i];
  return sum;
}

}  // namespace

struct AstLoops::Parts {
  Parts(const Ast& ast, const Scop& scop) : scop(scop), root(step_of(ast.root)) {
    for (const auto& site : ast.sites) sites.push_back(prepared(site));
  }

  Prepared prepared(const Site& site) {
    Prepared result;
    for (const auto& iterator : site.iterators) result.iterators.push_back(formula_of(iterator, places));
    result.write = address_of(site.write);
    for (const auto& read : site.reads) result.reads.push_back(address_of(read));
    return result;
  }

  std::optional<Address> address_of(const Nullable<isl::ast_expr>& access) {
    if (access.is_null()) return std::nullopt;
    auto argument = [&](int i) { return call(access.ctx(), isl_ast_expr_get_op_arg, access.get(), i); };
    Address result;
    result.tensor = &scop.tensor(call(access.ctx(), isl_ast_expr_get_id, argument(0).get()).name());
    for (int i = 1; i < isl_ast_expr_get_op_n_arg(access.get()); ++i)
      result.subscripts.push_back(formula_of(argument(i), places));
    return result;
  }

  Step step_of(const isl::ast_node& node) {
    Step result{.kind = isl_ast_node_get_type(node.get())};
    if (result.kind == isl_ast_node_for) {
      auto loop = node.as<isl::ast_node_for>();
      result.iterator = formula_of(loop.iterator(), places).number;
      result.first = formula_of(loop.init(), places);
      result.once = loop.is_degenerate();
      if (!result.once) {
        result.condition = formula_of(loop.cond(), places);
        result.increment = formula_of(loop.inc(), places).number;
      }
      result.below.push_back(step_of(loop.body()));
    } else if (result.kind == isl_ast_node_if) {
      auto branch = node.as<isl::ast_node_if>();
      result.condition = formula_of(branch.cond(), places);
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

  const Scop& scop;
  Places places;
  Step root;
  std::vector<Prepared> sites;
};

AstLoops::AstLoops(const Ast& ast, const Scop& scop) : parts_(std::make_unique<Parts>(ast, scop)) {}
AstLoops::~AstLoops() = default;

/// A step under way.
struct AstThread::Frame {
  const Step* step;
  std::size_t entered = 0;  ///< how often something below was
  Number value = 0;         ///< of a loop's iterator, in its next iteration
};

struct AstThread::State {
  State(const AstLoops::Parts& loops, const std::map<std::string, Number>& parameters)
      : loops(loops), iterators(loops.places.count()), under_way{{&loops.root}} {
    for (const auto& [name, value] : parameters)
      if (auto place = loops.places.find(name)) iterators[*place] = value;
  }

  /// Enters what the innermost step has below it next; leaves the step where there is nothing.
  void advance() {
    auto& frame = under_way.back();
    const auto& step = *frame.step;
    const auto* below = step.kind == isl_ast_node_for       ? iteration(frame)
                        : step.kind == isl_ast_node_if      ? branch(frame)
                        : frame.entered < step.below.size() ? &step.below[frame.entered]
                                                            : nullptr;
    if (step.vector) vector = below ? ++vectors : -1;
    ++frame.entered;
    if (below)
      under_way.push_back({below});
    else
      under_way.pop_back();
  }

  const Step* iteration(Frame& frame) {
    const auto& loop = *frame.step;
    if (loop.once && frame.entered) return nullptr;
    if (!frame.entered) frame.value = value_of(loop.first, iterators);
    iterators[loop.iterator] = frame.value;
    if (!loop.once && !value_of(loop.condition, iterators)) return nullptr;
    frame.value += loop.increment;
    return &loop.below[0];
  }

  const Step* branch(const Frame& frame) const {
    if (frame.entered) return nullptr;
    std::size_t taken = value_of(frame.step->condition, iterators) ? 0 : 1;
    return taken < frame.step->below.size() ? &frame.step->below[taken] : nullptr;
  }

  SiteRun run_site(int number) const {
    const auto& site = loops.sites.at(static_cast<std::size_t>(number));
    SiteRun result{.site = number, .vector = vector};
    for (const auto& iterator : site.iterators) result.iterators.push_back(value_of(iterator, iterators));
    if (site.write) result.write = value_of(*site.write, iterators);
    for (const auto& read : site.reads)
      result.reads.push_back(read ? std::optional(value_of(*read, iterators)) : std::nullopt);
    return result;
  }

  const AstLoops::Parts& loops;
  Iterators iterators;
  std::vector<Frame> under_way;
  int vector = -1, vectors = 0;
};

AstThread::AstThread(const AstLoops& loops, const std::map<std::string, std::int64_t>& parameters)
    : state_(std::make_unique<State>(*loops.parts_, parameters)) {}
AstThread::AstThread(AstThread&& other) noexcept = default;
AstThread::~AstThread() = default;

std::optional<SiteRun> AstThread::next() {
  while (!state_->under_way.empty()) {
    const auto& step = *state_->under_way.back().step;
    if (step.kind != isl_ast_node_user) {
      state_->advance();
      continue;
    }
    state_->under_way.pop_back();
    return state_->run_site(step.site);
  }
  return std::nullopt;
}

}  // namespace tc::polyhedral
