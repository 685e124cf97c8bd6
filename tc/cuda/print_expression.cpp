#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/kernel_printer.h"
#include "tc/cuda/spelling.h"

namespace tc::cuda {
namespace {

namespace ir = Halide::Internal;
namespace prec = precedence;
using Halide::Expr;
using Halide::Type;

bool is_variable(const Expr& e, const std::string& name) {
  const auto* variable = e.as<ir::Variable>();
  return variable && variable->name == name;
}

std::string zero(const Type& type) {
  if (type.is_float()) return literal(type, 0.0);
  return type.is_uint() ? literal(type, std::uint64_t{0}) : literal(type, std::int64_t{0});
}

/// Is the integer \p e, or each lane of it, a power of two?
bool is_power_of_two(const Expr& e, int* shift) { return ir::is_const_power_of_two_integer(e, shift) && *shift >= 0; }

bool is_positive_constant(const Expr& e) {
  const auto* number = ir::as_const_int(e);
  const auto* natural = ir::as_const_uint(e);
  return (number && *number > 0) || (natural && *natural > 0);
}

}  // namespace

Text KernelPrinter::expr(const Expr& e) {
  if (const auto* op = e.as<ir::IntImm>()) {
    auto text = literal(op->type, op->value);
    return {text, text[0] == '-' || (text[0] == '(' && op->type.bits() < 32) ? prec::prefix : prec::primary};
  }
  if (const auto* op = e.as<ir::UIntImm>())
    return {literal(op->type, op->value), op->type.bits() < 32 && !op->type.is_bool() ? prec::prefix : prec::primary};
  if (const auto* op = e.as<ir::FloatImm>()) {
    auto text = literal(op->type, op->value);
    return {text, text[0] == '-' ? prec::prefix : prec::primary};
  }
  if (const auto* op = e.as<ir::Variable>()) {
    auto array = arrays_.find(op->name);
    if (array != arrays_.end() && array->second) return {str(identifier(op->name), "[", lane_, "]"), prec::primary};
    return {identifier(op->name), prec::primary};
  }
  if (const auto* op = e.as<ir::Add>()) return arithmetic(op->a, op->b, "+", prec::sum);
  if (const auto* op = e.as<ir::Sub>()) return arithmetic(op->a, op->b, "-", prec::sum);
  if (const auto* op = e.as<ir::Mul>()) return arithmetic(op->a, op->b, "*", prec::product);
  if (const auto* op = e.as<ir::Div>()) return division(op->a, op->b, false);
  if (const auto* op = e.as<ir::Mod>()) return division(op->a, op->b, true);
  if (const auto* op = e.as<ir::Min>()) return extreme(op->a, op->b, "min");
  if (const auto* op = e.as<ir::Max>()) return extreme(op->a, op->b, "max");
  if (const auto* op = e.as<ir::EQ>()) return binary(op->a, op->b, "==", prec::equality);
  if (const auto* op = e.as<ir::NE>()) return binary(op->a, op->b, "!=", prec::equality);
  if (const auto* op = e.as<ir::LT>()) return binary(op->a, op->b, "<", prec::order);
  if (const auto* op = e.as<ir::LE>()) return binary(op->a, op->b, "<=", prec::order);
  if (const auto* op = e.as<ir::GT>()) return binary(op->a, op->b, ">", prec::order);
  if (const auto* op = e.as<ir::GE>()) return binary(op->a, op->b, ">=", prec::order);
  if (const auto* op = e.as<ir::And>()) return binary(op->a, op->b, "&&", prec::conjunction);
  if (const auto* op = e.as<ir::Or>()) return binary(op->a, op->b, "||", prec::disjunction);
  if (const auto* op = e.as<ir::Not>()) {
    if (const auto* equal = op->a.as<ir::EQ>()) return binary(equal->a, equal->b, "!=", prec::equality);
    return {"!" + expr(op->a).at(prec::prefix), prec::prefix};
  }
  if (const auto* op = e.as<ir::Cast>()) return cast(op->type, op->value);
  if (const auto* op = e.as<ir::Select>()) return select(op->condition, op->true_value, op->false_value);
  if (const auto* op = e.as<ir::Load>()) return load(op);
  if (const auto* op = e.as<ir::Broadcast>()) return expr(op->value);
  if (const auto* op = e.as<ir::Ramp>()) return ramp(op);
  if (const auto* op = e.as<ir::Let>()) return let(op);
  if (const auto* op = e.as<ir::Call>()) return call(op);
  if (const auto* op = e.as<ir::Shuffle>()) return shuffle(op);
  if (const auto* op = e.as<ir::VectorReduce>()) return reduce(op);
  throw InternalError(str("an expression that CUDA has no word for: ", e));
}

/// \p e, arithmetic on iterators, in its simplest form for the values they have.
Text KernelPrinter::index(const Expr& e) {
  struct Plain : ir::IRVisitor {
    using ir::IRVisitor::visit;
    bool holds = true;
    void visit(const ir::Load*) override { holds = false; }
    void visit(const ir::Call*) override { holds = false; }
    void visit(const ir::Let*) override { holds = false; }
  } plain;
  e.accept(&plain);
  return expr(plain.holds ? ir::simplify(e, true, bounds_) : e);
}

/// \p e in a comparison, where C++ makes numbers of narrow types ints: a literal needs no type.
Text KernelPrinter::comparand(const Expr& e) {
  if (e.type().bits() >= 32 || e.type().is_bool()) return expr(e);
  if (const auto* number = ir::as_const_int(e)) return {str(*number), *number < 0 ? prec::prefix : prec::primary};
  if (const auto* number = ir::as_const_uint(e)) return {str(*number), prec::primary};
  return expr(e);
}

Text KernelPrinter::binary(const Expr& a, const Expr& b, const char* symbol, int level) {
  bool mixes = level == prec::disjunction || level == prec::conjunction;
  bool compares = level == prec::equality || level == prec::order;
  auto operand = [&](const Expr& e) { return compares ? comparand(e) : expr(e); };
  auto left = operand(a), right = operand(b);
  if (mixes && left.precedence == prec::conjunction && level == prec::disjunction)
    left = {"(" + left.text + ")", prec::primary};
  if (mixes && right.precedence == prec::conjunction && level == prec::disjunction)
    right = {"(" + right.text + ")", prec::primary};
  bool associative = mixes && right.precedence == level;
  return {str(left.at(level), " ", symbol, " ", right.at(associative ? level : level + 1)), level};
}

/// Types narrower than int are computed in int or unsigned and cut.
Text KernelPrinter::arithmetic(const Expr& a, const Expr& b, const char* symbol, int level) {
  Type type = a.type();
  if (type.is_float() || type.bits() >= 32) {
    bool adds = *symbol == '+' && !type.is_float();
    if (const auto* number = ir::as_const_int(b); number && *number < 0 && adds && *number > INT32_MIN)
      return arithmetic(a, ir::make_const(b.type(), -*number), "-", level);
    if (const auto* sum = b.as<ir::Add>();
        sum && adds && is_at_least(a, 0) && is_at_least(sum->a, 0) && is_at_least(sum->b, 0))
      return arithmetic(ir::Add::make(a, sum->a), sum->b, symbol, level);
    return binary(a, b, symbol, level);
  }
  auto operand = [&](const Expr& e) {
    return type.is_uint() ? "(unsigned)" + expr(e).at(prec::prefix) : expr(e).at(prec::prefix);
  };
  return {str("(", type_name(type), ")(", operand(a), " ", symbol, " ", operand(b), ")"), prec::prefix};
}

Text KernelPrinter::division(const Expr& a, const Expr& b, bool remainder) {
  Type type = a.type();
  if (type.is_float()) {
    if (remainder)
      return {str(type.bits() == 32 ? "fmodf(" : "fmod(", argument(a), ", ", argument(b), ")"), prec::primary};
    return binary(a, b, "/", prec::product);
  }
  bool plain = type.is_uint() ? is_positive_constant(b) : is_at_least(a, 0) && is_at_least(b, 1);
  if (plain && type.bits() >= 32) return binary(a, b, remainder ? "%" : "/", prec::product);
  int shift = 0;
  if (type.bits() >= 32 && is_power_of_two(b, &shift)) {
    if (remainder) return {str(expr(a).at(prec::bit_and + 1), " & ", (std::int64_t{1} << shift) - 1), prec::bit_and};
    return {str(expr(a).at(prec::shift), " >> ", shift), prec::shift};
  }
  return {str(remainder ? "tc_mod" : "tc_div", "<", type_name(type), ">(", argument(a), ", ", argument(b), ")"),
          prec::primary};
}

Text KernelPrinter::extreme(const Expr& a, const Expr& b, const char* function) {
  Type type = a.type();
  if (type.is_bool())
    return binary(a, b, function == std::string("min") ? "&&" : "||",
                  function == std::string("min") ? prec::conjunction : prec::disjunction);
  if (type.is_float()) throw InternalError(str("Halide's ", function, " of floats says nothing of NaN"));
  auto text = str(function, "(", argument(a), ", ", argument(b), ")");
  if (type.bits() < 32) return {str("(", type_name(type), ")", text), prec::prefix};
  return {text, prec::primary};
}

Text KernelPrinter::cast(const Type& type, const Expr& value) {
  Type from = value.type();
  if (from.element_of() == type.element_of()) return expr(value);
  return {str("(", type_name(type), ")", expr(value).at(prec::prefix)), prec::prefix};
}

Text KernelPrinter::load(const ir::Load* op) {
  for (const auto& [load, array] : loads_)
    if (load.same_as(op)) return {str(array, "[", lane_, "]"), prec::primary};
  Text element{str(identifier(op->name), "[", index(op->index).text, "]"), prec::primary};
  if (ir::is_const_one(op->predicate)) return element;
  return {str(expr(op->predicate).at(prec::choice + 1), " ? ", element.text, " : ", zero(op->type.element_of())),
          prec::choice};
}

Text KernelPrinter::select(const Expr& condition, const Expr& a, const Expr& b) {
  if (a.type().element_of() == Halide::UInt(8) && ir::is_const_one(a) && ir::is_const_zero(b)) return expr(condition);
  auto test = expr(condition), yes = expr(a), no = expr(b);
  return {str(test.at(prec::choice + 1), " ? ", yes.at(prec::choice + 1), " : ", no.at(prec::choice)), prec::choice};
}

/// Halide's if_then_else: an arm runs only where it is chosen. Arms that need lines of their own become branches.
Text KernelPrinter::conditional(const ir::Call* op) {
  auto test = expr(op->args[0]);
  auto name = names_.fresh("chosen");
  auto before = text_.size();
  auto lines_of = [&](const Expr& arm) {
    names_.open_scope();
    ++depth_;
    auto value = expr(arm);
    --depth_;
    names_.close_scope();
    auto lines = text_.substr(before);
    text_.resize(before);
    return std::pair(lines, value);
  };
  auto [yes_lines, yes] = lines_of(op->args[1]);
  auto [no_lines, no] = lines_of(op->args[2]);
  if (yes_lines.empty() && no_lines.empty())
    return {str(test.at(prec::choice + 1), " ? ", yes.at(prec::choice + 1), " : ", no.at(prec::choice)), prec::choice};
  line(str(type_name(op->type), " ", name, ";"));
  open(str("if (", test.text, ")"));
  text_ += yes_lines;
  line(str(name, " = ", yes.text, ";"));
  --depth_;
  line("} else {");
  ++depth_;
  text_ += no_lines;
  line(str(name, " = ", no.text, ";"));
  --depth_;
  line("}");
  names_.close_scope();
  return {name, prec::primary};
}

/// A let of a let of a comparison that Halide would negate is that comparison.
Text KernelPrinter::let(const ir::Let* op) {
  if (const auto* inner = op->body.as<ir::Let>()) {
    const auto* either = inner->body.as<ir::Or>();
    const auto* equal = either ? either->b.as<ir::EQ>() : nullptr;
    auto is_pair = [&](const auto* pair) {
      return pair && is_variable(pair->a, op->name) && is_variable(pair->b, inner->name);
    };
    if (is_pair(equal) && is_pair(either->a.as<ir::LT>())) return binary(op->value, inner->value, "<=", prec::order);
    if (is_pair(equal) && is_pair(either->a.as<ir::GT>())) return binary(op->value, inner->value, ">=", prec::order);
  }
  declare_let(op->name, op->value);
  return expr(op->body);
}

Text KernelPrinter::call(const ir::Call* op) {
  if (op->is_intrinsic()) return intrinsic(op);
  auto name = function_name(op->name);
  if (!name) throw InternalError(str("the function ", op->name, " is unknown to the CUDA back end"));
  std::vector<std::string> args, of_template;
  const int first = writes_through(*name, 0) ? 1 : 0, last = first + template_arguments(*name);
  for (int i = 0; i < static_cast<int>(op->args.size()); ++i) {
    const auto& arg = op->args[static_cast<std::size_t>(i)];
    const auto* pointee = takes_pointer(*name, i) ? arg.as<ir::Load>() : nullptr;
    if (pointee && stores_at_once(*name, i)) moved_at_once_.insert(pointee->name);
    (first <= i && i < last ? of_template : args)
        .push_back(pointee ? address(pointee->name, pointee->index) : argument(arg));
  }
  auto parameters = of_template.empty() ? "" : str("<", join(of_template), ">");
  return {str(*name, parameters, "(", join(args), ")"), prec::primary};
}

Text KernelPrinter::intrinsic(const ir::Call* op) {
  auto is = [&](ir::Call::IntrinsicOp intrinsic) { return op->is_intrinsic(intrinsic); };
  if (is(ir::Call::strict_float) || is(ir::Call::likely) || is(ir::Call::likely_if_innermost)) return expr(op->args[0]);
  if (is(ir::Call::if_then_else)) return conditional(op);
  if (is(ir::Call::bitwise_and)) return cast_to(op, binary(op->args[0], op->args[1], "&", prec::bit_and));
  if (is(ir::Call::bitwise_or)) return cast_to(op, binary(op->args[0], op->args[1], "|", prec::bit_or));
  if (is(ir::Call::bitwise_xor)) return cast_to(op, binary(op->args[0], op->args[1], "^", prec::bit_xor));
  if (is(ir::Call::shift_left)) return cast_to(op, binary(op->args[0], op->args[1], "<<", prec::shift));
  if (is(ir::Call::shift_right)) return cast_to(op, binary(op->args[0], op->args[1], ">>", prec::shift));
  if (is(ir::Call::bitwise_not))
    return cast_to(op, {(op->type.is_bool() ? "!" : "~") + expr(op->args[0]).at(prec::prefix), prec::prefix});
  if (is(ir::Call::reinterpret)) {
    Type from = op->args[0].type().element_of(), to = op->type.element_of();
    if (from == to || (!from.is_float() && !to.is_float())) return cast(to, op->args[0]);
    return {str("tc_bits<", type_name(to), ">(", argument(op->args[0]), ")"), prec::primary};
  }
  if (is(ir::Call::popcount)) {
    bool wide = op->type.bits() == 64;
    const char* bits = wide                    ? "(unsigned long long)"
                       : op->type.bits() == 8  ? "(unsigned char)"
                       : op->type.bits() == 16 ? "(unsigned short)"
                                               : "(unsigned)";
    Text count{str(wide ? "__popcll(" : "__popc(", bits, expr(op->args[0]).at(prec::prefix), ")"), prec::primary};
    Type type = op->type.element_of();
    return type == Halide::Int(32) ? count : Text{str("(", type_name(type), ")", count.at(prec::prefix)), prec::prefix};
  }
  if (is(ir::Call::abs)) {
    if (op->type.is_float())
      return {str(op->type.bits() == 32 ? "fabsf(" : "fabs(", argument(op->args[0]), ")"), prec::primary};
    auto x = expr(op->args[0]);
    return cast_to(op,
                   {str(x.at(prec::shift), " < 0 ? -", x.at(prec::prefix), " : ", x.at(prec::choice)), prec::choice});
  }
  throw InternalError(str("the intrinsic ", op->name, " is unknown to the CUDA back end"));
}

/// \p text in the type of \p op, which C++ computes in int where it is narrower.
Text KernelPrinter::cast_to(const ir::Call* op, const Text& text) {
  Type type = op->type.element_of();
  if (type.bits() >= 32 || type.is_bool()) return text;
  return {str("(", type_name(type), ")", text.at(prec::prefix)), prec::prefix};
}

Text KernelPrinter::ramp(const ir::Ramp* op) {
  if (lane_ == "0") return expr(op->base);
  auto base = expr(op->base);
  Text lane{lane_, lane_.find(' ') == std::string::npos ? prec::primary : prec::sum};
  if (!ir::is_const_one(op->stride))
    lane = {str(lane.at(prec::product), " * ", expr(op->stride).at(prec::product + 1)), prec::product};
  const auto& offset = lane.text;
  if (ir::is_const_zero(op->base)) return lane;
  return {str(base.at(prec::sum), " + ", offset), prec::sum};
}

/// The current lane, a number, of concatenated vectors whose lanes are picked.
Text KernelPrinter::shuffle(const ir::Shuffle* op) {
  int at = op->type.is_scalar() ? op->indices[0] : -1;
  if (at < 0 && op->is_slice() && op->vectors.size() == 1) {
    bool is_sum = lane_.find(' ') != std::string::npos;
    auto lane = op->slice_stride() == 1 ? lane_ : str(op->slice_stride(), " * ", is_sum ? "(" + lane_ + ")" : lane_);
    return element_of(op->vectors[0], op->slice_begin() == 0 ? lane : str(op->slice_begin(), " + ", lane));
  }
  if (at < 0) {
    if (lane_.empty() || lane_.find_first_not_of("0123456789") != std::string::npos)
      throw InternalError(str("a shuffle in a lane that is not a number: ", Expr(op)));
    at = op->indices.at(std::stoul(lane_));
  }
  for (const Expr& vector : op->vectors) {
    if (at < vector.type().lanes()) return element_of(vector, str(at));
    at -= vector.type().lanes();
  }
  throw InternalError(str("a shuffle beyond its lanes: ", Expr(op)));
}

Text KernelPrinter::reduce(const ir::VectorReduce* op) {
  if (op->type.lanes() != 1) throw InternalError(str("a reduction to several lanes: ", Expr(op)));
  const char* symbol = op->op == ir::VectorReduce::Or ? " || " : op->op == ir::VectorReduce::And ? " && " : nullptr;
  if (!symbol) throw InternalError(str("a reduction of lanes that is no and or or: ", Expr(op)));
  int level = op->op == ir::VectorReduce::Or ? prec::disjunction : prec::conjunction;
  std::vector<std::string> parts;
  for (int i = 0; i < op->value.type().lanes(); ++i) parts.push_back(element_of(op->value, str(i)).at(level + 1));
  return {join(parts, symbol), level};
}

Text KernelPrinter::element_of(const Expr& vector, const std::string& lane) {
  auto around = std::exchange(lane_, lane);
  auto result = expr(vector);
  lane_ = around;
  return result;
}

std::string KernelPrinter::argument(const Expr& e) { return expr(e).text; }

std::string KernelPrinter::address(const std::string& buffer, const Expr& index) {
  auto at = index.type().is_vector() ? element_of(index, "0") : expr(index);
  return at.text == "0" ? identifier(buffer) : str(identifier(buffer), " + ", at.at(prec::sum));
}

const std::string& KernelPrinter::identifier(const std::string& name) const {
  if (const auto* found = names_.find(name)) return *found;
  throw InternalError(str("'", name, "' stands in a kernel that does not declare it"));
}

bool KernelPrinter::is_at_least(const Expr& e, std::int64_t low) const {
  if (const auto* number = ir::as_const_int(e)) return *number >= low;
  Expr least = ir::find_constant_bound(e, ir::Direction::Lower, bounds_);
  const auto* number = least.defined() ? ir::as_const_int(least) : nullptr;
  return number && *number >= low;
}

}  // namespace tc::cuda
