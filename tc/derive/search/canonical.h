#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// \p program in words of its own, for two that differ in what is in no text: the order of summed iterators, of factors
/// and of scopes, the names of iterators and of tensors that are no outputs. Inputs and outputs keep their names, and
/// tensors the order of their dimensions.
struct Canonical {
  std::string fingerprint;  ///< equal for equal programs; what differs may have the same
  Program program;          ///< summed iterators in order, temporaries named by it
};
Canonical canonical(const Program& program);

/// Canonical forms of programs that share scopes, each of which is put into words once.
class CanonicalForms {
 public:
  Canonical of(const Program& program);

 private:
  /// A scope in words, for names of what it reads.
  struct Words {
    ScopePtr settled;  ///< without iterators of one value in subscripts
    std::string text;
    std::vector<int> order;  ///< of its dimensions
    std::vector<lang::ExprPtr> bodies;
  };
  Words& words_of(const ScopePtr& scope, const std::map<std::string, std::string>& words);
  ScopePtr in_words(const Words& words, const std::map<std::string, std::string>& names);

  std::map<std::pair<ScopePtr, std::string>, Words> known_;
  std::map<std::pair<ScopePtr, std::string>, ScopePtr> ordered_;
};

/// Do the two compute the same in the same words? isl compares domains and subscripts.
bool is_same(const Canonical& a, const Canonical& b);

}  // namespace tc::derive
