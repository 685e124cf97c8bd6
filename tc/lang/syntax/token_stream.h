#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tc/base/str.h"
#include "tc/lang/syntax/lexer.h"

/// The place of a parser in its text. Private to the parser.
namespace tc::lang {

/// Thrown after a report; caught where parsing can go on.
struct Abandon {};
/// Thrown after the last report that is worth making.
struct StopParsing {};

class TokenStream {
 public:
  TokenStream(std::string_view text, Diagnostics& diagnostics)
      : diagnostics_(diagnostics), tokens_(tokenize(text, diagnostics)) {}

 protected:
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
    if (diagnostics_.full()) throw StopParsing{};
    throw Abandon{};
  }
  /// A report after which nothing of the text is looked at.
  [[noreturn]] void stop(Report report) {
    diagnostics_.add(report);
    throw StopParsing{};
  }
  std::string found() const {
    if (at_end()) return "the end of the text";
    const std::string what = is(TokenKind::Keyword) ? "the keyword " : is(TokenKind::Type) ? "the type " : "";
    return str(what, "'", token().text, "'");
  }
  [[noreturn]] void fail_expected(const std::string& what, const std::string& help = {}) {
    fail({.code = "TC002",
          .range = token().range,
          .message = str("expected ", what, " but found ", found()),
          .help = help});
  }
  void expect(std::string_view symbol, const std::string& after, const std::string& help = {}) {
    if (!accept(symbol)) fail_expected(str("'", symbol, "'", after.empty() ? "" : " ", after), help);
  }
  /// Runs \p parse; abandoned_ says whether it ended by an error.
  template <typename F>
  void recover(F&& parse) {
    const int nesting = nesting_;
    try {
      parse();
      abandoned_ = false;
    } catch (const Abandon&) {
      abandoned_ = true;
      nesting_ = nesting;
    }
  }

  const Token& identifier(const std::string& what) {
    if (!is(TokenKind::Identifier))
      fail_expected(what, is(TokenKind::Keyword) || is(TokenKind::Type) ? "choose another name"
                          : is("inf") || is("pi") ? str(token().text, " is a number; choose another name")
                                                  : "");
    return take();
  }

  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool abandoned_ = false;
};

}  // namespace tc::lang
