#include "tc/layout/map/layout_map.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::layout {
namespace {

std::string box_text(const Extents& extents) {
  std::vector<std::string> names, conditions{"1 = 1"};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    names.push_back(str("i", d));
    conditions.push_back(str("0 <= i", d, " < ", extents[d]));
  }
  return str("{ [", join(names), "] : ", join(conditions, " and "), " }");
}

/// The address of each place of a dense tensor, in elements.
std::string address_text(const Extents& extents) {
  std::vector<std::string> names, terms{"0"};
  std::int64_t stride = 1;
  for (std::size_t d = extents.size(); d-- > 0; stride *= extents[d]) terms.push_back(str(stride, "*i", d));
  for (std::size_t d = 0; d < extents.size(); ++d) names.push_back(str("i", d));
  return str("{ [", join(names), "] -> [", join(terms, " + "), "] }");
}

isl::map relation_of(isl::ctx context, const Layout& layout, const std::vector<Extents>& before) {
  isl::map result = isl::set(context, box_text(before.front())).identity();
  for (std::size_t p = 0; p < layout.primitives().size(); ++p)
    result = result.apply_range(isl::map(context, relation(layout.primitives()[p], before[p])));
  return result.intersect_range(isl::set(context, box_text(before.back())));
}

}  // namespace

LayoutMap::LayoutMap(Layout layout, const Extents& extents) : layout_(std::move(layout)), before_{extents} {
  for (const auto& primitive : layout_.primitives()) before_.push_back(extents_behind(primitive, before_.back()));
}

std::string LayoutMap::relation() const {
  polyhedral::Context context;
  return str(relation_of(context, layout_, before_).coalesce());
}

Facts LayoutMap::facts() const {
  polyhedral::Context context;
  const isl::map map = relation_of(context, layout_, before_);
  Facts facts;
  facts.functional = map.is_single_valued();
  facts.injective = map.is_injective();
  facts.total = isl::set(context, box_text(logical())).is_subset(map.domain());
  facts.dense = isl::set(context, box_text(physical())).is_subset(map.range());
  facts.replicating = !facts.functional;
  return facts;
}

bool LayoutMap::is_same_memory(const LayoutMap& other) const {
  const auto places = [](const LayoutMap& map) {
    return std::accumulate(map.physical().begin(), map.physical().end(), std::int64_t{1}, std::multiplies<>());
  };
  if (layout_ == other.layout_) return true;
  if (logical() != other.logical() || places(*this) != places(other)) return false;
  polyhedral::Context context;
  const auto addresses = [&](const LayoutMap& map) {
    return relation_of(context, map.layout_, map.before_).apply_range(isl::map(context, address_text(map.physical())));
  };
  return addresses(*this).is_equal(addresses(other));
}

std::vector<Index> LayoutMap::place(std::vector<Index> indices, const IteratorRanges& ranges) const {
  for (std::size_t p = 0; p < layout_.primitives().size(); ++p)
    indices = layout::place(layout_.primitives()[p], before_[p], std::move(indices), ranges);
  return indices;
}

Origin LayoutMap::origin(std::vector<Index> places, const IteratorRanges& ranges) const {
  Origin result{std::move(places), {}};
  for (std::size_t p = layout_.primitives().size(); p-- > 0;) {
    Origin step = layout::origin(layout_.primitives()[p], before_[p], std::move(result.indices), ranges);
    result.indices = std::move(step.indices);
    for (auto& condition : step.conditions) result.conditions.push_back(std::move(condition));
  }
  return result;
}

std::vector<std::string> LayoutMap::names(std::vector<std::string> logical) const {
  for (const auto& primitive : layout_.primitives()) logical = names_behind(primitive, std::move(logical));
  return logical;
}

std::vector<std::int64_t> LayoutMap::blocks(std::size_t dim) const {
  // Where the dimension's digits are now, and the size of the block that each counts; none once it is not made of digits.
  struct Digit {
    std::size_t dim = 0;
    std::int64_t size = 1;
  };
  std::vector<Digit> digits{{dim, 1}};
  for (const auto& primitive : layout_.primitives()) {
    if (const auto* reorder = std::get_if<Reorder>(&primitive)) {
      for (auto& digit : digits)
        digit.dim = std::find(reorder->order.begin(), reorder->order.end(), digit.dim) - reorder->order.begin();
      continue;
    }
    const auto* split = std::get_if<Split>(&primitive);
    if (!split) return {};
    std::vector<Digit> next;
    for (const auto& digit : digits) {
      if (digit.dim != split->dim) {
        next.push_back({digit.dim > split->dim ? digit.dim + split->factors.size() : digit.dim, digit.size});
        continue;
      }
      std::int64_t size = digit.size;
      next.push_back({split->dim + split->factors.size(), size});
      for (std::size_t f = split->factors.size(); f-- > 0;) {
        size *= split->factors[f];
        next.push_back({split->dim + f, size});
      }
    }
    digits = next;
  }
  std::vector<std::int64_t> sizes;
  for (const auto& digit : digits)
    if (digit.size > 1) sizes.push_back(digit.size);
  std::sort(sizes.rbegin(), sizes.rend());
  return sizes;
}

std::string to_string(const Facts& facts) {
  std::string text = facts.replicating ? "several places for some elements" : "one place for each element";
  if (!facts.total) text = "no place for some elements";
  return str(text, facts.dense ? ", no holes" : ", holes", facts.injective ? "" : ", places that elements share");
}

}  // namespace tc::layout
