#include "tc/autodiff/access/guards.h"

#include <algorithm>

#include "tc/autodiff/access/prover_state.h"
#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_in.h"
#include "tc/lang/syntax/names_of.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

GuardProver::Impl::Impl(const std::vector<ExprPtr>& all) {
  std::set<std::string> known;
  for (const ExprPtr& size : all) {
    const auto names = names_in(size);
    if (names.empty() || !known.insert(lang::print(size)).second) continue;
    for (const auto& name : names) sizes_with[name].push_back(sizes.size());
    sizes.push_back(size);
  }
}

std::string GuardProver::Impl::facts(IslText& text, const IslParameters& parameters) const {
  std::string all;
  std::set<std::string> known;
  std::set<std::size_t> told;
  while (known.size() < parameters.identifiers.size())
    for (const auto& name : std::set(parameters.identifiers)) {
      const auto found = known.insert(name).second ? sizes_with.find(name) : sizes_with.end();
      if (found == sizes_with.end()) continue;
      for (const std::size_t s : found->second)
        if (told.insert(s).second) all += str(" and ", text.index(sizes[s]), " >= 0");
    }
  return all;
}

GuardProver::GuardProver(std::vector<ExprPtr> sizes) : impl_(std::make_unique<Impl>(sizes)) {}
GuardProver::~GuardProver() = default;

bool GuardProver::implies(const std::vector<IteratorRange>& ranges, const std::vector<ExprPtr>& known,
                          const ExprPtr& condition) {
  IslParameters parameters;
  IslText text(lang::names_of(ranges), parameters);
  const auto wanted = text.condition(condition);
  if (!wanted) return false;
  std::string counterexamples = str("(not ", *wanted, ")");
  for (const auto& range : ranges) counterexamples += " and " + text.range(range);
  for (const ExprPtr& fact : known)
    if (const auto written = text.condition(fact)) counterexamples += " and " + *written;
  counterexamples += impl_->facts(text, parameters);
  const std::string set =
      str(parameters.text(), "{ ", text.tuple(lang::names_of(ranges)), " : ", counterexamples, " }");
  const auto [known_proof, is_new] = impl_->implications.emplace(set, false);
  if (!is_new) return known_proof->second;
  check_cancelled("differentiation");
  polyhedral::OperationQuota quota(impl_->context, operations_of_a_proof);
  try {
    return known_proof->second = isl::set(impl_->context, set).is_empty();
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
