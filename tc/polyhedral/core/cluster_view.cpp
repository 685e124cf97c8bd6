#include "tc/polyhedral/core/cluster_view.h"

#include <algorithm>
#include <optional>

#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/core/constraints.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/core/symbolic_box.h"

namespace tc::polyhedral {
namespace {

bool is_sequence(const isl::schedule_node& node) {
  return node.isa<isl::schedule_node_sequence>() || node.isa<isl::schedule_node_set>();
}
bool is_band(const isl::schedule_node& node) { return node.isa<isl::schedule_node_band>(); }

int active_dimensions(const isl::space& space) { return isl_space_dim(space.get(), isl_dim_set); }

/// [N] -> { [value] }
isl::set value_set(const isl::union_pw_aff& function, const isl::union_set& domain) {
  auto map = call(domain.ctx(), isl_union_map_from_union_pw_aff, function.copy());
  return map.intersect_domain(domain).range().as_set();
}

/// The iterators of \p statement that the members of \p band run over, appended to \p loops.
void append_loops(const isl::schedule_node& band, const Statement& statement, bool shared,
                  std::vector<InnerLoop>& loops) {
  auto coincident = band_coincident(band);
  auto members = band_members(band);
  for (std::size_t i = 0; i < members.size(); ++i)
    loops.push_back({only_iterator(members[i], statement.domain), coincident[i], shared});
}

/// Adds the statements below \p node, which run in the loops \p inner so far, to \p cluster.
void collect_statements(const Scop& scop, const isl::schedule_node& node, const std::vector<isl::schedule_node>& bands,
                        const std::vector<isl::union_pw_aff>& outer, ClusterView& cluster) {
  if (node.n_children() == 0 || node.isa<isl::schedule_node_leaf>()) {
    for (const auto& id : statement_ids(node)) {
      const auto& statement = scop.statement(id);
      ClusterStatement entry{id};
      for (const auto& member : outer) entry.outer.push_back(only_iterator(member, statement.domain));
      for (const auto& band : bands) append_loops(band, statement, statement_ids(band).size() > 1, entry.inner);
      cluster.statements.push_back(entry);
    }
    return;
  }
  auto below = bands;
  if (is_band(node)) below.push_back(node);
  for (unsigned i = 0; i < node.n_children(); ++i) collect_statements(scop, node.child(i), below, outer, cluster);
}

ClusterView cluster_at(const Scop& scop, const isl::schedule_node& node) {
  ClusterView cluster{.path = path_of(node)};
  std::vector<isl::union_pw_aff> outer;
  auto below = node;
  if (is_band(node)) {
    auto coincident = band_coincident(node);
    if (std::all_of(coincident.begin(), coincident.end(), [](bool c) { return c; })) {
      outer = band_members(node);
      cluster.permutable = outer.size() == 1 || node.as<isl::schedule_node_band>().permutable();
      for (const auto& member : outer) cluster.members.push_back(values(member, instances_at(node)));
      below = node.child(0);
    }
  }
  collect_statements(scop, below, {}, outer, cluster);
  return cluster;
}

bool is_parallel_mark(const isl::schedule_node& node) {
  return node.isa<isl::schedule_node_mark>() && mark_name(node) == marks::parallel;
}

/// Says of \p cluster that it runs in a strip inside of \p loops.
void put_in_strips(const Scop& scop, const std::vector<isl::union_pw_aff>& loops, ClusterView& cluster) {
  for (const auto& loop : loops)
    cluster.around.push_back(values(loop, instances_at(node_at(scop.schedule, cluster.path))));
  for (auto& entry : cluster.statements)
    for (const auto& loop : loops) entry.around.push_back(only_iterator(loop, scop.statement(entry.id).domain));
}

void collect_clusters(const Scop& scop, const isl::schedule_node& node, std::vector<ClusterView>& result) {
  if (is_parallel_mark(node)) {
    const auto before = result.size();
    std::vector<isl::union_pw_aff> loops;
    auto inside = node.child(0);
    for (; is_band(inside); inside = inside.child(0))
      for (const auto& member : band_members(inside)) loops.push_back(member);
    collect_clusters(scop, inside, result);
    for (auto i = before; i < result.size(); ++i) put_in_strips(scop, loops, result[i]);
  } else if (is_sequence(node)) {
    for (unsigned i = 0; i < node.n_children(); ++i) collect_clusters(scop, node.child(i).child(0), result);
  } else {
    result.push_back(cluster_at(scop, node));
  }
}

}  // namespace

bool reduces_alone(const Statement& statement, const ClusterStatement& entry) {
  if (!statement.accumulates || !statement.write.exact || !statement.write.function.isa_multi_aff()) return false;
  for (const auto& read : statement.reads)
    if (touches(read, range_name(statement.write.relation))) return false;
  auto kept = kept_dimensions(statement);
  bool has_own = false;
  for (const auto& loop : entry.inner) {
    has_own = has_own || !loop.shared;
    if (loop.shared ? !contains(kept, loop.iterator) : loop.iterator >= 0 && contains(kept, loop.iterator))
      return false;
  }
  return has_own;
}

std::vector<ClusterView> cluster_views(const Scop& scop) {
  std::vector<ClusterView> result;
  if (!scop.schedule.domain().is_empty()) collect_clusters(scop, scop.schedule.root().child(0), result);
  return result;
}

bool is_one_iterator(const Scop& scop, const ClusterView& cluster, int member) {
  const auto number = static_cast<std::size_t>(member);
  if (member < 0 || number >= cluster.members.size()) return false;
  auto node = node_at(scop.schedule, cluster.path);
  auto index = band_members(node).at(number);
  auto instances = instances_at(node);
  for (const auto& entry : cluster.statements) {
    const int iterator = entry.outer.at(number);
    if (iterator < 0) return false;
    const auto& domain = scop.statement(entry.id).domain;
    auto own = isl::union_pw_aff(isl::multi_aff(domain.space().identity_multi_aff_on_domain()).at(iterator));
    auto difference = values(index.sub(own), domain.to_union_set());
    auto range = box(domain).at(static_cast<std::size_t>(iterator));
    const auto& member = cluster.members[number];
    if (difference.min != 0 || difference.max != 0) return false;
    if (range.min != member.min || range.max != member.max) return false;
    if (member.symbolic && !value_set(own, domain.to_union_set()).is_equal(value_set(index, instances))) return false;
  }
  return true;
}

isl::schedule_node node_at(const isl::schedule& schedule, const std::vector<int>& path) {
  auto node = schedule.root();
  for (int position : path) node = node.child(position);
  return node;
}

std::vector<int> path_of(const isl::schedule_node& node) {
  std::vector<int> path;
  for (auto here = node; here.has_parent(); here = here.parent())
    path.push_back(isl_schedule_node_get_child_position(here.get()));
  std::reverse(path.begin(), path.end());
  return path;
}

isl::union_set instances_at(const isl::schedule_node& node) {
  return call(node.ctx(), isl_schedule_node_get_domain, node.get());
}

std::vector<std::string> statement_ids(const isl::schedule_node& node) {
  std::vector<std::string> ids;
  instances_at(node).foreach_set([&](const isl::set& set) { ids.push_back(tuple_name(set)); });
  return ids;
}

isl::schedule_node insert_band(const isl::schedule_node& node, const std::vector<isl::union_pw_aff>& members,
                               const std::vector<bool>& coincident) {
  isl::union_pw_aff_list list(node.ctx(), static_cast<int>(members.size()));
  auto here = call(node.ctx(), isl_union_set_universe, instances_at(node).release());
  for (const auto& member : members)
    list = list.add(call(node.ctx(), isl_union_pw_aff_intersect_domain, member.copy(), here.copy()));
  auto space = isl::space::unit(node.ctx()).add_unnamed_tuple(static_cast<unsigned>(members.size()));
  auto band = node.insert_partial_schedule(isl::multi_union_pw_aff(space, list)).as<isl::schedule_node_band>();
  band = band.set_permutable(1);
  for (std::size_t i = 0; i < members.size() && i < coincident.size(); ++i)
    band = band.member_set_coincident(static_cast<int>(i), coincident[i]);
  return band;
}

std::vector<isl::union_pw_aff> band_members(const isl::schedule_node& band) {
  return elements(band.as<isl::schedule_node_band>().partial_schedule().list());
}

std::vector<bool> band_coincident(const isl::schedule_node& node) {
  auto band = node.as<isl::schedule_node_band>();
  std::vector<bool> result(band.n_member());
  for (unsigned i = 0; i < band.n_member(); ++i) result[i] = band.member_get_coincident(static_cast<int>(i));
  return result;
}

isl::union_pw_aff quotient(const isl::union_pw_aff& value, std::int64_t size) {
  auto scaled = call(value.ctx(), isl_union_pw_aff_scale_down_val, value.copy(), isl::val(value.ctx(), size).release());
  return call(value.ctx(), isl_union_pw_aff_floor, scaled.copy());
}
isl::union_pw_aff remainder(const isl::union_pw_aff& value, std::int64_t size) {
  return call(value.ctx(), isl_union_pw_aff_mod_val, value.copy(), isl::val(value.ctx(), size).release());
}

int only_iterator(const isl::union_pw_aff& function, const isl::set& domain) {
  auto space = domain.space().add_unnamed_tuple(1);
  auto piece = call(domain.ctx(), isl_union_pw_aff_extract_pw_aff, function.get(), space.copy());
  int result = -1;
  for (int i = 0; i < active_dimensions(domain.space()); ++i) {
    if (isl_pw_aff_involves_dims(piece.get(), isl_dim_in, i, 1) != isl_bool_true) continue;
    if (result >= 0) return -1;
    result = i;
  }
  return result;
}

namespace {

/// \p aff, of parameters alone, as a text of isl; nothing where it divides.
std::optional<std::string> text_of(const isl::aff& aff) {
  if (isl_aff_dim(aff.get(), isl_dim_div) > 0) return std::nullopt;
  auto result = str(aff.constant_val().num_si());
  for (int i = 0; i < isl_aff_dim(aff.get(), isl_dim_param); ++i) {
    auto factor = call(aff.ctx(), isl_aff_get_coefficient_val, aff.get(), isl_dim_param, i);
    if (!factor.is_int()) return std::nullopt;
    if (!factor.is_zero())
      result +=
          str(" + ", factor.num_si(), "*", isl_aff_get_dim_name(aff.get(), isl_dim_param, static_cast<unsigned>(i)));
  }
  return result;
}

/// Is one of the parameters of \p set a symbolic size?
bool has_sizes(const isl::set& set) {
  for (int i = 0; i < isl_set_dim(set.get(), isl_dim_param); ++i)
    if (is_size_parameter(isl_set_get_dim_name(set.get(), isl_dim_param, static_cast<unsigned>(i)))) return true;
  return false;
}

/// Does parameter number \p position stand in a quotient of \p set?
bool divides_parameter(const isl::basic_set& set, unsigned position) {
  for (int i = 0; i < isl_basic_set_dim(set.get(), isl_dim_div); ++i) {
    const auto quotient = call(set.ctx(), isl_basic_set_get_div, set.get(), i);
    if (isl_aff_involves_dims(quotient.get(), isl_dim_param, position, 1) == isl_bool_true) return true;
  }
  return false;
}

/// Does a symbolic size stand in a constraint of \p set, or in a quotient of one?
bool involves_sizes(const isl::set& set) {
  for (int i = 0; i < isl_set_dim(set.get(), isl_dim_param); ++i) {
    const auto position = static_cast<unsigned>(i);
    if (!is_size_parameter(isl_set_get_dim_name(set.get(), isl_dim_param, position))) continue;
    if (isl_set_involves_dims(set.get(), isl_dim_param, position, 1) == isl_bool_true) return true;
    bool found = false;
    set.foreach_basic_set([&](const isl::basic_set& part) { found = found || divides_parameter(part, position); });
    if (found) return true;
  }
  return false;
}

/// The largest power of two up to largest_multiple of which the number of values from \p min to the last of \p values, { [x] }, is a multiple
/// whatever symbolic sizes are. Sizes that no quotient rounds have none but 1.
std::int64_t known_multiple(const isl::set& values, std::int64_t min) {
  bool rounds = false;
  values.foreach_basic_set(
      [&](const isl::basic_set& part) { rounds = rounds || isl_basic_set_dim(part.get(), isl_dim_div) > 0; });
  std::int64_t result = 1;
  if (!rounds) return result;
  const auto last = values.lexmax();
  const auto is_multiple = [&](std::int64_t size) {
    return last.is_subset(isl::set(values.ctx(), str("{ [x] : (x + ", 1 - min, ") mod ", size, " = 0 }")));
  };
  while (result < largest_multiple && is_multiple(2 * result)) result *= 2;
  return result;
}

/// { [x] }: the values of dimension \p i of \p domain.
isl::set values_of(const isl::set& domain, int i) {
  const auto rank = static_cast<unsigned>(dimensions(domain)), dimension = static_cast<unsigned>(i);
  auto one = call(domain.ctx(), isl_set_project_out, domain.copy(), isl_dim_set, dimension + 1, rank - dimension - 1);
  return call(domain.ctx(), isl_set_project_out, one.release(), isl_dim_set, 0u, dimension);
}

/// As Interval says of dimension \p i of \p domain, whose values go from \p min to \p max.
Interval interval(const isl::set& domain, int i, std::int64_t min, std::int64_t max) {
  Interval result{min, max};
  if (!has_sizes(domain) || domain.is_empty()) return result;
  const auto one = values_of(domain, i);
  const auto own = call(domain.ctx(), isl_set_gist_params, one.copy(), one.params().release());
  result.symbolic = involves_sizes(call(own.ctx(), isl_set_compute_divs, own.copy()));
  if (result.symbolic) result.multiple = known_multiple(call(one.ctx(), isl_set_reset_tuple_id, one.copy()), min);
  return result;
}

}  // namespace

Interval values(const isl::union_pw_aff& function, const isl::union_set& domain) {
  return box(value_set(function, domain)).at(0);
}

std::optional<std::string> extent_text(const Interval& range, const isl::union_pw_aff& function,
                                       const isl::union_set& domain) {
  if (!range.symbolic) return str(range.extent());
  auto taken = value_set(function, domain);
  auto last = taken.max_multi_pw_aff().at(0);
  last = call(domain.ctx(), isl_pw_aff_gist_params, last.release(), taken.params().release());
  last = call(domain.ctx(), isl_pw_aff_coalesce, last.release());
  auto text = last.isa_aff() ? text_of(last.as_aff()) : std::nullopt;
  return text ? std::optional(str(*text, " + ", 1 - range.min)) : std::nullopt;
}

namespace {

/// The box of \p domain where its constraints are bounds of one dimension each, which takes no integer program.
std::optional<std::vector<Interval>> box_as_written(const isl::set& domain) {
  if (has_sizes(domain)) return symbolic_box_as_written(domain);
  const auto bounds = stated_bounds(domain);
  if (!bounds) return std::nullopt;
  std::vector<Interval> result;
  for (const auto& [min, max] : *bounds) result.push_back({min, max});
  return result;
}

}  // namespace

std::vector<Interval> box(const isl::set& domain) {
  if (auto written = box_as_written(domain)) return *written;
  std::vector<Interval> result(dimensions(domain));
  if (domain.is_empty()) return result;
  for (int i = 0; i < dimensions(domain); ++i)
    result[i] = interval(domain, i, domain.dim_min_val(i).num_si(), domain.dim_max_val(i).num_si());
  return result;
}

std::int64_t least_extent(const isl::set& domain, int i) {
  if (domain.is_empty()) return 0;
  const auto least = domain.dim_min_val(i).num_si();
  const auto last = has_sizes(domain) ? values_of(domain, i).lexmax().dim_min_val(0) : domain.dim_max_val(i);
  return last.num_si() - least + 1;
}

std::int64_t instance_count(const isl::set& domain) {
  std::int64_t result = 1;
  for (const auto& interval : box(domain)) result = count_product(result, std::max<std::int64_t>(interval.extent(), 0));
  return result;
}

namespace {

/// The address of \p access, in elements: digits of one iterator that stand side by side in memory add up to the
/// iterator.
isl::aff address(const Scop& scop, const Access& access) {
  auto index = access.function.as_multi_aff();
  const auto& strides = scop.tensor(range_name(access.function)).strides;
  isl::aff sum(isl::manage(isl_aff_zero_on_domain_space(index.space().domain().release())));
  for (unsigned i = 0; i < index.size(); ++i)
    sum = sum.add(index.at(static_cast<int>(i)).scale(isl::val(scop.ctx(), strides[i])));
  return sum;
}

/// Does \p function depend on the iterator through a division?
bool divides(const isl::aff& function, int iterator) {
  for (int i = 0; i < isl_aff_dim(function.get(), isl_dim_div); ++i) {
    if (call(function.ctx(), isl_aff_get_coefficient_val, function.get(), isl_dim_div, i).is_zero()) continue;
    auto part = call(function.ctx(), isl_aff_get_div, function.get(), i);
    if (isl_aff_involves_dims(part.get(), isl_dim_in, iterator, 1) == isl_bool_true) return true;
  }
  return false;
}

}  // namespace

std::int64_t stride(const Scop& scop, const Access& access, int iterator) {
  if (access.function.is_null() || !access.function.isa_multi_aff()) return unknown_stride;
  if (!access.exact && contains(access.indirection->iterators, iterator)) return unknown_stride;
  auto index = address(scop, access);
  if (divides(index, iterator)) return unknown_stride;
  auto coefficient = call(scop.ctx(), isl_aff_get_coefficient_val, index.get(), isl_dim_in, iterator);
  return coefficient.is_int() ? coefficient.num_si() : unknown_stride;
}

std::optional<BlockedStride> blocked_stride(const isl::aff& function, int iterator) {
  auto integer = [](const isl::val& value) { return value.is_int() ? std::optional(value.num_si()) : std::nullopt; };
  auto inside = integer(call(function.ctx(), isl_aff_get_coefficient_val, function.get(), isl_dim_in, iterator));
  std::int64_t size = 0, quotients = 0;
  for (int i = 0; inside && i < isl_aff_dim(function.get(), isl_dim_div); ++i) {
    auto factor = call(function.ctx(), isl_aff_get_coefficient_val, function.get(), isl_dim_div, i);
    auto part = call(function.ctx(), isl_aff_get_div, function.get(), i);
    if (factor.is_zero() || isl_aff_involves_dims(part.get(), isl_dim_in, iterator, 1) != isl_bool_true) continue;
    auto of = call(part.ctx(), isl_aff_get_denominator_val, part.get());
    auto space = isl_aff_get_domain_local_space(part.get());
    auto variable = isl::manage(isl_aff_var_on_domain(space, isl_dim_set, static_cast<unsigned>(iterator)));
    auto divided = call(part.ctx(), isl_aff_scale_val, part.copy(), of.copy());
    if (isl_aff_plain_is_equal(divided.get(), variable.get()) != isl_bool_true) return std::nullopt;
    if (!integer(factor) || (size > 0 && size != of.num_si())) return std::nullopt;
    size = of.num_si();
    quotients += factor.num_si();
  }
  if (!inside || size == 0) return std::nullopt;
  return BlockedStride{size, *inside, *inside * size + quotients};
}

std::optional<BlockedStride> blocked_stride(const Scop& scop, const Access& access, int iterator) {
  if (!access.exact || access.function.is_null() || !access.function.isa_multi_aff()) return std::nullopt;
  return blocked_stride(address(scop, access), iterator);
}

int even_lanes(const Scop& scop, const Access& access, int iterator, int lanes) {
  if (stride(scop, access, iterator) != unknown_stride) return lanes;
  if (!access.exact || access.function.is_null() || !access.function.isa_multi_aff()) return 1;
  auto index = address(scop, access);
  for (int i = 0; i < isl_aff_dim(index.get(), isl_dim_div); ++i) {
    auto part = call(index.ctx(), isl_aff_get_div, index.get(), i);
    auto size = call(index.ctx(), isl_aff_get_denominator_val, part.get()).num_si();
    while (lanes > 1 && size % lanes != 0) lanes /= 2;
  }
  return lanes;
}

isl::schedule_node common_node(const isl::schedule& schedule, const std::vector<std::string>& statements) {
  auto node = schedule.root();
  while (!node.isa<isl::schedule_node_leaf>()) {
    int next = -1;
    for (unsigned i = 0; i < node.n_children(); ++i) {
      auto child = node.child(static_cast<int>(i));
      auto ids = statement_ids(child.isa<isl::schedule_node_filter>() ? child.child(0) : child);
      if (std::all_of(statements.begin(), statements.end(), [&](const auto& id) { return contains(ids, id); }))
        next = static_cast<int>(i);
    }
    if (next < 0) return node;
    node = node.child(next);
  }
  return node;
}

}  // namespace tc::polyhedral
