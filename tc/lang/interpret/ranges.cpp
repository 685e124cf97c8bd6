#include "tc/lang/interpret/ranges.h"

#include <algorithm>
#include <limits>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

/// Evaluates an expression over sizes in exact int64 arithmetic.
class SizeEvaluator {
 public:
  explicit SizeEvaluator(const SizeMap& sizes) : sizes_(sizes) {}

  std::int64_t operator()(const ExprPtr& expr) const {
    return std::visit([&](const auto& node) { return evaluate(node, expr); }, expr->node);
  }

 private:
  std::int64_t evaluate(const IntLiteral& node, const ExprPtr& expr) const {
    if (node.value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) overflow(expr);
    return static_cast<std::int64_t>(node.value);
  }
  std::int64_t evaluate(const BoolLiteral& node, const ExprPtr&) const { return node.value; }
  std::int64_t evaluate(const Name& node, const ExprPtr&) const {
    auto found = sizes_.find(node.id);
    if (found == sizes_.end()) throw InternalError(str("size '", node.id, "' has no value"));
    return found->second;
  }
  std::int64_t evaluate(const Cast& node, const ExprPtr& expr) const {
    std::int64_t value = (*this)(node.value);
    if (!is_integer(node.type) && node.type != DType::Bool) return no_size(expr);
    if (node.type != DType::Bool && wrap(node.type, value) != value) overflow(expr);
    return wrap(node.type, value);
  }
  std::int64_t evaluate(const Unary& node, const ExprPtr& expr) const {
    std::int64_t value = (*this)(node.value), result;
    if (node.op == UnaryOp::Not) return !value;
    if (__builtin_sub_overflow(std::int64_t{0}, value, &result)) overflow(expr);
    return result;
  }
  std::int64_t evaluate(const Select& node, const ExprPtr&) const {
    return (*this)(node.condition) ? (*this)(node.then_value) : (*this)(node.else_value);
  }
  std::int64_t evaluate(const Binary& node, const ExprPtr& expr) const {
    std::int64_t a = (*this)(node.left);
    if (node.op == BinaryOp::And) return a && (*this)(node.right);
    if (node.op == BinaryOp::Or) return a || (*this)(node.right);
    return combine(node.op, a, (*this)(node.right), expr);
  }
  std::int64_t evaluate(const Call& node, const ExprPtr& expr) const {
    std::vector<std::int64_t> values;
    for (const auto& argument : node.arguments) values.push_back((*this)(argument));
    if (node.function == "min" && values.size() == 2) return std::min(values[0], values[1]);
    if (node.function == "max" && values.size() == 2) return std::max(values[0], values[1]);
    if (node.function == "select" && values.size() == 3) return values[0] ? values[1] : values[2];
    if (node.function == "clamp" && values.size() == 3) return std::min(std::max(values[0], values[1]), values[2]);
    if (node.function == "abs" && values.size() == 1) {
      if (values[0] == std::numeric_limits<std::int64_t>::min()) overflow(expr);
      return std::abs(values[0]);
    }
    return no_size(expr);
  }
  template <typename Node>
  std::int64_t evaluate(const Node&, const ExprPtr& expr) const {
    return no_size(expr);
  }

  std::int64_t combine(BinaryOp op, std::int64_t a, std::int64_t b, const ExprPtr& expr) const {
    std::int64_t result = 0;
    bool overflows = false;
    switch (op) {
      case BinaryOp::Add:
        overflows = __builtin_add_overflow(a, b, &result);
        break;
      case BinaryOp::Sub:
        overflows = __builtin_sub_overflow(a, b, &result);
        break;
      case BinaryOp::Mul:
        overflows = __builtin_mul_overflow(a, b, &result);
        break;
      case BinaryOp::Div:
        overflows = a == std::numeric_limits<std::int64_t>::min() && b == -1;
        result = floor_div(a, b);
        break;
      case BinaryOp::Mod:
        result = floor_mod(a, b);
        break;
      case BinaryOp::Lt:
        result = a < b;
        break;
      case BinaryOp::Le:
        result = a <= b;
        break;
      case BinaryOp::Gt:
        result = a > b;
        break;
      case BinaryOp::Ge:
        result = a >= b;
        break;
      case BinaryOp::Eq:
        result = a == b;
        break;
      case BinaryOp::Ne:
        result = a != b;
        break;
      default:
        return no_size(expr);
    }
    if (overflows) overflow(expr);
    return result;
  }

  [[noreturn]] void overflow(const ExprPtr& expr) const {
    throw ArgumentError(str("the size expression '", print(expr), "' exceeds 64 bits"));
  }
  [[noreturn]] std::int64_t no_size(const ExprPtr& expr) const {
    throw InternalError(str("'", print(expr), "' is no expression over sizes"));
  }

  const SizeMap& sizes_;
};

/// The names of sizes in \p expr with their values: "H = 3, KH = 5".
std::string values_in(const ExprPtr& expr, const SizeMap& sizes) {
  std::map<std::string, std::int64_t> used;
  for_each_expr(expr, [&](const ExprPtr& e) {
    auto* name = std::get_if<Name>(&e->node);
    if (name && sizes.count(name->id)) used[name->id] = sizes.at(name->id);
  });
  std::vector<std::string> items;
  for (const auto& [id, value] : used) items.push_back(str(id, " = ", value));
  return join(items);
}

/// Throws if \p range has a negative extent; \p owner says whose range it is.
void check_extent(const Range& range, const SizeMap& sizes, const std::string& owner) {
  std::int64_t extent = evaluate_size(range.extent, sizes);
  if (extent >= 0) return;
  std::string values = values_in(range.extent, sizes);
  throw ArgumentError(str("the extent of ", owner, " would be ", print(range.extent), " = ", extent,
                          values.empty() ? "" : " with ", values, "; it must not be negative"));
}

/// The dimension a size was bound by.
struct Binding {
  std::string param;
  int dimension;
};

/// Binds or compares the dimensions of one parameter.
class Binder {
 public:
  explicit Binder(const Def& def) : def_(def) {}

  void bind(const TensorDecl& param, const std::vector<std::int64_t>& shape) {
    std::size_t rank = param.dims ? param.dims->size() : 0;
    if (shape.size() != rank)
      throw ArgumentError(str("parameter '", param.name, "' of ", def_.name, " has ", rank,
                              rank == 1 ? " dimension" : " dimensions", ", the tensor given has ", shape.size(),
                              " (shape (", join(shape), "))"));
    for (std::size_t d = 0; d < rank; ++d) bind((*param.dims)[d], param.name, static_cast<int>(d), shape[d]);
  }
  SizeMap sizes;

 private:
  void bind(const ExprPtr& dim, const std::string& param, int d, std::int64_t given) {
    auto* name = std::get_if<Name>(&dim->node);
    if (name && !sizes.count(name->id)) {
      sizes[name->id] = given;
      bindings_[name->id] = {param, d};
      return;
    }
    std::int64_t expected = evaluate_size(dim, sizes);
    if (expected == given) return;
    std::string cause;
    if (name) {
      const Binding& first = bindings_.at(name->id);
      cause = str(name->id, " is ", expected, " (dimension ", first.dimension, " of '", first.param, "')");
    } else {
      std::string values = values_in(dim, sizes);
      std::string text = print(dim);
      cause = text == str(expected) ? str("it is declared as ", expected)
                                    : str("it is declared as ", text, " = ", expected);
      if (!values.empty()) cause += str(" with ", values);
    }
    throw ArgumentError(
        str("dimension ", d, " of parameter '", param, "' of ", def_.name, " is ", given, ", but ", cause));
  }

  const Def& def_;
  std::map<std::string, Binding> bindings_;
};

}  // namespace

std::int64_t evaluate_size(const ExprPtr& expr, const SizeMap& sizes) { return SizeEvaluator(sizes)(expr); }

SizeMap bind_sizes(const Def& def, const std::vector<std::vector<std::int64_t>>& shapes) {
  if (shapes.size() != def.params.size())
    throw ArgumentError(str(def.name, " takes ", def.params.size(), def.params.size() == 1 ? " tensor, " : " tensors, ",
                            shapes.size(), shapes.size() == 1 ? " was given" : " were given"));
  Binder binder(def);
  for (std::size_t i = 0; i < shapes.size(); ++i) binder.bind(def.params[i], shapes[i]);
  return binder.sizes;
}

void check_preconditions(const Ranges& ranges, const SizeMap& sizes) {
  for (const auto& precondition : ranges.preconditions) {
    const auto& extents = precondition.extents;
    auto is_zero = [&](const ExprPtr& extent) { return evaluate_size(extent, sizes) == 0; };
    if (std::any_of(extents.begin(), extents.end(), is_zero)) continue;
    if (evaluate_size(precondition.condition, sizes)) continue;
    std::string values = values_in(precondition.condition, sizes);
    throw ArgumentError(str("these sizes do not fit: ", print(precondition.condition), " does not hold",
                            values.empty() ? "" : " for ", values, "; ", precondition.reason));
  }
  for (const auto& iterators : ranges.statements)
    for (const auto& [iterator, range] : iterators)
      check_extent(range, sizes, str("the range of index '", iterator, "'"));
  for (const auto& [tensor, dims] : ranges.tensors)
    for (std::size_t d = 0; d < dims.size(); ++d)
      check_extent(dims[d], sizes, str("dimension ", d, " of '", tensor, "'"));
}

Box evaluate_box(const std::vector<Range>& ranges, const SizeMap& sizes) {
  Box box;
  for (const auto& range : ranges) box.push_back({evaluate_size(range.min, sizes), evaluate_size(range.extent, sizes)});
  return box;
}

}  // namespace tc::lang
