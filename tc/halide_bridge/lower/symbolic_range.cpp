#include "tc/halide_bridge/lower/symbolic_range.h"

#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/lower/affine.h"
#include "tc/halide_bridge/lower/lower_expr.h"
#include "tc/lang/syntax/print.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// { [] : the ranges of \p symbolic }
isl::set ranges_of(isl::ctx ctx, const lang::SizeRanges& symbolic) {
  std::vector<std::string> names, bounds{"0 = 0"};
  for (const auto& [name, range] : symbolic) {
    names.push_back(polyhedral::size_parameter(name));
    bounds.push_back(str(range.min, " <= ", names.back(), " <= ", range.max));
  }
  return isl::set(ctx, str("[", join(names), "] -> { [] : ", join(bounds, " and "), " }"));
}

}  // namespace

isl::set size_values(isl::ctx ctx, const lang::SizeRanges& symbolic, const std::vector<Expr>& preconditions) {
  auto result = ranges_of(ctx, symbolic);
  const AffineReader reader(result, {});
  for (const auto& condition : preconditions) result = result.intersect(reader.where(condition, true));
  return result.params();
}

SymbolicRangeReader::SymbolicRangeReader(const lang::SizeMap& sizes, const lang::SizeRanges& symbolic)
    : sizes_(sizes), symbolic_(symbolic) {
  if (!symbolic.empty()) context_ = std::make_unique<polyhedral::Context>();
}

bool SymbolicRangeReader::is_symbolic(const lang::ExprPtr& expr) const {
  bool result = false;
  lang::for_each_expr(expr, [&](const lang::ExprPtr& part) {
    const auto* name = std::get_if<lang::Name>(&part->node);
    result = result || (name && symbolic_.count(name->id) > 0);
  });
  return result;
}

Expr SymbolicRangeReader::lowered(const lang::ExprPtr& expr) const {
  const std::map<std::string, ProgramTensor> tensors;
  const std::map<std::string, lang::IntegerRange> iterators;
  const std::map<std::string, Expr> ends;
  return ir::simplify(lower_expr(expr, {tensors, iterators, sizes_, symbolic_, ends}).expr);
}

void SymbolicRangeReader::refuse(const lang::ExprPtr& expr) const {
  std::vector<std::string> names;
  for (const auto& [name, range] : symbolic_) names.push_back(name);
  throw OptionsError(
      str("'", lang::print(expr), "' is not affine in the symbolic sizes ", join(names), ": give one of them a value"));
}

SymbolicRange SymbolicRangeReader::range(const lang::Range& range) const {
  if (!is_symbolic(range.min) && !is_symbolic(range.extent)) return {lang::evaluate_box({range}, sizes_).at(0), {}, {}};
  const Expr begin = lowered(range.min), extent = lowered(range.extent);
  const auto* first = ir::as_const_int(begin);
  if (!first)
    throw OptionsError(str("a range begins at ", lang::print(range.min),
                           ", which depends on a symbolic size: give that size a value"));
  const Expr end = ir::simplify(ir::Add::make(begin, extent));
  const auto sizes = ranges_of(*context_, symbolic_);
  const auto last = AffineReader(sizes, {}).index(end);
  if (!last) refuse(range.extent);
  SymbolicRange result{{*first, last->intersect_domain(sizes).max_val().num_si() - *first}, {}, {}};
  if (!ir::is_const(end)) result.end = end;
  if (!ir::is_const(extent)) result.extent = extent;
  return result;
}

Expr SymbolicRangeReader::is_range(const lang::Range& range) const {
  if (!is_symbolic(range.extent)) return {};
  const Expr extent = lowered(range.extent);
  const Expr result = ir::LE::make(ir::make_zero(Halide::Int(64)), extent);
  const auto sizes = ranges_of(*context_, symbolic_);
  const AffineReader reader(sizes, {});
  if (!reader.index(extent)) refuse(range.extent);
  return sizes.intersect(reader.where(result, false)).is_empty() ? Expr() : result;
}

Expr SymbolicRangeReader::condition(const lang::Precondition& precondition) const {
  Expr result = lowered(precondition.condition);
  for (const auto& extent : precondition.extents)
    result = ir::Or::make(result, ir::EQ::make(lowered(extent), ir::make_zero(Halide::Int(64))));
  const auto sizes = ranges_of(*context_, symbolic_);
  const AffineReader reader(sizes, {});
  if (!reader.where(result, true).is_disjoint(reader.where(result, false))) refuse(precondition.condition);
  return result;
}

}  // namespace tc::halide_bridge
