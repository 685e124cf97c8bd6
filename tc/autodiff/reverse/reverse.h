#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/autodiff/access/certify.h"
#include "tc/autodiff/reverse/adjoints.h"

namespace tc::autodiff {

/// How one read of the def became a sum over its tensor's elements.
struct ReadReport {
  lang::SourceRange place;           ///< of the statement in the def
  std::string read;                  ///< "I(h + kh)"
  std::vector<std::string> inverse;  ///< "h = y - kh", guards
  CertificateKind certificate = CertificateKind::Missing;
  bool compares = false;  ///< a subscript that reads no tensor is compared with every element
};

/// The adjoint statements of a def in versions.
struct Reversed {
  Forward forward;          ///< with extremes of expressions named
  std::vector<Step> steps;  ///< in order; the returns d_X among them
  std::vector<ReadReport> reads;
};

/// What the reverse pass is asked for.
struct ReverseRequest {
  std::vector<std::string> wrt;                ///< parameters
  std::map<std::string, AdjointTensor> seeds;  ///< of the last versions of returns
  std::map<std::string, std::string> results;  ///< the name d_X of each parameter
  bool by_guards = false;
};

/// Goes through the statements in reverse order: when one is reached, the adjoint of what it writes is complete, and each
/// of its reads adds to the adjoint of what it reads.
Reversed reverse(const Forward& forward, const ReverseRequest& request, FreshNames& names,
                 const UnknownDerivative& unknown);

}  // namespace tc::autodiff
