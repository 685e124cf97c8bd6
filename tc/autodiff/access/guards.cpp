#include "tc/autodiff/access/guards.h"

#include <algorithm>

#include "tc/autodiff/access/prover_state.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_of.h"

namespace tc::autodiff {

std::string GuardProver::Impl::facts(IslText& text) const {
  std::string all;
  for (const ExprPtr& size : sizes) all += str(" and ", text.index(size), " >= 0");
  return all;
}

GuardProver::GuardProver(std::vector<ExprPtr> sizes) : impl_(std::make_unique<Impl>()) {
  impl_->sizes = std::move(sizes);
}
GuardProver::~GuardProver() = default;

bool GuardProver::implies(const std::vector<IteratorRange>& ranges, const std::vector<ExprPtr>& known,
                          const ExprPtr& condition) {
  IslParameters parameters;
  IslText text(names_of(ranges), parameters);
  const auto wanted = text.condition(condition);
  if (!wanted) return false;
  std::string counterexamples = str("(not ", *wanted, ")", impl_->facts(text));
  for (const auto& range : ranges) counterexamples += " and " + text.range(range);
  for (const ExprPtr& fact : known)
    if (const auto written = text.condition(fact)) counterexamples += " and " + *written;
  polyhedral::OperationQuota quota(impl_->context, operations_of_a_proof);
  try {
    const std::string set = str(parameters.text(), "{ ", text.tuple(names_of(ranges)), " : ", counterexamples, " }");
    return isl::set(impl_->context, set).is_empty();
  } catch (const isl::exception& error) {
    if (quota.caused(error)) return false;
    throw InternalError(str("GuardProver: ", error.what()));
  }
}

bool GuardProver::inside(const std::vector<IteratorRange>& box, const Renaming& element,
                         const std::vector<IteratorRange>& ranges, const std::vector<ExprPtr>& known) {
  return std::all_of(box.begin(), box.end(), [&](const IteratorRange& range) {
    const ExprPtr at = element.at(range.name);
    return implies(ranges, known, binary(lang::BinaryOp::Ge, at, range.low)) &&
           implies(ranges, known, binary(lang::BinaryOp::Lt, at, range.high));
  });
}

std::vector<ExprPtr> GuardProver::simplified(const std::vector<IteratorRange>& ranges, std::vector<ExprPtr> guards) {
  for (std::size_t i = guards.size(); i-- > 0;) {
    std::vector<ExprPtr> others = guards;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (implies(ranges, others, guards[i])) guards = others;
  }
  return guards;
}

}  // namespace tc::autodiff
