#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tc/lang/syntax/diagnostics.h"
#include "tc/lang/syntax/tree.h"

namespace tc::lang {

enum class TokenKind : std::uint8_t { Identifier, Type, Integer, Float, Keyword, Symbol, End };

/// A word of the text. Keywords: def where exists true false; the floats `inf` and `pi` are of the
/// kind Float. Symbols are operators and punctuation, the reductions
/// with their '=' and '!' as one symbol ("min=!").
struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  SourceRange range;
  bool starts_line = false;   ///< the first token of its line
  std::uint64_t integer = 0;  ///< value of an Integer
  double real = 0;            ///< value of a Float
};

/// The tokens of \p text, ended by one End; they view \p text. Bytes that begin no token and malformed numbers are
/// reported to \p diagnostics and skipped.
std::vector<Token> tokenize(std::string_view text, Diagnostics& diagnostics);

}  // namespace tc::lang
