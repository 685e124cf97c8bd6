#include <algorithm>
#include <optional>
#include <set>

#include "tc/base/str.h"
#include "tc/polyhedral/core/broken_law.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/core/schedule_walk.h"
#include "tc/polyhedral/laws/verify.h"

namespace tc::polyhedral {
namespace {

/// The order of the marks on a path; 0 for an unknown one.
int rank(const std::string& mark) {
  if (mark == marks::parallel || mark == marks::kernel) return 1;
  if (!marks::allocated_buffer(mark).empty()) return 2;
  if (mark == marks::thread) return 3;
  if (mark == marks::register_tile) return 4;
  if (mark == marks::vector || mark == marks::unit) return 5;
  return 0;
}

/// How many values, from the first to the last, \p member takes among \p instances.
std::optional<long> range_of(const isl::union_pw_aff& member, const isl::union_set& instances) {
  auto values = member.intersect_domain(instances);
  auto low = call(values.ctx(), isl_union_pw_aff_min_val, values.copy());
  auto high = call(values.ctx(), isl_union_pw_aff_max_val, values.copy());
  if (!low.is_int() || !high.is_int()) return std::nullopt;
  return high.get_num_si() - low.get_num_si() + 1;
}

/// At most so many values a member of \p function takes in one execution of \p place.
std::optional<long> trip_count(const Place& place, const isl::multi_union_pw_aff& function) {
  auto members = call(place.prefix.ctx(), isl_union_map_from_multi_union_pw_aff, function.copy());
  auto loops = place.prefix.reverse().apply_range(members.intersect_domain(place.instances));
  if (loops.is_empty()) return 0;
  auto hull = loops.as_map().range_simple_fixed_box_hull();
  if (!hull.is_valid()) return std::nullopt;
  return hull.size().at(0).get_num_si();
}

class MarkCheck {
 public:
  explicit MarkCheck(const Scop& scop) : scop_(scop) {}

  void run() {
    for_each_place(scop_.schedule, [&](const Place& place) {
      if (place.node.isa<isl::schedule_node_mark>()) at_mark(place);
    });
    for (const auto& tensor : scop_.tensors)
      if (tensor.storage == Tensor::Storage::Local && !allocated_.count(tensor.name))
        fail(str("the local buffer '", tensor.name, "' has no mark 'allocate_", tensor.name, "'"));
  }

 private:
  const Scop& scop_;
  std::set<std::string> allocated_;

  [[noreturn]] void fail(const std::string& what) const { broken_law("marks", what, scop_.schedule); }

  void at_mark(const Place& place) {
    auto name = mark_name(place.node);
    if (rank(name) == 0) fail(str("unknown mark '", name, "'"));
    auto child = place.node.child(0);
    if (child.isa<isl::schedule_node_leaf>()) fail(str("mark '", name, "' stands at a leaf"));
    bool allocates = !marks::allocated_buffer(name).empty();
    bool spreads = name == marks::kernel || name == marks::thread;
    bool unit_below =
        name == marks::register_tile && child.isa<isl::schedule_node_mark>() && mark_name(child) == marks::unit;
    if (!allocates && !spreads && !unit_below && !child.isa<isl::schedule_node_band>())
      fail(str("mark '", name, "' does not stand above a band"));
    for (const auto& above : marks_above(place.node)) {
      bool is_shared = name == marks::parallel && !marks::allocated_buffer(above).empty();
      if (!is_shared && (rank(above) > rank(name) || (rank(above) == rank(name) && !allocates)))
        fail(str("mark '", name, "' stands below mark '", above, "'"));
    }
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
    const int least = check_lanes(place);
    auto count = range_of(band.partial_schedule().at(0), place.instances);
    if (!count || *count > least) count = trip_count(place, band.partial_schedule());
    if (!count || *count > least)
      fail(str("the loop below mark 'vector' has ", count ? str(*count) : "no constant number of", " iterations and ",
               least, " lanes"));
    for (const auto& id : statement_ids(child)) check_room(place, band, scop_.statement(id));
  }

  /// Every lane of a vector exists in a padded buffer, running or not.
  void check_room(const Place& place, const isl::schedule_node_band& band, const Statement& statement) const {
    auto lane = only_iterator(band.partial_schedule().at(0), statement.domain);
    if (lane < 0) return;
    for (const auto* access : accesses(statement)) {
      if (!access->exact || access->function.is_null()) continue;
      const auto& tensor = scop_.tensor(range_name(access->function));
      bool moves = isl_pw_multi_aff_involves_dims(access->function.get(), isl_dim_in, lane, 1) == isl_bool_true;
      if (!moves || !(tensor.padded || tensor.combined)) continue;
      auto runs = place.prefix.intersect_domain(statement.domain.to_union_set());
      auto touched = runs.reverse().apply_range(access->function.as_map().to_union_map());
      if (touched.is_empty()) continue;
      auto first = box(touched.as_map().lexmin().range());
      for (std::size_t i = 0; i < first.size(); ++i) {
        auto last = first[i].max + (moves_along(touched.as_map(), i) ? statement.vector_lanes - 1 : 0);
        if (last >= tensor.min[i] + tensor.extent[i])
          fail(str("the lanes of statement ", statement.id, " reach index ", last, " of the buffer '", tensor.name,
                   "'"));
      }
    }
  }
  /// Does index number \p position take several values in one of the runs that \p touched maps to elements?
  static bool moves_along(const isl::map& touched, std::size_t position) {
    auto rank = static_cast<std::size_t>(isl_map_dim(touched.get(), isl_dim_out));
    auto index =
        call(touched.ctx(), isl_map_project_out, touched.copy(), isl_dim_out, position + 1, rank - position - 1);
    return !call(touched.ctx(), isl_map_project_out, index.release(), isl_dim_out, 0, position).is_single_valued();
  }

  /// The lanes that all statements at \p place have.
  int check_lanes(const Place& place) const {
    std::set<int> lanes;
    for (const auto& statement : scop_.statements) {
      if (place.instances.intersect(statement.domain.to_union_set()).is_empty()) continue;
      lanes.insert(statement.vector_lanes);
      if (statement.vector_lanes <= 0) fail(str("statement ", statement.id, " below mark 'vector' has no lanes"));
    }
    if (lanes.size() > 1) fail(str("the statements below mark 'vector' have different lanes: ", join(lanes)));
    return lanes.empty() ? 0 : *lanes.begin();
  }
};

}  // namespace

void verify_marks(const Scop& scop) { MarkCheck(scop).run(); }

}  // namespace tc::polyhedral
