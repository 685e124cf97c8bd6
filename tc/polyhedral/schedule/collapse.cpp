#include "tc/polyhedral/schedule/collapse.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/schedule/gather_coincident.h"

namespace tc::polyhedral {
namespace {

using Texts = std::vector<std::string>;

/// One statement before and after: which of its iterators are digits of the new one, and the functions between both.
class Renumbering {
 public:
  Renumbering(const Statement& statement, const std::vector<int>& digits)
      : statement_(statement),
        digits_(digits),
        names_(dimension_names(dimensions(statement.domain))),
        box_(polyhedral::box(statement.domain)) {
    place_ = *std::max_element(digits.begin(), digits.end());
  }

  /// { S[i, j, k] -> S[i, 10j + k] }
  isl::map forward() const {
    auto flat = names_;
    Texts sum;
    for (std::size_t n = 0; n < digits_.size(); ++n)
      sum.push_back(str(weight(n), "*(", names_[digits_[n]], " - ", box_[digits_[n]].min, ")"));
    flat[place_] = join(sum, " + ");
    return isl::map(statement_.domain.ctx(), str("{ ", tuple(names_), " -> ", tuple(without_digits(flat)), " }"));
  }
  /// { S[i, g] -> S[i, g / 10, g % 10] }
  isl::multi_aff backward() const {
    auto digits = names_;
    for (std::size_t n = 0; n < digits_.size(); ++n) {
      auto rest = weight(n) == 1 ? str("(g)") : str("floor(g/", weight(n), ")");
      if (n > 0) rest = str("(", rest, ") mod ", box_[digits_[n]].extent());
      digits[digits_[n]] = str(box_[digits_[n]].min, " + ", rest);
    }
    auto flat = names_;
    flat[place_] = "g";
    return isl::multi_aff(statement_.domain.ctx(), str("{ ", tuple(without_digits(flat)), " -> ", tuple(digits), " }"));
  }
  /// The new iterator's value, as text.
  std::string value() const {
    auto flat = names_;
    flat[place_] = "g";
    return str(tuple(without_digits(flat)), " -> [(g)]");
  }

  Statement renumbered() const {
    auto result = statement_;
    auto from = backward();
    auto to = forward();
    result.domain = statement_.domain.apply(to);
    auto names = statement_.iterators;
    Texts joined;
    for (int digit : digits_) joined.push_back(statement_.iterators[digit]);
    names[place_] = join(joined, "_");
    result.iterators = without_digits(names);
    result.origin = statement_.origin.is_null() ? from : statement_.origin.pullback(from);
    for (auto* access : accesses(result)) {
      access->relation = access->relation.apply_domain(to);
      if (!access->function.is_null()) access->function = access->function.pullback(from);
    }
    return result;
  }

 private:
  const Statement& statement_;
  const std::vector<int>& digits_;
  Texts names_;
  std::vector<Interval> box_;
  int place_ = 0;

  std::int64_t weight(std::size_t digit) const {
    std::int64_t result = 1;
    for (std::size_t n = digit + 1; n < digits_.size(); ++n) result *= box_[digits_[n]].extent();
    return result;
  }
  Texts without_digits(const Texts& all) const {
    Texts result;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (static_cast<int>(i) == place_ || !contains(digits_, static_cast<int>(i))) result.push_back(all[i]);
    return result;
  }
  std::string tuple(const Texts& values) const { return str(statement_.id, "[", join(values), "]"); }
};

std::vector<int> digits_of(const ClusterStatement& entry, const std::vector<int>& members) {
  std::vector<int> result;
  for (int member : members) result.push_back(entry.outer.at(member));
  return result;
}

/// The band at \p path with \p value in place of the \p members, where the last of them stood.
isl::schedule merge_members(const isl::schedule& schedule, const std::vector<int>& path,
                            const std::vector<int>& members, const isl::union_pw_aff& value) {
  auto band = node_at(schedule, path);
  bool permutable = band.as<isl::schedule_node_band>().permutable();
  std::vector<isl::union_pw_aff> merged;
  std::vector<bool> coincident;
  auto last = *std::max_element(members.begin(), members.end());
  auto old = band_members(band);
  for (std::size_t i = 0; i < old.size(); ++i) {
    bool replaced = contains(members, static_cast<int>(i));
    if (replaced && static_cast<int>(i) != last) continue;
    merged.push_back(replaced ? value : old[i]);
    coincident.push_back(true);
  }
  auto node = insert_band(erase(band), merged, coincident).as<isl::schedule_node_band>();
  return node.set_permutable(permutable).schedule();
}

}  // namespace

bool can_collapse(const ClusteredScop& clustered, const Collapse& choice) {
  const auto& [scop, clusters] = clustered;
  if (choice.cluster >= clusters.size() || choice.members.size() < 2) return false;
  const auto& cluster = clusters[choice.cluster];
  if (!cluster.permutable) return false;
  return std::all_of(choice.members.begin(), choice.members.end(),
                     [&](int member) { return is_one_iterator(scop, cluster, member); });
}

void collapse(ClusteredScop& clustered, Dependences& dependences, const Collapse& choice) {
  auto result = clustered.scop;
  const auto cluster = clustered.clusters.at(choice.cluster);
  auto forward = isl::union_map::empty(result.ctx());
  auto backward = isl::union_pw_multi_aff::empty(result.ctx());
  Texts values;
  for (auto& statement : result.statements) {
    auto entry = std::find_if(cluster.statements.begin(), cluster.statements.end(),
                              [&](const auto& e) { return e.id == statement.id; });
    if (entry == cluster.statements.end()) {
      auto same = statement.domain.space().identity_multi_aff_on_domain();
      forward = forward.unite(same.as_map().to_union_map());
      backward = backward.union_add(isl::union_pw_multi_aff(same.to_pw_multi_aff()));
      continue;
    }
    auto digits = digits_of(*entry, choice.members);
    Renumbering renumbering(statement, digits);
    forward = forward.unite(renumbering.forward().to_union_map());
    backward = backward.union_add(isl::union_pw_multi_aff(renumbering.backward().to_pw_multi_aff()));
    values.push_back(renumbering.value());
    statement = renumbering.renumbered();
  }
  auto schedule = call(result.ctx(), isl_schedule_pullback_union_pw_multi_aff, result.schedule.copy(), backward.copy());
  isl::union_pw_aff value(result.ctx(), str("{ ", join(values, "; "), " }"));
  result.schedule = merge_members(schedule, cluster.path, choice.members, value);
  for (auto* pairs :
       {&dependences.flow, &dependences.anti, &dependences.output, &dependences.validity, &dependences.coincidence})
    *pairs = pairs->apply_domain(forward).apply_range(forward);
  clustered.scop = std::move(result);
  clustered.clusters = cluster_views(clustered.scop);
}

}  // namespace tc::polyhedral
