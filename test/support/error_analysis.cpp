#include "test/support/error_analysis.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <list>
#include <memory>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/interpret/evaluate.h"
#include "tc/lang/interpret/interpret.h"
#include "tc/lang/interpret/program_order.h"
#include "test/support/host_tensor.h"

namespace tc::test {
namespace {

using namespace lang;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A number and how far from it a kernel's may be.
struct Bounded {
  double value = 0, error = 0;
};
using Bounder = std::function<Bounded(Slots)>;
using Condition = std::function<bool(Slots)>;

/// Half an ulp of 1.
double unit(DType type) {
  switch (type) {
    case DType::Float64:
      return std::ldexp(1.0, -53);
    case DType::Float16:
      return std::ldexp(1.0, -11);
    case DType::BFloat16:
      return std::ldexp(1.0, -8);
    default:
      return std::ldexp(1.0, -24);
  }
}
/// The smallest distance of two numbers.
double least(DType type) {
  return type == DType::Float64   ? std::ldexp(1.0, -1074)
         : type == DType::Float16 ? std::ldexp(1.0, -24)
                                  : std::ldexp(1.0, -133);
}
/// The rounding of \p value to \p type, \p units times.
double rounding(DType type, double value, double units) { return units * unit(type) * std::fabs(value) + least(type); }
bool is_representable(DType type, double value) { return std::isnan(value) || round_to(type, value) == value; }

/// |a - b|; nothing known where one of them is not finite and they differ.
double apart(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : infinity;
}

/// The bits of a number below its first one, as a power of 2: what it is a multiple of.
double quantum(double value) {
  int exponent = 0;
  auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  return std::ldexp(static_cast<double>(mantissa & -mantissa), exponent - 53);
}

/// A tensor of errors over the box of another tensor.
struct Errors {
  std::vector<double> values;
  Storage storage;

  Errors(const std::string& name, const Box& box) {
    std::vector<std::int64_t> shape;
    std::int64_t count = 1;
    for (const auto& interval : box) {
      shape.push_back(interval.extent);
      count *= interval.extent;
    }
    values.assign(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), 0);
    storage = {name, DType::Float64, box, row_major_strides(shape), values.data()};
  }
};

/// Calls \p body for the points of \p box, last dimension first, their values in \p slots from \p first on.
template <typename F>
void for_each_point(const Box& box, std::vector<std::int64_t>& slots, std::size_t first, F&& body) {
  for (std::size_t d = 0; d < box.size(); ++d) {
    if (box[d].extent <= 0) return;
    slots[first + d] = box[d].min;
  }
  for (;;) {
    body();
    std::size_t d = box.size();
    for (; d > 0; --d) {
      if (++slots[first + d - 1] < box[d - 1].min + box[d - 1].extent) break;
      slots[first + d - 1] = box[d - 1].min;
    }
    if (d == 0) return;
  }
}

const std::set<std::string> exact_functions = {"min",   "max",      "fmin",  "fmax",      "fabs",      "abs",
                                               "floor", "ceil",     "round", "trunc",     "relu",      "clamp",
                                               "fmod",  "copysign", "fdim",  "remainder", "nextafter", "logb"};
/// Those that are 0, or cancel, inside their domain.
const std::set<std::string> absolute_functions = {"j0",      "j1",         "y0",   "y1",   "lgamma", "erfinv",
                                                  "erfcinv", "normcdfinv", "gelu", "silu", "tgamma", "sinpi",
                                                  "cospi",   "sin",        "cos",  "tan"};

/// Float expressions with their errors, as closures.
class Compiler {
 public:
  Compiler(Environment values, Environment errors) : values_(std::move(values)), errors_(std::move(errors)) {}

  Bounder bounded(const ExprPtr& expr) const {
    if (!is_float(*expr->type)) throw InternalError("the errors of an integer are asked for");
    if (std::holds_alternative<Access>(expr->node)) return access(expr);
    if (const auto* select = std::get_if<Select>(&expr->node))
      return choice(select->condition, select->then_value, select->else_value);
    if (const auto* call = std::get_if<Call>(&expr->node); call && call->function == "select")
      return choice(call->arguments[0], call->arguments[1], call->arguments[2]);
    auto operands = children(expr);
    bool floats = !operands.empty() &&
                  std::all_of(operands.begin(), operands.end(), [](const auto& e) { return is_float(*e->type); });
    if (floats) return operation(expr, operands);
    return [f = compile(expr, values_).floating](Slots s) { return Bounded{f(s), 0}; };
  }

 private:
  Bounder access(const ExprPtr& expr) const {
    return [f = compile(expr, values_).floating, e = compile(expr, errors_).floating](Slots s) {
      return Bounded{f(s), e(s)};
    };
  }

  Bounder choice(const ExprPtr& condition, const ExprPtr& a, const ExprPtr& b) const {
    return [holds = compile(condition, values_).integer, open = is_open(condition), a = bounded(a),
            b = bounded(b)](Slots s) {
      const bool first = holds(s) != 0;
      auto result = first ? a(s) : b(s);
      if (!open(s)) return result;
      auto other = first ? b(s) : a(s);
      result.error = std::max(result.error, apart(result.value, other.value) + other.error);
      return result;
    };
  }

  /// Do errors leave open how a comparison in \p condition ends?
  Condition is_open(const ExprPtr& condition) const {
    std::vector<std::pair<Bounder, Bounder>> comparisons;
    for_each_expr(condition, [&](const ExprPtr& e) {
      const auto* binary = std::get_if<Binary>(&e->node);
      if (binary && *e->type == DType::Bool && is_float(*binary->left->type) && is_float(*binary->right->type))
        comparisons.emplace_back(bounded(binary->left), bounded(binary->right));
    });
    return [comparisons](Slots s) {
      return std::any_of(comparisons.begin(), comparisons.end(), [&](const auto& pair) {
        auto a = pair.first(s), b = pair.second(s);
        return a.error + b.error > 0 && std::fabs(a.value - b.value) <= a.error + b.error;
      });
    };
  }

  /// An operation on floats: evaluated with each operand moved by its error.
  Bounder operation(const ExprPtr& expr, const std::vector<ExprPtr>& operands) const {
    struct Scratch {
      std::vector<double> cells;
      std::vector<Storage> storages;
      std::function<double(Slots)> f;
    };
    auto scratch = std::make_shared<Scratch>();
    scratch->cells.resize(operands.size());
    scratch->storages.reserve(operands.size());
    auto environment = values_;
    std::vector<ExprPtr> leaves;
    std::vector<Bounder> bounders;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      scratch->storages.push_back({str("#", i), DType::Float64, {}, {}, &scratch->cells[i]});
      environment.tensors[str("#", i)] = &scratch->storages.back();
      leaves.push_back(make_expr(Access{str("#", i), {}, true}, {}, *operands[i]->type));
      bounders.push_back(bounded(operands[i]));
    }
    scratch->f = compile(with_children(expr, leaves), environment).floating;
    return [this_expr = expr, scratch, bounders](Slots s) {
      std::vector<double> errors(bounders.size());
      bool known = true;
      for (std::size_t i = 0; i < bounders.size(); ++i) {
        auto operand = bounders[i](s);
        scratch->cells[i] = operand.value;
        errors[i] = operand.error;
        known = known && operand.error == 0;
      }
      Bounded result{scratch->f(s), 0};
      for (std::size_t i = 0; i < bounders.size(); ++i) {
        if (errors[i] == 0) continue;
        const double value = scratch->cells[i];
        double most = std::isinf(errors[i]) ? infinity : 0;
        for (double moved : {value - errors[i], value + errors[i]}) {
          scratch->cells[i] = moved;
          most = std::max(most, apart(scratch->f(s), result.value));
        }
        scratch->cells[i] = value;
        result.error += 1.01 * most;
      }
      if (!known || !is_exact(*this_expr, scratch->cells, result.value))
        result.error += own_rounding(*this_expr, scratch->cells, result.value);
      return result;
    };
  }

  /// Is the \p result of an operation on exact \p operands what it is in all arithmetic?
  static bool is_exact(const Expr& expr, const std::vector<double>& operands, double result) {
    if (!std::isfinite(result)) return true;
    if (!is_representable(compute_type(*expr.type), result)) return false;
    if (std::holds_alternative<Call>(expr.node)) return exact_functions.count(std::get<Call>(expr.node).function) > 0;
    const auto* binary = std::get_if<Binary>(&expr.node);
    if (!binary) return true;
    const double a = operands[0], b = operands[1];
    switch (binary->op) {
      case BinaryOp::Add:
      case BinaryOp::Sub: {
        const double second = binary->op == BinaryOp::Add ? b : -b, tail = result - a;
        return (a - (result - tail)) + (second - tail) == 0;
      }
      case BinaryOp::Mul:
        return std::fma(a, b, -result) == 0;
      case BinaryOp::Div:
        return std::fma(result, b, -a) == 0;
      default:
        return true;
    }
  }

  static double own_rounding(const Expr& expr, const std::vector<double>& operands, double result) {
    if (!std::isfinite(result)) return 0;
    const auto type = compute_type(*expr.type);
    if (const auto* call = std::get_if<Call>(&expr.node)) {
      if (exact_functions.count(call->function)) return 0;
      double absolute = absolute_functions.count(call->function) ? 1 + std::fabs(operands[0]) : 0;
      return rounding(type, result, 16) + 16 * unit(type) * absolute;
    }
    if (const auto* cast = std::get_if<Cast>(&expr.node))
      return is_representable(cast->type, result) && cast->implicit ? 0 : rounding(*expr.type, result, 2);
    return std::holds_alternative<Binary>(expr.node) ? rounding(type, result, 2) : 0;
  }

  Environment values_, errors_;
};

/// What is summed up, multiplied or compared for one element.
class Reduction {
 public:
  Reduction(ReductionOp op, DType type) : op_(op), type_(type) {}

  void add(const Bounded& term) {
    if (count_++ == 0 && op_ != ReductionOp::Sum && op_ != ReductionOp::Product) {
      low_ = term.value - term.error;
      high_ = term.value + term.error;
    }
    errors_ += term.error;
    switch (op_) {
      case ReductionOp::Sum:
        magnitude_ += std::fabs(term.value);
        if (term.value != 0 && std::isfinite(term.value)) quantum_ = std::min(quantum_, quantum(term.value));
        return;
      case ReductionOp::Product:
        relative_ += term.error == 0 ? 0 : term.error / std::fabs(term.value);
        exact_ = exact_ && term.error == 0 && std::fma(product_, term.value, -(product_ * term.value)) == 0 &&
                 is_representable(compute_type(type_), product_ * term.value);
        product_ *= term.value;
        return;
      case ReductionOp::Min:
        low_ = nan_min(low_, term.value - term.error), high_ = nan_min(high_, term.value + term.error);
        return;
      default:
        low_ = nan_max(low_, term.value - term.error), high_ = nan_max(high_, term.value + term.error);
    }
  }

  /// The error of \p result, which is that of all terms.
  double error(double result) const {
    const auto type = compute_type(type_);
    const auto n = static_cast<double>(count_);
    if (op_ == ReductionOp::Sum) {
      bool exact = errors_ == 0 && magnitude_ <= quantum_ / unit(type);
      return errors_ + (exact ? 0 : rounding(type, magnitude_, std::min(n, 4 * std::sqrt(n))));
    }
    if (op_ == ReductionOp::Product) return exact_ ? 0 : std::fabs(result) * relative_ + rounding(type, result, n);
    return errors_ == 0 ? 0 : std::max(apart(result, low_), apart(result, high_));
  }

 private:
  ReductionOp op_;
  DType type_;
  std::int64_t count_ = 0;
  double errors_ = 0, magnitude_ = 0, quantum_ = infinity, relative_ = 0, product_ = 1, low_ = 0, high_ = 0;
  bool exact_ = true;
};

class Analyser {
 public:
  Analyser(const Def& def, const Ranges& ranges, const SizeMap& sizes, const std::map<std::string, TensorView>& tensors)
      : def_(def), ranges_(ranges), sizes_(sizes), views_(tensors) {
    values_.sizes = sizes;
    values_.data_dependent.insert(ranges.data_dependent.begin(), ranges.data_dependent.end());
    errors_ = values_;
    for (const auto& [name, info] : def.tensors) add_tensor(name, info);
  }

  ErrorBounds run() {
    in_program_order(def_, ranges_, sizes_, [&](std::size_t i, const std::map<std::string, Range>& ranges) {
      const auto& assignment = std::get<Assignment>(def_.statements[i].node);
      auto found =
          is_float(def_.tensors.at(assignment.target).type) ? errors_of(assignment, ranges) : std::vector<double>();
      interpret_statement(i, ranges);
      round_stored(assignment, found);
    });
    ErrorBounds result;
    for (const auto& ret : def_.returns)
      if (auto found = of_.find(ret.name); found != of_.end()) result[ret.name] = found->second.values;
    return result;
  }

 private:
  void add_tensor(const std::string& name, const TensorInfo& info) {
    auto box = evaluate_box(ranges_.tensors.at(name), sizes_);
    std::vector<std::int64_t> shape;
    for (const auto& interval : box) shape.push_back(interval.extent);
    if (info.role == Role::Temporary) {
      auto& zeros = temporaries_.emplace_back(contiguous(info.type, shape));
      for (std::int64_t i = 0; i < zeros.spec().element_count(); ++i) zeros.set(i, 0);
      views_[name] = zeros.view();
    }
    const auto& view = views_.at(name);
    storages_.push_back({name, info.type, box, view.strides, view.data});
    values_.tensors[name] = errors_.tensors[name] = &storages_.back();
    if (!is_float(info.type)) return;
    auto& errors = of_.try_emplace(name, name, box).first->second;
    errors_.tensors[name] = &errors.storage;
  }

  /// Runs statement \p i alone, over \p statement_ranges: all tensors are given.
  void interpret_statement(std::size_t i, const std::map<std::string, Range>& statement_ranges) const {
    Def one = def_;
    one.statements = {{def_.statements[i].node, def_.statements[i].range}};
    for (auto& [name, info] : one.tensors)
      if (info.role == Role::Temporary) info.role = Role::Output;
    Ranges ranges = ranges_;
    ranges.statements = {statement_ranges};
    interpret(one, ranges, sizes_, views_);
  }

  /// The box of \p iterators, which get the next slots of \p environment.
  Box box_of(const std::vector<std::string>& iterators, const std::map<std::string, Range>& ranges, Environment& values,
             Environment& errors) const {
    std::vector<Range> box;
    for (const auto& iterator : iterators) {
      box.push_back(ranges.at(iterator));
      auto slot = static_cast<int>(values.slots.size());
      values.slots[iterator] = errors.slots[iterator] = slot;
    }
    return evaluate_box(box, sizes_);
  }

  /// The errors of the elements of the target, before they are rounded to its type.
  std::vector<double> errors_of(const Assignment& statement, const std::map<std::string, Range>& ranges) const {
    auto values = values_, errors = errors_;
    const auto left_names = left_iterators(statement);
    const auto left = box_of(left_names, ranges, values, errors);
    const auto inner = box_of(statement.reduction_iterators, ranges, values, errors);
    const auto& target = *values_.tensors.at(statement.target);
    const auto& before = of_.at(statement.target);
    const Compiler compiler(values, errors);
    const auto rhs = compiler.bounded(statement.rhs);
    auto result = before.values;
    std::vector<std::int64_t> slots(values.slots.size());
    for_each_point(left, slots, 0, [&] {
      std::int64_t at = 0, in_errors = 0;
      for (std::size_t d = 0; d < target.box.size(); ++d) {
        at += (slots[d] - target.box[d].min) * target.strides[d];
        in_errors += (slots[d] - target.box[d].min) * before.storage.strides[d];
      }
      auto& error = result[static_cast<std::size_t>(in_errors)];
      if (!statement.reduction) {
        error = rhs(slots.data()).error;
        return;
      }
      error = reduced(statement, target, {load_float(target, at), error}, inner, left.size(), slots, rhs);
    });
    return result;
  }

  static double reduced(const Assignment& statement, const Storage& target, const Bounded& before, const Box& inner,
                        std::size_t first, std::vector<std::int64_t>& slots, const Bounder& rhs) {
    Reduction reduction(*statement.reduction, target.type);
    double sum = 0, product = 1, low = infinity, high = -infinity;
    auto take = [&](const Bounded& term) {
      reduction.add(term);
      sum += term.value, product *= term.value;
      low = nan_min(low, term.value), high = nan_max(high, term.value);
    };
    if (!statement.initialise) take(before);
    for_each_point(inner, slots, first, [&] { take(rhs(slots.data())); });
    switch (*statement.reduction) {
      case ReductionOp::Sum:
        return reduction.error(sum);
      case ReductionOp::Product:
        return reduction.error(product);
      case ReductionOp::Min:
        return reduction.error(low);
      default:
        return reduction.error(high);
    }
  }

  /// Keeps \p errors as those of the target of \p statement, with the rounding of what it has.
  void round_stored(const Assignment& statement, const std::vector<double>& errors) {
    auto found = of_.find(statement.target);
    if (found == of_.end()) return;
    const auto& target = *values_.tensors.at(statement.target);
    auto& own = found->second;
    std::vector<std::int64_t> slots(target.box.size());
    std::size_t flat = 0;
    for_each_point(target.box, slots, 0, [&] {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < slots.size(); ++d) at += (slots[d] - target.box[d].min) * target.strides[d];
      auto error = errors[flat];
      if (error != own.values[flat] && error > 0) error += rounding(target.type, load_float(target, at), 2);
      own.values[flat++] = error;
    });
  }

  const Def& def_;
  const Ranges& ranges_;
  const SizeMap& sizes_;
  std::map<std::string, TensorView> views_;
  std::list<HostTensor> temporaries_;
  std::list<Storage> storages_;
  std::map<std::string, Errors> of_;
  Environment values_, errors_;
};

}  // namespace

ErrorBounds analyse_errors(const Def& def, const Ranges& ranges, const SizeMap& sizes,
                           const std::map<std::string, TensorView>& tensors) {
  return Analyser(def, ranges, sizes, tensors).run();
}

}  // namespace tc::test
