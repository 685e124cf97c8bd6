#pragma once

#include <functional>
#include <memory>

#include "tc/base/cancellation.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

namespace tc::lang {

/// Range inference that follows a def while it is written.
class GrowingRanges {
 public:
  virtual ~GrowingRanges() = default;
  /// Takes the next statement, checked.
  virtual void add(const Statement& statement) = 0;
  /// The index box of a tensor that is assigned by now; null if an error leaves it open.
  virtual const std::vector<Range>* box(const std::string& tensor) = 0;
};

/// A def without calls and lets, and its ranges.
struct InlinedDef {
  Def def;
  Ranges ranges;
};

/// What inlining asks of others.
struct InlineContext {
  std::function<const InlinedDef&(const std::string& name)> callee;
  /// The ranges of a def with these parameters, returns and sizes, statements to come; \p head lives as long.
  std::function<std::unique_ptr<GrowingRanges>(const Def& head)> start_ranges;
  Cancellation cancellation = {};
};

/// \p def of the checked \p file with every call replaced by the callee's statements under fresh names, and every let
/// replaced by its value (`exists` and `in` clauses stay), without the short forms of short_forms.h.
///
///   before: A = f(X)  B(i) = A(i) * c where c = s + 1       after: A_1(i) = ... X ...  B(i) = A_1(i) * (s + 1)
///
/// A callee's result whose inferred min is not literally 0 is copied to a tensor that starts at 0, and so is an
/// argument. Sizes of the callee become sizes of the arguments (T.d). A call's result is a whole tensor: given to a name
/// that has a value it is a tensor of its own, with its own sizes, which the name means from there on
/// (A = f(X)  A = f(A)  becomes  A_1(i) = ... X ...  A(i) = ... A_1 ...); only what a callee or the def accumulates into
/// stays one tensor. The result is checked and prints as TC. Its time is linear in what it writes.
///
/// Throws SemanticError for a def that is too large with its calls written out, and as context.cancellation says.
Def inline_calls(const Def& def, const File& file, const InlineContext& context);

}  // namespace tc::lang
