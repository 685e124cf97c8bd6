#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tc::cuda {

/// The identifiers of a kernel's text for names of Halide's. A name keeps its spelling where that is an identifier of
/// C++ that neither C++, CUDA, the prelude nor another name in scope uses; else it gets characters replaced or a
/// number.
///
///   before  A, C.value$1, int, A.value (A in scope)      after  A, C, int_, A_1
class Names {
 public:
  /// Declares \p name in the innermost scope and gives its identifier.
  const std::string& declare(const std::string& name);
  /// Declares \p name as another one for \p identifier, which fresh() gave.
  void alias(const std::string& name, const std::string& identifier);
  /// The identifier of a name that is declared, or null.
  const std::string* find(const std::string& name) const;
  /// An identifier like \p wish for something without a name, taken until the innermost scope ends.
  std::string fresh(const std::string& wish);

  /// Names given between the two are free again behind.
  void open_scope() { scopes_.emplace_back(); }
  void close_scope();

 private:
  struct Scope {
    std::vector<std::string> identifiers;
    std::vector<std::pair<std::string, std::string>> outer;  ///< names declared in it, with what they were before
  };

  std::vector<Scope> scopes_{1};
  std::set<std::string> taken_;
  std::map<std::string, std::string> identifiers_;
};

/// \p name with the characters that no identifier has replaced, and without Halide's suffixes: "x.value$3" becomes "x".
std::string identifier_like(std::string_view name);
/// Is \p identifier a word of C++ or CUDA, or a name of the prelude?
bool is_reserved(const std::string& identifier);

}  // namespace tc::cuda
