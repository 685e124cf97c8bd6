#pragma once

#include <functional>
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

/// A loop around the statement that writes a version, and the dimension of the version that the loop's index subscripts.
struct LoopDimension {
  int id = 0;
  std::size_t dimension = 0;
};

/// The values a tensor has between two statements that write it. In a loop: all steps of it, each as that statement leaves it.
struct Version {
  std::string tensor;
  DType type = DType::Float32;
  std::vector<IteratorRange> box;         ///< one range a dimension; its names say nothing
  std::vector<LoopDimension> loops = {};  ///< outermost first
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
  bool whole = true;                          ///< writes all elements of the tensor
  std::vector<lang::OrderedLoop> loops = {};  ///< around it, outermost first
};

/// Statements in order; every version has one that writes it, but parameters and the tensors of the caller.
struct Forward {
  std::vector<ForwardStatement> statements;
  std::map<std::string, Version> versions;
  std::vector<ExprPtr> sizes;                     ///< dimensions of parameters, which are not negative
  std::map<std::string, std::string> given = {};  ///< of a return that updates the caller's tensor, the version before
};

/// Called for a read of a tensor that the loop around it changes, at elements that are not at a constant distance.
using MixedRead = std::function<void(const std::string& tensor, lang::SourceRange place)>;

/// \p function in versions. T_1, T_2, ... T where several statements write T; sizes T.d by their values; `T max= e` as
/// `M max=! e`, `T = max(T, M)`, and so `min=` and `*=` without `!`.
///
///   mean(n) +=! X(n,c)   mean(n) = mean(n) / C      becomes     mean_1(n) +=! X(n,c)   mean(n) = mean_1(n) / C
///
/// The caller's tensor of a return O that is updated in place is the version O_old, which no statement writes.
///
/// In a loop, an element of an earlier iteration is one of the last version that the loop writes, one of a later iteration is one of the
/// version before the loop. \p mixed is called for a read of both, which no version holds.
///
///   for t { H(t) +=! H(t-1)*U   H(t) = exp(H(t)) }   becomes   for t { H_1(t) +=! H(t-1)*U   H(t) = exp(H_1(t)) }
Forward in_versions(const lang::InlinedDef& function, FreshNames& names, const MixedRead& mixed);

/// The versions that \p statement reads.
std::set<std::string> reads_of(const ForwardStatement& statement);

}  // namespace tc::autodiff
