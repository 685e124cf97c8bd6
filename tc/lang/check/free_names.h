#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// Every identifier of \p def: sizes, tensors, iterators, lets.
std::set<std::string> identifiers(const Def& def);
/// The same of a def as the parser gives it.
std::set<std::string> text_identifiers(const Def& def);

/// Gives out identifiers that nothing has.
class FreeNames {
 public:
  /// \p taken: every identifier in use; \p values: those of them that are no iterators or lets; \p file, whose defs are
  /// more of these, may be null, and lives as long.
  FreeNames(std::set<std::string> taken, std::set<std::string> values, const File* file = nullptr)
      : taken_(std::move(taken)), values_(std::move(values)), file_(file) {}

  /// Lets \p names be in use too.
  void take(const std::set<std::string>& names) { taken_.insert(names.begin(), names.end()); }

  /// A name for a tensor: base_1, base_2, ... A number takes the place of one that \p base ends with: names stay short
  /// through many calls.
  std::string tensor(const std::string& base);
  /// A name for a tensor that says something of another: base_1, base_2, ...
  std::string property(const std::string& base);
  /// The iterator \p base, or another name if a tensor or size is called so.
  std::string iterator(const std::string& base);
  /// Iterators i, j, ... for \p rank dimensions.
  std::vector<std::string> iterators(int rank);

 private:
  std::string numbered(const std::string& base);
  /// Is \p name that of one of the defs?
  bool is_def(const std::string& name) const { return file_ && file_->find(name); }

  std::set<std::string> taken_, values_;
  const File* file_;
  std::map<std::string, int> last_;  ///< the number given last
};

}  // namespace tc::lang
