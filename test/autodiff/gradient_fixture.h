#pragma once

#include <functional>
#include <map>
#include <string>

#include "tc/autodiff/differentiate.h"
#include "tc/lang/check/inline.h"
#include "test/support/interpret_text.h"

namespace tc::test {

/// The last def of a text, with calls written out and ranges.
struct UnderstoodDef {
  lang::File file;
  lang::InlinedDef function;
};
UnderstoodDef understand_def(const std::string& text);

/// The gradient of the last def of \p text.
autodiff::Gradient gradient_of(const std::string& text, const autodiff::Options& options = {});
/// Its statements, a line each.
std::string gradient_text(const std::string& text, const autodiff::Options& options = {});

/// Values in [low, high) for the floats of a parameter, integers in [low, high) for others.
struct ValueRule {
  double low = -1, high = 1;
};

/// How a gradient is compared with finite differences.
struct GradCheck {
  std::map<std::string, ValueRule> values = {};  ///< of parameters; floats lie in [-1, 1) else, integers in 0:2
  autodiff::Options options = {};
  std::uint64_t seed = 1;
  double step = 1e-6;
  double tolerance = 1e-6;  ///< times 1 + |want|
  bool certified = true;    ///< every read has a parametric certificate
};

/// Compares the gradient of the last def of \p text, all floats of which are float64, with central differences, both run
/// by the interpreter. The first difference as text, with the gradient's; empty if there is none.
std::string gradcheck(const std::string& text, const lang::SizeMap& sizes, const GradCheck& how = {});

/// The same for a gradient that is given.
std::string compare_with_differences(const UnderstoodDef& def, const autodiff::Gradient& gradient,
                                     const lang::SizeMap& sizes, const GradCheck& how);

}  // namespace tc::test
