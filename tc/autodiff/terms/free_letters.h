#pragma once

#include <set>
#include <string>

namespace tc::autodiff {

/// Letters for iterators, in an order: p, q, ..., then p1, q1, ...
class FreeLetters {
 public:
  /// \p taken, names that no iterator may have, lives as long.
  FreeLetters(std::string letters, const std::set<std::string>& taken) : letters_(std::move(letters)), taken_(taken) {}

  /// Takes \p name, unless it is taken; whether it was free.
  bool take(const std::string& name) { return !taken_.count(name) && own_.insert(name).second; }
  /// The first letter that is free, which is taken then.
  std::string next() {
    for (int round = 0;; ++round)
      for (const char letter : letters_) {
        std::string name(1, letter);
        if (round > 0) name += std::to_string(round);
        if (take(name)) return name;
      }
  }

 private:
  std::string letters_;
  const std::set<std::string>& taken_;
  std::set<std::string> own_;
};

}  // namespace tc::autodiff
