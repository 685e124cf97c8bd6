#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace tc {

/// One message about a text, with its place.
struct Diagnostic {
  std::string code;      ///< stable identifier, for example "TC012"
  int line = 0;          ///< from 1; 0 when the message has no place in a text
  int column = 0;        ///< from 1, in bytes
  std::string message;   ///< one line, names the user's objects
  std::string rendered;  ///< message, source line, caret span, notes and help; several lines
  bool is_error = true;  ///< false: a warning
};

/// Base of everything the library throws. what() is the full text shown to a user.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text) : std::runtime_error(text) {}
  Error(const std::string& text, std::vector<Diagnostic> diagnostics)
      : std::runtime_error(text), diagnostics_(std::move(diagnostics)) {}
  /// The messages about the program's text; empty where the text is not to blame.
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The text is not a program.
struct SyntaxError : Error {
  using Error::Error;
};
/// The program has no meaning: names, types, ranges.
struct SemanticError : Error {
  using Error::Error;
};
/// A transformation or setting that cannot be done.
struct OptionsError : Error {
  using Error::Error;
};
/// Tensors that do not fit: number, type, shape, device, index values, broken preconditions.
struct ArgumentError : Error {
  using Error::Error;
};
/// The machine: no driver, a fault on the device.
struct DeviceError : Error {
  using Error::Error;
};
/// Memory, time or quota exhausted.
struct ResourceError : Error {
  using Error::Error;
};
/// A bug of this library.
struct InternalError : Error {
  using Error::Error;
};
/// The caller asked to stop (Ctrl-C, Cancellation::cancel()).
struct CancelledError : ResourceError {
  using ResourceError::ResourceError;
};

}  // namespace tc
