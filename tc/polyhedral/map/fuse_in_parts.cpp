#include "tc/polyhedral/map/fuse_in_parts.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/cut_statement.h"
#include "tc/polyhedral/map/fused_parts_tree.h"
#include "tc/polyhedral/map/privatise_reduction.h"
#include "tc/polyhedral/schedule/schedule_parts.h"

namespace tc::polyhedral {
namespace {

using Ids = std::vector<std::string>;
using isl::schedule_node;

/// Carries out a choice.
class PartsFuser {
 public:
  PartsFuser(const Scop& scop, const FusedParts& parts, const MappingOptions& options)
      : scop_(scop),
        parts_(parts),
        options_(options),
        views_(cluster_views(scop)),
        host_(views_.at(parts.cluster)),
        result_(scop) {}

  Scop run() {
    auto cut = cut_statements();
    for (const auto& reduction : parts_.reductions) privatise(reduction.statement);
    auto fused = fused_parts_tree(result_, host_, parts_, starts_, cut);
    std::vector<schedule_node> trees, behind;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      if (i == parts_.cluster) {
        trees.push_back(fused.root().child(0));
        trees.insert(trees.end(), behind.begin(), behind.end());
        continue;
      }
      auto rest = what_is_left(views_[i]);
      bool changed = rest != ids_of(views_[i]);
      auto& place = changed && i < parts_.cluster ? behind : trees;
      place.push_back(changed ? schedule_of(result_, rest, options_).root().child(0)
                              : node_at(scop_.schedule, views_[i].path));
    }
    result_.schedule = in_order(trees, result_.domain());
    return result_;
  }

 private:
  /// Cuts the statements of the cluster and the reductions. Returns the old schedule of their new instances.
  isl::schedule cut_statements() {
    auto backward = isl::union_pw_multi_aff::empty(scop_.ctx());
    for (auto& statement : result_.statements) {
      auto iterator = cut_iterator(host_, parts_, statement.id);
      auto from = statement.domain.space().identity_multi_aff_on_domain();
      if (iterator >= 0) {
        const auto& whole = scop_.statement(statement.id);
        from = uncut(whole, iterator, parts_.size);
        statement = cut_statement(whole, iterator, parts_.size);
      }
      backward = backward.union_add(isl::union_pw_multi_aff(from.to_pw_multi_aff()));
    }
    return scop_.schedule.pullback(backward);
  }

  /// Gives the reduction \p id an accumulator for each part.
  void privatise(const std::string& id) {
    auto count = ceil_div(host_.members.at(static_cast<std::size_t>(parts_.member)).extent(), parts_.size);
    auto made = privatise_parts(result_, id, {"i0"}, {count}, true);
    result_ = made.scop;
    auto at = std::find_if(result_.statements.begin(), result_.statements.end(),
                           [&](const auto& statement) { return statement.id == id; });
    at = result_.statements.insert(at, made.start) + 2;
    result_.statements.insert(at, made.join);
    starts_.push_back(made.start.id);
    joins_.emplace_back(id, made.join.id);
  }

  /// The statements of \p cluster without its reductions, with what joins them.
  Ids what_is_left(const ClusterView& cluster) const {
    Ids result;
    for (const auto& id : ids_of(cluster)) {
      auto join = std::find_if(joins_.begin(), joins_.end(), [&](const auto& entry) { return entry.first == id; });
      result.push_back(join == joins_.end() ? id : join->second);
    }
    return result;
  }

  const Scop& scop_;
  const FusedParts& parts_;
  const MappingOptions& options_;
  std::vector<ClusterView> views_;
  const ClusterView& host_;
  Scop result_;
  Ids starts_;
  std::vector<std::pair<std::string, std::string>> joins_;  ///< of each reduction, what joins its parts
};

/// Is \p statement a plain reduction of the source, whose value does not read what it accumulates?
bool is_plain_reduction(const Statement& statement) {
  const auto& target = range_name(statement.write.relation);
  return statement.loops.empty() && statement.accumulates && statement.body == Statement::Body::Source &&
         statement.origin.is_null() && statement.write.exact && statement.write.function.isa_multi_aff() &&
         std::none_of(statement.reads.begin(), statement.reads.end(),
                      [&](const auto& read) { return touches(read, target); });
}

/// The statements that run before the cluster of \p parts, in clusters that stay there, and those of clusters that move
/// behind it with what joins their reductions.
std::pair<Ids, std::vector<Ids>> clusters_before(const std::vector<ClusterView>& views, const FusedParts& parts) {
  std::pair<Ids, std::vector<Ids>> result;
  for (std::size_t i = 0; i < parts.cluster; ++i) {
    auto ids = ids_of(views[i]);
    bool moves = std::any_of(parts.reductions.begin(), parts.reductions.end(),
                             [&](const auto& reduction) { return contains(ids, reduction.statement); });
    if (moves)
      result.second.push_back(ids);
    else
      result.first.insert(result.first.end(), ids.begin(), ids.end());
  }
  return result;
}

/// Does something of \p before or of \p host depend on a cluster of \p moving?
bool is_needed_before(const Dependences& dependences, const std::vector<Ids>& moving, const Ids& before,
                      const ClusterView& host) {
  auto stays = before;
  for (const auto& id : ids_of(host)) stays.push_back(id);
  bool result = false;
  dependences.validity.foreach_map([&](const isl::map& pairs) {
    for (const auto& ids : moving)
      result = result || (contains(ids, domain_name(pairs)) && contains(stays, range_name(pairs)));
  });
  return result;
}

/// Is all that \p reduction needs there when its iteration of the member of \p parts runs?
bool has_what_it_needs(const Scop& scop, const Dependences& dependences, const FusedParts& parts,
                       const ClusterView& host, const Ids& before, const FusedParts::Reduction& reduction) {
  const auto here = ids_of(host);
  const auto target = range_name(scop.statement(reduction.statement).write.relation);
  bool result = true;
  dependences.validity.foreach_map([&](const isl::map& pairs) {
    auto source = domain_name(pairs);
    if (range_name(pairs) != reduction.statement || source == reduction.statement || contains(before, source)) return;
    if (contains(here, source))
      result = result && are_equal(pairs, cut_iterator(host, parts, source), reduction.iterator);
    else
      result = result && range_name(scop.statement(source).write.relation) == target;
  });
  return result;
}

}  // namespace

bool can_fuse_in_parts(const Scop& scop, const Dependences& dependences, const FusedParts& parts) {
  auto views = cluster_views(scop);
  if (parts.cluster >= views.size() || parts.reductions.empty() || parts.size < 1) return false;
  const auto& host = views[parts.cluster];
  if (!is_one_iterator(scop, host, parts.member) || (parts.member > 0 && !host.permutable)) return false;
  const auto [before, moving] = clusters_before(views, parts);
  if (is_needed_before(dependences, moving, before, host)) return false;
  const auto& range = host.members[static_cast<std::size_t>(parts.member)];
  return std::all_of(parts.reductions.begin(), parts.reductions.end(), [&](const FusedParts::Reduction& reduction) {
    const auto& statement = scop.statement(reduction.statement);
    if (contains(ids_of(host), statement.id) || !is_plain_reduction(statement)) return false;
    auto own = box(statement.domain).at(static_cast<std::size_t>(reduction.iterator));
    if (contains(kept_dimensions(statement), reduction.iterator) || own.min != range.min || own.max != range.max)
      return false;
    return has_what_it_needs(scop, dependences, parts, host, before, reduction);
  });
}

Scop fuse_in_parts(const Scop& scop, const FusedParts& parts, const MappingOptions& options) {
  return PartsFuser(scop, parts, options).run();
}

}  // namespace tc::polyhedral
