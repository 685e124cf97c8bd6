#pragma once

#include <functional>
#include <map>
#include <string>

#include "tc/lang/check/free_names.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::lang {

/// The tensors that the names of a def's text mean: one each, and one more with each call that gives a new value to a
/// name that has one. The last keeps the name.
///
///   A = f(X)   A = f(A)   B(i) = A(i)        A means A_1, then A
class NameVersions {
 public:
  /// \p callee gives the def of a name that \p def calls.
  NameVersions(const Def& def, const std::function<const Def&(const std::string&)>& callee);

  /// Does a call of \p callee give \p name, which has a value, a tensor of its own for result \p r?
  bool begins(const std::string& name, const Def& callee, std::size_t r) const;
  /// The tensor that \p name means.
  const std::string& current(const std::string& name, FreeNames& names);
  /// Lets \p name mean its next tensor.
  void begin(const std::string& name, FreeNames& names);
  /// What the names mean that have been asked for.
  const Substitution& substitution() const { return current_; }

 private:
  const Def& def_;
  std::map<std::string, int> to_come_;  ///< at least one each
  Substitution current_;
};

}  // namespace tc::lang
