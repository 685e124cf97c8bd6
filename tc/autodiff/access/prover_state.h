#pragma once

#include <string>
#include <vector>

#include "tc/autodiff/access/guards.h"
#include "tc/polyhedral/core/isl.h"

/// What proofs share. Private to autodiff.
namespace tc::autodiff {

constexpr unsigned long operations_of_a_proof = 200000;

struct GuardProver::Impl {
  polyhedral::Context context;
  std::vector<ExprPtr> sizes;

  /// What is known of sizes, " and " in front of each; the text is written by \p text.
  std::string facts(IslText& text) const;
};

}  // namespace tc::autodiff
