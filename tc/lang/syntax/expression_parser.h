#pragma once

#include <initializer_list>

#include "tc/lang/syntax/other_languages.h"
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
  /// An argument `name = exp` is taken without its name where \p argument_name asks for the place of one.
  std::vector<ExprPtr> expressions_to_parenthesis(const std::string& after, int* depth = nullptr,
                                                  SourceRange* argument_name = nullptr);

  Surroundings place_;  ///< of the statement at hand

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
  /// '.' integer, behind the name \p id.
  Parsed size_of(const std::string& id, int begin);
  /// Reports the method, function of a module or property of another language that stands behind \p object and a dot.
  Parsed foreign_member(const ExprPtr& object, int begin);
  /// Moves behind the name and the '=' of a named argument, if there is one, and gives its place.
  SourceRange skip_argument_name();
  /// Reports the name of an argument of \p function at \p place.
  void report_argument_name(SourceRange place, const std::string& function, const std::vector<ExprPtr>& arguments);
  /// Reports where(c, a, b).
  Parsed foreign_choice();
  /// The call of a built-in function by its whole name, which no tensor has; 'tc' is read.
  Parsed qualified_call(int begin);

  std::size_t nodes_ = 0;
};

}  // namespace tc::lang
