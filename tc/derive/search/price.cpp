#include "tc/derive/search/price.h"

#include <algorithm>

#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/rules/rewrite.h"
#include "tc/derive/search/product_view.h"
#include "tc/derive/search/window_view.h"

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

/// How many elements of a tensor of \p box \p read touches in \p part, whose instances are in \p instances.
double touched(const Case& part, const lang::Box& instances, const Read& read, const lang::Box& box) {
  const auto all = values(read.at, instances);
  if (!all) return volume(stated_box(part.domain.apply(read.at.as_map())));
  double result = 1;
  for (std::size_t o = 0; o < box.size(); ++o) {
    const auto first = std::max((*all)[o].min, box[o].min);
    const auto last = std::min((*all)[o].min + (*all)[o].extent, box[o].min + box[o].extent);
    result *= static_cast<double>(std::max<std::int64_t>(last - first, 0));
  }
  return result;
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
    const auto box = stated_box(part.domain, scope.box);
    const auto instances = volume(box);
    double operations = scope.op ? 1 : 0;
    lang::for_each_expr(part.body,
                        [&](const lang::ExprPtr& expr) { operations += lang::children(expr).empty() ? 0 : 1; });
    work.operations += instances * operations;
    if (scope.op && is_strided(program, scope, part)) work.strided += instances;
    for (const auto k : reads_in(part.body)) {
      if (part.reads[k].tensor.empty()) continue;
      const auto& read = part.reads[k];
      work.bytes += std::min(touched(part, box, read, program.box(read.tensor)), instances) * size;
    }
  }
  return work;
}

Price PriceModel::of(const Program& program) {
  Price sum;
  auto constants = constants_;
  for (const auto& scope : program.scopes)
    if (!constants.empty() && is_constant(*scope, constants)) {
      constants.insert(scope->tensor);
    } else {
      const auto own = price(program, scope);
      sum.microseconds += own.microseconds;
      sum.laid_out += own.laid_out;
    }
  return sum;
}

namespace {

/// Routines compute so many filters at once.
constexpr std::int64_t block_of_filters = 16;

double elements_of(const Scope& scope, const std::vector<int>& dimensions) {
  const auto ranges = iterator_box(scope);
  double result = 1;
  for (int d : dimensions) result *= static_cast<double>(ranges[static_cast<std::size_t>(d)].extent);
  return result;
}

/// Elements of the copies of operands that \p view asks for.
double copied_elements(const Scope& scope, const ProductView& view) {
  double result = 0;
  for (const auto* operand : {&view.first, &view.second})
    if (!operand->fits) result += elements_of(scope, operand->order);
  return result;
}

/// The part of what a routine computes that is wanted.
double share_of_blocks(const Scope& scope, const WindowView& view) {
  const auto ranges = iterator_box(scope);
  std::int64_t filters = 1;
  for (int d : view.filters) filters *= ranges[static_cast<std::size_t>(d)].extent;
  const auto blocks = (filters + block_of_filters - 1) / block_of_filters;
  return static_cast<double>(filters) / static_cast<double>(blocks * block_of_filters);
}

}  // namespace

Price PriceModel::price(const Program& program, const ScopePtr& scope) {
  const auto found = known_.find(scope);
  if (found != known_.end()) return found->second;
  const auto work = work_of(program, *scope);
  const auto microseconds = [&](double rate) {
    return rates_.start + std::max(work.operations / rate, work.bytes / rates_.bytes) + work.strided / rates_.strided;
  };
  Price result{microseconds(rates_.loops), microseconds(rates_.loops)};
  const auto take = [&](double rate, int distance, double elements) {
    const auto whole = microseconds(rate);
    const auto copies = distance * rates_.start + 2 * elements * byte_size(scope->type) / rates_.bytes;
    if (distance == 0) result.microseconds = std::min(result.microseconds, whole);
    result.laid_out = std::min(result.laid_out, whole + copies);
  };
  if (const auto view = view_product(program, *scope))
    take(std::max(rates_.products, rates_.loops), view->distance(), copied_elements(*scope, *view));
  if (rates_.windows > rates_.loops)
    if (const auto view = view_windows(program, *scope))
      take(rates_.windows * share_of_blocks(*scope, *view), view->distance(),
           view->weights_fit ? 0 : elements_of(*scope, view->weights_order));
  return known_[scope] = result;
}

}  // namespace tc::derive
