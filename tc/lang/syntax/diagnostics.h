#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tc/base/error.h"
#include "tc/lang/syntax/tree.h"

/// Messages about a TC text. Codes: TC0nn the text is not a program, TC1nn names and types, TC2nn ranges.
namespace tc::lang {

/// A place and a few words about it.
struct Label {
  SourceRange range;
  std::string text;
};

/// A message before it is rendered. Empty parts are left out.
struct Report {
  std::string code;              ///< "TC101"
  SourceRange range;             ///< where the carets stand
  std::string message;           ///< one line
  std::string label = {};        ///< words after the carets
  std::vector<Label> also = {};  ///< secondary places
  std::string note = {};         ///< the cause
  std::string help = {};         ///< what to write instead
  bool is_error = true;
};

/// The message as
///
///   error[TC101]: undefined name 'Bi'
///     --> matmul.tc:2:21
///      |
///    2 |   C(m,n) +=! A(m,k)*Bi(k,n)
///      |                     ^^ not a tensor
///      = help: did you mean 'B'?
Diagnostic render(const Report& report, std::string_view text, std::string_view name);

/// Collects the messages about one text, at most max_errors errors and as many warnings: what follows more of them is
/// seldom worth reading. Text and name must live as long.
class Diagnostics {
 public:
  static constexpr std::size_t max_errors = 100;

  Diagnostics(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  /// Adds a message; one that is there already is not repeated, one too many is dropped.
  void add(const Report& report);
  /// Would another error be dropped?
  bool full() const { return errors_.size() >= max_errors; }
  /// Takes over all messages of \p other, which is about the same text.
  void append(const Diagnostics& other);
  bool has_errors() const { return !errors_.empty(); }
  const std::vector<Diagnostic>& errors() const { return errors_; }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

  /// Throws an E (SyntaxError, SemanticError) that holds all errors in the order of the text, if there are any.
  template <typename E>
  void throw_if_errors() const {
    if (has_errors()) throw E(full_text(), sorted());
  }

 private:
  std::vector<Diagnostic> sorted() const;
  std::string full_text() const;

  void take(Diagnostic message);

  std::string_view text_, name_;
  std::vector<Diagnostic> errors_, warnings_;
};

/// The member of \p candidates a user who wrote \p name may have meant: the nearest by edits, at most a third of the
/// letters (one in short names), case ignored first; empty if none is near.
std::string closest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tc::lang
