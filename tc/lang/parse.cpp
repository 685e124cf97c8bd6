#include "tc/lang/parse.h"

#include <algorithm>
#include <climits>
#include <set>

#include "tc/base/str.h"
#include "tc/lang/builtins.h"
#include "tc/lang/lexer.h"

namespace tc::lang {
namespace {

/// Bounds on trees, so that recursive passes fit any thread's stack.
constexpr int max_nesting = 200;
constexpr int max_depth = 400;

/// Thrown after a report; caught where parsing can go on.
struct Abandon {};

struct Parsed {
  ExprPtr expr;
  int depth = 1;
};

struct Operator {
  std::string_view symbol;
  BinaryOp op;
  int level;
};
constexpr int comparison_level = 3;
constexpr Operator operators[] = {
    {"||", BinaryOp::Or, 1},  {"&&", BinaryOp::And, 2}, {"<", BinaryOp::Lt, 3},  {"<=", BinaryOp::Le, 3},
    {">", BinaryOp::Gt, 3},   {">=", BinaryOp::Ge, 3},  {"==", BinaryOp::Eq, 3}, {"!=", BinaryOp::Ne, 3},
    {"+", BinaryOp::Add, 4},  {"-", BinaryOp::Sub, 4},  {"*", BinaryOp::Mul, 5}, {"/", BinaryOp::Div, 5},
    {"%", BinaryOp::Mod, 5},
};

struct AssignOperator {
  std::string_view symbol;
  std::optional<ReductionOp> reduction;
};
constexpr AssignOperator assign_operators[] = {
    {"=", std::nullopt},        {"+=", ReductionOp::Sum},  {"*=", ReductionOp::Product}, {"min=", ReductionOp::Min},
    {"max=", ReductionOp::Max}, {"&&=", ReductionOp::And}, {"||=", ReductionOp::Or},
};

class Parser {
 public:
  Parser(std::string_view text, Diagnostics& diagnostics)
      : diagnostics_(diagnostics), tokens_(tokenize(text, diagnostics)) {}

  /// file := def+
  std::vector<Def> defs() {
    std::vector<Def> result;
    if (at_end()) recover([&] { fail_expected("'def'", "a program is one or more functions: def f(float(N) A) -> (B) { ... }"); });
    while (!at_end()) {
      const std::size_t start = at_;
      recover([&] { result.push_back(def()); });
      if (at_ == start) ++at_;
      if (!abandoned_) continue;
      while (!at_end() && !is("def")) ++at_;
    }
    resolve_calls(result);
    return result;
  }

  /// exp, up to the end of the text.
  ExprPtr lone_expression() {
    ExprPtr result;
    recover([&] {
      result = expression().expr;
      if (!at_end()) fail_expected("the end of the expression");
    });
    return result;
  }

 private:
  // Tokens.
  const Token& token() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& previous() const { return tokens_[at_ == 0 ? 0 : at_ - 1]; }
  bool at_end() const { return token().kind == TokenKind::End; }
  bool is(std::string_view text) const { return token().text == text && !at_end(); }
  bool is(TokenKind kind) const { return token().kind == kind; }
  SourceRange since(int begin) const { return {begin, std::max(begin, previous().range.end)}; }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  const Token& take() {
    const Token& taken = token();
    if (!at_end()) ++at_;
    return taken;
  }

  // Errors.
  [[noreturn]] void fail(Report report) {
    diagnostics_.add(report);
    throw Abandon{};
  }
  std::string found() const {
    if (at_end()) return "the end of the text";
    const std::string what = is(TokenKind::Keyword) ? "the keyword " : is(TokenKind::Type) ? "the type " : "";
    return str(what, "'", token().text, "'");
  }
  [[noreturn]] void fail_expected(const std::string& what, const std::string& help = {}) {
    fail({.code = "TC002", .range = token().range, .message = str("expected ", what, " but found ", found()), .help = help});
  }
  void expect(std::string_view symbol, const std::string& after, const std::string& help = {}) {
    if (!accept(symbol)) fail_expected(str("'", symbol, "'", after.empty() ? "" : " ", after), help);
  }
  /// Runs \p parse; on an error reported in it sets abandoned_.
  template <typename F>
  void recover(F&& parse) {
    abandoned_ = false;
    const int nesting = nesting_;
    try {
      parse();
    } catch (const Abandon&) {
      abandoned_ = true;
      nesting_ = nesting;
    }
  }

  const Token& identifier(const std::string& what) {
    if (!is(TokenKind::Identifier)) fail_expected(what, is(TokenKind::Keyword) || is(TokenKind::Type) ? "choose another name" : "");
    return take();
  }

  // Definitions.
  Def def() {
    Def result;
    const int begin = token().range.begin;
    expect("def", "", "a program is one or more functions: def f(float(N) A) -> (B) { ... }");
    const Token& name = identifier("the name of the function");
    result.name = name.text;
    result.name_range = name.range;
    expect("(", "before the parameters");
    result.params = declarations(true);
    expect("->", "after the parameters");
    expect("(", "before the returns", "returns stand in parentheses: -> (A)");
    result.returns = declarations(false);
    expect("{", "before the statements");
    body(result.statements);
    expect("}", "at the end of the function");
    result.range = since(begin);
    return result;
  }

  /// [declaration {',' declaration}] ')'
  std::vector<TensorDecl> declarations(bool params) {
    std::vector<TensorDecl> list;
    if (accept(")")) return list;
    do {
      list.push_back(declaration(params));
    } while (accept(","));
    expect(")", params ? "after the parameters" : "after the returns");
    return list;
  }

  TensorDecl declaration(bool param) {
    TensorDecl result;
    if (is(TokenKind::Type)) {
      result.type = parse_dtype(take().text);
      if (accept("(")) {
        result.dims.emplace();
        if (is(")")) fail_expected("a size", "a scalar is written without parentheses: float s");
        *result.dims = expressions_to_parenthesis("after the sizes");
      }
    } else if (param && is(TokenKind::Identifier)) {
      const bool unknown_type = next().kind == TokenKind::Identifier || next().text == "(";
      const std::string near = unknown_type ? closest(token().text, type_names()) : "";
      fail({.code = "TC007",
            .range = token().range,
            .message = unknown_type ? str("unknown type '", token().text, "'") : str("parameter '", token().text, "' has no type"),
            .help = !near.empty() ? str("did you mean '", near, "'?") : "a parameter is written float(N) A, or float s for a scalar"});
    }
    const Token& name = identifier(param && !result.type ? "a type" : param ? "the name of a parameter" : "the name of a return");
    result.name = name.text;
    result.range = name.range;
    if (is("(")) fail_expected("',' or ')'", "sizes stand behind the type: float(N) " + result.name);
    return result;
  }

  static std::vector<std::string> type_names() {
    std::vector<std::string> names = {"float", "double", "half", "int", "byte"};
    for (int i = 0; i <= static_cast<int>(DType::Float64); ++i) names.emplace_back(name(static_cast<DType>(i)));
    return names;
  }

  // Statements.
  void body(std::vector<Statement>& statements) {
    while (true) {
      while (accept(";")) continue;
      if (is("}") || is("def") || at_end()) return;
      const std::size_t start = at_;
      recover([&] { statements.push_back(statement()); });
      if (abandoned_) skip_statement(start);
    }
  }

  /// Moves to the likely begin of the next statement, beyond \p start.
  void skip_statement(std::size_t start) {
    if (at_ == start && !at_end() && !is("}") && !is("def")) ++at_;
    while (!at_end() && !is("}") && !is("def") && !is(";")) {
      if (token().starts_line && is(TokenKind::Identifier) && ends_statement(previous())) return;
      ++at_;
    }
  }
  /// May a statement end with \p token?
  static bool ends_statement(const Token& token) {
    return token.kind != TokenKind::Symbol || token.text == ")" || token.text == "}" || token.text == ";";
  }

  Statement statement() {
    Statement result;
    const int begin = token().range.begin;
    if (is("(")) {
      if (previous().text != ";" && previous().text != "{")
        fail({.code = "TC005", .range = token().range, .message = "a statement that begins with '(' needs a ';' before it",
              .help = "write ';' at the end of the statement before"});
      ++at_;
      CallStatement call;
      names(call.results, call.result_ranges, "the name of a result");
      expect(")", "after the results");
      result.node = call_of(std::move(call));
    } else if (is(TokenKind::Identifier) && next().text == ",") {
      CallStatement call;
      names(call.results, call.result_ranges, "the name of a result");
      result.node = call_of(std::move(call));
    } else {
      result.node = assignment();
    }
    result.range = since(begin);
    return result;
  }

  /// id {',' id}
  void names(std::vector<std::string>& list, std::vector<SourceRange>& ranges, const std::string& what) {
    do {
      const Token& name = identifier(what);
      list.emplace_back(name.text);
      ranges.push_back(name.range);
    } while (accept(","));
  }

  /// '=' id '(' [id {',' id}] ')'
  CallStatement call_of(CallStatement call) {
    expect("=", "after the results of a call");
    const Token& def = identifier("the name of a function");
    call.def = def.text;
    call.def_range = def.range;
    expect("(", "before the arguments");
    if (!is(")")) names(call.arguments, call.argument_ranges, "the name of a tensor");
    expect(")", "after the arguments", "the arguments of a call are names of tensors");
    return call;
  }

  Assignment assignment() {
    Assignment result;
    const Token& target = identifier("a statement, for example C(i) = A(i)");
    result.target = target.text;
    result.target_range = target.range;
    result.bare = !accept("(");
    if (!result.bare) result.subscripts = expressions_to_parenthesis("after the subscripts");
    assign_operator(result);
    result.rhs = expression().expr;
    if (accept("where")) {
      do {
        result.clauses.push_back(clause());
      } while (accept(","));
    }
    return result;
  }

  void assign_operator(Assignment& assignment) {
    std::string_view symbol = is(TokenKind::Symbol) ? token().text : std::string_view();
    if (symbol.size() > 1 && symbol.back() == '!') {
      assignment.initialise = true;
      symbol.remove_suffix(1);
    }
    for (const auto& candidate : assign_operators) {
      if (candidate.symbol != symbol) continue;
      assignment.reduction = candidate.reduction;
      ++at_;
      return;
    }
    std::string help = "the reductions are += *= min= max= &&= ||=, each also with '!'";
    if ((is("-") || is("/")) && next().text == "=")
      help = str("there is no '", token().text, "='; write out the value: ", assignment.target, " = ", assignment.target, " ",
                 token().text, " ...");
    fail_expected("'=' or a reduction operator", help);
  }

  Clause clause() {
    Clause result;
    const int begin = token().range.begin;
    if (accept("exists")) {
      result.node = ExistsClause{expression().expr};
    } else {
      const std::string name(identifier("an index, a let or 'exists' after 'where'").text);
      if (accept("in")) {
        ExprPtr low = expression().expr;
        expect(":", "between the bounds of a range", "a range is written i in 0:N and excludes N");
        result.node = RangeClause{name, low, expression().expr};
      } else if (accept("=")) {
        result.node = LetClause{name, expression().expr};
      } else {
        fail_expected("'in' or '='", "clauses are i in 0:N, x = A(i) and exists A(i)");
      }
    }
    result.range = since(begin);
    return result;
  }

  // Expressions.
  Parsed node(Expr::Node node, int begin, std::initializer_list<int> depths) {
    const int depth = 1 + std::max({0, *std::max_element(depths.begin(), depths.end())});
    if (depth > max_depth) too_deep(since(begin));
    return {make_expr(std::move(node), since(begin)), depth};
  }
  [[noreturn]] void too_deep(SourceRange range) {
    fail({.code = "TC006", .range = range, .message = "the expression is nested too deeply",
          .help = "split it into several statements with temporaries"});
  }

  /// exp := or ['?' exp ':' exp]
  Parsed expression() {
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

  const Operator* binary_operator() const {
    if (!is(TokenKind::Symbol)) return nullptr;
    for (const auto& candidate : operators)
      if (candidate.symbol == token().text) return &candidate;
    return nullptr;
  }

  /// Operators of \p level and above, left associative.
  Parsed binary(int level) {
    const int begin = token().range.begin;
    Parsed left = unary();
    const Operator* last = nullptr;
    for (const Operator* op = binary_operator(); op && op->level >= level; op = binary_operator()) {
      if (last && last->level == comparison_level && op->level == comparison_level)
        fail({.code = "TC004", .range = token().range, .message = "comparisons cannot be chained",
              .help = str("write a ", last->symbol, " b && b ", op->symbol, " c")});
      last = op;
      ++at_;
      const Parsed right = binary(op->level + 1);
      left = node(Binary{op->op, left.expr, right.expr}, begin, {left.depth, right.depth});
    }
    return left;
  }

  Parsed unary() {
    const int begin = token().range.begin;
    if (!is("-") && !is("!")) return primary();
    if (++nesting_ > max_nesting) too_deep(token().range);
    const UnaryOp op = take().text == "-" ? UnaryOp::Negate : UnaryOp::Not;
    const Parsed value = unary();
    --nesting_;
    return node(Unary{op, value.expr}, begin, {value.depth});
  }

  Parsed primary() {
    const int begin = token().range.begin;
    switch (token().kind) {
      case TokenKind::Integer: return node(IntLiteral{take().integer}, begin, {0});
      case TokenKind::Float: {
        const Token& literal = take();
        return node(FloatLiteral{literal.real, std::string(literal.text)}, begin, {0});
      }
      case TokenKind::Type: return cast();
      case TokenKind::Identifier: return named();
      default: break;
    }
    if (is("true") || is("false")) return node(BoolLiteral{take().text == "true"}, begin, {0});
    if (!accept("(")) fail_expected("an expression");
    Parsed inner = expression();
    expect(")", "");
    return inner;
  }

  /// type '(' exp ')'
  Parsed cast() {
    const int begin = token().range.begin;
    const DType type = *parse_dtype(take().text);
    expect("(", "after a type", "a conversion is written float32(x)");
    const Parsed value = expression();
    expect(")", "after the converted value");
    return node(Cast{type, value.expr, false}, begin, {value.depth});
  }

  /// id | id '.' integer | id '(' exps ')'
  Parsed named() {
    const int begin = token().range.begin;
    const std::string id(take().text);
    if (accept(".")) {
      if (!is(TokenKind::Integer)) fail_expected("the number of a dimension after '.'", str(id, ".0 is the first size of ", id));
      const std::uint64_t dimension = take().integer;
      return node(SizeOf{id, static_cast<int>(std::min<std::uint64_t>(dimension, INT_MAX))}, begin, {0});
    }
    if (!accept("(")) return node(Name{id}, begin, {0});
    int depth = 0;
    std::vector<ExprPtr> arguments = expressions_to_parenthesis("after the arguments", &depth);
    if (find_builtin(id)) return node(Call{id, std::move(arguments)}, begin, {depth});
    return node(Access{id, std::move(arguments)}, begin, {depth});
  }

  /// [exp {',' exp}] ')'
  std::vector<ExprPtr> expressions_to_parenthesis(const std::string& after, int* depth = nullptr) {
    std::vector<ExprPtr> list;
    if (accept(")")) return list;
    do {
      const Parsed item = expression();
      if (depth) *depth = std::max(*depth, item.depth);
      list.push_back(item.expr);
    } while (accept(","));
    expect(")", after);
    return list;
  }

  // Calls of defs.
  /// Makes `A = f(X)` a CallStatement exactly if \p defs hold an f.
  static void resolve_calls(std::vector<Def>& defs) {
    std::set<std::string> names;
    for (const auto& def : defs) names.insert(def.name);
    for (auto& def : defs)
      for (auto& statement : def.statements) resolve_call(statement, names);
  }

  static void resolve_call(Statement& statement, const std::set<std::string>& defs) {
    if (const auto* call = std::get_if<CallStatement>(&statement.node)) {
      if (call->results.size() != 1 || defs.count(call->def)) return;
      Assignment assignment;
      assignment.target = call->results[0];
      assignment.target_range = call->result_ranges[0];
      assignment.bare = true;
      assignment.rhs = value_of(*call, statement.range.end);
      statement.node = std::move(assignment);
      return;
    }
    const auto& assignment = std::get<Assignment>(statement.node);
    if (!assignment.bare || assignment.reduction || !assignment.clauses.empty()) return;
    const auto* access = std::get_if<Access>(&assignment.rhs->node);
    if (!access || !defs.count(access->tensor)) return;
    CallStatement call;
    for (const auto& argument : access->subscripts) {
      const auto* name = std::get_if<Name>(&argument->node);
      if (!name) return;
      call.arguments.push_back(name->id);
      call.argument_ranges.push_back(argument->range);
    }
    call.results = {assignment.target};
    call.result_ranges = {assignment.target_range};
    call.def = access->tensor;
    call.def_range = {assignment.rhs->range.begin, assignment.rhs->range.begin + static_cast<int>(access->tensor.size())};
    statement.node = std::move(call);
  }

  /// The expression f(X, Y) that \p call spells.
  static ExprPtr value_of(const CallStatement& call, int end) {
    std::vector<ExprPtr> arguments;
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      arguments.push_back(make_expr(Name{call.arguments[i]}, call.argument_ranges[i]));
    const SourceRange range{call.def_range.begin, end};
    if (find_builtin(call.def)) return make_expr(Call{call.def, std::move(arguments)}, range);
    return make_expr(Access{call.def, std::move(arguments)}, range);
  }

  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool abandoned_ = false;
};

}  // namespace

File parse(const std::string& text, const std::string& name) {
  File file;
  file.text = text;
  file.name = name;
  Diagnostics diagnostics(text, name);
  file.defs = Parser(text, diagnostics).defs();
  diagnostics.throw_if_errors<SyntaxError>();
  return file;
}

ExprPtr parse_expr(const std::string& text) {
  Diagnostics diagnostics(text, "<expression>");
  ExprPtr result = Parser(text, diagnostics).lone_expression();
  diagnostics.throw_if_errors<SyntaxError>();
  return result;
}

}  // namespace tc::lang
