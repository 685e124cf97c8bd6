#pragma once

#include <initializer_list>

#include "tc/lang/syntax/token_stream.h"
#include "tc/lang/syntax/tree.h"

/// The grammar of expressions. Private to the parser.
namespace tc::lang {

/// An expression and the depth of its tree.
struct Parsed {
  ExprPtr expr;
  int depth = 1;
};

/// Parses expressions by precedence climbing. Trees and nesting are bounded, so that recursive passes fit any stack.
class ExpressionParser : public TokenStream {
 public:
  using TokenStream::TokenStream;

  /// exp, up to the end of the text; null after an error.
  ExprPtr lone_expression();

 protected:
  /// exp := or ['?' exp ':' exp]
  Parsed expression();
  /// [('...' | exp) {',' exp}] ')'; the depth of the deepest goes to \p depth.
  std::vector<ExprPtr> expressions_to_parenthesis(const std::string& after, int* depth = nullptr);

 private:
  Parsed node(Expr::Node node, int begin, std::initializer_list<int> depths);
  [[noreturn]] void too_deep(SourceRange range);
  /// Operators of \p level and above, left associative.
  Parsed binary(int level);
  bool is_word_operator() const;
  Parsed unary();
  /// primary ['**' unary]
  Parsed power();
  Parsed primary();
  /// type '(' exp ')'
  Parsed cast();
  /// id | id '.' integer | id '(' exps ')' | 'tc' '.' function '(' exps ')'
  Parsed named();
  /// The call of a built-in function by its whole name, which no tensor has; 'tc' is read.
  Parsed qualified_call(int begin);

  std::size_t nodes_ = 0;
};

}  // namespace tc::lang
