#include "tc/polyhedral/privatise_reduction.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/instances.h"
#include "tc/polyhedral/surround.h"

namespace tc::polyhedral {
namespace {

/// The topmost node at or below \p node under which only \p id stands, below the band that \p node may be.
isl::schedule_node alone(const isl::schedule_node& node, const std::string& id, bool outer_band) {
  if (outer_band) return alone(node.child(0), id, false);
  if (statement_ids(node).size() == 1) return node;
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
  std::string with_lane() const {
    auto result = names;
    result.push_back("w");
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

Tensor lane_tensor(const Scop& scop, const Statement& update, const Kept& kept, std::int64_t width) {
  Tensor tensor;
  tensor.name = unused_name(scop, "lanes_" + update.id);
  tensor.type = scop.tensor(range_name(update.write.relation)).type;
  for (int i : kept.kept) {
    tensor.min.push_back(kept.box[i].min);
    tensor.extent.push_back(kept.box[i].extent());
  }
  tensor.min.push_back(0);
  tensor.extent.push_back(width);
  tensor.strides = row_major(tensor.extent);
  tensor.storage = Tensor::Storage::Workspace;
  tensor.combined = true;
  return tensor;
}

/// A statement with one instance for each element of the lane tensor, beside \p update.
Addition lane_statement(const Statement& update, const Kept& kept, const std::string& id, std::int64_t width) {
  auto ctx = update.domain.ctx();
  auto tuple = str(id, "[", kept.with_lane(), "]");
  auto spread = isl::map(ctx, str("{ ", update.id, "[", join(kept.all), "] -> ", tuple, " : 0 <= w < ", width, " }"));
  Addition addition;
  addition.host = update.id;
  addition.statement.id = id;
  addition.statement.domain = update.domain.apply(spread);
  addition.statement.iterators = kept.names;
  addition.statement.iterators.push_back("w");
  addition.statement.op = update.op;
  addition.like = isl::multi_aff(ctx, str("{ ", tuple, " -> ", update.id, "[", kept.first(), "] }"));
  addition.loops = {isl::multi_union_pw_aff(ctx, str("[{ ", tuple, " -> [(w)] }]"))};
  return addition;
}

Access lane_access(const Addition& addition, const Kept& kept, const std::string& tensor) {
  auto text = str("{ ", addition.statement.id, "[", kept.with_lane(), "] -> ", tensor, "[", kept.with_lane(), "] }");
  return exact_access(isl::map(addition.statement.domain.ctx(), text).intersect_domain(addition.statement.domain));
}

}  // namespace

Scop privatise_reduction(const Scop& scop, const std::vector<int>& cluster_path, const StatementMapping& choice,
                         ClusterMapping& cluster) {
  auto result = scop;
  auto& update = result.statement(choice.id);
  Kept kept(update);
  auto width = std::int64_t{choice.lanes} * choice.unroll;
  auto tensor = lane_tensor(scop, update, kept, width);
  auto identity = lane_statement(update, kept, unused_name(scop, update.id + "_identity"), width);
  identity.statement.body = Statement::Body::Identity;
  identity.statement.write = lane_access(identity, kept, tensor.name);
  auto combine = lane_statement(update, kept, unused_name(scop, update.id + "_combine"), width);
  combine.statement.body = Statement::Body::Copy;
  combine.statement.accumulates = true;
  auto target = update.write.function.pullback(combine.like.to_pw_multi_aff());
  combine.statement.write = {target.as_map().intersect_domain(combine.statement.domain), true, target};
  combine.statement.reads = {lane_access(combine, kept, tensor.name)};
  auto lane = str("(", kept.all[choice.iterator], " - ", kept.box[choice.iterator].min, ") mod ", width);
  auto names = kept.names;
  names.push_back(lane);
  auto text = str("{ ", update.id, "[", join(kept.all), "] -> ", tensor.name, "[", join(names), "] }");
  update.write = exact_access(isl::map(scop.ctx(), text).intersect_domain(update.domain));
  result.tensors.push_back(tensor);
  for (const auto* added : {&identity, &combine})
    cluster.statements.push_back(
        {added->statement.id, static_cast<int>(kept.kept.size()), choice.lanes, choice.unroll});
  auto node = node_at(scop.schedule, cluster_path);
  auto place = path_of(alone(node, update.id, !cluster.members.empty()));
  return surround(result, place, {identity}, {combine});
}

}  // namespace tc::polyhedral
