#include "tc/strategy/grid/contraction_view.h"

#include "tc/base/contains.h"
#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/strategy/cost/fixed_order.h"
#include "tc/strategy/grid/copy_gathers.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::Scop;

/// The one accumulating statement of the cluster with loops of its own, null where there is none or another one has.
const ClusterStatement* find_update(const Scop& scop, const ClusterView& cluster) {
  const ClusterStatement* result = nullptr;
  for (const auto& entry : cluster.statements) {
    if (entry.inner.empty()) continue;
    if (result || !scop.statement(entry.id).accumulates) return nullptr;
    result = &entry;
  }
  return result;
}

/// Does each loop of the update run over one iterator, and is each element known that it reads and writes?
bool is_plain(const ContractionView& view) {
  for (const auto& loop : view.entry.inner)
    if (loop.iterator < 0 || loop.shared) return false;
  for (int iterator : view.entry.outer)
    if (iterator < 0) return false;
  for (int read = 0; read < view.reads(); ++read)
    if (!view.is_subscript(read) && !polyhedral::element_iterators(view.update(), read)) return false;
  return view.update().write.exact;
}

/// Is there an operand that is indexed by member \p a and not by member \p b?
bool has_own_operand(const ContractionView& view, int a, int b) {
  for (int read = 0; read < view.reads(); ++read)
    if (!view.is_subscript(read) && view.depends_on(read, view.iterator(a)) && !view.depends_on(read, view.iterator(b)))
      return true;
  return false;
}

/// The member along which the result is contiguous, -1 where there is none.
int find_columns(const ContractionView& view) {
  int result = -1;
  for (int i = 0; i < static_cast<int>(view.cluster.members.size()); ++i)
    if (polyhedral::stride(view.scop, view.update().write, view.iterator(i)) == 1) result = i;
  return result;
}

/// The longest member that the columns share an operand with, each of both another one; -1 where there is none.
int find_rows(const ContractionView& view) {
  int result = -1;
  for (int i = 0; i < static_cast<int>(view.cluster.members.size()); ++i) {
    if (i == view.columns || !has_own_operand(view, i, view.columns) || !has_own_operand(view, view.columns, i))
      continue;
    if (result < 0 || view.member_extent(i) > view.member_extent(result)) result = i;
  }
  return result;
}

}  // namespace

bool ContractionView::is_subscript(int read) const { return polyhedral::is_subscript(update(), read); }

bool ContractionView::depends_on(int read, int iterator) const {
  return contains(*polyhedral::element_iterators(update(), read), iterator);
}

bool ContractionView::is_shared(int read) const {
  return depends_on(read, iterator(rows)) != depends_on(read, iterator(columns));
}

bool ContractionView::is_copied(int read) const {
  return !is_subscript(read) && is_shared(read) && !polyhedral::copy_dimensions(update(), read).empty() &&
         !is_written(scop, cluster, update(), read);
}

std::optional<ContractionView> find_contraction(const Scop& scop, const ClusterView& cluster, const GridLimits& limits,
                                                const polyhedral::MappingOptions& options) {
  const auto* entry = find_update(scop, cluster);
  if (!entry) return std::nullopt;
  ContractionView view{scop, cluster, limits, options, *entry, polyhedral::box(scop.statement(entry->id).domain), {}};
  if (!is_plain(view)) return std::nullopt;
  for (const auto& loop : entry->inner) view.reduced.push_back(loop.iterator);
  if (view.reduced.size() > 1 && has_fixed_order(scop, view.update(), options)) return std::nullopt;
  for (int i = 0; i < static_cast<int>(view.ranges.size()); ++i) {
    const auto& range = view.ranges[static_cast<std::size_t>(i)];
    view.fewest.push_back(range.symbolic ? polyhedral::least_extent(view.update().domain, i) : range.extent());
  }
  view.columns = find_columns(view);
  if (view.columns < 0) return std::nullopt;
  view.rows = find_rows(view);
  if (view.rows < 0) return std::nullopt;
  return view;
}

}  // namespace tc::strategy
