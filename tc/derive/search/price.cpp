#include "tc/derive/search/price.h"

#include <algorithm>

#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/search/product_view.h"

namespace tc::derive {

namespace {

double volume(const lang::Box& box) {
  double result = 1;
  for (const auto& range : box) result *= static_cast<double>(range.extent);
  return result;
}

/// Is \p part a sum of elements of one tensor that lie apart for neighbours along each left iterator? Where there are more, what is
/// read is read often, and copied.
bool is_strided(const Program& program, const Scope& scope, const Case& part) {
  if (part.reads.size() != 1 || part.reads[0].tensor.empty()) return false;
  const auto strides = strides_of(program.box(part.reads[0].tensor), part.reads[0].at, scope.dimensions());
  bool is_long = false;
  for (std::size_t d = 0; d < scope.box.size(); ++d) {
    if (scope.box[d].extent == 1) continue;
    is_long = true;
    if (strides && ((*strides)[d] == 0 || (*strides)[d] == 1)) return false;
  }
  return is_long;
}

/// Do \p constants, inputs and tensors, decide \p scope?
bool is_constant(const Scope& scope, const std::set<std::string>& constants) {
  for (const auto& part : scope.cases)
    for (const auto k : reads_in(part.body))
      if (!part.reads[k].tensor.empty() && !constants.count(part.reads[k].tensor)) return false;
  return true;
}

}  // namespace

Work work_of(const Program& program, const Scope& scope) {
  Work work;
  const double size = byte_size(scope.type);
  work.bytes = volume(scope.box) * size;
  for (const auto& part : scope.cases) {
    if (part.domain.is_empty()) continue;
    const auto instances = volume(stated_box(part.domain));
    double operations = scope.op ? 1 : 0;
    lang::for_each_expr(part.body,
                        [&](const lang::ExprPtr& expr) { operations += lang::children(expr).empty() ? 0 : 1; });
    work.operations += instances * operations;
    if (scope.op && is_strided(program, scope, part)) work.strided += instances;
    for (const auto k : reads_in(part.body)) {
      if (part.reads[k].tensor.empty()) continue;
      const auto touched =
          part.reads[k].at.size() == 0 ? 1 : volume(stated_box(part.domain.apply(part.reads[k].at.as_map())));
      work.bytes += std::min(touched, instances) * size;
    }
  }
  return work;
}

double PriceModel::operator()(const Program& program) {
  double sum = 0;
  auto constants = constants_;
  for (const auto& scope : program.scopes)
    if (!constants.empty() && is_constant(*scope, constants))
      constants.insert(scope->tensor);
    else
      sum += price(program, scope);
  return sum;
}

double PriceModel::price(const Program& program, const ScopePtr& scope) {
  const auto found = known_.find(scope);
  if (found != known_.end()) return found->second;
  const auto work = work_of(program, *scope);
  const auto view = view_product(program, *scope);
  const double rate = view && view->distance() == 0 ? rates_.products : rates_.loops;
  return known_[scope] =
             rates_.start + std::max(work.operations / rate, work.bytes / rates_.bytes) + work.strided / rates_.strided;
}

}  // namespace tc::derive
