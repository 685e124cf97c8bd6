#include "tc/lang/interpret/evaluate.h"

#include <bit>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/interpret/math.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

using Integer = std::function<std::int64_t(Slots)>;
using Float = std::function<double(Slots)>;

Value integer_value(DType type, Integer f) { return {type, std::move(f), {}}; }
Value float_value(DType type, Float f) { return {type, {}, std::move(f)}; }
Value bool_value(Integer f) { return integer_value(DType::Bool, std::move(f)); }

/// One subscript of an access.
struct Subscript {
  Integer index;
  std::int64_t min, extent, stride;
  std::string text;
  bool data_dependent;
};

[[noreturn]] void out_of_bounds(const std::string& tensor, std::size_t dimension, const Subscript& subscript,
                                std::int64_t index) {
  std::string text = str("subscript ", dimension, " of ", tensor, ", '", subscript.text, "', is ", index,
                         ": it must be in [", subscript.min, ", ", subscript.min + subscript.extent, ")");
  if (subscript.data_dependent) throw ArgumentError(text + "; the outputs are unspecified");
  throw InternalError(text + ", which range inference did not ensure");
}

/// The closure that gives an access's offset in elements, bounds checked.
Integer compile_offset(const Storage& storage, std::vector<Subscript> subscripts) {
  const std::string& tensor = storage.name;
  return [&tensor, subscripts = std::move(subscripts)](Slots slots) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      const Subscript& subscript = subscripts[d];
      std::int64_t index = subscript.index(slots), relative = sub_bits(index, subscript.min);
      if (static_cast<std::uint64_t>(relative) >= static_cast<std::uint64_t>(subscript.extent))
        out_of_bounds(tensor, d, subscript, index);
      offset += relative * subscript.stride;
    }
    return offset;
  };
}

template <typename T>
Value load_integers(const Storage& storage, Integer offset) {
  return integer_value(storage.type, [data = storage.data, offset = std::move(offset)](Slots s) {
    return static_cast<std::int64_t>(read_element<T>(data, offset(s)));
  });
}

Value compile_load(const Storage& storage, Integer offset) {
  switch (storage.type) {
    case DType::Int8:
      return load_integers<std::int8_t>(storage, std::move(offset));
    case DType::Int16:
      return load_integers<std::int16_t>(storage, std::move(offset));
    case DType::Int32:
      return load_integers<std::int32_t>(storage, std::move(offset));
    case DType::Int64:
      return load_integers<std::int64_t>(storage, std::move(offset));
    case DType::UInt8:
      return load_integers<std::uint8_t>(storage, std::move(offset));
    case DType::UInt16:
      return load_integers<std::uint16_t>(storage, std::move(offset));
    case DType::UInt32:
      return load_integers<std::uint32_t>(storage, std::move(offset));
    case DType::UInt64:
      return load_integers<std::uint64_t>(storage, std::move(offset));
    case DType::Bool:
      return bool_value([&storage, offset = std::move(offset)](Slots s) { return load_integer(storage, offset(s)); });
    case DType::Float32:
      return float_value(storage.type, [data = storage.data, offset = std::move(offset)](Slots s) {
        return static_cast<double>(read_element<float>(data, offset(s)));
      });
    default:
      return float_value(storage.type,
                         [&storage, offset = std::move(offset)](Slots s) { return load_float(storage, offset(s)); });
  }
}

/// \p value converted to \p type; see compile() for rounding.
Value convert(Value value, DType type, bool implicit) {
  DType from = value.type;
  if (is_float(from) && is_float(type)) {
    if (implicit || byte_size(from) < byte_size(type) || type == DType::Float64)
      return float_value(type, std::move(value.floating));
    return float_value(type, [f = std::move(value.floating), type](Slots s) { return round_to(type, f(s)); });
  }
  if (is_float(from))
    return integer_value(type, [f = std::move(value.floating), type](Slots s) { return truncate_to(type, f(s)); });
  if (!is_float(type))
    return integer_value(type, [f = std::move(value.integer), type](Slots s) { return wrap(type, f(s)); });
  DType rounding = implicit ? compute_type(type) : type;
  return float_value(type, [f = std::move(value.integer), from, rounding](Slots s) {
    return round_to(rounding, to_double(from, f(s)));
  });
}

/// The closure f(left, right) of two values that are both floats.
template <typename F>
Float combine_floats(Value& left, Value& right, F f) {
  return [l = std::move(left.floating), r = std::move(right.floating), f](Slots s) {
    double a = l(s);
    return f(a, r(s));
  };
}

/// The same for integers of \p type; the result is wrapped.
template <typename F>
Value combine_integers(DType type, Value& left, Value& right, F f) {
  return integer_value(type, [l = std::move(left.integer), r = std::move(right.integer), f, type](Slots s) {
    std::int64_t a = l(s);
    return wrap(type, f(a, r(s)));
  });
}

/// The comparison f of two floats (as doubles) or integers (through less(), f on the signs -1, 0, 1).
template <typename F>
Value compare(Value& left, Value& right, F f) {
  if (is_float(left.type))
    return bool_value([l = std::move(left.floating), r = std::move(right.floating), f](Slots s) {
      double a = l(s);
      return static_cast<std::int64_t>(f(a, r(s)));
    });
  return bool_value([l = std::move(left.integer), r = std::move(right.integer), f, type = left.type](Slots s) {
    std::int64_t a = l(s), b = r(s);
    double sign = less(type, b, a) - static_cast<double>(less(type, a, b));
    return static_cast<std::int64_t>(f(sign, 0.0));
  });
}

/// The compiler of one expression tree.
class Compiler {
 public:
  explicit Compiler(const Environment& environment) : environment_(environment) {}

  Value operator()(const ExprPtr& expr) const {
    if (!expr->type) throw InternalError(str("'", print(expr), "' has no type: the tree is not checked"));
    return std::visit([&](const auto& node) { return compile(node, expr); }, expr->node);
  }

 private:
  Value compile(const IntLiteral& node, const ExprPtr& expr) const {
    DType type = *expr->type;
    if (is_float(type)) {
      double value = round_to(compute_type(type), static_cast<double>(node.value));
      return float_value(type, [value](Slots) { return value; });
    }
    std::int64_t value = wrap(type, static_cast<std::int64_t>(node.value));
    return integer_value(type, [value](Slots) { return value; });
  }
  Value compile(const FloatLiteral& node, const ExprPtr& expr) const {
    double value = round_to(compute_type(*expr->type), node.value);
    return float_value(*expr->type, [value](Slots) { return value; });
  }
  Value compile(const BoolLiteral& node, const ExprPtr&) const {
    return bool_value([value = std::int64_t{node.value}](Slots) { return value; });
  }
  Value compile(const Name& node, const ExprPtr& expr) const {
    if (auto slot = environment_.slots.find(node.id); slot != environment_.slots.end())
      return integer_value(DType::Int64, [index = slot->second](Slots s) { return s[index]; });
    if (auto size = environment_.sizes.find(node.id); size != environment_.sizes.end())
      return integer_value(DType::Int64, [value = size->second](Slots) { return value; });
    throw InternalError(str("'", print(expr), "' has no value"));
  }
  Value compile(const SizeOf& node, const ExprPtr&) const {
    std::int64_t value = storage(node.tensor).box.at(static_cast<std::size_t>(node.dimension)).extent;
    return integer_value(DType::Int64, [value](Slots) { return value; });
  }
  Value compile(const Access& node, const ExprPtr& expr) const {
    const Storage& tensor = storage(node.tensor);
    if (node.subscripts.size() != tensor.box.size())
      throw InternalError(str("'", print(expr), "' has a wrong number of subscripts"));
    std::vector<Subscript> subscripts;
    for (std::size_t d = 0; d < node.subscripts.size(); ++d) {
      const ExprPtr& index = node.subscripts[d];
      subscripts.push_back({(*this)(index).integer, tensor.box[d].min, tensor.box[d].extent, tensor.strides[d],
                            print(index),
                            is_data_dependent(index) || environment_.data_dependent.count(expr.get()) > 0});
    }
    return compile_load(tensor, compile_offset(tensor, std::move(subscripts)));
  }
  Value compile(const Cast& node, const ExprPtr&) const {
    return convert((*this)(node.value), node.type, node.implicit);
  }
  Value compile(const Unary& node, const ExprPtr& expr) const {
    Value value = (*this)(node.value);
    if (node.op == UnaryOp::Not) return bool_value([f = std::move(value.integer)](Slots s) { return !f(s); });
    if (node.op == UnaryOp::Complement)
      return integer_value(*expr->type,
                           [f = std::move(value.integer), type = value.type](Slots s) { return wrap(type, ~f(s)); });
    if (is_float(value.type))
      return float_value(*expr->type, [f = std::move(value.floating)](Slots s) { return -f(s); });
    return integer_value(*expr->type, [f = std::move(value.integer), type = value.type](Slots s) {
      return wrap(type, sub_bits(0, f(s)));
    });
  }
  Value compile(const Select& node, const ExprPtr& expr) const {
    Integer condition = (*this)(node.condition).integer;
    Value a = (*this)(node.then_value), b = (*this)(node.else_value);
    if (is_float(*expr->type))
      return float_value(*expr->type, [c = std::move(condition), a = std::move(a.floating),
                                       b = std::move(b.floating)](Slots s) { return c(s) ? a(s) : b(s); });
    return integer_value(*expr->type, [c = std::move(condition), a = std::move(a.integer),
                                       b = std::move(b.integer)](Slots s) { return c(s) ? a(s) : b(s); });
  }
  Value compile(const Binary& node, const ExprPtr& expr) const;
  Value compile(const Call& node, const ExprPtr& expr) const;
  Value compile_arithmetic(BinaryOp op, Value left, Value right) const;
  Value compile_min_max(const std::string& function, Value left, Value right) const;
  Value compile_math(const Call& node, std::vector<Value> arguments, DType type) const;

  const Storage& storage(const std::string& name) const {
    auto found = environment_.tensors.find(name);
    if (found == environment_.tensors.end()) throw InternalError(str("tensor '", name, "' has no storage"));
    return *found->second;
  }
  static bool is_data_dependent(const ExprPtr& index) {
    bool result = false;
    for_each_expr(index, [&](const ExprPtr& e) { result = result || std::holds_alternative<Access>(e->node); });
    return result;
  }

  const Environment& environment_;
};

Value Compiler::compile(const Binary& node, const ExprPtr&) const {
  Value l = (*this)(node.left), r = (*this)(node.right);
  if (l.type != r.type && is_float(l.type) != is_float(r.type))
    throw InternalError(str("operands of different types: ", l.type, " and ", r.type));
  if (node.op == BinaryOp::Power && is_float(l.type))
    return float_value(l.type, combine_floats(l, r, [](double a, double b) { return std::pow(a, b); }));
  switch (node.op) {
    case BinaryOp::And:
      return bool_value([l = std::move(l.integer), r = std::move(r.integer)](Slots s) { return l(s) && r(s); });
    case BinaryOp::Or:
      return bool_value([l = std::move(l.integer), r = std::move(r.integer)](Slots s) { return l(s) || r(s); });
    case BinaryOp::Lt:
      return compare(l, r, [](double a, double b) { return a < b; });
    case BinaryOp::Le:
      return compare(l, r, [](double a, double b) { return a <= b; });
    case BinaryOp::Gt:
      return compare(l, r, [](double a, double b) { return a > b; });
    case BinaryOp::Ge:
      return compare(l, r, [](double a, double b) { return a >= b; });
    case BinaryOp::Eq:
      return compare(l, r, [](double a, double b) { return a == b; });
    case BinaryOp::Ne:
      return compare(l, r, [](double a, double b) { return a != b; });
    default:
      return compile_arithmetic(node.op, std::move(l), std::move(r));
  }
}

Value Compiler::compile_arithmetic(BinaryOp op, Value l, Value r) const {
  DType type = l.type;
  if (is_float(type)) {
    switch (op) {
      case BinaryOp::Add:
        return float_value(type, combine_floats(l, r, [](double a, double b) { return a + b; }));
      case BinaryOp::Sub:
        return float_value(type, combine_floats(l, r, [](double a, double b) { return a - b; }));
      case BinaryOp::Mul:
        return float_value(type, combine_floats(l, r, [](double a, double b) { return a * b; }));
      case BinaryOp::Div:
        return float_value(type, combine_floats(l, r, [](double a, double b) { return a / b; }));
      default:
        return float_value(type, combine_floats(l, r, [](double a, double b) { return std::fmod(a, b); }));
    }
  }
  bool is_unsigned = is_unsigned_integer(type);
  switch (op) {
    case BinaryOp::Add:
      return combine_integers(type, l, r, add_bits);
    case BinaryOp::Sub:
      return combine_integers(type, l, r, sub_bits);
    case BinaryOp::Mul:
      return combine_integers(type, l, r, mul_bits);
    case BinaryOp::Div:
      return combine_integers(type, l, r, is_unsigned ? unsigned_div : floor_div);
    case BinaryOp::BitAnd:
      return combine_integers(type, l, r, [](std::int64_t a, std::int64_t b) { return a & b; });
    case BinaryOp::BitOr:
      return combine_integers(type, l, r, [](std::int64_t a, std::int64_t b) { return a | b; });
    case BinaryOp::BitXor:
      return combine_integers(type, l, r, [](std::int64_t a, std::int64_t b) { return a ^ b; });
    case BinaryOp::Power:
      return combine_integers(type, l, r, power_bits);
    case BinaryOp::ShiftLeft:
      return combine_integers(type, l, r, [type](std::int64_t a, std::int64_t n) { return shift_left(type, a, n); });
    case BinaryOp::ShiftRight:
      return combine_integers(type, l, r, [type](std::int64_t a, std::int64_t n) { return shift_right(type, a, n); });
    default:
      return combine_integers(type, l, r, is_unsigned ? unsigned_mod : floor_mod);
  }
}

Value Compiler::compile_min_max(const std::string& function, Value l, Value r) const {
  DType type = l.type;
  if (is_float(type)) return float_value(type, combine_floats(l, r, function == "min" ? nan_min : nan_max));
  if (function == "min")
    return combine_integers(type, l, r, [type](std::int64_t a, std::int64_t b) { return less(type, b, a) ? b : a; });
  return combine_integers(type, l, r, [type](std::int64_t a, std::int64_t b) { return less(type, a, b) ? b : a; });
}

Value Compiler::compile_math(const Call& node, std::vector<Value> arguments, DType type) const {
  const MathFunction* function = find_math_function(node.function);
  if (!function || function->arity() != static_cast<int>(arguments.size()))
    throw InternalError(str("no function '", node.function, "' of ", arguments.size(), " arguments"));
  if (node.function == "nextafter" && type != DType::Float64) {
    auto next = [](double a, double b) { return std::nextafter(static_cast<float>(a), static_cast<float>(b)); };
    return float_value(type, combine_floats(arguments[0], arguments[1], next));
  }
  std::vector<Float> fs;
  for (auto& argument : arguments) fs.push_back(std::move(argument.floating));
  auto call =
      overloaded{[&](double (*f)(double)) { return Float([f, a = fs[0]](Slots s) { return f(a(s)); }); },
                 [&](double (*f)(double, double)) { return Float([f, fs](Slots s) { return f(fs[0](s), fs[1](s)); }); },
                 [&](double (*f)(double, double, double)) {
                   return Float([f, fs](Slots s) { return f(fs[0](s), fs[1](s), fs[2](s)); });
                 },
                 [&](double (*f)(double, double, double, double)) {
                   return Float([f, fs](Slots s) { return f(fs[0](s), fs[1](s), fs[2](s), fs[3](s)); });
                 }};
  return float_value(type, std::visit(call, function->f64));
}

Value Compiler::compile(const Call& node, const ExprPtr& expr) const {
  std::vector<Value> arguments;
  for (const auto& argument : node.arguments) arguments.push_back((*this)(argument));
  const std::string& name = node.function;
  DType type = *expr->type;
  if (name == "select") {
    Integer c = std::move(arguments[0].integer);
    if (is_float(type))
      return float_value(
          type, [c, a = arguments[1].floating, b = arguments[2].floating](Slots s) { return c(s) ? a(s) : b(s); });
    return integer_value(
        type, [c, a = arguments[1].integer, b = arguments[2].integer](Slots s) { return c(s) ? a(s) : b(s); });
  }
  if (name == "min" || name == "max") return compile_min_max(name, arguments[0], arguments[1]);
  if (name == "clamp") return compile_min_max("min", compile_min_max("max", arguments[0], arguments[1]), arguments[2]);
  if (name == "relu") {
    Value zero = is_float(type) ? float_value(type, [](Slots) { return 0.0; })
                                : integer_value(type, [](Slots) { return std::int64_t{0}; });
    return compile_min_max("max", arguments[0], std::move(zero));
  }
  if (name == "abs" && is_float(type))
    return float_value(type, [f = arguments[0].floating](Slots s) { return std::fabs(f(s)); });
  if (name == "abs")
    return integer_value(type, [f = arguments[0].integer, type](Slots s) {
      std::int64_t value = f(s);
      return less(type, value, 0) ? wrap(type, sub_bits(0, value)) : value;
    });
  if (name == "popcount")
    return integer_value(type, [f = arguments[0].integer, mask = ~std::uint64_t{0} >> (64 - bit_size(type))](Slots s) {
      return static_cast<std::int64_t>(std::popcount(static_cast<std::uint64_t>(f(s)) & mask));
    });
  if (name == "isnan") return bool_value([f = arguments[0].floating](Slots s) { return std::isnan(f(s)); });
  if (name == "isinf") return bool_value([f = arguments[0].floating](Slots s) { return std::isinf(f(s)); });
  return compile_math(node, std::move(arguments), type);
}

}  // namespace

Value compile(const ExprPtr& expr, const Environment& environment) { return Compiler(environment)(expr); }

}  // namespace tc::lang
