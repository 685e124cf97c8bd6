#include "tc/polyhedral/map/split_reduction.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/privatise_reduction.h"
#include "tc/polyhedral/schedule/schedule_parts.h"

namespace tc::polyhedral {
namespace {

using Ids = std::vector<std::string>;

/// The update of a reduction in parts, and what is left of it.
class PartMaker {
 public:
  PartMaker(const Scop& scop, const ReductionParts& parts)
      : scop_(scop),
        parts_(parts),
        update_(scop.statement(parts.statement)),
        names_(dimension_names(dimensions(update_.domain))),
        box_(box(update_.domain)) {}

  /// U[p, i, k]: the instances of all parts; the numbers of parts come first. A part of one iteration has no loop over
  /// it.
  Statement update() const {
    std::vector<std::string> parts, own, source = names_, bounds, iterators;
    for (std::size_t c = 0; c < parts_.cuts.size(); ++c) parts.push_back(str("p", c));
    for (std::size_t i = 0; i < names_.size(); ++i) {
      auto cut = cut_of(static_cast<int>(i));
      if (cut >= 0)
        source[i] = str(box_[i].min, " + ", parts_.cuts[cut].size, " p", cut,
                        parts_.cuts[cut].size > 1 ? " + " + names_[i] : "");
      if (cut >= 0 && parts_.cuts[cut].size == 1) continue;
      own.push_back(names_[i]);
      iterators.push_back(update_.iterators[i]);
      bounds.push_back(cut >= 0 ? within(names_[i], 0, parts_.cuts[cut].size)
                                : within(names_[i], box_[i].min, box_[i].extent()));
    }
    for (std::size_t c = 0; c < parts.size(); ++c) {
      bounds.push_back(within(parts[c], 0, parts_.cuts[c].count));
      iterators.insert(iterators.begin() + static_cast<long>(c),
                       str(update_.iterators[parts_.cuts[c].iterator], "_part"));
    }
    parts.insert(parts.end(), own.begin(), own.end());
    auto tuple = str(update_.id, "[", join(parts), "]");
    isl::set domain(scop_.ctx(), str("{ ", tuple, " : ", join(bounds, " and "), " }"));
    isl::multi_aff from(scop_.ctx(), str("{ ", tuple, " -> ", update_.id, "[", join(source), "] }"));
    if (!scop_.sizes.is_null()) domain = domain.intersect(update_.domain.preimage(from));
    auto result = moved(update_, from, domain);
    result.iterators = iterators;
    return result;
  }

  /// What the cuts leave: one statement for each that does not divide its iterator.
  std::vector<Statement> rest() const {
    std::vector<Statement> result;
    auto domain = update_.domain;
    for (const auto& cut : parts_.cuts) {
      auto end = box_[cut.iterator].min + cut.size * cut.count;
      auto left = domain.intersect(where(str(names_[cut.iterator], " >= ", end)));
      domain = domain.intersect(where(str(names_[cut.iterator], " < ", end)));
      if (left.is_empty()) continue;
      auto id = unused_name(scop_, update_.id + str("_rest", result.empty() ? "" : str(result.size())));
      auto from =
          isl::multi_aff(scop_.ctx(), str("{ ", id, "[", join(names_), "] -> ", update_.id, "[", join(names_), "] }"));
      result.push_back(moved(update_, from, left.preimage(from)));
      result.back().id = id;
    }
    return result;
  }

 private:
  static std::string within(const std::string& name, std::int64_t min, std::int64_t extent) {
    return str(min, " <= ", name, " < ", min + extent);
  }
  isl::set where(const std::string& condition) const {
    return isl::set(scop_.ctx(), str("{ ", update_.id, "[", join(names_), "] : ", condition, " }"));
  }
  int cut_of(int iterator) const {
    for (std::size_t c = 0; c < parts_.cuts.size(); ++c)
      if (parts_.cuts[c].iterator == iterator) return static_cast<int>(c);
    return -1;
  }

  const Scop& scop_;
  const ReductionParts& parts_;
  const Statement& update_;
  std::vector<std::string> names_;
  std::vector<Interval> box_;
};

/// \p scop with the statements of the reduction replaced, in program order; the schedule is the old one. Gives the new
/// statements, start and update first.
Scop rewrite(const Scop& scop, const ReductionParts& parts, Ids& added) {
  PartMaker maker(scop, parts);
  std::vector<std::int64_t> counts;
  for (const auto& cut : parts.cuts) counts.push_back(cut.count);
  auto changed = scop;
  changed.statement(parts.statement) = maker.update();
  auto made = privatise_parts(changed, parts.statement, dimension_names(static_cast<int>(counts.size())), counts,
                              parts.parts_first);
  auto result = made.scop;
  auto at = std::find_if(result.statements.begin(), result.statements.end(),
                         [&](const auto& s) { return s.id == parts.statement; });
  at = result.statements.insert(at, made.start) + 2;
  added = {made.start.id, parts.statement, made.join.id};
  at = result.statements.insert(at, made.join) + 1;
  for (const auto& left : maker.rest()) {
    added.push_back(left.id);
    at = result.statements.insert(at, left) + 1;
  }
  return result;
}

/// Those of \p among that the statements \p ids depend on, directly or through others.
Ids needed_by(const Ids& ids, const Ids& among, const isl::union_map& dependences) {
  Ids result, open = ids;
  std::vector<std::pair<std::string, std::string>> edges;
  dependences.foreach_map([&](const isl::map& map) { edges.emplace_back(domain_name(map), range_name(map)); });
  while (!open.empty()) {
    auto sink = open.back();
    open.pop_back();
    for (const auto& edge : edges) {
      if (edge.second != sink || !contains(among, edge.first) || contains(ids, edge.first) ||
          contains(result, edge.first))
        continue;
      result.push_back(edge.first);
      open.push_back(edge.first);
    }
  }
  return result;
}

}  // namespace

bool ReductionParts::operator==(const ReductionParts& other) const {
  auto same = [](const Cut& a, const Cut& b) {
    return a.iterator == b.iterator && a.size == b.size && a.count == b.count;
  };
  return statement == other.statement && parts_first == other.parts_first &&
         std::equal(cuts.begin(), cuts.end(), other.cuts.begin(), other.cuts.end(), same);
}

Scop split_reduction(const Scop& scop, const ReductionParts& parts, const MappingOptions& options) {
  Ids added;
  auto result = rewrite(scop, parts, added);
  auto dependences = compute_dependences(result).validity;
  std::vector<isl::schedule_node> trees;
  for (const auto& cluster : cluster_views(scop)) {
    auto node = node_at(scop.schedule, cluster.path);
    auto ids = statement_ids(node);
    if (!contains(ids, parts.statement)) {
      trees.push_back(node);
      continue;
    }
    const Ids reduction{added[0], added[1]};
    auto before = needed_by(reduction, ids, dependences);
    Ids after(added.begin() + 2, added.end());
    for (const auto& id : ids)
      if (id != parts.statement && !contains(before, id)) after.push_back(id);
    for (const auto& group : {before, reduction, after})
      if (!group.empty()) trees.push_back(schedule_of(result, group, options).root().child(0));
  }
  result.schedule = in_order(trees, result.domain());
  return result;
}

}  // namespace tc::polyhedral
