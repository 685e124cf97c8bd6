#pragma once

#include <string>
#include <vector>

#include "tc/autodiff/reverse/step.h"

namespace tc::autodiff {

/// What one read adds to the adjoint of a version: over the coordinates, which run over the version's box, the sum of the
/// values for all reduction iterators for which the guards hold.
struct Contribution {
  std::vector<std::string> coordinates;
  std::vector<IteratorRange> reduction;
  Guarded value;
  lang::SourceRange place;
  bool is_outside = true;  ///< of the loops that the version is written in
};

/// The adjoint of a version as it is read: an element of a tensor, a parameter's shifted to begin at 0.
struct AdjointTensor {
  std::string name;
  DType type = DType::Float32;
  std::vector<ExprPtr> shifts;  ///< taken from the subscripts

  ExprPtr at(const std::vector<std::string>& iterators) const;
};

/// Statements that add up \p contributions to the adjoint \p name of \p version.
///
///   contributions  W(q,p)*g(b,q) over q;  h(b,p)      gives     d(b,p) +=! g(b,q) * W(q,p)    d(b,p) += h(b,p)
///
/// A half type stays where one statement suffices; else sums are float32, and where \p keeps_type converted at the end.
/// The adjoint's type goes to \p type; that of a version of a loop is the type it is computed in.
std::vector<Step> adjoint_steps(const std::string& name, const Version& version,
                                const std::vector<Contribution>& contributions, bool keeps_type, FreshNames& names,
                                DType& type);

}  // namespace tc::autodiff
