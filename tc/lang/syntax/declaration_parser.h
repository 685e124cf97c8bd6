#pragma once

#include <string>
#include <vector>

#include "tc/lang/syntax/expression_parser.h"

/// The grammar of parameters and returns. Private to the parser.
namespace tc::lang {

class DeclarationParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

 protected:
  /// [declaration {',' declaration}] ')'
  std::vector<TensorDecl> declarations(bool params);

 private:
  TensorDecl declaration(bool param);
  /// Reports the value that a parameter is given in the head, and moves behind it.
  void skip_default(const std::string& name);
  /// The next token in small letters.
  std::string small_word() const;
  /// Does a name that stands for an element type begin a declaration here, as T(N) A? Such names begin with a capital letter
  /// and are not those of types in capitals.
  bool is_type_name() const;
  /// Does a name stand behind the parentheses that begin at the next token?
  bool is_named_behind_sizes() const;
  static std::vector<std::string> type_names();
};

}  // namespace tc::lang
