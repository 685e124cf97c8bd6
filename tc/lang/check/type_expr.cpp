#include "tc/lang/check/type_expr.h"

#include <algorithm>
#include <map>
#include <string>

#include "tc/base/str.h"
#include "tc/lang/check/check_loops.h"
#include "tc/lang/check/name_reports.h"
#include "tc/lang/check/promote.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

class Typer {
 public:
  Typer(Scope& scope, Mode mode) : scope_(scope), mode_(mode) {}

  Typed type(const ExprPtr& expr) {
    const Typed result = std::visit([&](const auto& node) { return visit(node, expr); }, expr->node);
    if (mode_ == Mode::Value || !result || result.weak != Weak::No || !is_integer(*result.expr->type)) return result;
    return {cast_to(result.expr, DType::Int64)};
  }

 private:
  Typed report(Report report) {
    scope_.diagnostics.add(report);
    return {};
  }
  static Typed strong(Expr::Node node, const ExprPtr& at, DType type) {
    return {make_expr(std::move(node), at->range, type), Weak::No};
  }
  static bool yields(const Typed& value) { return value.weak != Weak::No || !is_float(*value.expr->type); }
  /// How weak what an operator makes of \p values is; No where one of them decides its type.
  static Weak joint(const std::vector<Typed>& values) {
    Weak result = Weak::Int;
    bool has_type = false;
    for (const auto& value : values) {
      if (!yields(value)) return Weak::No;
      has_type = has_type || value.weak == Weak::No;
      if (value.weak == Weak::Float) result = Weak::Float;
    }
    return has_type && result == Weak::Int ? Weak::No : result;
  }

  Typed visit(const IntLiteral& x, const ExprPtr& e) { return {make_expr(x, e->range), Weak::Int}; }
  Typed visit(const FloatLiteral& x, const ExprPtr& e) { return {make_expr(x, e->range), Weak::Float}; }
  Typed visit(const BoolLiteral& x, const ExprPtr& e) { return strong(x, e, DType::Bool); }

  Typed visit(const Name& x, const ExprPtr& e) {
    if (const auto let = scope_.lets.find(x.id); let != scope_.lets.end()) {
      if (!let->second.type) return {};
      return {make_expr(Name{x.id, Name::Kind::Let}, e->range, *let->second.type), let->second.weak};
    }
    const bool is_valued = x.kind == Name::Kind::Size &&
                           std::find(scope_.valued.begin(), scope_.valued.end(), x.id) != scope_.valued.end();
    if (is_valued || scope_.is_size(x.id)) return strong(Name{x.id, Name::Kind::Size}, e, DType::Int64);
    if (scope_.tensors.count(x.id)) return access(x.id, {}, true, e);
    if (scope_.iterators.count(x.id)) return strong(Name{x.id, Name::Kind::Iterator}, e, DType::Int64);
    report_undefined_name(scope_, x.id, e->range);
    return {};
  }

  Typed visit(const Access& x, const ExprPtr& e) { return access(x.tensor, x.subscripts, x.bare, e); }

  Typed access(const std::string& id, const std::vector<ExprPtr>& subscripts, bool bare, const ExprPtr& e) {
    const SourceRange id_range{e->range.begin, e->range.begin + static_cast<int>(id.size())};
    std::vector<ExprPtr> typed;
    bool good = true;
    const auto found = scope_.tensors.find(id);
    if (found == scope_.tensors.end()) {
      report_unknown_tensor(scope_, id, subscripts, id_range);
      return {};
    }
    const std::string what = str("a subscript of '", id, "'");
    for (const auto& subscript : subscripts) {
      typed.push_back(type_index(subscript, scope_, what));
      if (typed.back()) typed.back() = with_strides(typed.back());
      good = good && typed.back() && check_strides(typed.back());
    }
    const TensorState& tensor = found->second;
    const bool early = !tensor.assigned && tensor.kind != TensorState::Kind::Param &&
                       !scope_.reads_in_place(id, typed) && !scope_.carried.count(id);
    const bool fits = !tensor.rank || static_cast<std::size_t>(*tensor.rank) == subscripts.size();
    if (early)
      report_read_too_early(scope_, id, tensor, id_range);
    else if (!fits)
      report_wrong_rank(scope_, id, tensor, subscripts.size(), bare, e->range);
    if (!early && !tensor.type && !tensor.assigned && scope_.carried.count(id))
      report({.code = "TC137",
              .range = id_range,
              .message = str("'", id, "' is read in a loop before the statement that gives it its type"),
              .help = how_to_declare(id, subscripts.size())});
    if (early || !fits || !good || !tensor.type) return {};
    return strong(Access{id, std::move(typed), bare}, e, *tensor.type);
  }

  static bool reads(const ExprPtr& e) {
    bool found = false;
    for_each_expr(e, [&](const ExprPtr& x) { found = found || std::holds_alternative<Access>(x->node); });
    return found;
  }

  /// \p subscript with the values of scalar parameters that are factors of indices.
  ExprPtr with_strides(const ExprPtr& subscript) {
    if (std::holds_alternative<Access>(subscript->node)) return subscript;
    auto parts = children(subscript);
    for (auto& part : parts) part = with_strides(part);
    const auto* product = std::get_if<Binary>(&subscript->node);
    for (std::size_t k = 0; product && product->op == BinaryOp::Mul && k < 2; ++k)
      if (reads(parts[k]) && steps(parts[1 - k])) parts[k] = with_parameter_values(parts[k], scope_);
    return with_children(subscript, parts);
  }

  /// Reports a product of a tensor's element and an index.
  bool check_strides(const ExprPtr& subscript) {
    bool good = true;
    for_each_expr(subscript, [&](const ExprPtr& e) {
      const auto* product = std::get_if<Binary>(&e->node);
      if (!good || !product || product->op != BinaryOp::Mul) return;
      const bool left = reads(product->left) && steps(product->right),
                 right = reads(product->right) && steps(product->left);
      if (!left && !right) return;
      good = false;
      report({.code = "TC113",
              .range = e->range,
              .message = str("the factor '", print(left ? product->left : product->right),
                             "' of an index is read from a tensor"),
              .note = "a stride is a literal, a size or an integer scalar parameter, so that ranges can be inferred"});
    });
    return good;
  }
  /// Does \p e hold an index outside of accesses?
  static bool steps(const ExprPtr& e) {
    if (const auto* name = std::get_if<Name>(&e->node)) return name->kind == Name::Kind::Iterator;
    if (std::holds_alternative<Access>(e->node)) return false;
    for (const auto& child : children(e))
      if (steps(child)) return true;
    return false;
  }

  Typed visit(const SizeOf& x, const ExprPtr& e) {
    const auto found = scope_.tensors.find(x.tensor);
    if (found == scope_.tensors.end()) {
      report_unknown_tensor(scope_, x.tensor, {}, {e->range.begin, e->range.begin + static_cast<int>(x.tensor.size())});
      return {};
    }
    const TensorState& tensor = found->second;
    if (!tensor.assigned && tensor.kind != TensorState::Kind::Param) {
      report_read_too_early(scope_, x.tensor, tensor, e->range);
      return {};
    }
    if (tensor.rank && x.dimension >= *tensor.rank)
      return report(
          {.code = "TC122",
           .range = e->range,
           .message = str("'", x.tensor, "' has ", counted(static_cast<std::size_t>(*tensor.rank), "dimension"),
                          ", there is no dimension ", x.dimension),
           .also = {defined(tensor)},
           .note = "dimensions count from 0"});
    return strong(x, e, DType::Int64);
  }

  Typed visit(const Cast& x, const ExprPtr& e) {
    if (x.implicit) return type(x.value);
    const Typed value = type_expr(x.value, scope_, Mode::Value);
    if (!value) return {};
    const bool adapts = value.weak == Weak::Float && is_float(x.type);
    const ExprPtr settled = settle(value, adapts ? x.type : natural_type(value), scope_);
    return settled ? strong(Cast{x.type, settled, false}, e, x.type) : Typed{};
  }

  Typed visit(const Unary& x, const ExprPtr& e) {
    const Typed value = type(x.value);
    if (!value) return {};
    if (x.op == UnaryOp::Not) {
      const bool is_value = scope_.statement && scope_.statement->rhs == e && natural_type(value) != DType::Bool;
      if (is_value) {
        report_negated_value(scope_, value.expr, natural_type(value), e->range);
        return {};
      }
      const ExprPtr condition = as_condition(value, "'!'");
      return condition ? strong(Unary{x.op, condition}, e, DType::Bool) : Typed{};
    }
    if (x.op == UnaryOp::Complement && !check_bits(value, symbol(x.op))) return {};
    if (value.weak != Weak::No) return {make_expr(Unary{x.op, value.expr}, e->range), value.weak};
    const DType type = *value.expr->type == DType::Bool ? DType::Int32 : *value.expr->type;
    return strong(Unary{x.op, cast_to(value.expr, type)}, e, type);
  }

  /// \p value as a bool, or a report that \p what needs one.
  ExprPtr as_condition(const Typed& value, const std::string& what) {
    if (value.weak == Weak::No && value.expr->type == DType::Bool) return value.expr;
    report({.code = "TC109",
            .range = value.expr->range,
            .message = str(what, " needs a bool but '", print(value.expr), "' is ", name(natural_type(value))),
            .help = str("write a comparison: ",
                        print(make_expr(Binary{BinaryOp::Ne, value.expr, make_expr(IntLiteral{0})})))});
    return nullptr;
  }

  Typed visit(const Binary& x, const ExprPtr& e) {
    const Typed left = type(x.left), right = type(x.right);
    if (!left || !right) return {};
    if (x.op == BinaryOp::And || x.op == BinaryOp::Or) {
      const std::string what = x.op == BinaryOp::And ? "'&&'" : "'||'";
      const ExprPtr a = as_condition(left, what), b = as_condition(right, what);
      return a && b ? strong(Binary{x.op, a, b}, e, DType::Bool) : Typed{};
    }
    if (x.op == BinaryOp::Power && !check_exponent(left, right)) return {};
    if (is_bitwise(x.op) && (!check_bits(left, symbol(x.op)) || !check_bits(right, symbol(x.op)))) return {};
    const bool compares = is_comparison(x.op);
    if (const Weak weak = joint({left, right}); !compares && weak != Weak::No) {
      if (weak == Weak::Int && !check_divisor(x.op, right.expr)) return {};
      return {make_expr(Binary{x.op, left.expr, right.expr}, e->range), weak};
    }
    const auto joined = join({left, right}, e->range);
    if (!joined) return {};
    const DType type = *joined == DType::Bool && !compares ? DType::Int32 : *joined;
    if (!compares && is_integer(type) && right.weak == Weak::Int && !check_divisor(x.op, right.expr)) return {};
    if (is_shift(x.op) && !check_amount(right, type)) return {};
    const ExprPtr a = settle(left, type, scope_), b = settle(right, type, scope_);
    if (!a || !b) return {};
    return strong(Binary{x.op, a, b}, e, compares ? DType::Bool : type);
  }

  /// Reports an operand of the operator \p symbol on bits that is no integer.
  bool check_bits(const Typed& operand, const std::string& symbol) {
    const DType type = natural_type(operand);
    if (is_integer(type)) return true;
    static const auto& instead = *new std::map<std::string, std::string>{{"&", "the logical operators are && and ||"},
                                                                         {"|", "the logical operators are && and ||"},
                                                                         {"^", "a power is written x ** y"},
                                                                         {"~", "a negation is written !x"}};
    const auto help = instead.find(symbol);
    const bool is_xor = symbol == "^" && type == DType::Bool;
    report({.code = "TC108",
            .range = operand.expr->range,
            .message = str("'", symbol, "' needs integers but '", print(operand.expr), "' is ", name(type)),
            .help = is_xor                  ? "of two bools, the operator != says whether one holds"
                    : help == instead.end() ? ""
                                            : help->second});
    return false;
  }

  /// Reports a number of bits to shift by that \p type does not have.
  bool check_amount(const Typed& amount, DType type) {
    const auto* unary = std::get_if<Unary>(&amount.expr->node);
    const auto* literal = std::get_if<IntLiteral>(&(unary ? unary->value : amount.expr)->node);
    if (!literal || (!unary && literal->value < static_cast<std::uint64_t>(bit_size(type)))) return true;
    report({.code = "TC112",
            .range = amount.expr->range,
            .message = str("a ", name(type), " cannot be shifted by ", print(amount.expr)),
            .note = str("it has ", bit_size(type), " bits, so that shifts are by 0 to ", bit_size(type) - 1)});
    return false;
  }

  /// Reports the power of an integer that no product gives.
  bool check_exponent(const Typed& base, const Typed& exponent) {
    const auto* literal = std::get_if<IntLiteral>(&exponent.expr->node);
    if (is_float(natural_type(base)) || is_float(natural_type(exponent))) return true;
    if (literal && literal->value >= 1 && literal->value <= 64) return true;
    report(
        {.code = "TC108",
         .range = exponent.expr->range,
         .message = str("the exponent of an integer must be a number from 1 to 64 but is '", print(exponent.expr), "'"),
         .help = str("compute in floats: float32(", print(base.expr), ") ** (", print(exponent.expr), ")")});
    return false;
  }

  bool check_divisor(BinaryOp op, const ExprPtr& divisor) {
    const auto* literal = std::get_if<IntLiteral>(&divisor->node);
    if ((op != BinaryOp::Div && op != BinaryOp::Mod) || !literal || literal->value != 0) return true;
    report({.code = "TC121", .range = divisor->range, .message = "integer division by zero"});
    return false;
  }

  Typed visit(const Select& x, const ExprPtr& e) {
    const Typed condition = type(x.condition), a = type(x.then_value), b = type(x.else_value);
    if (!condition) return {};
    const ExprPtr test = as_condition(condition, "the condition of '?'");
    if (!test || !a || !b) return {};
    if (const Weak weak = joint({a, b}); weak != Weak::No)
      return {make_expr(Select{test, a.expr, b.expr}, e->range), weak};
    const auto joined = join({a, b}, e->range);
    if (!joined) return {};
    const ExprPtr then_value = settle(a, *joined, scope_), else_value = settle(b, *joined, scope_);
    return then_value && else_value ? strong(Select{test, then_value, else_value}, e, *joined) : Typed{};
  }

  Typed visit(const Call& x, const ExprPtr& e) {
    const Builtin* builtin = find_builtin(x.function);
    if (!builtin) {
      report_unknown_tensor(scope_, x.function, x.arguments, e->range);
      return {};
    }
    if (static_cast<std::size_t>(builtin->arity) != x.arguments.size())
      return report(
          {.code = "TC107",
           .range = e->range,
           .message = str("'", x.function, "' takes ", counted(static_cast<std::size_t>(builtin->arity), "argument"),
                          " but ", x.arguments.size(), x.arguments.size() == 1 ? " is" : " are", " given"),
           .help = advice_on_count(scope_, x, builtin->arity)});
    std::vector<Typed> arguments;
    for (const auto& argument : x.arguments) arguments.push_back(type(argument));
    for (const auto& argument : arguments)
      if (!argument) return {};
    return builtin->kind == BuiltinKind::Choice ? choice(x, arguments, e) : call(x, builtin->kind, arguments, e);
  }

  Typed choice(const Call& x, const std::vector<Typed>& arguments, const ExprPtr& e) {
    const ExprPtr test = as_condition(arguments[0], "the first argument of 'select'");
    if (test && joint({arguments[1], arguments[2]}) == Weak::Float)
      return {make_expr(Call{x.function, {test, arguments[1].expr, arguments[2].expr}}, e->range), Weak::Float};
    const auto joined = join({arguments[1], arguments[2]}, e->range);
    if (!test || !joined) return {};
    const ExprPtr a = settle(arguments[1], *joined, scope_), b = settle(arguments[2], *joined, scope_);
    return a && b ? strong(Call{x.function, {test, a, b}}, e, *joined) : Typed{};
  }

  Typed call(const Call& x, BuiltinKind kind, const std::vector<Typed>& arguments, const ExprPtr& e) {
    if (gives_weak_float(kind, arguments)) {
      std::vector<ExprPtr> parts;
      for (const auto& argument : arguments) parts.push_back(argument.expr);
      return {make_expr(Call{x.function, std::move(parts), x.text}, e->range), Weak::Float};
    }
    const auto joined = join(arguments, e->range);
    if (!joined) return {};
    DType type = *joined == DType::Bool ? DType::Int32 : *joined;
    if (kind == BuiltinKind::Predicate && !is_float(type)) type = DType::Float32;
    if (kind == BuiltinKind::Integer && !is_integer(type))
      return report(
          {.code = "TC108",
           .range = arguments[0].expr->range,
           .message = str("'", x.function, "' needs an integer but '", print(arguments[0].expr), "' is ", name(type))});
    std::vector<ExprPtr> settled;
    for (const auto& argument : arguments) {
      settled.push_back(settle(argument, type, scope_));
      if (!settled.back()) return {};
    }
    return strong(Call{x.function, std::move(settled), x.text}, e, kind == BuiltinKind::Predicate ? DType::Bool : type);
  }
  /// Is the call of a function of \p kind a float whose type none of \p arguments decides?
  static bool gives_weak_float(BuiltinKind kind, const std::vector<Typed>& arguments) {
    if (kind == BuiltinKind::Float) return std::all_of(arguments.begin(), arguments.end(), yields);
    return kind == BuiltinKind::Arithmetic && joint(arguments) == Weak::Float;
  }

  /// The common type of \p values; a report and nothing if there is none.
  std::optional<DType> join(const std::vector<Typed>& values, SourceRange range) {
    std::optional<DType> type;
    for (const auto& value : values) {
      if (value.weak != Weak::No) continue;
      const DType next = *value.expr->type;
      const auto joined = type ? promote(*type, next) : next;
      if (!joined) {
        const ExprPtr& other = value.expr;
        report({.code = "TC111",
                .range = range,
                .message = str(name(*type), " and ", name(next), " have no common type"),
                .help = str("write a conversion, for example ", next == DType::UInt64 ? name(*type) : name(next), "(",
                            next == DType::UInt64 ? print(other) : "...", ")")});
        return std::nullopt;
      }
      type = joined;
    }
    const bool adapts = type && *type != DType::Bool;
    for (const auto& value : values) {
      if (value.weak == Weak::No) continue;
      const DType natural = natural_type(value);
      if (!type)
        type = natural;
      else if (!adapts || (is_float(natural) && !is_float(*type)))
        type = promote(*type, natural).value_or(DType::UInt64);
    }
    return type;
  }

  Scope& scope_;
  Mode mode_;
};

}  // namespace

Typed type_expr(const ExprPtr& expr, Scope& scope, Mode mode) { return Typer(scope, mode).type(expr); }

ExprPtr type_index(const ExprPtr& expr, Scope& scope, const std::string& what) {
  const Typed typed = type_expr(expr, scope, Mode::Index);
  if (!typed) return nullptr;
  const DType type = natural_type(typed);
  if (is_integer(type)) return settle(typed, DType::Int64, scope);
  scope.diagnostics.add({.code = "TC108",
                         .range = expr->range,
                         .message = str(what, " must be an integer but '", print(expr), "' is ", name(type)),
                         .help = type == DType::Bool ? "" : str("write a conversion: int32(", print(expr), ")")});
  return nullptr;
}

}  // namespace tc::lang
