#include "tc/polyhedral/laws/verify.h"

#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/polyhedral/core/broken_law.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/core/pairs.h"
#include "tc/polyhedral/core/schedule_walk.h"

namespace tc::polyhedral {
namespace {

isl::union_map at_later_source(const isl::union_map& pairs, const isl::multi_union_pw_aff& function) {
  return call(pairs.ctx(), isl_union_map_lex_gt_at_multi_union_pw_aff, pairs.copy(), function.copy());
}

/// Walks down with the pairs whose instances are not yet told apart by the nodes above.
class OrderCheck {
 public:
  explicit OrderCheck(const isl::schedule& schedule) : schedule_(schedule) {}
  virtual ~OrderCheck() = default;

  void run(const isl::union_map& pairs) { visit(schedule_.root(), pairs); }

 protected:
  virtual void at_band(const isl::schedule_node_band& band, const isl::union_map& pairs) = 0;
  virtual void at_backward_children(const isl::union_map& pairs) = 0;
  virtual void at_leaf(const isl::union_map& pairs) = 0;

  const isl::schedule& schedule_;

 private:
  void visit(const isl::schedule_node& node, isl::union_map pairs) {
    if (node.isa<isl::schedule_node_filter>()) {
      auto filter = node.as<isl::schedule_node_filter>().filter();
      pairs = within(pairs, filter, filter);
    }
    if (pairs.is_empty()) return;
    if (node.isa<isl::schedule_node_leaf>()) return at_leaf(pairs);
    if (node.isa<isl::schedule_node_sequence>()) check_children(node, pairs, false);
    if (node.isa<isl::schedule_node_set>()) check_children(node, pairs, true);
    if (node.isa<isl::schedule_node_band>()) {
      auto band = node.as<isl::schedule_node_band>();
      at_band(band, pairs);
      if (band.n_member() > 0) pairs = at_equal(pairs, band.partial_schedule());
    }
    for (unsigned i = 0; i < node.n_children(); ++i) visit(node.child(static_cast<int>(i)), pairs);
  }

  /// No pair may go from a child to an earlier one; in a set, to any other.
  void check_children(const isl::schedule_node& node, const isl::union_map& pairs, bool any_order) {
    auto filter = [&](unsigned i) { return node.child(static_cast<int>(i)).as<isl::schedule_node_filter>().filter(); };
    for (unsigned source = 0; source < node.n_children(); ++source)
      for (unsigned sink = 0; sink < node.n_children(); ++sink) {
        if (sink == source || (sink > source && !any_order)) continue;
        auto backward = within(pairs, filter(source), filter(sink));
        if (!backward.is_empty()) at_backward_children(backward);
      }
  }
};

class DependenceCheck : public OrderCheck {
  using OrderCheck::OrderCheck;

  void at_band(const isl::schedule_node_band& band, const isl::union_map& pairs) override {
    if (band.n_member() == 0) return;
    auto backward = at_later_source(pairs, band.partial_schedule());
    if (!backward.is_empty()) fail(backward, "runs backward in a band");
    if (!band.permutable()) return;
    for (unsigned i = 0; i < band.n_member(); ++i) {
      auto negative = at_later_source(pairs, isl::multi_union_pw_aff(band.partial_schedule().at(i)));
      if (!negative.is_empty()) fail(negative, str("runs backward along member ", i, " of a permutable band"));
    }
  }
  void at_backward_children(const isl::union_map& pairs) override { fail(pairs, "runs backward in a sequence"); }
  void at_leaf(const isl::union_map& pairs) override { fail(pairs, "is not ordered"); }

  [[noreturn]] void fail(const isl::union_map& pairs, const std::string& how) const {
    broken_law("dependences", str("the dependence ", first_pair(pairs), " ", how), schedule_);
  }
};

/// Whether \p band stands below a `parallel` mark.
bool is_marked_parallel(const isl::schedule_node_band& band) {
  if (!band.has_parent()) return false;
  auto parent = band.parent();
  return parent.isa<isl::schedule_node_mark>() && mark_name(parent) == marks::parallel;
}

class CoincidenceCheck : public OrderCheck {
  using OrderCheck::OrderCheck;

  void at_band(const isl::schedule_node_band& band, const isl::union_map& pairs) override {
    for (unsigned i = 0; i < band.n_member(); ++i) {
      bool parallel = i == 0 && is_marked_parallel(band);
      if (!parallel && !band.member_get_coincident(static_cast<int>(i))) continue;
      auto carried = pairs.subtract(at_equal(pairs, isl::multi_union_pw_aff(band.partial_schedule().at(i))));
      if (!carried.is_empty())
        broken_law("coincidence",
                   str("member ", i, " of a band is ", parallel ? "parallel" : "coincident",
                       " and carries the dependence ", first_pair(carried)),
                   schedule_);
    }
  }
  void at_backward_children(const isl::union_map&) override {}
  void at_leaf(const isl::union_map&) override {}
};

/// The instances of each leaf and how often extensions repeat them.
class InstanceCheck {
 public:
  explicit InstanceCheck(const Scop& scop) : scop_(scop), seen_(isl::union_set::empty(scop.ctx())) {}

  void run() {
    for_each_place(scop_.schedule, [&](const Place& place) {
      if (place.node.isa<isl::schedule_node_leaf>()) add(place.instances);
      if (place.node.isa<isl::schedule_node_extension>())
        check_once(place.node.as<isl::schedule_node_extension>().extension());
    });
    auto domain = scop_.domain();
    fail_unless_empty(domain.subtract(seen_), "does not run");
    fail_unless_empty(seen_.subtract(domain), "runs but is no instance of a statement");
  }

 private:
  const Scop& scop_;
  isl::union_set seen_;

  void add(const isl::union_set& instances) {
    fail_unless_empty(seen_.intersect(instances), "runs at two leaves");
    seen_ = seen_.unite(instances);
  }
  void check_once(const isl::union_map& extension) {
    if (!extension.is_injective())
      broken_law("instances", str("an extension runs an instance more than once: ", extension), scop_.schedule);
  }
  void fail_unless_empty(const isl::union_set& instances, const char* how) const {
    if (instances.is_empty()) return;
    auto sample = call(instances.ctx(), isl_union_set_sample_point, instances.copy());
    broken_law("instances", str("the instance ", sample, " ", how), scop_.schedule);
  }
};

/// The elements of \p tensor.
isl::set elements_of(isl::ctx ctx, const Tensor& tensor) {
  if (!tensor.elements.is_null()) return tensor.elements;
  std::vector<std::string> names, bounds;
  for (std::size_t i = 0; i < tensor.extent.size(); ++i) {
    names.push_back(str("x", i));
    bounds.push_back(str(tensor.min[i], " <= x", i, " < ", tensor.min[i] + tensor.extent[i]));
  }
  isl::set elements(ctx, str("{ [", join(names), "]", bounds.empty() ? "" : " : ", join(bounds, " and "), " }"));
  return call(ctx, isl_set_set_tuple_name, elements.copy(), tensor.name.c_str());
}

class BoundsCheck {
 public:
  explicit BoundsCheck(const Scop& scop) : scop_(scop) {
    for (const auto& tensor : scop.tensors) boxes_.emplace(tensor.name, elements_of(scop.ctx(), tensor));
  }

  void check(const Statement& statement, const Access& access, const std::string& what) const {
    check_inside(statement, access.relation, what);
    if (!access.exact) return;
    if (access.function.is_null())
      broken_law("bounds", str("the exact ", what, " of ", statement.id, " has no function"), scop_.schedule);
    auto touched = access.function.as_map().intersect_domain(access.relation.domain());
    if (!access.relation.domain().is_subset(touched.domain()))
      broken_law("bounds", str("the function of the ", what, " of ", statement.id, " is not total"), scop_.schedule);
    if (range_name(touched) != range_name(access.relation)) return check_inside(statement, touched, what);
    if (!touched.is_equal(access.relation))
      broken_law("bounds", str("the function of the ", what, " of ", statement.id, " differs from its relation"),
                 scop_.schedule);
  }

 private:
  const Scop& scop_;
  std::map<std::string, isl::set> boxes_;

  void check_inside(const Statement& statement, const isl::map& touched, const std::string& what) const {
    if (touched.is_empty()) return;
    auto found = boxes_.find(range_name(touched));
    if (found == boxes_.end())
      broken_law("bounds",
                 str("the ", what, " of ", statement.id, " goes to '", range_name(touched), "', which is no tensor"),
                 scop_.schedule);
    auto outside = touched.to_union_map().subtract_range(found->second.to_union_set());
    if (!outside.is_empty())
      broken_law("bounds",
                 str("the ", what, " of ", statement.id, " leaves ", found->second, ": ", first_pair(outside)),
                 scop_.schedule);
  }
};

}  // namespace

void verify_instances(const Scop& scop) { InstanceCheck(scop).run(); }

void verify_dependences(const Scop& scop, const Dependences& dependences) {
  DependenceCheck(scop.schedule).run(dependences.validity);
}

void verify_coincidence(const Scop& scop, const Dependences& dependences) {
  CoincidenceCheck(scop.schedule).run(dependences.coincidence);
}

void verify_bounds(const Scop& scop) {
  BoundsCheck bounds(scop);
  for (const auto& statement : scop.statements) {
    bounds.check(statement, statement.write, "write");
    for (std::size_t i = 0; i < statement.reads.size(); ++i)
      bounds.check(statement, statement.reads[i], str("read ", i));
  }
}

void verify(const Scop& scop, const Dependences& dependences) {
  verify_instances(scop);
  verify_dependences(scop, dependences);
  verify_coincidence(scop, dependences);
  verify_bounds(scop);
  verify_marks(scop);
  verify_promotion(scop);
  verify_copies(scop, dependences);
  verify_gathers(scop);
}

}  // namespace tc::polyhedral
