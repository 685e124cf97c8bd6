#include "tc/lang/syntax/parse.h"

#include <algorithm>
#include <cctype>

#include "tc/base/str.h"
#include "tc/lang/syntax/expression_parser.h"
#include "tc/lang/syntax/limits.h"
#include "tc/lang/syntax/range_check.h"
#include "tc/lang/syntax/resolve_calls.h"

namespace tc::lang {
namespace {

struct AssignOperator {
  std::string_view symbol;
  std::optional<ReductionOp> reduction;
};
constexpr AssignOperator assign_operators[] = {
    {"=", std::nullopt},        {"+=", ReductionOp::Sum},  {"*=", ReductionOp::Product}, {"min=", ReductionOp::Min},
    {"max=", ReductionOp::Max}, {"&&=", ReductionOp::And}, {"||=", ReductionOp::Or},
};

/// Loops around a statement: as many as a nest of them would need for a recurrence in that many directions.
constexpr std::size_t most_loops = 8;

class Parser : public ExpressionParser {
 public:
  Parser(std::string_view text, Diagnostics& diagnostics, const Cancellation& cancellation)
      : ExpressionParser(text, diagnostics), cancellation_(cancellation) {}

  /// file := def+
  std::vector<Def> defs() {
    std::vector<Def> result;
    if (at_end())
      recover([&] { fail_expected("'def'", "a program is one or more functions: def f(float(N) A) -> (B) { ... }"); });
    while (!at_end()) {
      const std::size_t start = at_;
      recover([&] { result.push_back(def()); });
      if (at_ == start) ++at_;
      if (!abandoned_) continue;
      while (!at_end() && !is("def")) ++at_;
    }
    resolve_calls(result);
    for (const Def& def : result) refuse_calls_in_loops(def);
    return result;
  }

 private:
  void refuse_calls_in_loops(const Def& def) {
    for (const auto& statement : def.statements)
      if (!statement.loops.empty() && std::holds_alternative<CallStatement>(statement.node))
        diagnostics_.add({.code = "TC009",
                          .range = statement.range,
                          .message = "a call stands in a loop",
                          .help = "write the statements of the function that is called in its place"});
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
    loop_count_ = 0;
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
      } else if (!param && (is(",") || is(")"))) {
        fail({.code = "TC002",
              .range = previous().range,
              .message = str("'", previous().text, "' is a type and cannot be the name of a return"),
              .help = "choose another name"});
      }
    } else if (is_type_name()) {
      result.type_range = token().range;
      result.type_name = take().text;
      if (accept("(")) result.dims = expressions_to_parenthesis("after the sizes");
    } else if (param && is(TokenKind::Identifier)) {
      const bool unknown_type = next().kind == TokenKind::Identifier || next().text == "(";
      const std::string near = unknown_type ? closest(token().text, type_names()) : "";
      fail(
          {.code = "TC007",
           .range = token().range,
           .message = unknown_type ? str("unknown type '", token().text, "'")
                                   : str("parameter '", token().text, "' has no type"),
           .help = !near.empty()
                       ? str("did you mean '", near, "'?")
                       : "a parameter is written float(N) A, or float s for a scalar; the name of any type begins with "
                         "a capital letter: T(N) A"});
    }
    const Token& name = identifier(param && !result.type ? "a type"
                                   : param               ? "the name of a parameter"
                                                         : "the name of a return");
    result.name = name.text;
    result.range = name.range;
    if (is("(")) fail_expected("',' or ')'", "sizes stand behind the type: float(N) " + result.name);
    return result;
  }

  /// Does a name that stands for an element type begin a declaration here, as T(N) A? Such names begin with a capital letter
  /// and are not those of types in capitals.
  bool is_type_name() const {
    if (!is(TokenKind::Identifier) || token().text[0] < 'A' || token().text[0] > 'Z') return false;
    std::string small(token().text);
    std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
    if (small.size() > 2 && !closest(small, type_names()).empty()) return false;
    if (next().kind == TokenKind::Identifier) return true;
    return next().text == "(" && is_named_behind_sizes();
  }
  /// Does a name stand behind the parentheses that begin at the next token?
  bool is_named_behind_sizes() const {
    int open = 0;
    for (std::size_t at = at_ + 1; at + 1 < tokens_.size(); ++at) {
      open += tokens_[at].text == "(" ? 1 : tokens_[at].text == ")" ? -1 : 0;
      if (open == 0) return tokens_[at + 1].kind == TokenKind::Identifier;
    }
    return false;
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
      cancellation_.check("the parser");
      const std::size_t depth = loops_.size();
      recover([&] {
        is("for") && next().kind == TokenKind::Identifier ? loop(statements) : statements.push_back(statement());
      });
      loops_.resize(depth);
      if (abandoned_) skip_statement(start);
    }
  }

  /// 'for' id 'in' expression ':' expression '{' statement+ '}'
  void loop(std::vector<Statement>& statements) {
    const SourceRange place = take().range;
    if (loops_.size() >= most_loops)
      fail({.code = "TC008", .range = place, .message = str("more than ", most_loops, " loops around a statement")});
    const int begin = token().range.begin;
    const std::string index(identifier("the index of the loop").text);
    expect("in", "behind the index of a loop", "a loop is written for t in 0:T { ... }");
    Clause range = range_of(index, begin);
    loops_.push_back({{loop_count_++, index}, std::move(range)});
    expect("{", "before the statements of a loop");
    const std::size_t first = statements.size();
    body(statements);
    if (statements.size() == first) fail_expected("a statement in the loop");
    expect("}", "at the end of a loop");
  }

  /// Moves to the likely begin of the next statement, beyond \p start.
  void skip_statement(std::size_t start) {
    if (at_ == start && !at_end() && !is("}") && !is("def")) ++at_;
    while (!at_end() && !is("}") && !is("def") && !is(";")) {
      const bool begins = is(TokenKind::Identifier) || is(TokenKind::Type);
      if (token().starts_line && begins && ends_statement(previous())) return;
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
        fail({.code = "TC005",
              .range = token().range,
              .message = "a statement that begins with '(' needs a ';' before it",
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
      Assignment assigned = assignment();
      for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop)
        assigned.clauses.insert(assigned.clauses.begin(), loop->range);
      result.node = std::move(assigned);
    }
    for (const auto& open : loops_) result.loops.push_back(open.loop);
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
    const std::size_t start = at_;
    if (is(TokenKind::Type) && next().kind == TokenKind::Identifier)
      fail_expected("a statement, for example C(i) = A(i)",
                    str("a tensor is not declared but assigned: ", next().text, " = ", token().text, "(...)"));
    const Token& target = identifier("a statement, for example C(i) = A(i)");
    if (is(TokenKind::Identifier) || is("{")) fail_expected("'=' or a reduction operator", instead_of(target.text));
    result.target = target.text;
    result.target_range = target.range;
    result.bare = !accept("(");
    if (!result.bare) result.subscripts = expressions_to_parenthesis("after the subscripts");
    assign_operator(result, start);
    result.rhs = expression().expr;
    if (accept("where")) {
      do {
        result.clauses.push_back(clause());
      } while (accept(","));
    }
    return result;
  }

  /// What to write in place of the statement of another language that \p word begins; empty for other words.
  static std::string instead_of(std::string_view word) {
    if (word == "for") return "a loop whose iterations run in order is written for t in 0:T { ... }";
    if (word == "while" || word == "parallel")
      return "a statement runs over all values of its indices, C(i) = A(i) where i in 0:N; iterations that run in "
             "order are "
             "written for t in 0:T { ... }";
    if (word == "if" || word == "else") return "a condition is part of an expression: C(i) = A(i) > 0 ? A(i) : 0";
    if (word == "return") return "returns are named in the head, -> (C), and assigned";
    if (word == "let" || word == "var" || word == "const" || word == "auto")
      return "a tensor is not declared but assigned; a name for an expression stands behind 'where': where x = A(i)";
    return {};
  }

  /// Reports what stands at \p start, behind a number of the same line, as a product without its operator.
  void refuse_juxtaposition(std::size_t start) {
    if (start == 0 || tokens_[start].starts_line) return;
    const Token& number = tokens_[start - 1];
    if (number.kind != TokenKind::Integer && number.kind != TokenKind::Float) return;
    fail({.code = "TC002",
          .range = tokens_[start].range,
          .message = str("expected an operator between '", number.text, "' and '", tokens_[start].text, "'"),
          .help = str("a product is written ", number.text, " * ", tokens_[start].text)});
  }

  void assign_operator(Assignment& assignment, std::size_t start) {
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
    refuse_juxtaposition(start);
    std::string help = instead_of(assignment.target);
    if (help.empty()) help = "the reductions are += *= min= max= &&= ||=, each also with '!'";
    if ((is("-") || is("/")) && next().text == "=")
      help = str("there is no '", token().text, "='; write out the value: ", assignment.target, " = ",
                 assignment.target, " ", token().text, " ...");
    fail_expected("'=' or a reduction operator", help);
  }

  /// expression ':' expression, the range of \p index, whose clause begins at \p begin.
  Clause range_of(const std::string& index, int begin) {
    const ExprPtr low = expression().expr;
    expect(":", "between the bounds of a range", "a range is written i in 0:N and excludes N");
    const ExprPtr high = expression().expr;
    return {RangeClause{index, low, high}, since(begin)};
  }

  /// A value, or index 'in' expression ':' expression, behind the word 'exists' at \p begin. A line may begin with the target `in`.
  ExprPtr existing(int begin) {
    const bool is_range = is(TokenKind::Identifier) && next().text == "in" && !next().starts_line;
    if (!is_range) return expression().expr;
    const std::string index(token().text);
    at_ += 2;
    const Clause clause = range_of(index, begin);
    const auto& range = std::get<RangeClause>(clause.node);
    return make_range_check({range.index, range.low, range.high}, clause.range);
  }

  Clause clause() {
    Clause result;
    const int begin = token().range.begin;
    if (accept("exists")) {
      result.node = ExistsClause{existing(begin)};
    } else {
      const std::string name(identifier("an index, a let or 'exists' after 'where'").text);
      if (accept("in")) {
        return range_of(name, begin);
      } else if (accept("=")) {
        result.node = LetClause{name, expression().expr};
      } else {
        fail_expected("'in' or '='", "clauses are i in 0:N, x = A(i) and exists A(i)");
      }
    }
    result.range = since(begin);
    return result;
  }

  /// A loop while its statements are read.
  struct OpenLoop {
    OrderedLoop loop;
    Clause range;
  };

  const Cancellation& cancellation_;
  std::vector<OpenLoop> loops_;  ///< outermost first
  int loop_count_ = 0;           ///< of the def
};

/// Throws SyntaxError for more bytes than a text may have.
void check_length(const std::string& text, const std::string& name) {
  if (text.size() <= max_text_bytes) return;
  Diagnostics diagnostics(std::string_view(text).substr(0, 80), name);
  diagnostics.add({.code = "TC008",
                   .message = str("the text has ", text.size(), " bytes, more than ", max_text_bytes),
                   .help = "define its functions in several texts"});
  diagnostics.throw_if_errors<SyntaxError>();
}

}  // namespace

File parse(const std::string& text, const std::string& name, const Cancellation& cancellation,
           std::vector<Diagnostic>* warnings) {
  check_length(text, name);
  File file;
  file.text = text;
  file.name = name;
  Diagnostics diagnostics(text, name);
  try {
    for (Def& def : Parser(text, diagnostics, cancellation).defs()) file.add(std::move(def));
  } catch (const StopParsing&) {
    if (!diagnostics.has_errors()) throw InternalError("the parser stopped without a message");
  }
  diagnostics.throw_if_errors<SyntaxError>();
  if (warnings) warnings->insert(warnings->end(), diagnostics.warnings().begin(), diagnostics.warnings().end());
  return file;
}

ExprPtr parse_expr(const std::string& text) {
  Diagnostics diagnostics(text, "<expression>");
  check_length(text, "<expression>");
  ExprPtr result;
  try {
    result = ExpressionParser(text, diagnostics).lone_expression();
  } catch (const StopParsing&) {
    if (!diagnostics.has_errors()) throw InternalError("the parser stopped without a message");
  }
  diagnostics.throw_if_errors<SyntaxError>();
  return result;
}

}  // namespace tc::lang
