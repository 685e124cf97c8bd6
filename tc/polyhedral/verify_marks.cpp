#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tc/base/str.h"
#include "tc/polyhedral/broken_law.h"
#include "tc/polyhedral/marks.h"
#include "tc/polyhedral/schedule_walk.h"
#include "tc/polyhedral/verify.h"

namespace tc::polyhedral {
namespace {

/// The order of the marks on a path; 0 for an unknown one.
int rank(const std::string& mark) {
  if (mark == marks::parallel) return 1;
  if (!marks::allocated_buffer(mark).empty()) return 2;
  if (mark == marks::register_tile) return 3;
  if (mark == marks::vector) return 4;
  return 0;
}

/// The number of values each member of \p band takes for one prefix, where it has a bound that is constant.
std::vector<std::optional<long>> trip_counts(const Place& place, const isl::schedule_node_band& band) {
  auto members = call(band.ctx(), isl_union_map_from_multi_union_pw_aff, band.partial_schedule().release());
  auto loops = place.prefix.reverse().apply_range(members.intersect_domain(place.instances));
  std::vector<std::optional<long>> counts(band.n_member());
  if (loops.is_empty()) return std::vector<std::optional<long>>(band.n_member(), 0);
  auto hull = loops.as_map().range_simple_fixed_box_hull();
  if (!hull.is_valid()) return counts;
  auto sizes = hull.size();
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = sizes.at(static_cast<int>(i)).get_num_si();
  return counts;
}

/// The marks on the way from the root to a node.
using Marks = std::vector<std::string>;

Marks marks_above(isl::schedule_node node) {
  Marks result;
  while (node.has_parent()) {
    node = node.parent();
    if (node.isa<isl::schedule_node_mark>()) result.push_back(mark_name(node));
  }
  std::reverse(result.begin(), result.end());
  return result;
}

class MarkCheck {
 public:
  explicit MarkCheck(const Scop& scop) : scop_(scop) {}

  void run() {
    for_each_place(scop_.schedule, [&](const Place& place) {
      if (place.node.isa<isl::schedule_node_mark>()) at_mark(place);
      if (place.node.isa<isl::schedule_node_band>()) at_band(place);
    });
    for (const auto& tensor : scop_.tensors)
      if (tensor.storage == Tensor::Storage::Local && !allocated_.count(tensor.name))
        fail(str("the local buffer '", tensor.name, "' has no mark 'allocate_", tensor.name, "'"));
  }

 private:
  const Scop& scop_;
  std::set<std::string> allocated_;

  [[noreturn]] void fail(const std::string& what) const {
    broken_law("marks", what, scop_.schedule);
  }

  void at_mark(const Place& place) {
    auto name = mark_name(place.node);
    if (rank(name) == 0) fail(str("unknown mark '", name, "'"));
    auto child = place.node.child(0);
    if (child.isa<isl::schedule_node_leaf>()) fail(str("mark '", name, "' stands at a leaf"));
    bool allocates = !marks::allocated_buffer(name).empty();
    if (!allocates && !child.isa<isl::schedule_node_band>()) fail(str("mark '", name, "' does not stand above a band"));
    for (const auto& above : marks_above(place.node))
      if (rank(above) > rank(name) || (rank(above) == rank(name) && !allocates))
        fail(str("mark '", name, "' stands below mark '", above, "'"));
    if (allocates) check_allocation(marks::allocated_buffer(name));
    if (name == marks::vector) check_vector(place, child);
  }

  void check_allocation(const std::string& buffer) {
    if (!scop_.has_tensor(buffer) || scop_.tensor(buffer).storage != Tensor::Storage::Local)
      fail(str("mark 'allocate_", buffer, "' names no local buffer"));
    if (!allocated_.insert(buffer).second) fail(str("the buffer '", buffer, "' is allocated twice"));
  }

  void check_vector(const Place& place, const isl::schedule_node& child) {
    auto band = child.as<isl::schedule_node_band>();
    if (band.n_member() != 1) fail("mark 'vector' stands above a band that has not one member");
    auto below = place;
    below.node = child;
    auto count = trip_counts(below, band)[0];
    std::set<int> lanes;
    for (const auto& statement : scop_.statements) {
      if (place.instances.intersect(statement.domain.to_union_set()).is_empty()) continue;
      lanes.insert(statement.vector_lanes);
      if (statement.vector_lanes <= 0) fail(str("statement ", statement.id, " below mark 'vector' has no lanes"));
      if (!count || *count > statement.vector_lanes)
        fail(str("the loop below mark 'vector' has ", count ? str(*count) : "no constant number of",
                 " iterations and statement ", statement.id, " has ", statement.vector_lanes, " lanes"));
    }
    if (lanes.size() > 1) fail(str("the statements below mark 'vector' have different lanes: ", join(lanes)));
  }

  /// Every band below `register` has constant trip counts.
  void at_band(const Place& place) const {
    auto above = marks_above(place.node);
    if (std::find(above.begin(), above.end(), marks::register_tile) == above.end()) return;
    auto counts = trip_counts(place, place.node.as<isl::schedule_node_band>());
    for (const auto& count : counts)
      if (!count) fail("a loop below mark 'register' has no constant number of iterations");
  }
};

}  // namespace

void verify_marks(const Scop& scop) { MarkCheck(scop).run(); }

}  // namespace tc::polyhedral
