#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/autodiff/access/isl_text.h"
#include "tc/lang/check/inline.h"

/// A def as differentiation sees it: each statement writes a version of its tensor.
namespace tc::autodiff {

/// Names that are free in a def.
class FreshNames {
 public:
  /// Takes the names of \p def: tensors, sizes, iterators, itself; and those of built-ins and types.
  explicit FreshNames(const lang::Def& def);
  /// \p wanted, or it with a number behind, for a tensor or a size.
  std::string take(const std::string& wanted);
  /// The same for an iterator, which statements may share.
  std::string iterator(const std::string& wanted);
  /// Lets \p name be that of an iterator, and of nothing else.
  void take_iterator(const std::string& name) { iterators_.insert(name); }
  /// What no iterator may be called.
  const std::set<std::string>& taken() const { return taken_; }

 private:
  std::set<std::string> taken_, iterators_;
};

/// The values a tensor has between two statements that write it.
struct Version {
  std::string tensor;
  DType type = DType::Float32;
  std::vector<IteratorRange> box;  ///< one range a dimension; its names say nothing
};

/// target(left) op value. Reads name versions.
struct ForwardStatement {
  std::string target;                   ///< the version it writes
  std::optional<std::string> previous;  ///< the version whose other elements it keeps, or which it accumulates into
  std::vector<IteratorRange> left, reduction;
  std::optional<ReductionOp> op;
  bool initialise = false;
  ExprPtr value;
  lang::SourceRange place;
  bool whole = true;  ///< writes all elements of the tensor
};

/// Statements in order; every version has one that writes it, but parameters.
struct Forward {
  std::vector<ForwardStatement> statements;
  std::map<std::string, Version> versions;
  std::vector<ExprPtr> sizes;  ///< dimensions of parameters, which are not negative
};

/// \p function in versions. T_1, T_2, ... T where several statements write T; sizes T.d by their values; `T max= e` as
/// `M max=! e`, `T = max(T, M)`, and so `min=` and `*=` without `!`.
///
///   mean(n) +=! X(n,c)   mean(n) = mean(n) / C      becomes     mean_1(n) +=! X(n,c)   mean(n) = mean_1(n) / C
Forward in_versions(const lang::InlinedDef& function, FreshNames& names);

/// The versions that \p statement reads.
std::set<std::string> reads_of(const ForwardStatement& statement);

}  // namespace tc::autodiff
