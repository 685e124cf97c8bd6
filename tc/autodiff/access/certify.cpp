#include "tc/autodiff/access/certify.h"

#include "tc/autodiff/access/prover_state.h"
#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_of.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// Writes the two sides of the proof with all names that stand in them.
class BijectionText {
 public:
  BijectionText(const ReadAccess& read, const Inverse& inverse, const std::vector<IteratorRange>& box)
      : read_(read),
        inverse_(inverse),
        box_(box),
        forward_(names_of(read.iterators), parameters_),
        backward_(backward_names(), parameters_) {}

  std::string facts(const GuardProver::Impl& prover) { return "1 = 1" + prover.facts(forward_, parameters_); }
  /// { [x, r] -> [i] : i = values, ranges, guards }
  std::string values();
  /// { [i] : ranges, conditions, subscripts in the box }
  std::string instances();
  /// { [i] -> [a] }
  std::string subscripts();
  /// { [x, r] -> [x] }
  std::string coordinates();
  std::string parameters() const { return parameters_.text(); }
  bool exact() const { return forward_.exact() && backward_.exact(); }

 private:
  std::vector<std::string> backward_names() const {
    std::vector<std::string> names = inverse_.coordinates;
    for (const auto& range : inverse_.reduction) names.push_back(range.name);
    return names;
  }
  bool solved(std::size_t d) const { return inverse_.by_guard.count(d) == 0; }
  ExprPtr value_of(const std::string& iterator) const {
    const auto found = inverse_.values.find(iterator);
    return found == inverse_.values.end() ? index_name(iterator) : found->second;
  }

  const ReadAccess& read_;
  const Inverse& inverse_;
  const std::vector<IteratorRange>& box_;
  IslParameters parameters_;
  IslText forward_, backward_;
};

std::string BijectionText::values() {
  std::vector<std::string> images, all;
  for (const auto& iterator : read_.iterators) images.push_back(backward_.index(value_of(iterator.name)));
  std::vector<std::string> solved_names;
  for (std::size_t d = 0; d < box_.size(); ++d) {
    if (!solved(d)) continue;
    solved_names.push_back(inverse_.coordinates[d]);
    all.push_back(backward_.range({inverse_.coordinates[d], box_[d].low, box_[d].high}));
  }
  for (const auto& range : inverse_.reduction) {
    solved_names.push_back(range.name);
    all.push_back(backward_.range(range));
  }
  std::set<std::string> guarded;
  for (const std::size_t d : inverse_.by_guard) guarded.insert(inverse_.coordinates[d]);
  for (const ExprPtr& guard : inverse_.guards) {
    if (mentions_any(guard, guarded)) continue;
    if (const auto text = backward_.condition(guard)) all.push_back(*text);
  }
  return str("{ ", backward_.tuple(solved_names), " -> [", join(images), "]", all.empty() ? "" : " : ",
             join(all, " and "), " }");
}

std::string BijectionText::instances() {
  std::vector<std::string> names = names_of(read_.iterators), all;
  for (const auto& range : read_.iterators) all.push_back(forward_.range(range));
  for (const ExprPtr& condition : read_.conditions)
    for (const ExprPtr& part : conjuncts(condition))
      if (const auto text = forward_.condition(part)) all.push_back(*text);
  for (std::size_t d = 0; d < box_.size(); ++d) {
    if (!solved(d)) continue;
    const std::string value = forward_.index(read_.subscripts[d]);
    all.push_back(str(forward_.index(box_[d].low), " <= ", value, " and ", value, " < ", forward_.index(box_[d].high)));
  }
  return str("{ ", forward_.tuple(names), all.empty() ? "" : " : ", join(all, " and "), " }");
}

std::string BijectionText::subscripts() {
  std::vector<std::string> values;
  for (std::size_t d = 0; d < read_.subscripts.size(); ++d)
    if (solved(d)) values.push_back(forward_.index(read_.subscripts[d]));
  return str("{ ", forward_.tuple(names_of(read_.iterators)), " -> [", join(values), "] }");
}

std::string BijectionText::coordinates() {
  std::vector<std::string> all, wanted;
  for (std::size_t d = 0; d < inverse_.coordinates.size(); ++d)
    if (solved(d)) wanted.push_back(inverse_.coordinates[d]);
  all = wanted;
  for (const auto& range : inverse_.reduction) all.push_back(range.name);
  return str("{ ", backward_.tuple(all), " -> ", backward_.tuple(wanted), " }");
}

}  // namespace

CertificateKind certify(const ReadAccess& read, const Inverse& inverse, const std::vector<IteratorRange>& box,
                        GuardProver& prover) {
  BijectionText text(read, inverse, box);
  auto& impl = prover.impl();
  const std::string values = text.values(), instances = text.instances(), subscripts = text.subscripts(),
                    coordinates = text.coordinates(), facts = text.facts(impl), parameters = text.parameters();
  if (!text.exact()) return CertificateKind::Missing;
  const auto [known, is_new] = impl.certificates.emplace(
      str(parameters, values, instances, subscripts, coordinates, facts, inverse.by_guard.size()),
      CertificateKind::Missing);
  if (!is_new) return known->second;
  check_cancelled("differentiation");
  polyhedral::OperationQuota quota(impl.context, operations_of_a_proof);
  try {
    const std::string context = str(parameters, "{ : ", facts, " }");
    const isl::set sizes(impl.context, context);
    const auto map = [&](const std::string& s) { return isl::map(impl.context, parameters + s); };
    const isl::map beta = map(values).intersect_params(sizes);
    const isl::set forward = isl::set(impl.context, parameters + instances).intersect_params(sizes);
    const bool bijective = beta.is_injective() && beta.range().is_equal(forward) &&
                           beta.apply_range(map(subscripts)).is_subset(map(coordinates));
    if (!bijective) return CertificateKind::Missing;
    return known->second = inverse.by_guard.empty() ? CertificateKind::Parametric : CertificateKind::ByGuard;
  } catch (const isl::exception& error) {
    if (quota.caused(error)) return CertificateKind::Missing;
    throw InternalError(str("certify: ", error.what()));
  }
}

}  // namespace tc::autodiff
