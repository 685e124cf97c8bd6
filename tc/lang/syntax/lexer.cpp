#include "tc/lang/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <utility>

#include "tc/base/str.h"
#include "tc/lang/syntax/other_languages.h"

namespace tc::lang {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char x) { return x >= 0x20 && x < 0x7f; });
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

constexpr std::array<std::string_view, 5> keywords = {"def", "where", "exists", "true", "false"};
/// Floats that are written as words.
constexpr std::array<std::pair<std::string_view, double>, 2> constants = {
    {{"inf", std::numeric_limits<double>::infinity()}, {"pi", std::numbers::pi}}};
/// Longest first among those with a common beginning.
constexpr std::array<std::string_view, 42> symbols = {
    "...", "&&=!", "||=!", "+=!", "*=!", "&&=", "||=", "->", "+=", "*=", "<=", ">=", "==", "!=",
    "&&",  "||",   "**",   "<<",  ">>",  "+",   "-",   "*",  "/",  "%",  "(",  ")",  "{",  "}",
    ",",   ";",    ":",    "?",   "=",   "<",   ">",   "!",  ".",  "&",  "|",  "^",  "~",  "@"};

class Lexer {
 public:
  Lexer(std::string_view text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {
    find_digit_names();
  }

  std::vector<Token> run() {
    while (skip_blanks()) {
      if (is_letter(text_[at_]) || calls_digit_name())
        word();
      else if (is_digit(text_[at_]) || (text_[at_] == '.' && is_digit(peek(1)) && !after_identifier()))
        number();
      else
        symbol();
    }
    push(TokenKind::End, at_);
    for (const auto& comment : quotients_) report_quotient(comment);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool after_identifier() const { return !tokens_.empty() && tokens_.back().kind == TokenKind::Identifier; }
  bool after_dot() const { return !tokens_.empty() && tokens_.back().text == "."; }

  /// The names of defs that begin with a digit, as `def 2LUT` has it.
  void find_digit_names() {
    for (auto at = text_.find("def"); at != std::string_view::npos; at = text_.find("def", at + 3)) {
      const std::size_t begin = blanks_end(at + 3);
      const std::string_view name = text_.substr(begin, word_end(begin) - begin);
      if (begin > at + 3 && !name.empty() && is_digit(name[0]) && std::any_of(name.begin(), name.end(), is_letter))
        digit_names_.insert(name);
    }
  }
  /// Does a word that names such a def stand here, before a parenthesis?
  bool calls_digit_name() const {
    if (digit_names_.empty() || !is_digit(text_[at_])) return false;
    const std::size_t end = word_end(at_);
    return digit_names_.count(text_.substr(at_, end - at_)) > 0 && char_at(blanks_end(end)) == '(';
  }

  /// Moves to the next token; false at the end.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#' || text_.substr(at_, 2) == "//")
        comment();
      else if (is_blank(text_[at_]))
        starts_line_ = text_[at_++] == '\n' || starts_line_;
      else
        return true;
    }
    return false;
  }

  /// Moves behind a comment. One that holds a number and closing braces alone, behind a word of the same line, may be meant
  /// as a quotient of integers.
  void comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view said = text_.substr(at_, end - at_);
    const std::size_t number = said.find_first_not_of(" \t", 2);
    const bool is_quotient = said[0] == '/' && number != std::string_view::npos && is_digit(said[number]) &&
                             said.find_first_not_of("0123456789 \t})\r", number) == std::string_view::npos;
    if (is_quotient && !tokens_.empty() && !starts_line_)
      quotients_.push_back({static_cast<int>(at_), static_cast<int>(end)});
    at_ = end;
  }

  /// An error where the comment hides a brace that the text needs, else a warning.
  void report_quotient(SourceRange comment) {
    const auto braces = [&](std::string_view brace) {
      return std::count_if(tokens_.begin(), tokens_.end(), [&](const Token& token) { return token.text == brace; });
    };
    const bool hides = text_.substr(comment.begin, comment.end - comment.begin).find('}') != std::string_view::npos;
    diagnostics_.add({.code = "TC010",
                      .range = comment,
                      .message = "'//' begins a comment, and this one looks like the divisor of a quotient",
                      .help = "a quotient of integers is written with '/'; a comment that is meant may begin with '#'",
                      .is_error = hides && braces("{") > braces("}")});
  }

  Token& push(TokenKind kind, std::size_t end) {
    Token token;
    token.kind = kind;
    token.text = text_.substr(at_, end - at_);
    token.range = {static_cast<int>(at_), static_cast<int>(end)};
    token.starts_line = starts_line_;
    starts_line_ = false;
    at_ = end;
    tokens_.push_back(token);
    return tokens_.back();
  }

  std::size_t word_end(std::size_t from) const {
    while (from < text_.size() && is_word(text_[from])) ++from;
    return from;
  }
  std::size_t blanks_end(std::size_t from) const {
    while (from < text_.size() && is_blank(text_[from])) ++from;
    return from;
  }
  std::size_t digits_end(std::size_t from) const {
    while (from < text_.size() && is_digit(text_[from])) ++from;
    return from;
  }
  char char_at(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  /// An identifier, keyword, type or one of min= max= min=! max=!.
  void word() {
    const std::size_t end = word_end(at_);
    const std::string_view spelling = text_.substr(at_, end - at_);
    if ((spelling == "min" || spelling == "max") && char_at(end) == '=' && char_at(end + 1) != '=') {
      push(TokenKind::Symbol, end + (char_at(end + 1) == '!' ? 2 : 1));
      return;
    }
    for (const auto& [name, value] : constants) {
      if (name != spelling) continue;
      push(TokenKind::Float, end).real = value;
      return;
    }
    TokenKind kind = TokenKind::Identifier;
    if (std::find(keywords.begin(), keywords.end(), spelling) != keywords.end())
      kind = TokenKind::Keyword;
    else if (parse_dtype(spelling))
      kind = TokenKind::Type;
    push(kind, end);
  }

  void bad_number(std::size_t end, const std::string& message, const std::string& help) {
    diagnostics_.add(
        {.code = "TC003", .range = {static_cast<int>(at_), static_cast<int>(end)}, .message = message, .help = help});
  }

  /// digits [. digits] [e [sign] digits]; after a dot digits only, so that T.0 is a size.
  void number() {
    std::size_t end = digits_end(at_);
    bool is_float = false;
    if (!after_dot()) {
      if (char_at(end) == '.') {
        is_float = true;
        end = digits_end(end + 1);
      }
      if (char_at(end) == 'e' || char_at(end) == 'E') {
        const std::size_t sign = char_at(end + 1) == '+' || char_at(end + 1) == '-' ? 1 : 0;
        if (is_digit(char_at(end + 1 + sign))) {
          is_float = true;
          end = digits_end(end + 1 + sign);
        }
      }
    }
    const std::size_t tail = word_end(end);
    if (tail != end)
      bad_number(tail, str("'", text_.substr(at_, tail - at_), "' is neither a number nor a name"),
                 "a name begins with a letter; a number has no suffix");
    finish_number(end, tail, is_float);
  }

  void finish_number(std::size_t end, std::size_t tail, bool is_float) {
    const std::string_view digits = text_.substr(at_, end - at_);
    const char* first = digits.data();
    const char* last = first + digits.size();
    std::uint64_t integer = 0;
    double real = 0;
    if (is_float) {
      const auto result = std::from_chars(first, last, real);
      if (result.ec == std::errc::result_out_of_range) {
        real = is_underflow(digits) ? 0 : HUGE_VAL;
        if (real != 0) bad_number(end, str("the number '", digits, "' does not fit float64"), {});
      }
    } else if (std::from_chars(first, last, integer).ec != std::errc()) {
      bad_number(end, str("the integer '", digits, "' does not fit 64 bits"), "write a float, for example 1e20");
    }
    Token& token = push(is_float ? TokenKind::Float : TokenKind::Integer, tail);
    token.text = digits;
    token.integer = integer;
    token.real = std::isinf(real) ? 0 : real;
  }

  static bool is_underflow(std::string_view digits) {
    const std::size_t e = digits.find_first_of("eE");
    return e != std::string_view::npos && e + 1 < digits.size() && digits[e + 1] == '-';
  }

  void symbol() {
    for (auto candidate : symbols) {
      if (text_.substr(at_, candidate.size()) != candidate) continue;
      push(TokenKind::Symbol, at_ + candidate.size());
      return;
    }
    if (text_[at_] == '[' || text_[at_] == ']') return bracket();
    bad_character();
  }

  /// Reports an opening bracket and goes on as if brackets were parentheses.
  void bracket() {
    const bool opens = text_[at_] == '[';
    const bool type = !tokens_.empty() && tokens_.back().kind == TokenKind::Type;
    const std::string before = tokens_.empty() ? "A" : std::string(tokens_.back().text);
    if (opens && closed_bracket_ == static_cast<int>(at_) && tokens_.back().text == ")") return next_bracket();
    if (!opens) closed_bracket_ = static_cast<int>(at_) + 1;
    if (opens || open_brackets_ == 0)
      diagnostics_.add(
          {.code = "TC001",
           .range = {static_cast<int>(at_), static_cast<int>(at_ + 1)},
           .message = str("unexpected '", text_[at_], "'"),
           .help = type ? str("sizes stand in parentheses: ", before, "(N) A")
                   : before == "in"
                       ? "a range is written i in 0:N"
                       : str("subscripts stand in parentheses: ", after_identifier() ? before : "A", "(i,j)")});
    open_brackets_ += opens ? 1 : open_brackets_ > 0 ? -1 : 0;
    push(TokenKind::Symbol, at_ + 1).text = opens ? "(" : ")";
  }

  /// Reads the `][` of X[i][j] as a comma; the first bracket is reported.
  void next_bracket() {
    tokens_.back().text = ",";
    ++at_;
    ++open_brackets_;
  }

  /// Reports a text in quotes, which a number stands for.
  void quoted(std::size_t end) {
    const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
    diagnostics_.add(
        {.code = "TC001",
         .range = {static_cast<int>(at_), static_cast<int>(end + 1)},
         .message = str("unexpected ", is_printable(text) ? str("'", text_.substr(at_, end + 1 - at_), "'") : "text"),
         .help = help_for_quoted(text, end + 1)});
    push(TokenKind::Integer, end + 1);
  }

  /// For Y = einsum("ij,jk->ik", X, W), of which \p behind follows \p text, the statement.
  std::string help_for_quoted(std::string_view text, std::size_t behind) const {
    const std::string help = "there are no texts; comments begin with '#'";
    const std::size_t count = tokens_.size();
    if (count < 2 || tokens_[count - 1].text != "(" || tokens_[count - 2].text != "einsum") return help;
    std::vector<std::string> tensors;
    for (std::size_t at = blanks_end(behind); char_at(at) == ','; at = blanks_end(at)) {
      const std::size_t begin = blanks_end(at + 1);
      at = word_end(begin);
      tensors.emplace_back(text_.substr(begin, at - begin));
    }
    std::size_t target = count - 2;
    while (target > 0 && tokens_[target].text != "=") --target;
    const std::string name(target > 0 && tokens_[target - 1].kind == TokenKind::Identifier ? tokens_[target - 1].text
                                                                                           : "Y");
    const std::string statement = instead_of_einsum(text, tensors, name);
    return statement.empty() ? help : str("subscripts stand behind the tensors: ", statement);
  }

  /// Reports a run of bytes that begin no token once.
  void bad_character() {
    const std::size_t begin = at_;
    const char c = text_[at_];
    const std::size_t closing = c == '"' || c == '\'' ? text_.find_first_of("\"\'\n", at_ + 1) : std::string_view::npos;
    if (closing != std::string_view::npos && text_[closing] == c) return quoted(closing);
    const auto begins_token = [&](char x) {
      return is_word(x) || is_blank(x) || x == '#' || x == '[' || x == ']' ||
             std::any_of(symbols.begin(), symbols.end(), [&](std::string_view s) { return s[0] == x; });
    };
    ++at_;
    while (at_ < text_.size() && !begins_token(text_[at_])) ++at_;
    std::string help;
    if (c == '"' || c == '\'') help = "there are no texts; comments begin with '#'";
    const std::string_view found = text_.substr(begin, at_ - begin);
    diagnostics_.add(
        {.code = "TC001",
         .range = {static_cast<int>(begin), static_cast<int>(at_)},
         .message = is_printable(found) ? str("unexpected '", found, "'") : std::string("unexpected character"),
         .help = help});
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::vector<SourceRange> quotients_;  ///< comments that look like divisors
  std::set<std::string_view> digit_names_;
  std::size_t at_ = 0;
  bool starts_line_ = true;
  int open_brackets_ = 0;
  int closed_bracket_ = -1;  ///< where the last closing bracket ends
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, Diagnostics& diagnostics) { return Lexer(text, diagnostics).run(); }

}  // namespace tc::lang
