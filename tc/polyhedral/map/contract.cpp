#include "tc/polyhedral/map/contract.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/map/idle_lanes.h"

namespace tc::polyhedral {
namespace {

/// Where a tensor is touched in one execution of a node: the box `offset` + [0, `extent`).
struct Footprint {
  isl::map elements;  ///< [prefix] -> T[x]
  isl::multi_aff offset;
  std::vector<std::int64_t> extent;
  std::map<const Access*, isl::pw_multi_aff> places;  ///< S[i] -> T[x - offset], for every access
};

class Contraction {
 public:
  Contraction(const Scop& scop, const std::vector<int>& path, const ClusterState& cluster)
      : scop_(scop),
        node_(node_at(scop.schedule, path)),
        prefix_(call(scop.ctx(), isl_schedule_node_get_prefix_schedule_union_pw_multi_aff, node_.get())),
        runs_(call(scop.ctx(), isl_schedule_node_get_prefix_schedule_relation, node_.get())
                  .intersect_domain(instances_at(node_))
                  .reverse()),
        cluster_(cluster),
        inside_(statement_ids(node_)) {}

  /// Contracts \p tensor when that is legal and takes at most \p bytes; returns the bytes it takes, 0 when it stays.
  std::int64_t contract(const Tensor& tensor, std::int64_t bytes) {
    if (!is_private(tensor)) return 0;
    Footprint footprint;
    if (!find_footprint(tensor.name, footprint)) return 0;
    auto buffer = make_buffer(tensor, footprint);
    std::int64_t size = byte_size(buffer.type);
    for (auto extent : buffer.extent) size *= std::max<std::int64_t>(extent, 1);
    if (size > bytes) return 0;
    redirect_accesses(footprint, buffer.name);
    scop_.tensors.push_back(buffer);
    buffers_.push_back(buffer.name);
    return size;
  }

  /// The scop with the buffers allocated at the node at \p path.
  Scop result(const std::vector<int>& path) const {
    auto result = scop_;
    auto node = node_at(scop_.schedule, path);
    for (const auto& buffer : buffers_) node = node.insert_mark(marks::allocate(buffer));
    result.schedule = node.schedule();
    return result;
  }

 private:
  /// A temporary that only statements below the node touch, by exact accesses, not contracted yet.
  bool is_private(const Tensor& tensor) const {
    if (tensor.storage != Tensor::Storage::Workspace || tensor.live_in || tensor.live_out) return false;
    bool used = false;
    for (const auto& statement : scop_.statements) {
      for (const auto* access : accesses(statement)) {
        if (!touches(*access, tensor.name)) continue;
        if (!contains(inside_, statement.id) || !access->exact || range_name(access->function) != tensor.name)
          return false;
        used = true;
      }
    }
    return used;
  }

  bool find_footprint(const std::string& tensor, Footprint& result) const {
    auto elements = isl::union_map::empty(scop_.ctx()), reached = elements;
    for_each_access(tensor, [&](const Statement& statement, const Access& access) {
      elements = elements.unite(access.relation.to_union_map());
      reached = reached.unite(reach(statement, access).to_union_map());
    });
    auto touched = runs_.apply_range(elements);
    if (touched.is_empty()) return false;
    result.elements = touched.as_map().coalesce();
    if (!result.elements.is_injective()) return false;
    auto box = runs_.apply_range(reached).as_map().coalesce().range_simple_fixed_box_hull();
    if (!box.is_valid()) return false;
    result.offset = box.offset();
    for (const auto& size : tc::polyhedral::elements(box.size().list())) result.extent.push_back(size.num_si());
    for_each_access(tensor, [&](const Statement& statement, const Access& access) {
      result.places.emplace(&access, placed(statement, access, result));
    });
    return true;
  }

  /// The elements that \p access needs room for: the lanes of a vector load whether a guard lets them read or not.
  isl::map reach(const Statement& statement, const Access& access) const {
    if (cluster_.statement(statement.id).iterator < 0) return access.relation;
    return access.function.as_map().intersect_domain(statement.domain);
  }

  Tensor make_buffer(const Tensor& tensor, const Footprint& footprint) const {
    Tensor buffer;
    buffer.name = unused_name(scop_, "local_" + tensor.name);
    buffer.type = tensor.type;
    buffer.storage = Tensor::Storage::Local;
    buffer.extent = footprint.extent;
    buffer.min.assign(footprint.extent.size(), 0);
    auto last = lane_dimension(tensor);
    buffer.padded = pad(tensor, footprint, last, buffer.extent);
    buffer.combined = tensor.combined || (buffer.padded && spills(tensor, footprint, last));
    buffer.strides = strides_with(buffer.extent, last);
    return buffer;
  }

  /// How an access moves with the lanes: not at all, along one dimension by one, or in another way.
  struct Lanes {
    int dimension = -1;
    bool scattered = false;
  };

  /// The node of the points of statement \p id, a leaf or a band above one.
  isl::schedule_node points_of(const std::string& id) const {
    auto node = node_;
    while (!node.isa<isl::schedule_node_leaf>()) {
      unsigned next = 0;
      while (next + 1 < node.n_children() && !contains(statement_ids(node.child(next).child(0)), id)) ++next;
      node = node.child(next);
    }
    return node.parent().isa<isl::schedule_node_band>() ? node.parent() : node;
  }

  /// The instances of \p statement that are the lowest along \p iterator in one execution of the node.
  isl::set lowest(const Statement& statement, int iterator) const {
    auto runs = runs_.intersect_range(isl::set::universe(statement.domain.space()).to_union_set()).as_map();
    auto along = isl::multi_aff(statement.domain.space().identity_multi_aff_on_domain()).at(iterator).as_map();
    auto least = runs.apply_range(along).lexmin();
    return runs.intersect(least.apply_range(along.reverse())).range();
  }

  /// The greatest lane that a lowest instance of \p statement along \p choice would have in a vector that starts with
  /// its tile.
  std::int64_t first_lane(const Statement& statement, const StatementMapping& choice) const {
    auto found = first_lanes_.find(statement.id);
    if (found == first_lanes_.end())
      found = first_lanes_.emplace(statement.id, find_first_lane(statement, choice)).first;
    return found->second;
  }
  std::int64_t find_first_lane(const Statement& statement, const StatementMapping& choice) const {
    auto member = lane_member(statement, choice);
    if (!member) return 0;
    auto lane =
        call(scop_.ctx(), isl_union_pw_aff_mod_val, member->copy(), isl::val(scop_.ctx(), choice.lanes).release());
    return values(lane, lowest(statement, choice.iterator).to_union_set()).max;
  }

  /// Does a vector that writes \p tensor have masked-off lanes at elements that must keep their values?
  bool spills(const Tensor& tensor, const Footprint& footprint, unsigned dimension) const {
    Nullable<isl::union_map> used;
    for (const auto& id : inside_) {
      const auto& statement = scop_.statement(id);
      auto choice = cluster_.statement(id);
      if (choice.iterator < 0 || !touches(statement.write, tensor.name)) continue;
      auto member = lane_member(statement, choice);
      if (!member || lanes_of(statement.write, choice.iterator).dimension < 0) continue;
      if (has_full_vectors(statement, choice, *member)) continue;
      auto placed = statement;
      placed.write.function = footprint.places.at(&statement.write);
      auto lane =
          call(scop_.ctx(), isl_union_pw_aff_mod_val, member->copy(), isl::val(scop_.ctx(), choice.lanes).release());
      auto idle = idle_lanes(placed, choice.iterator, lane, choice.lanes, static_cast<int>(dimension), runs_.reverse());
      if (idle.is_empty()) continue;
      if (used.is_null()) used = used_places(tensor, footprint);
      if (!idle.is_disjoint(used)) return true;
    }
    return false;
  }

  /// The band member that becomes the lanes of \p statement.
  std::optional<isl::union_pw_aff> lane_member(const Statement& statement, const StatementMapping& choice) const {
    auto points = points_of(statement.id);
    if (!points.isa<isl::schedule_node_band>()) return std::nullopt;
    for (const auto& member : band_members(points))
      if (only_iterator(member, statement.domain) == choice.iterator) return member;
    return std::nullopt;
  }

  /// Do all lanes run, as vectors begin at multiples of them, counted from where the range of the iterator begins, and
  /// the range is a multiple of them too?
  bool has_full_vectors(const Statement& statement, const StatementMapping& choice,
                        const isl::union_pw_aff& member) const {
    auto iterator = isl::union_pw_aff(statement.domain.space().identity_multi_aff_on_domain().at(choice.iterator));
    auto rest = call(scop_.ctx(), isl_union_pw_aff_mod_val, iterator.sub(member).release(),
                     isl::val(scop_.ctx(), choice.lanes).release());
    auto begins = values(rest, statement.domain.to_union_set());
    auto range = box(statement.domain).at(choice.iterator);
    return begins.min == begins.max && (range.min - begins.min) % choice.lanes == 0 &&
           range.extent() % choice.lanes == 0;
  }

  /// { [prefix] -> T[x - offset] }: what accesses of \p tensor touch in one execution of the node.
  isl::union_map used_places(const Tensor& tensor, const Footprint& footprint) const {
    auto places = isl::union_map::empty(scop_.ctx());
    for_each_access(tensor.name, [&](const Statement&, const Access& access) {
      auto place = footprint.places.at(&access).as_map().intersect_domain(access.relation.domain());
      places = places.unite(place.to_union_map());
    });
    return runs_.apply_range(places);
  }

  /// The dimension of \p tensor along which the lanes of its accesses lie, which is to be contiguous; the last one by
  /// default.
  unsigned lane_dimension(const Tensor& tensor) const {
    int result = feeds_dot_product(tensor) ? static_cast<int>(tensor.extent.size()) - 1 : -1;
    for_each_vector_access(tensor, [&](const Statement&, const Access& access, const StatementMapping& choice) {
      auto lanes = lanes_of(access, choice.iterator);
      if (!lanes.scattered && lanes.dimension >= 0 && result < 0) result = lanes.dimension;
    });
    return result >= 0 ? static_cast<unsigned>(result) : static_cast<unsigned>(tensor.extent.size()) - 1;
  }

  /// Are elements of \p tensor laid out side by side for the instruction that sums them?
  bool feeds_dot_product(const Tensor& tensor) const {
    if (cluster_.mapping.dot.iterator < 0) return false;
    const auto& reads = scop_.statement(cluster_.mapping.dot.statement).reads;
    return std::any_of(reads.begin(), reads.end(), [&](const Access& read) { return touches(read, tensor.name); });
  }

  template <typename Function>
  void for_each_access(const std::string& tensor, const Function& function) const {
    for (const auto& id : inside_)
      for (const auto* access : accesses(scop_.statement(id)))
        if (touches(*access, tensor)) function(scop_.statement(id), *access);
  }

  template <typename Function>
  void for_each_vector_access(const Tensor& tensor, const Function& function) const {
    for_each_access(tensor.name, [&](const Statement& statement, const Access& access) {
      auto choice = cluster_.statement(statement.id);
      if (choice.iterator >= 0) function(statement, access, choice);
    });
  }

  /// Do the vectors of \p access, run along \p choice, start at multiples of their lanes in \p dimension of the buffer?
  bool starts_at_lanes(const Statement& statement, const Access& access, const StatementMapping& choice,
                       unsigned dimension, const Footprint& footprint) const {
    auto member = lane_member(statement, choice);
    if (!member) return true;
    auto index = isl::union_pw_aff(footprint.places.at(&access).at(static_cast<int>(dimension)));
    auto lanes = isl::val(scop_.ctx(), choice.lanes);
    auto rest = call(scop_.ctx(), isl_union_pw_aff_mod_val, index.sub(*member).release(), lanes.release());
    return values(rest, statement.domain.to_union_set()).max == 0 && first_lane(statement, choice) == 0;
  }

  /// Makes room for every lane of the vectors that access \p tensor; false where lanes do not lie along \p dimension,
  /// or where wider vectors would read lanes that narrower ones never write: what memory holds there can be slow to
  /// compute with.
  bool pad(const Tensor& tensor, const Footprint& footprint, unsigned dimension,
           std::vector<std::int64_t>& extent) const {
    if (tensor.combined || extent.empty()) return true;
    std::int64_t widest = 1, narrowest = INT64_MAX;
    bool aligned = true, together = true;
    for_each_vector_access(
        tensor, [&](const Statement& statement, const Access& access, const StatementMapping& choice) {
          auto lanes = lanes_of(access, choice.iterator);
          together =
              together && !lanes.scattered && (lanes.dimension < 0 || lanes.dimension == static_cast<int>(dimension));
          if (lanes.dimension < 0) return;
          aligned = aligned && starts_at_lanes(statement, access, choice, dimension, footprint);
          widest = std::max<std::int64_t>(widest, choice.lanes);
          narrowest = std::min<std::int64_t>(narrowest, choice.lanes);
        });
    bool whole_lanes_written = narrowest >= widest || extent[dimension] % widest == 0;
    if (!together || !whole_lanes_written) return false;
    if (widest == 1) return true;
    auto slack = aligned ? widest - 1 : 2 * widest - 2;
    extent[dimension] = (extent[dimension] + slack) / widest * widest;
    return true;
  }

  /// Strides of a dense array whose dimension \p last is contiguous, the others in order.
  static std::vector<std::int64_t> strides_with(const std::vector<std::int64_t>& extent, unsigned last) {
    std::vector<std::int64_t> strides(extent.size(), 1);
    std::int64_t size = extent.empty() ? 1 : extent[last];
    for (std::size_t i = extent.size(); i-- > 0;) {
      if (i == last) continue;
      strides[i] = size;
      size *= extent[i];
    }
    return strides;
  }

  static Lanes lanes_of(const Access& access, int iterator) {
    if (!access.function.isa_multi_aff()) return {-1, true};
    auto index = access.function.as_multi_aff();
    Lanes result;
    for (unsigned i = 0; i < index.size(); ++i) {
      auto aff = index.at(static_cast<int>(i));
      if (isl_aff_involves_dims(aff.get(), isl_dim_in, iterator, 1) != isl_bool_true) continue;
      bool steps = isl_aff_dim(aff.get(), isl_dim_div) == 0 &&
                   call(aff.ctx(), isl_aff_get_coefficient_val, aff.get(), isl_dim_in, iterator).is_one();
      if (!steps || result.dimension >= 0) return {-1, true};
      result.dimension = static_cast<int>(i);
    }
    return result;
  }

  /// The element of the buffer that \p access, one of \p statement, touches: its index relative to the footprint.
  isl::pw_multi_aff placed(const Statement& statement, const Access& access, const Footprint& footprint) const {
    auto space = footprint.elements.space();
    auto offset = footprint.offset.pullback(isl::multi_aff::domain_map(space));
    auto place = isl::multi_aff::range_map(space).sub(offset).to_pw_multi_aff();
    auto where =
        prefix_.intersect_domain(isl::set::universe(statement.domain.space()).to_union_set()).as_pw_multi_aff();
    return place.pullback(where.gist(statement.domain).range_product(access.function));
  }

  /// Functions of all accesses in \p footprint go to \p buffer.
  void redirect_accesses(const Footprint& footprint, const std::string& buffer) {
    for (const auto& id : inside_)
      for (auto* access : accesses(scop_.statement(id)))
        if (auto place = footprint.places.find(access); place != footprint.places.end())
          access->function = place->second.set_range_tuple(buffer);
  }

  Scop scop_;
  isl::schedule_node node_;
  isl::union_pw_multi_aff prefix_;  ///< { instance -> [iterations of the loops above the node] }
  isl::union_map runs_;             ///< its inverse, on the instances below the node
  const ClusterState& cluster_;
  std::vector<std::string> inside_, buffers_;
  mutable std::map<std::string, std::int64_t> first_lanes_;  ///< by statement, each of which has one choice
};

}  // namespace

Scop contract(const Scop& scop, const std::vector<int>& inside, const std::vector<int>& place,
              const ClusterState& cluster, const std::vector<std::string>& always, std::int64_t bytes) {
  if (node_at(scop.schedule, inside).isa<isl::schedule_node_leaf>()) return scop;
  Contraction contraction(scop, inside, cluster);
  for (const auto& tensor : scop.tensors) {
    bool must = tensor.combined || contains(always, tensor.name);
    auto taken = contraction.contract(tensor, must ? INT64_MAX : bytes);
    if (!must) bytes -= taken;
  }
  return contraction.result(place);
}

}  // namespace tc::polyhedral
