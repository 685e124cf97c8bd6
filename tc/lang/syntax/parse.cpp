#include "tc/lang/syntax/parse.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/declaration_parser.h"
#include "tc/lang/syntax/limits.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/range_check.h"
#include "tc/lang/syntax/resolve_calls.h"
#include "tc/lang/syntax/statement_advice.h"

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

class Parser : public DeclarationParser {
 public:
  Parser(std::string_view text, Diagnostics& diagnostics, const Cancellation& cancellation)
      : DeclarationParser(text, diagnostics), cancellation_(cancellation) {}

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
    expect("->", "after the parameters", "the returns stand behind the parameters: -> (Y)");
    expect("(", "before the returns", "returns stand in parentheses: -> (A)");
    result.returns = declarations(false);
    expect("{", "before the statements", "the statements of a def stand in braces: { Y(i) = X(i) }");
    loop_count_ = 0;
    place_ = {};
    for (const auto& param : result.params)
      place_.ranks[param.name] = param.dims ? static_cast<int>(param.dims->size()) : 0;
    body(result.statements);
    expect("}", "at the end of the function");
    result.range = since(begin);
    return result;
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
        is("for") && (next().kind == TokenKind::Identifier || is_c_loop()) ? loop(statements)
                                                                           : statements.push_back(statement());
      });
      loops_.resize(depth);
      if (abandoned_) skip_statement(start);
    }
  }

  /// Does for (int i = 0; ...) begin here? An element of a tensor `for` has no type before an index.
  bool is_c_loop() const {
    return next().text == "(" && tokens_[std::min(at_ + 2, tokens_.size() - 1)].kind == TokenKind::Type;
  }

  /// 'for' id 'in' expression ':' expression '{' statement+ '}'
  void loop(std::vector<Statement>& statements) {
    recover([&] { loop_head(); });
    if (abandoned_) {
      while (!at_end() && !is("{") && !is("}") && !is("def") && !token().starts_line) ++at_;
      if (!accept("{")) throw Abandon{};
    }
    const std::size_t first = statements.size();
    body(statements);
    if (statements.size() == first) fail_expected("a statement in the loop");
    expect("}", "at the end of a loop");
  }

  /// 'for' id 'in' expression ':' expression '{'
  void loop_head() {
    const SourceRange place = take().range;
    if (loops_.size() >= most_loops)
      fail({.code = "TC008", .range = place, .message = str("more than ", most_loops, " loops around a statement")});
    const int begin = token().range.begin;
    const std::string form = "a loop is written for t in 0:T { ... }";
    if (is("(")) fail_expected("the index of the loop", form);
    const std::string index(identifier("the index of the loop").text);
    expect("in", "behind the index of a loop", form);
    Clause range = range_of(index, begin);
    loops_.push_back({{loop_count_++, index}, std::move(range)});
    expect("{", "before the statements of a loop",
           is(":") ? str("a range has no step: use a multiple of the index in subscripts, X(2*", index, ")")
                   : str(form, "; the range of one statement stands behind 'where'"));
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
              .help = token().starts_line || previous().text != ")"
                          ? "write ';' at the end of the statement before"
                          : "all subscripts of an element stand in one pair of parentheses, X(i,j); a statement ends "
                            "before '(' "
                            "with ';'"});
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
    if (is(","))
      fail_expected("a statement, for example C(i) = A(i)", "ranges stand behind 'where': Y(i) = X(i) where i in 0:N");
    const Token& target = identifier("a statement, for example C(i) = A(i)");
    if (is(TokenKind::Identifier) || is("{")) {
      const std::string help = instead_of_word(target.text);
      if (help.empty()) refuse_juxtaposition(start);
      fail_expected("'=' or a reduction operator", help);
    }
    result.target = target.text;
    result.target_range = target.range;
    result.bare = !accept("(");
    if (!result.bare) result.subscripts = expressions_to_parenthesis("after the subscripts");
    note_target(result);
    assign_operator(result, start);
    result.rhs = expression().expr;
    if (accept("where")) {
      do {
        result.clauses.push_back(clause());
      } while (accept(","));
    }
    return result;
  }

  void note_target(const Assignment& assignment) {
    place_.target = assignment.target;
    place_.subscripts.clear();
    for (const auto& subscript : assignment.subscripts)
      if (const auto* name = std::get_if<Name>(&subscript->node)) place_.subscripts.push_back(name->id);
    place_.ranks.emplace(assignment.target, static_cast<int>(assignment.subscripts.size()));
  }

  /// Reports what stands at \p start, behind an operand of the same line, as the second one of an operator that is missing.
  void refuse_juxtaposition(std::size_t start) {
    if (start == 0 || tokens_[start].starts_line) return;
    const Token &left = tokens_[start - 1], &right = tokens_[start];
    const bool is_number = left.kind == TokenKind::Integer || left.kind == TokenKind::Float;
    if (!is_number && left.kind != TokenKind::Identifier && left.text != ")") return;
    const bool is_function = find_function(left.text) != nullptr;
    const std::string product = left.text == ")" ? str("... * ", right.text) : str(left.text, " * ", right.text);
    fail({.code = "TC002",
          .range = right.range,
          .message = str("expected an operator between '", left.text, "' and '", right.text, "'"),
          .help = is_function ? str("an argument stands in parentheses: ", left.text, "(", right.text, ")")
                              : str("a product is written ", product)});
  }

  /// The signs from here on that could be meant as one operator.
  std::string signs() const {
    std::string result;
    for (std::size_t at = at_; at < tokens_.size() && tokens_[at].kind == TokenKind::Symbol && result.size() < 4;
         ++at) {
      const std::string_view sign = tokens_[at].text;
      if (sign.find_first_not_of("+-*/%=!<>:&|^@") != std::string_view::npos) break;
      result += sign;
    }
    return result;
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
    const std::string target =
        print(make_expr(Access{assignment.target, assignment.subscripts, assignment.bare}, assignment.target_range));
    const std::string help = instead_of_word(assignment.target), found = signs();
    if (help.empty() && found.find('=') == std::string::npos && found != "<-" && found != "++")
      refuse_juxtaposition(start);
    fail_expected("'=' or a reduction operator", help.empty() ? instead_of_operator(found, target) : help);
  }

  /// expression ':' expression, the range of \p index, whose clause begins at \p begin.
  Clause range_of(const std::string& index, int begin) {
    const ExprPtr low = expression().expr;
    expect(":", "between the bounds of a range", str("a range is written ", index, " in 0:N and excludes N"));
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
      if (is("("))
        fail_expected("a clause after 'where'", "clauses stand without parentheses: where i in 0:N, j in 0:M");
      const std::string name(identifier("an index, a let or 'exists' after 'where'").text);
      if (accept("in")) {
        return range_of(name, begin);
      } else if (accept("=")) {
        result.node = LetClause{name, expression().expr};
      } else {
        const bool compares = is("<") || is("<=") || is(">") || is(">=") || is("==") || is("!=");
        fail_expected("'in' or '='", compares ? str("a range is written ", name,
                                                    " in 0:N, and a condition is part of the "
                                                    "value: Y(i) = i < K ? X(i) : 0")
                                              : "clauses are i in 0:N, x = A(i) and exists A(i)");
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
