#include "tc/lang/syntax/declaration_parser.h"

#include <algorithm>
#include <cctype>

#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {

std::vector<TensorDecl> DeclarationParser::declarations(bool params) {
  std::vector<TensorDecl> list;
  if (accept(")")) return list;
  do {
    list.push_back(declaration(params));
  } while (accept(","));
  expect(")", params ? "after the parameters" : "after the returns");
  return list;
}

TensorDecl DeclarationParser::declaration(bool param) {
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
    const std::string near = unknown_type ? closest(small_word(), type_names()) : "";
    fail({.code = "TC007",
          .range = token().range,
          .message = unknown_type ? str("unknown type '", token().text, "'")
                                  : str("parameter '", token().text, "' has no type"),
          .help = !near.empty()
                      ? str("did you mean '", near, "'?")
                      : "a parameter is written float(N) A, or float s for a scalar; the name of any type begins with "
                        "a capital letter: T(N) A"});
  }
  if (param && result.type && is("*"))
    fail_expected("the name of a parameter", "sizes stand behind the type: float(N) X");
  const Token& name = identifier(param && !result.type ? "a type"
                                 : param               ? "the name of a parameter"
                                                       : "the name of a return");
  result.name = name.text;
  result.range = name.range;
  if (is("(")) fail_expected("',' or ')'", "sizes stand behind the type: float(N) " + result.name);
  if (is("=")) skip_default(result.name);
  return result;
}

void DeclarationParser::skip_default(const std::string& name) {
  const int begin = take().range.begin;
  const std::string value = print(expression().expr);
  diagnostics_.add({.code = "TC002",
                    .range = since(begin),
                    .message = str("the parameter '", name, "' cannot have a default value"),
                    .help = str("pass the value in each call, or write ", value, " in the statements")});
}

std::string DeclarationParser::small_word() const {
  std::string small(token().text);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

bool DeclarationParser::is_type_name() const {
  if (!is(TokenKind::Identifier) || token().text[0] < 'A' || token().text[0] > 'Z') return false;
  const std::string small = small_word();
  if (small.size() > 2 && !closest(small, type_names()).empty()) return false;
  if (next().kind == TokenKind::Identifier) return true;
  return next().text == "(" && is_named_behind_sizes();
}

bool DeclarationParser::is_named_behind_sizes() const {
  int open = 0;
  for (std::size_t at = at_ + 1; at + 1 < tokens_.size(); ++at) {
    open += tokens_[at].text == "(" ? 1 : tokens_[at].text == ")" ? -1 : 0;
    if (open == 0) return tokens_[at + 1].kind == TokenKind::Identifier;
  }
  return false;
}

std::vector<std::string> DeclarationParser::type_names() {
  std::vector<std::string> names = {"float", "double", "half", "int", "byte"};
  for (int i = 0; i <= static_cast<int>(DType::Float64); ++i) names.emplace_back(name(static_cast<DType>(i)));
  return names;
}

}  // namespace tc::lang
