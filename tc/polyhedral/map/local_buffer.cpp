#include "tc/polyhedral/map/local_buffer.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map/idle_lanes.h"

namespace tc::polyhedral {
namespace {

/// What the layout of the buffer of one tensor is decided from.
struct Buffered {
  const Scop& scop;
  const Subtree& subtree;
  const ClusterState& cluster;
  const Tensor& tensor;
  const FootprintBox& box;
};

/// Calls \p function(place, statement, access, choice) for each access in vectors.
template <typename Function>
void for_each_vector_access(const Buffered& of, const Function& function) {
  for_each_access(of.scop, of.subtree, of.tensor.name,
                  [&](const AccessPlace& at, const Statement& statement, const Access& access) {
                    auto choice = of.cluster.statement(statement.id);
                    if (choice.iterator >= 0) function(at, statement, access, choice);
                  });
}

/// Are elements of the tensor laid out side by side for the instruction that sums them?
bool feeds_dot_product(const Buffered& of) {
  const auto& dot = of.cluster.dot;
  if (dot.iterator < 0) return false;
  const auto& reads = of.scop.statement(dot.statement).reads;
  return std::any_of(reads.begin(), reads.end(), [&](const Access& read) { return touches(read, of.tensor.name); });
}

/// The dimension of the tensor along which the lanes of its accesses lie, which is to be contiguous; the last one by
/// default.
unsigned lane_dimension(const Buffered& of) {
  auto last = static_cast<int>(of.tensor.extent.size()) - 1;
  int result = feeds_dot_product(of) ? last : -1;
  for_each_vector_access(of, [&](const auto&, const auto&, const Access& access, const StatementMapping& choice) {
    auto lanes = lanes_of(access, choice.iterator);
    if (!lanes.scattered && lanes.dimension >= 0 && result < 0) result = lanes.dimension;
  });
  return static_cast<unsigned>(result >= 0 ? result : last);
}

/// Do the vectors of the access at \p at, run along \p choice, start at multiples of their lanes in \p dimension of the
/// buffer?
bool starts_at_lanes(const Buffered& of, const AccessPlace& at, const Statement& statement,
                     const StatementMapping& choice, unsigned dimension, FirstLanes& first_lanes) {
  auto member = lane_member(of.subtree, statement, choice);
  if (!member) return true;
  auto index = isl::union_pw_aff(of.box.places.at(at).at(static_cast<int>(dimension)));
  return values(lane_of(index.sub(*member), choice), statement.domain.to_union_set()).max == 0 &&
         first_lanes.of(statement, choice) == 0;
}

/// The extent along \p dimension with room for every lane of the vectors that access the tensor; nothing where lanes do
/// not lie along it, or where wider vectors would read lanes that narrower ones never write: what memory holds there can
/// be slow to compute with.
std::optional<std::int64_t> padded_extent(const Buffered& of, unsigned dimension, FirstLanes& first_lanes) {
  std::int64_t widest = 1, narrowest = INT64_MAX;
  bool aligned = true, together = true;
  for_each_vector_access(of, [&](const AccessPlace& at, const Statement& statement, const Access& access,
                                 const StatementMapping& choice) {
    auto lanes = lanes_of(access, choice.iterator);
    together = together && !lanes.scattered && (lanes.dimension < 0 || lanes.dimension == static_cast<int>(dimension));
    if (lanes.dimension < 0) return;
    aligned = aligned && starts_at_lanes(of, at, statement, choice, dimension, first_lanes);
    widest = std::max<std::int64_t>(widest, choice.lanes);
    narrowest = std::min<std::int64_t>(narrowest, choice.lanes);
  });
  auto extent = of.box.extent[dimension];
  bool whole_lanes_written = narrowest >= widest || extent % widest == 0;
  if (!together || !whole_lanes_written) return std::nullopt;
  return round_up(aligned ? extent : extent + widest - 1, widest);
}

/// { [prefix] -> T[x - offset] }: what accesses of the tensor touch in one execution of the node.
isl::union_map used_places(const Buffered& of) {
  auto places = isl::union_map::empty(of.scop.ctx());
  for_each_access(of.scop, of.subtree, of.tensor.name, [&](const AccessPlace& at, const auto&, const Access& access) {
    auto place = of.box.places.at(at).as_map().intersect_domain(access.relation.domain());
    places = places.unite(place.to_union_map());
  });
  return of.subtree.runs.apply_range(places);
}

/// Does a vector that writes the tensor have masked-off lanes at elements that must keep their values?
bool spills(const Buffered& of, unsigned dimension) {
  Nullable<isl::union_map> used;
  for (const auto& id : of.subtree.statements) {
    const auto& statement = of.scop.statement(id);
    auto choice = of.cluster.statement(id);
    if (choice.iterator < 0 || !touches(statement.write, of.tensor.name)) continue;
    auto member = lane_member(of.subtree, statement, choice);
    if (!member || lanes_of(statement.write, choice.iterator).dimension < 0) continue;
    if (has_full_vectors(statement, choice, *member)) continue;
    auto placed = statement;
    placed.write.function = of.box.places.at({id, 0});
    auto idle = idle_lanes(placed, choice.iterator, lane_of(*member, choice), choice.lanes, static_cast<int>(dimension),
                           of.subtree.runs.reverse());
    if (idle.is_empty()) continue;
    if (used.is_null()) used = used_places(of);
    if (!idle.is_disjoint(used)) return true;
  }
  return false;
}

/// Strides of a dense array whose dimension \p last is contiguous, the others in order.
std::vector<std::int64_t> strides_with(const std::vector<std::int64_t>& extent, unsigned last) {
  std::vector<std::int64_t> strides(extent.size(), 1);
  std::int64_t size = extent.empty() ? 1 : extent[last];
  for (std::size_t i = extent.size(); i-- > 0;) {
    if (i == last) continue;
    strides[i] = size;
    size *= extent[i];
  }
  return strides;
}

}  // namespace

Tensor local_buffer(const Scop& scop, const Subtree& subtree, const ClusterState& cluster, const Tensor& tensor,
                    const FootprintBox& box, FirstLanes& first_lanes) {
  Buffered of{scop, subtree, cluster, tensor, box};
  Tensor buffer;
  buffer.name = unused_name(scop, "local_" + tensor.name);
  buffer.type = tensor.type;
  buffer.storage = Tensor::Storage::Local;
  buffer.extent = box.extent;
  buffer.min.assign(box.extent.size(), 0);
  auto last = lane_dimension(of);
  buffer.padded = tensor.combined || buffer.extent.empty();
  if (!buffer.padded)
    if (auto extent = padded_extent(of, last, first_lanes)) {
      buffer.padded = true;
      buffer.extent[last] = *extent;
    }
  buffer.combined = tensor.combined || (buffer.padded && spills(of, last));
  buffer.strides = strides_with(buffer.extent, last);
  return buffer;
}

}  // namespace tc::polyhedral
