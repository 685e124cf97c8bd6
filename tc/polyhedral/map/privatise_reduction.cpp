#include "tc/polyhedral/map/privatise_reduction.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/surround.h"

namespace tc::polyhedral {
namespace {

/// The topmost node at or below \p node under which only \p id stands, below the band that \p node may be.
isl::schedule_node alone(const isl::schedule_node& node, const std::string& id, bool outer_band) {
  if (outer_band) return alone(node.child(0), id, false);
  if (statement_ids(node).size() == 1) return node;
  if (node.isa<isl::schedule_node_band>()) return alone(node.child(0), id, false);
  for (unsigned i = 0; i < node.n_children(); ++i) {
    auto ids = statement_ids(node.child(i).child(0));
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) return alone(node.child(i).child(0), id, false);
  }
  return node;
}

/// The iterators of a statement that stay when the reduced ones go, and the text to speak of them.
struct Kept {
  explicit Kept(const Statement& statement)
      : kept(kept_dimensions(statement)),
        all(dimension_names(dimensions(statement.domain))),
        box(polyhedral::box(statement.domain)) {
    for (int i : kept) names.push_back(all[i]);
  }
  /// "i0, i2, w"
  std::string with(const std::vector<std::string>& parts) const {
    auto result = names;
    result.insert(result.end(), parts.begin(), parts.end());
    return join(result);
  }
  /// Instance of the statement with the first value of each reduced iterator.
  std::string first() const {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool stays = std::find(kept.begin(), kept.end(), static_cast<int>(i)) != kept.end();
      result.push_back(stays ? all[i] : str(box[i].min));
    }
    return join(result);
  }
  std::vector<int> kept;
  std::vector<std::string> all, names;
  std::vector<Interval> box;
};

/// The parts of a reduction that accumulate on their own: the numbers `index` of an instance's, up to `count` each.
struct Parts {
  std::vector<std::string> index;
  std::vector<std::int64_t> count;
  bool lanes = false;      ///< parts are lanes: the statements that start and join them loop over them
  std::int64_t first = 0;  ///< parts that the others are folded onto before these are joined; 0: no folding
  bool outermost = false;  ///< the dimensions of the parts are the outermost ones of their tensor

  /// "w", or "w0", "w1", ...
  std::vector<std::string> names() const {
    return count.size() == 1 ? std::vector<std::string>{"w"} : dimension_names(static_cast<int>(count.size()), "w");
  }
};

/// Gives the update \p id an accumulator for each part, with a statement that starts all of them, one that folds the
/// vectors of several into one, and one that joins what is left.
class Privatiser {
 public:
  Privatiser(const Scop& scop, const std::string& id, const Kept& kept, const Parts& parts)
      : scop_(scop), update_(scop.statement(id)), kept_(kept), parts_(parts), tensor_(make_tensor()) {}

  Scop run(const std::vector<int>& place) {
    auto start = start_parts();
    std::vector<Addition> after;
    if (parts_.first > 0) after.push_back(fold_parts());
    after.push_back(join_parts());
    added = {start.statement.id};
    for (const auto& addition : after) added.push_back(addition.statement.id);
    return surround(redirected(), place, {start}, after);
  }

  Addition start_parts() const {
    auto start = make_statement("_identity", 0, parts_.count.back());
    start.statement.body = Statement::Body::Identity;
    start.statement.write = part_access(start, parts_.names().back());
    return start;
  }

  /// The accumulators from number `first` on go to those before.
  Addition fold_parts() const {
    auto fold = make_statement("_fold", parts_.first, parts_.count.back());
    fold.statement.body = Statement::Body::Copy;
    fold.statement.accumulates = true;
    fold.statement.write = part_access(fold, str(parts_.names().back(), " mod ", parts_.first));
    fold.statement.reads = {part_access(fold, parts_.names().back())};
    return fold;
  }

  Addition join_parts() const {
    auto join_up = make_statement("_combine", 0, parts_.first > 0 ? parts_.first : parts_.count.back());
    join_up.statement.body = Statement::Body::Copy;
    join_up.statement.accumulates = true;
    auto target = update_.write.function.pullback(join_up.like.to_pw_multi_aff());
    join_up.statement.write = {target.as_map().intersect_domain(join_up.statement.domain), true, target};
    join_up.statement.reads = {part_access(join_up, parts_.names().back())};
    return join_up;
  }

  /// The program with the tensor of the parts, to which the update goes.
  Scop redirected() const {
    auto result = scop_;
    auto text = str("{ ", update_.id, "[", join(kept_.all), "] -> ", tensor_.name, "[", element(parts_.index), "] }");
    result.statement(update_.id).write = exact_access(isl::map(scop_.ctx(), text).intersect_domain(update_.domain));
    result.tensors.push_back(tensor_);
    return result;
  }

  std::vector<std::string> added;  ///< in program order
  const Tensor& tensor() const { return tensor_; }

 private:
  /// The index of the element of an accumulator.
  std::string element(const std::vector<std::string>& part) const {
    return parts_.outermost ? join(part) + (kept_.names.empty() ? "" : ", ") + join(kept_.names) : kept_.with(part);
  }

  Tensor make_tensor() const {
    Tensor tensor;
    tensor.name = unused_name(scop_, (parts_.lanes ? "lanes_" : "parts_") + update_.id);
    tensor.type = scop_.tensor(range_name(update_.write.relation)).type;
    for (int i : kept_.kept) {
      tensor.min.push_back(kept_.box[i].min);
      tensor.extent.push_back(kept_.box[i].extent());
    }
    auto at = parts_.outermost ? 0 : static_cast<long>(kept_.kept.size());
    tensor.min.insert(tensor.min.begin() + at, parts_.count.size(), 0);
    tensor.extent.insert(tensor.extent.begin() + at, parts_.count.begin(), parts_.count.end());
    tensor.strides = row_major(tensor.extent);
    tensor.storage = Tensor::Storage::Workspace;
    tensor.combined = parts_.lanes;
    return tensor;
  }

  /// A statement beside the update with one instance for each element of the tensor whose last number is in [\p from,
  /// \p to).
  Addition make_statement(const std::string& suffix, std::int64_t from, std::int64_t to) const {
    auto ctx = scop_.ctx();
    Addition addition;
    addition.host = update_.id;
    auto& statement = addition.statement;
    statement.id = unused_name(scop_, update_.id + suffix);
    auto names = parts_.names();
    auto tuple = str(statement.id, "[", kept_.with(names), "]");
    std::vector<std::string> bounds;
    for (std::size_t i = 0; i + 1 < names.size(); ++i) bounds.push_back(str("0 <= ", names[i], " < ", parts_.count[i]));
    bounds.push_back(str(from, " <= ", names.back(), " < ", to));
    auto spread = str("{ ", update_.id, "[", join(kept_.all), "] -> ", tuple, " : ", join(bounds, " and "), " }");
    statement.domain = update_.domain.apply(isl::map(ctx, spread));
    statement.iterators = kept_.names;
    statement.iterators.insert(statement.iterators.end(), names.begin(), names.end());
    statement.op = update_.op;
    addition.like = isl::multi_aff(ctx, str("{ ", tuple, " -> ", update_.id, "[", kept_.first(), "] }"));
    if (parts_.lanes) addition.loops = {isl::multi_union_pw_aff(ctx, str("[{ ", tuple, " -> [(w)] }]"))};
    return addition;
  }

  /// \p addition's access to its part, the last number of which is \p last.
  Access part_access(const Addition& addition, const std::string& last) const {
    auto names = parts_.names();
    auto instance = kept_.with(names);
    names.back() = last;
    auto text = str("{ ", addition.statement.id, "[", instance, "] -> ", tensor_.name, "[", element(names), "] }");
    return exact_access(isl::map(scop_.ctx(), text).intersect_domain(addition.statement.domain));
  }

  const Scop& scop_;
  const Statement& update_;
  const Kept& kept_;
  const Parts& parts_;
  Tensor tensor_;
};

std::vector<int> place_of(const Scop& scop, const std::vector<int>& cluster_path, const std::string& id,
                          const ClusterState& cluster) {
  return path_of(alone(node_at(scop.schedule, cluster_path), id, cluster.has_band));
}

}  // namespace

Scop privatise_reduction(const Scop& scop, const std::vector<int>& cluster_path, const StatementMapping& choice,
                         ClusterState& cluster) {
  Kept kept(scop.statement(choice.id));
  auto width = std::int64_t{choice.lanes} * choice.unroll;
  Parts parts{
      {str("(", kept.all[choice.iterator], " - ", kept.box[choice.iterator].min, ") mod ", width)}, {width}, true};
  if (choice.unroll > 1) parts.first = choice.lanes;
  Privatiser privatiser(scop, choice.id, kept, parts);
  auto result = privatiser.run(place_of(scop, cluster_path, choice.id, cluster));
  for (const auto& id : privatiser.added)
    cluster.added.push_back({id, static_cast<int>(kept.kept.size()), choice.lanes, choice.unroll});
  return result;
}

std::pair<Scop, std::vector<std::string>> privatise_for_threads(const Scop& scop, const std::vector<int>& place,
                                                                const std::string& id, int iterator, std::int64_t run,
                                                                std::int64_t threads) {
  Kept kept(scop.statement(id));
  auto from_zero = str("(", kept.all[iterator], " - ", kept.box[iterator].min, ")");
  Parts parts{{str("floor(", from_zero, "/", run, ") mod ", threads)}, {threads}, true};
  Privatiser privatiser(scop, id, kept, parts);
  auto result = privatiser.run(place);
  result.tensor(privatiser.tensor().name).combined = false;
  return {result, privatiser.added};
}

PrivateParts privatise_parts(const Scop& scop, const std::string& id, const std::vector<std::string>& index,
                             const std::vector<std::int64_t>& count, bool parts_first) {
  Kept kept(scop.statement(id));
  Parts parts{index, count};
  parts.outermost = parts_first;
  Privatiser privatiser(scop, id, kept, parts);
  return {privatiser.redirected(), privatiser.start_parts().statement, privatiser.join_parts().statement};
}

Scop block_reduction(const Scop& scop, const std::vector<int>& cluster_path, ClusterState& cluster) {
  const auto& choice = cluster.reduction;
  const auto& copies = cluster.copies;
  Kept kept(scop.statement(choice.statement));
  const auto& range = kept.box[choice.iterator];
  auto count = ceil_div(range.extent(), choice.size);
  Parts parts{{str("floor((", kept.all[choice.iterator], " - ", range.min, ")/", choice.size, ")")}, {count}};
  Privatiser privatiser(scop, choice.statement, kept, parts);
  auto place = place_of(scop, cluster_path, choice.statement, cluster);
  auto result = privatiser.run(place);
  cluster.temporaries.push_back(privatiser.tensor().name);
  for (const auto& id : privatiser.added) {
    cluster.counting_blocks.push_back(id);
    if (copies.iterator < 0) continue;
    const auto members = band_members(node_at(scop.schedule, cluster_path));
    auto iterator = only_iterator(members.at(copies.iterator), scop.statement(choice.statement).domain);
    auto position = std::find(kept.kept.begin(), kept.kept.end(), iterator);
    if (position == kept.kept.end()) continue;
    cluster.added.push_back({id, static_cast<int>(position - kept.kept.begin()), copies.lanes});
  }
  return result;
}

isl::union_pw_aff reduction_blocks(const Scop& scop, const isl::schedule_node& node, const ReductionBlock& reduction,
                                   const std::vector<std::string>& counting) {
  const auto& update = scop.statement(reduction.statement);
  auto range = box(update.domain)[reduction.iterator];
  auto last = (range.extent() - 1) / reduction.size;
  std::vector<std::string> parts;
  bool after = false;
  auto ids = statement_ids(node);
  for (const auto& statement : scop.statements) {
    if (std::find(ids.begin(), ids.end(), statement.id) == ids.end()) continue;
    auto names = dimension_names(dimensions(statement.domain));
    bool counts = std::find(counting.begin(), counting.end(), statement.id) != counting.end();
    auto value = counts ? names.back() : str(after ? last : 0);
    if (statement.id == update.id) {
      value = str("floor((", names[reduction.iterator], " - ", range.min, ")/", reduction.size, ")");
      after = true;
    }
    parts.push_back(str(statement.id, "[", join(names), "] -> [(", value, ")]"));
  }
  return isl::union_pw_aff(scop.ctx(), str("{ ", join(parts, "; "), " }"));
}

}  // namespace tc::polyhedral
