#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/lang/check/check_def.h"
#include "tc/lang/check/inline.h"
#include "tc/lang/syntax/diagnostics.h"

namespace tc::lang {

/// A def without calls while its statements are written, with the boxes of its tensors where someone asks.
class GrowingInlinedDef {
 public:
  /// Begins with the head of \p def, a def of \p file. All three live as long.
  GrowingInlinedDef(const Def& def, const File& file, const InlineContext& context);

  /// Adds \p assignment, whose target has \p type if that is known. \p place is that of the statement of the def that
  /// it comes of, in \p loops. Throws SemanticError where the def or the statement grows too large.
  void add(Assignment assignment, SourceRange range, std::optional<DType> type, SourceRange place,
           const std::vector<OrderedLoop>& loops);
  /// Is \p tensor written by now?
  bool is_assigned(const std::string& tensor) const { return assigned_.count(tensor) > 0; }
  /// The box of a tensor so far, null if it is not known for an error.
  const std::vector<Range>* box_of(const std::string& tensor);
  /// The extent of dimension \p dimension of \p tensor, as what declares it says, else T.d.
  ExprPtr dimension_of(const std::string& tensor, int dimension) const;
  /// The same over sizes, null if it is not known for an error.
  ExprPtr extent_of(const std::string& tensor, int dimension);
  /// The declaration of the parameter \p name, null where it is none.
  const TensorDecl* param(const std::string& name) const;
  /// The declaration of the return \p name, null where it is none; the caller may give it a type.
  TensorDecl* declared_return(const std::string& name);
  /// What has been written, checked and without short forms.
  Def checked() const;

 private:
  void check_size(const Assignment& assignment, SourceRange place);

  const File& file_;
  const InlineContext& context_;
  Def result_;
  std::set<std::string> assigned_;  ///< tensors written so far
  std::size_t nodes_ = 0;

  // What has been asked of ranges.
  Diagnostics diagnostics_;
  Def head_;
  TypeMap types_;
  std::unique_ptr<GrowingDefChecker> checker_;
  std::unique_ptr<GrowingRanges> ranges_;
  std::size_t seen_ = 0;  ///< statements of result_ that both have
};

/// The declaration of \p name in \p decls, null where it is none.
const TensorDecl* find_decl(const std::vector<TensorDecl>& decls, const std::string& name);

}  // namespace tc::lang
