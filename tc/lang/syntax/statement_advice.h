#pragma once

#include <string>
#include <string_view>

/// What the language writes in place of statements of other languages. For messages of the parser.
namespace tc::lang {

/// For the statement that \p word begins, such as `if`; empty for other words.
std::string instead_of_word(std::string_view word);

/// For \p signs, which stand where an assignment's operator is expected behind \p target; never empty.
///
///   "-="  write Y = Y - ...     "=+!", "+ =!"  a sum is written Y +=! ...     ":="  an assignment is written Y = ...
std::string instead_of_operator(std::string_view signs, std::string_view target);

}  // namespace tc::lang
