#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/base/cancellation.h"
#include "tc/lang/generic/instance.h"
#include "tc/lang/syntax/diagnostics.h"
#include "tc/lang/syntax/tree.h"

/// Checks one def for check. Private to the checker.
namespace tc::lang {

/// The checked def that a call of \p name with \p arguments means, of a generic one the instance for them; null if it has
/// errors or is not checked yet, which only a circle of calls brings about. Throws ArgumentError for arguments that no
/// instance takes.
using FindDef = std::function<const Def*(const std::string& name, const std::vector<Operand>& arguments)>;

using TypeMap = std::map<std::string, DType>;

/// \p def resolved and typed, see check.h. \p defs are the names of all defs of the file; errors and warnings go to
/// \p diagnostics. The result is complete only if no error was added.
Def check_def(const Def& def, const std::set<std::string>& defs, const FindDef& find, Diagnostics& diagnostics,
              const Cancellation& cancellation);

class DefChecker;

/// Checks a def without calls that is written statement by statement.
class GrowingDefChecker {
 public:
  /// \p head has parameters and returns; it, \p types, those of tensors that are known (a literal's adapts to it), and
  /// \p diagnostics must live as long.
  GrowingDefChecker(const Def& head, const TypeMap& types, Diagnostics& diagnostics);
  ~GrowingDefChecker();
  /// Lets the statements of a loop that are added before \p statement, one of the same loop, read the tensor that it writes.
  void announce(const Statement& statement);
  /// The next statement, resolved and typed.
  Statement add(const Statement& statement);

 private:
  TypeMap wanted_;
  std::set<std::string> no_defs_;
  FindDef find_none_;
  std::unique_ptr<DefChecker> checker_;
};

}  // namespace tc::lang
