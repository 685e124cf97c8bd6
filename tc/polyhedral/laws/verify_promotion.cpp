#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tc/base/str.h"
#include "tc/polyhedral/core/broken_law.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/core/schedule_walk.h"
#include "tc/polyhedral/laws/take_turns.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map/idle_lanes.h"

namespace tc::polyhedral {
namespace {

isl::union_map compose(const isl::union_map& first, const isl::union_map& second) { return first.apply_range(second); }

/// What \p access touches when the code runs: its function where it has one.
isl::map physical(const Access& access) {
  if (!access.exact || access.function.is_null()) return access.relation;
  return access.function.as_map().intersect_domain(access.relation.domain());
}

/// The maps of \p pairs between different statements.
isl::union_map between_statements(const isl::union_map& pairs) {
  auto result = isl::union_map::empty(pairs.ctx());
  for (const auto& map : elements(pairs.map_list()))
    if (domain_name(map) != range_name(map)) result = result.unite(map.to_union_map());
  return result;
}

/// The places of the `vector` marks above each statement.
using VectorPlaces = std::map<std::string, std::vector<Place>>;

VectorPlaces vector_places(const Scop& scop) {
  VectorPlaces result;
  for_each_place(scop.schedule, [&](const Place& place) {
    if (!place.node.isa<isl::schedule_node_mark>() || mark_name(place.node) != marks::vector) return;
    for (const auto& set : elements(place.instances.set_list())) result[tuple_name(set)].push_back(place);
  });
  return result;
}

/// The uses of one local buffer. Once every element is known to have one home, an execution and a place of its own, the
/// order of its uses can be seen from the elements alone.
class BufferCheck {
 public:
  /// \p inside: the first node below the mark that is no band and no mark, or a `vector` mark, whose lanes run
  /// together.
  BufferCheck(const Scop& scop, const std::string& buffer, const Place& mark, const Place& inside)
      : scop_(scop),
        buffer_(buffer),
        executions_(mark.prefix),
        iterations_(inside.prefix),
        reads_(isl::union_map::empty(scop.ctx())),
        writes_(reads_),
        copies_in_(reads_),
        copies_out_(reads_) {}

  void run(const VectorPlaces& vectors) {
    for (const auto& statement : scop_.statements) {
      add(statement, statement.write, true);
      for (const auto& read : statement.reads) add(statement, read, false);
    }
    check_nothing_goes_past();
    check_homes();
    check_order();
    check_idle_lanes(vectors);
  }

 private:
  struct Use {
    isl::map element, place;  ///< { S[i] -> T[x] }, { S[i] -> buffer[y] }
  };

  const Scop& scop_;
  std::string buffer_;
  isl::union_map executions_;  ///< { instance -> [members above the mark] }, or of iterations_ (check_homes)
  isl::union_map iterations_;  ///< { instance -> [members above the mark and of the bands right below it] }
  std::vector<Use> uses_;
  isl::union_map reads_, writes_, copies_in_, copies_out_;  ///< { instance -> T[x] }
  std::set<std::string> replaced_;                          ///< the tensors T

  [[noreturn]] void fail(const std::string& what) const {
    broken_law("promotion", str("buffer '", buffer_, "': ", what), scop_.schedule);
  }

  void add(const Statement& statement, const Access& access, bool write) {
    auto place = physical(access);
    if (range_name(place) != buffer_) return;
    if (!place.domain().to_union_set().is_subset(executions_.domain()))
      fail(str("statement ", statement.id, " uses it outside its allocate mark"));
    uses_.push_back({access.relation, place});
    replaced_.insert(range_name(access.relation));
    bool copy = statement.body == Statement::Body::Copy;
    auto element = access.relation.to_union_map();
    auto& kind = write ? writes_ : reads_;
    kind = kind.unite(element);
    if (write && statement.accumulates) reads_ = reads_.unite(element);
    if (copy && write && !statement.accumulates) copies_in_ = copies_in_.unite(element);
    if (copy && !write) copies_out_ = copies_out_.unite(element);
  }

  void check_nothing_goes_past() const {
    auto check = [&](const Statement& statement, const Access& access) {
      if (replaced_.count(range_name(access.relation)) && range_name(physical(access)) != buffer_)
        fail(str("statement ", statement.id, " uses '", range_name(access.relation), "' past it"));
    };
    for (const auto& statement : scop_.statements) {
      check(statement, statement.write);
      for (const auto& read : statement.reads) check(statement, read);
    }
  }

  /// { T[x] -> [[members] -> buffer[y]] }: in which execution and where each element is kept.
  isl::union_map homes(const isl::union_map& executions) const {
    auto result = isl::union_map::empty(scop_.ctx());
    for (const auto& use : uses_) {
      auto home =
          executions.intersect_domain(use.place.domain().to_union_set()).range_product(use.place.to_union_map());
      result = result.unite(compose(use.element.reverse().to_union_map(), home));
    }
    return result.coalesce();
  }

  /// One home for an element and one element for a home, in the loops below the mark, whose iterations then count as
  /// executions, or else at the mark, where elements may also take turns at a home.
  void check_homes() {
    auto below = homes(iterations_);
    if (below.is_single_valued() && below.is_injective()) {
      executions_ = iterations_;
      return;
    }
    auto at_mark = homes(executions_);
    if (at_mark.is_single_valued() && (at_mark.is_injective() || take_turns(scop_.schedule, reads_, writes_, at_mark)))
      return;
    const auto& wrong = at_mark.is_single_valued() ? below : at_mark;
    if (!call(wrong.ctx(), isl_union_map_range_factor_domain, wrong.copy()).is_single_valued())
      fail("an element is used in two executions");
    if (!wrong.is_single_valued()) fail("an element has two places");
    fail("a place holds two elements");
  }

  void check_order() const {
    auto unserved = unserved_reads(between_statements(compose(writes_, reads_.reverse())));
    if (!unserved.is_empty()) unserved = unserved_reads(compose(writes_, reads_.reverse()));
    if (!unserved.is_empty()) fail(str("nothing is written before the read ", first_pair(unserved)));
    auto must = between_statements(
        compose(copies_in_, reads_.unite(writes_).reverse()).unite(compose(writes_, copies_out_.reverse())));
    auto late = must.subtract(forward_pairs(scop_.schedule, must));
    if (!late.is_empty()) fail(str("a copy is not in order with ", first_pair(late)));
  }

  /// A lane that does not run writes no place that an instance uses in the same execution, unless the buffer is masked.
  void check_idle_lanes(const VectorPlaces& vectors) const {
    const auto& buffer = scop_.tensor(buffer_);
    if (!buffer.padded || buffer.combined) return;
    for (const auto& statement : scop_.statements) {
      auto found = vectors.find(statement.id);
      if (found == vectors.end() || range_name(physical(statement.write)) != buffer_) continue;
      for (const auto& place : found->second) check_idle_lanes(statement, place);
    }
  }

  void check_idle_lanes(const Statement& statement, const Place& vector) const {
    auto lane = vector.node.child(0).as<isl::schedule_node_band>().partial_schedule().at(0);
    auto iterator = only_iterator(lane, statement.domain);
    auto runs = vector.prefix.intersect_domain(statement.domain.to_union_set());
    auto dimension = moving_dimension(runs.reverse().apply_range(physical(statement.write).to_union_map()));
    if (iterator < 0 || dimension < 0) return;
    auto idle =
        idle_lanes(statement, iterator, lane, statement.vector_lanes, dimension, runs.range_product(executions_));
    if (idle.is_empty()) return;
    idle = call(idle.ctx(), isl_union_map_domain_factor_range, idle.copy());
    auto used = isl::union_map::empty(scop_.ctx());
    for (const auto& use : uses_) used = used.unite(compose(executions_.reverse(), use.place.to_union_map()));
    auto lost = idle.intersect(used);
    if (!lost.is_empty())
      fail(str("a lane of statement ", statement.id, " that does not run writes what others use: ", first_pair(lost)));
  }

  /// The only index that moves in one of the runs \p touched maps to elements; -1 without one.
  static int moving_dimension(const isl::union_map& touched) {
    if (touched.is_empty()) return -1;
    auto elements = touched.as_map();
    int result = -1, rank = static_cast<int>(isl_map_dim(elements.get(), isl_dim_out));
    for (int i = 0; i < rank; ++i) {
      auto index = call(touched.ctx(), isl_map_project_out, elements.copy(), isl_dim_out, i + 1, rank - i - 1);
      index = call(touched.ctx(), isl_map_project_out, index.release(), isl_dim_out, 0, i);
      if (index.is_single_valued()) continue;
      if (result >= 0) return -1;
      result = i;
    }
    return result;
  }

  /// The reads that no pair of \p writes_and_reads serves in time.
  isl::union_map unserved_reads(const isl::union_map& writes_and_reads) const {
    return reads_.subtract_domain(forward_pairs(scop_.schedule, writes_and_reads).range());
  }
};

/// Threads of a loop, and a buffer that they share.
class SharingCheck {
 public:
  SharingCheck(const Scop& scop, const std::string& buffer, const Place& mark)
      : scop_(scop), buffer_(buffer), mark_(mark), uses_(isl::union_map::empty(scop.ctx())), writes_(uses_) {}

  void run() {
    for (const auto& statement : scop_.statements) {
      add(statement.write, true);
      for (const auto& read : statement.reads) add(read, false);
    }
    auto threads = compose(iterations(writes_).reverse(), iterations(uses_));
    auto same = call(threads.ctx(), isl_union_set_identity, threads.domain().release());
    if (!threads.is_subset(same))
      broken_law("promotion", str("buffer '", buffer_, "': threads share a place that one writes"), scop_.schedule);
  }

 private:
  const Scop& scop_;
  std::string buffer_;
  const Place& mark_;
  isl::union_map uses_, writes_;  ///< { instance -> buffer[y] }

  void add(const Access& access, bool write) {
    auto place = physical(access);
    if (range_name(place) != buffer_) return;
    auto below = place.to_union_map().intersect_domain(mark_.instances);
    uses_ = uses_.unite(below);
    if (write) writes_ = writes_.unite(below);
  }

  /// { [[members above] -> buffer[y]] -> [iteration] }: the threads that touch each place.
  isl::union_map iterations(const isl::union_map& places) const {
    auto loop = mark_.node.child(0).as<isl::schedule_node_band>().partial_schedule();
    auto threads = call(loop.ctx(), isl_union_map_from_multi_union_pw_aff, loop.copy());
    return compose(mark_.prefix.range_product(places).reverse(), threads);
  }
};

void verify_sharing(const Scop& scop) {
  for_each_place(scop.schedule, [&](const Place& place) {
    if (!place.node.isa<isl::schedule_node_mark>() || mark_name(place.node) != marks::parallel) return;
    for (const auto& above : marks_above(place.node))
      if (auto buffer = marks::allocated_buffer(above); !buffer.empty()) SharingCheck(scop, buffer, place).run();
  });
}

/// { S[i] -> [T[x] -> buffer[y]] }: the element and where it is kept.
isl::map kept_at(const Access& access) { return access.relation.range_product(physical(access)); }

/// { instance -> element } of all accesses of \p statement, or of its writes.
isl::union_map touched_by(const Statement& statement, bool writes_only) {
  auto result = kept_at(statement.write).to_union_map();
  if (!writes_only)
    for (const auto& read : statement.reads) result = result.unite(kept_at(read).to_union_map());
  return result;
}

/// The pairs in which one copy must run because it carries values for other statements.
class CopyCheck {
 public:
  CopyCheck(const Scop& scop, const Dependences& dependences, const Statement& copy)
      : scop_(scop),
        dependences_(dependences),
        copy_(copy),
        from_(kept_at(copy.reads.back())),
        to_(kept_at(copy.write)) {}

  void run() const {
    bool into = is_local(copy_.write) && !is_local(copy_.reads.back()) && !copy_.accumulates;
    auto must = into ? after_writers() : before_users();
    auto late = must.subtract(forward_pairs(scop_.schedule, must));
    if (!late.is_empty()) broken_law("copies", str("a copy is not in order with ", first_pair(late)), scop_.schedule);
  }

 private:
  const Scop& scop_;
  const Dependences& dependences_;
  const Statement& copy_;
  isl::map from_, to_;

  bool is_local(const Access& access) const {
    return scop_.tensor(range_name(physical(access))).storage == Tensor::Storage::Local;
  }

  /// { instance of another statement -> instance of the copy } that touch one element of \p side, an access of the
  /// copy.
  isl::union_map meeting(const isl::map& side, bool writes_only) const {
    auto result = isl::union_map::empty(scop_.ctx());
    for (const auto& other : scop_.statements)
      if (other.id != copy_.id)
        result = result.unite(compose(touched_by(other, writes_only), side.reverse().to_union_map()));
    return result;
  }

  /// a -> copy, where a writes what the copy reads and must precede a user of what the copy writes.
  isl::union_map after_writers() const {
    return compose(dependences_.validity, meeting(to_, false)).intersect(meeting(from_, true));
  }

  /// copy -> b, where b uses what the copy writes and must follow a writer of what the copy reads.
  isl::union_map before_users() const {
    return compose(meeting(from_, true).reverse(), dependences_.validity).intersect(meeting(to_, false).reverse());
  }
};

}  // namespace

void verify_promotion(const Scop& scop) {
  const auto vectors = vector_places(scop);
  std::vector<std::pair<std::string, Place>> open;
  for_each_place(scop.schedule, [&](const Place& place) {
    bool mark = place.node.isa<isl::schedule_node_mark>();
    auto buffer = mark ? marks::allocated_buffer(mark_name(place.node)) : "";
    if (!buffer.empty()) open.emplace_back(buffer, place);
    bool lanes = mark && mark_name(place.node) == marks::vector;
    if ((mark && !lanes) || place.node.isa<isl::schedule_node_band>()) return;
    for (const auto& [name, at] : open) BufferCheck(scop, name, at, place).run(vectors);
    open.clear();
  });
  verify_sharing(scop);
}

void verify_copies(const Scop& scop, const Dependences& dependences) {
  for (const auto& statement : scop.statements)
    if (statement.body == Statement::Body::Copy) CopyCheck(scop, dependences, statement).run();
}

}  // namespace tc::polyhedral
