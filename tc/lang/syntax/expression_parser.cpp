#include "tc/lang/syntax/expression_parser.h"

#include <algorithm>
#include <climits>

#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/leading.h"
#include "tc/lang/syntax/limits.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

constexpr const char* no_slices = "there are no slices: an index runs over a range, Y(i) = X(i) where i in 0:3";

/// The `@` of other languages, which is reported.
constexpr Spelling matrix_product = {BinaryOp::Mul, "@", unary_level - 1};

const Spelling* binary_operator(const Token& token) {
  if (token.kind != TokenKind::Symbol) return nullptr;
  if (token.text == matrix_product.symbol) return &matrix_product;
  for (const auto& candidate : binary_operators)
    if (candidate.level < unary_level && candidate.symbol == token.text) return &candidate;
  return nullptr;
}

}  // namespace

ExprPtr ExpressionParser::lone_expression() {
  ExprPtr result;
  recover([&] {
    result = expression().expr;
    if (!at_end()) fail_expected("the end of the expression");
  });
  return result;
}

Parsed ExpressionParser::node(Expr::Node node, int begin, std::initializer_list<int> depths) {
  const int depth = 1 + std::max({0, *std::max_element(depths.begin(), depths.end())});
  if (depth > max_depth) too_deep(since(begin));
  if (++nodes_ > max_text_nodes)
    stop({.code = "TC008",
          .range = since(begin),
          .message = "the text is too long",
          .note = str("a text may hold ", max_text_nodes, " operators, names and numbers"),
          .help = "define its functions in several texts"});
  return {make_expr(std::move(node), since(begin)), depth};
}
void ExpressionParser::too_deep(SourceRange range) {
  fail({.code = "TC006",
        .range = range,
        .message = "the expression is nested too deeply",
        .help = "split it into several statements with temporaries"});
}

Parsed ExpressionParser::expression() {
  if (++nesting_ > max_nesting) too_deep(token().range);
  const int begin = token().range.begin;
  Parsed result = binary(1);
  if (accept("?")) {
    const Parsed then_value = expression();
    expect(":", "between the arms of '?'");
    const Parsed else_value = expression();
    result = node(Select{result.expr, then_value.expr, else_value.expr}, begin,
                  {result.depth, then_value.depth, else_value.depth});
  }
  --nesting_;
  return result;
}

Parsed ExpressionParser::binary(int level) {
  const int begin = token().range.begin;
  Parsed left = unary();
  const Spelling* last = nullptr;
  for (const Spelling* op = binary_operator(token()); op && op->level >= level; op = binary_operator(token())) {
    if (last && last->level == comparison_level && op->level == comparison_level)
      fail({.code = "TC004",
            .range = token().range,
            .message = "comparisons cannot be chained",
            .help = str("write a ", last->symbol, " b && b ", op->symbol, " c")});
    last = op;
    const SourceRange sign = take().range;
    const Parsed right = binary(op->level + 1);
    if (op == &matrix_product)
      diagnostics_.add({.code = "TC002",
                        .range = sign,
                        .message = "there is no operator '@'",
                        .help = str("a product is a sum: ", instead_of_product(left.expr, right.expr, place_))});
    left = node(Binary{op->op, left.expr, right.expr}, begin, {left.depth, right.depth});
  }
  if (level == 1 && is_word_operator()) fail_expected("an operator", "the logical operators are && and ||");
  return left;
}

/// Is the next token an `and` or `or` that joins two operands, and not the name with which the next statement begins?
bool ExpressionParser::is_word_operator() const {
  if ((!is("and") && !is("or")) || token().starts_line) return false;
  if (next().text != "(") return next().kind != TokenKind::Symbol || next().text == "!" || next().text == "-";
  std::size_t at = at_ + 1;
  int open = 0;
  for (; at + 1 < tokens_.size(); ++at) {
    open += tokens_[at].text == "(" ? 1 : tokens_[at].text == ")" ? -1 : 0;
    if (open == 0) break;
  }
  const std::string_view behind = tokens_[std::min(at + 1, tokens_.size() - 1)].text;
  return behind.find('=') == std::string_view::npos || behind == "==" || behind == "!=" || behind == "<=" ||
         behind == ">=";
}

Parsed ExpressionParser::unary() {
  const int begin = token().range.begin;
  const UnaryOp* op = std::find_if(std::begin(unary_operators), std::end(unary_operators),
                                   [&](UnaryOp candidate) { return is(symbol(candidate)); });
  if (op == std::end(unary_operators)) return power();
  if (++nesting_ > max_nesting) too_deep(token().range);
  ++at_;
  const Parsed value = unary();
  --nesting_;
  return node(Unary{*op, value.expr}, begin, {value.depth});
}

Parsed ExpressionParser::power() {
  const int begin = token().range.begin;
  const Parsed base = primary();
  if (!accept("**")) return base;
  if (++nesting_ > max_nesting) too_deep(token().range);
  const Parsed exponent = unary();
  --nesting_;
  return node(Binary{BinaryOp::Power, base.expr, exponent.expr}, begin, {base.depth, exponent.depth});
}

Parsed ExpressionParser::primary() {
  const int begin = token().range.begin;
  switch (token().kind) {
    case TokenKind::Integer:
      return node(IntLiteral{take().integer}, begin, {0});
    case TokenKind::Float: {
      const Token& literal = take();
      return node(FloatLiteral{literal.real, std::string(literal.text)}, begin, {0});
    }
    case TokenKind::Type:
      return cast();
    case TokenKind::Identifier:
      return named();
    default:
      break;
  }
  if (is("where") && next().text == "(") return foreign_choice();
  if (is("true") || is("false")) return node(BoolLiteral{take().text == "true"}, begin, {0});
  if (!accept("("))
    fail_expected("an expression",
                  is(":")                             ? no_slices
                  : is("?")                           ? "a size is a name or a number: float(N) X"
                  : is(")") && previous().text == "," ? "no comma stands before ')'"
                  : is("+") ? str("a sum is written ", place_.target.empty() ? "Y" : place_.target, "(...) +=! ...")
                            : "");
  if (is(TokenKind::Type) && next().text == ")") {
    const std::string type(take().text);
    ++at_;
    const Parsed value = unary();
    fail({.code = "TC002",
          .range = since(begin),
          .message = "a type in parentheses converts nothing",
          .help = str("a conversion is written ", type, "(", print(value.expr), ")")});
  }
  Parsed inner = expression();
  expect(")", "");
  return inner;
}

Parsed ExpressionParser::cast() {
  const int begin = token().range.begin;
  const DType type = *parse_dtype(take().text);
  expect("(", "after a type", "a conversion is written float32(x)");
  const Parsed value = expression();
  expect(")", "after the converted value");
  return node(Cast{type, value.expr, false}, begin, {value.depth});
}

Parsed ExpressionParser::named() {
  const int begin = token().range.begin;
  const std::string id(take().text);
  const bool operand = is(TokenKind::Identifier) || is(TokenKind::Integer) || is(TokenKind::Float);
  if (id == "not" && operand && !token().starts_line)
    fail_expected("an operator", str("a negation is written !", token().text));
  if (id == "tc" && is(".") && find_function(next().text)) return qualified_call(begin);
  if (accept(".")) return is(TokenKind::Integer) ? size_of(id, begin) : foreign_member(make_expr(Name{id}), begin);
  if (!accept("(")) return node(Name{id}, begin, {0});
  int depth = 0;
  SourceRange argument_name;
  std::vector<ExprPtr> arguments = expressions_to_parenthesis("after the arguments", &depth, &argument_name);
  if (argument_name.end > 0) report_argument_name(argument_name, id, arguments);
  if (is(".") && !token().starts_line && (next().kind == TokenKind::Identifier || next().kind == TokenKind::Type)) {
    ++at_;
    return foreign_member(make_expr(Access{id, std::move(arguments)}), begin);
  }
  if (auto call = call_of_builtin(id, arguments)) {
    if (!arguments.empty() && is_leading(arguments[0]))
      fail({.code = "TC139",
            .range = arguments[0]->range,
            .message = "'...' stands for leading dimensions, and a function takes values",
            .help = str("the elements of a tensor with leading dimensions: ", id, "(X(...))")});
    return node(std::move(*call), begin, {depth});
  }
  return node(Access{id, std::move(arguments)}, begin, {depth});
}

Parsed ExpressionParser::size_of(const std::string& id, int begin) {
  const std::uint64_t dimension = take().integer;
  return node(SizeOf{id, static_cast<int>(std::min<std::uint64_t>(dimension, INT_MAX))}, begin, {0});
}

Parsed ExpressionParser::foreign_member(const ExprPtr& object, int begin) {
  const auto* owner = std::get_if<Name>(&object->node);
  if (!is(TokenKind::Identifier) && !is(TokenKind::Type)) fail_expected("the number of a dimension after '.'");
  const bool converts = is(TokenKind::Type) || is("to") || is("astype") || is("type");
  const std::string message = owner ? str("expected the number of a dimension after '.' but found ", found())
                                    : str("there are no methods, but ", found(), " stands behind an element");
  const Token& name = take();
  std::vector<ExprPtr> arguments;
  if (!owner || !is_foreign_module(owner->id)) arguments.push_back(object);
  std::string type(name.kind == TokenKind::Type ? name.text : "float32");
  if (is("(") && next().kind == TokenKind::Type) {
    ++at_;
    type = take().text;
    expect(")", "after a type");
  } else if (accept("(")) {
    SourceRange argument_name;
    for (auto& argument : expressions_to_parenthesis("after the arguments", nullptr, &argument_name))
      arguments.push_back(argument);
  }
  std::string help = instead_of_call(name.text, arguments, place_);
  if (converts && !arguments.empty()) help = str("a conversion is written ", type, "(", print(arguments[0]), ")");
  if (find_function(name.text))
    help = str("functions stand alone: ", name.text, "(", arguments.empty() ? "x" : print(arguments[0]), ")");
  if (help.empty() && owner) help = str(owner->id, ".0 is the first size of ", owner->id);
  diagnostics_.add({.code = "TC002", .range = name.range, .message = message, .help = help});
  return node(IntLiteral{0}, begin, {0});
}

SourceRange ExpressionParser::skip_argument_name() {
  const bool is_word = is(TokenKind::Identifier) && next().text == "=";
  if (!is_word && !is("min=") && !is("max=")) return {};
  const SourceRange place = token().range;
  at_ += is_word ? 2 : 1;
  return place;
}

void ExpressionParser::report_argument_name(SourceRange place, const std::string& function,
                                            const std::vector<ExprPtr>& arguments) {
  std::vector<std::string> texts;
  for (const auto& argument : arguments) texts.push_back(print(argument));
  diagnostics_.add({.code = "TC002",
                    .range = place,
                    .message = "arguments have no names",
                    .help = find_function(function) ? str("write ", function, "(", join(texts), ")")
                                                    : instead_of_call(function, arguments, place_)});
}

Parsed ExpressionParser::foreign_choice() {
  const SourceRange place = take().range;
  ++at_;
  SourceRange argument_name;
  const auto parts = expressions_to_parenthesis("after the arguments", nullptr, &argument_name);
  const auto part = [&](std::size_t k) { return k < parts.size() ? print(parts[k]) : "..."; };
  fail({.code = "TC002",
        .range = place,
        .message = "'where' begins the clauses of a statement and is no function",
        .help = str("a choice is written ", part(0), " ? ", part(1), " : ", part(2))});
}

Parsed ExpressionParser::qualified_call(int begin) {
  expect(".", "");
  const std::string name(take().text);
  expect("(", str("after the function ", name));
  int depth = 0;
  auto call = *call_of_builtin(name, expressions_to_parenthesis("after the arguments", &depth));
  call.text = str("tc.", name);
  return node(std::move(call), begin, {depth});
}

std::vector<ExprPtr> ExpressionParser::expressions_to_parenthesis(const std::string& after, int* depth,
                                                                  SourceRange* argument_name) {
  std::vector<ExprPtr> list;
  if (accept(")")) return list;
  const int begin = token().range.begin;
  if (accept("...")) {
    list.push_back(node(Name{leading_name}, begin, {0}).expr);
    if (accept(")")) return list;
    expect(",", "after '...'");
  }
  do {
    if (is("...")) fail_expected("an expression", "leading dimensions stand first: X(...,i)");
    if (const SourceRange place = argument_name ? skip_argument_name() : SourceRange{}; place.end > 0)
      *argument_name = place;
    const Parsed item = expression();
    if (depth) *depth = std::max(*depth, item.depth);
    list.push_back(item.expr);
  } while (accept(","));
  expect(")", after, is(":") ? no_slices : "");
  return list;
}

}  // namespace tc::lang
