#include "tc/strategy/cpu/possible_packs.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/strategy/cost/vector_cost.h"

namespace tc::strategy {
namespace {

using polyhedral::PackMapping;

/// Lanes of a copy that are not worth being cut down to.
constexpr int least_even_lanes = 4;

bool contiguous_along_steps(const ReductionView& view, int read) {
  return view.stride(read, view.mapping.dot.iterator) == 1;
}

bool has_whole_lines(const ReductionView& view, int read) {
  return view.stride(read, view.iterator(view.rows)) * view.element_bytes % Target::cache_line == 0;
}

/// Elements of \p read that lie side by side; of one that has none, iterations of the innermost loop.
std::int64_t row_extent(const ReductionView& view, int read) {
  for (int i = 0; i < static_cast<int>(view.box.size()); ++i)
    if (view.stride(read, i) == 1) return view.box[i].extent();
  return view.box[view.reduced.back()].extent();
}

/// Of squares of \p lanes, do those of half as many leave nothing of a row of \p row elements over, or are there only such in \p panel
/// rows?
bool are_better_halved(std::int64_t row, std::int64_t panel, int lanes) {
  auto has_squares = [&](std::int64_t side) { return row >= side && panel >= side; };
  return (row % lanes != 0 && row % (lanes / 2) == 0) || (!has_squares(lanes) && has_squares(lanes / 2));
}

/// Rows of matrices, each as the instruction reads it.
PackMapping matrix_rows(const ReductionView& view, int read) {
  const auto& dot = view.mapping.dot;
  int lanes = dot.width * dot.steps, iterator = view.iterator(view.rows);
  bool across = view.stride(read, iterator) == 1;
  while (across && view.points(view.rows) % lanes != 0) lanes /= 2;
  return {view.statement.id, read, iterator, view.points(view.rows), false, true, lanes};
}

}  // namespace

std::int64_t copy_uses(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster,
                       const polyhedral::ClusterStatement& entry, int read) {
  const auto& statement = scop.statement(entry.id);
  auto used = polyhedral::index_iterators(statement, read);
  const auto& name = polyhedral::range_name(statement.reads[read].relation);
  if (used.empty()) return 0;
  for (const auto& other : cluster.statements)
    if (polyhedral::touches(scop.statement(other.id).write, name)) return 0;
  std::int64_t result = 1;
  for (std::size_t i = 0; i < cluster.members.size(); ++i)
    if (entry.outer[i] >= 0 && !contains(used, entry.outer[i]))
      result = count_product(result, cluster.members[i].extent());
  return result;
}

PackMapping panels(const ReductionView& view, int read, int member, bool panel_last, bool below_blocks) {
  int lanes = vector_lanes(view.scop, view.statement, view.target), iterator = view.iterator(member);
  while (panel_last && lanes / 2 >= view.points(member)) lanes /= 2;
  bool across = panel_last && view.stride(read, iterator) != 1;
  if (across && are_better_halved(row_extent(view, read), view.extent(member), lanes)) lanes /= 2;
  auto even = polyhedral::even_lanes(view.scop, view.statement.reads[read], iterator, lanes);
  if (even >= least_even_lanes) lanes = even;
  return {view.statement.id, read, iterator, view.points(member), panel_last, below_blocks, lanes};
}

std::vector<PackMapping> possible_packs(const ReductionView& view) {
  std::vector<PackMapping> result;
  for (int read = 0; read < view.read_count(); ++read) {
    auto again = copy_uses(view.scop, view.cluster, view.entry, read);
    if (again == 0) continue;
    bool along_lanes = view.indexes(read, view.columns), along_rows = view.indexes(read, view.rows);
    if (view.matrices && !along_lanes) {
      if (!contiguous_along_steps(view, read) || !has_whole_lines(view, read))
        result.push_back(matrix_rows(view, read));
    } else if (view.matrices || (along_lanes && !along_rows && again > 1)) {
      result.push_back(panels(view, read, view.columns, true, false));
    } else if (along_rows && !along_lanes && again > 1) {
      result.push_back(panels(view, read, view.rows, view.stride(read, view.iterator(view.rows)) == 1, true));
    }
  }
  return result;
}

polyhedral::DotMapping choose_dot(const ReductionView& view) {
  constexpr int width = 4;
  auto type = [&](std::size_t read) {
    return view.scop.tensor(polyhedral::range_name(view.statement.reads[read].relation)).type;
  };
  bool bytes =
      view.read_count() == 2 && view.element_bytes == 4 && view.statement.op == ReductionOp::Sum &&
      ((type(0) == DType::UInt8 && type(1) == DType::Int8) || (type(0) == DType::Int8 && type(1) == DType::UInt8));
  int reduced = view.reduced.back();
  if (!bytes || !view.target.instructions->byte_dots || view.box[reduced].extent() < width) return {};
  const auto& packs = view.mapping.packed;
  for (int read : {0, 1}) {
    bool lanes = view.indexes(read, view.columns);
    bool packed =
        std::any_of(packs.begin(), packs.end(), [&](const PackMapping& p) { return p.read == read && p.panel_last; });
    if (lanes ? !packed : packed || view.stride(read, reduced) != 1) return {};
  }
  return {view.statement.id, reduced, width};
}

bool lies_in_panels(const ReductionView& view, int read) {
  const auto& access = view.statement.reads[read];
  auto blocks = polyhedral::blocked_stride(view.scop, access, view.iterator(view.columns));
  auto lanes = vector_lanes(view.scop, view.statement, view.target);
  auto points = view.points(view.columns);
  if (!blocks || blocks->inside != 1 || blocks->size % lanes != 0 || points % lanes != 0) return false;
  if (blocks->size % points != 0 && points % blocks->size != 0) return false;
  auto along = polyhedral::blocked_stride(view.scop, access, view.reduced.back());
  auto step = along ? along->inside : view.stride(read, view.reduced.back());
  return step != polyhedral::unknown_stride;
}

}  // namespace tc::strategy
