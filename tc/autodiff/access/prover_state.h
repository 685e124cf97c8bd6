#pragma once

#include <map>
#include <string>
#include <vector>

#include "tc/autodiff/access/certify.h"
#include "tc/polyhedral/core/isl.h"

/// What proofs share. Private to autodiff.
namespace tc::autodiff {

constexpr unsigned long operations_of_a_proof = 200000;

struct GuardProver::Impl {
  explicit Impl(const std::vector<ExprPtr>& sizes);

  /// What is known of sizes that \p parameters mention, or that stand in one size with such, " and " in front of each; the text is
  /// written by \p text, over \p parameters.
  std::string facts(IslText& text, const IslParameters& parameters) const;

  polyhedral::Context context;
  std::vector<ExprPtr> sizes;                                  ///< each once, but for numbers
  std::map<std::string, std::vector<std::size_t>> sizes_with;  ///< by the names in them
  /// Proofs by their texts: those of layers that are alike are the same.
  std::map<std::string, bool> implications;
  std::map<std::string, CertificateKind> certificates;
};

}  // namespace tc::autodiff
