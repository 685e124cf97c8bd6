#include "tc/polyhedral/map/stage_tensor.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/surround.h"

namespace tc::polyhedral {
namespace {

/// What the statements of a cluster do with one tensor, in program order; a statement reads before it writes.
class Uses {
 public:
  Uses(const Scop& scop, const isl::schedule_node& band, const std::string& tensor)
      : inside_(statement_ids(band.child(0))), elements_(isl::union_map::empty(scop.ctx())) {
    for (const auto& statement : scop.statements) {
      bool here = std::find(inside_.begin(), inside_.end(), statement.id) != inside_.end();
      auto touched = accesses(statement);
      std::rotate(touched.begin(), touched.begin() + 1, touched.end());
      for (const auto* access : touched) {
        if (!touches(*access, tensor)) continue;
        outside = outside || !here;
        if (here) add(statement, *access, access == &statement.write);
      }
    }
    auto iterations = call(scop.ctx(), isl_schedule_node_band_get_partial_schedule_union_map, band.get());
    auto owners = elements_.reverse().apply_range(iterations);
    bool covered = writer && elements_.range().is_subset(writer->write.relation.range().to_union_set());
    exclusive = exact && covered && owners.is_single_valued();
  }

  bool outside = false;  ///< statements of other clusters touch it too
  bool exact = true;
  bool exclusive = false;  ///< each element belongs to one iteration of the outer band, and `writer` writes it
  const Statement* writer = nullptr;  ///< the statement that writes all that is touched
  bool reads_first = false;           ///< values from before the cluster may be read

 private:
  void add(const Statement& statement, const Access& access, bool write) {
    exact = exact && access.exact;
    elements_ = elements_.unite(access.relation.to_union_map());
    bool known = writer && access.relation.range().is_subset(writer->write.relation.range());
    if (!known && (!write || statement.accumulates)) reads_first = true;
    if (write && !known) writer = &statement;
  }

  std::vector<std::string> inside_;
  isl::union_map elements_;
};

/// The temporary and where it holds what the tensor does: at the same index, or at the iterators of the statement that
/// writes it.
class Temporary {
 public:
  Temporary(const Scop& scop, const Tensor& tensor, const Statement& writer) : tensor_(tensor) {
    tensor_.name = unused_name(scop, "acc_" + tensor.name);
    tensor_.storage = Tensor::Storage::Workspace;
    tensor_.live_in = tensor_.live_out = false;
    tensor_.elements = {};
    tensor_.stride_variables = {};
    if (is_compound(writer)) index_by_iterators(writer);
    tensor_.strides = row_major(tensor_.extent);
  }

  const Tensor& tensor() const { return tensor_; }

  /// \p access, one of \p statement, to the temporary in place of the tensor.
  Access redirected(const Access& access, const Statement& statement) const {
    if (layout_.is_null()) return redirect(access, tensor_.name);
    auto result = access;
    result.function = layout_.pullback(access.function).gist(statement.domain);
    result.relation = result.function.as_map().intersect_domain(access.relation.domain());
    return result;
  }

 private:
  Tensor tensor_;
  Nullable<isl::pw_multi_aff> layout_;

  /// Is an index of what \p writer writes more than an iterator: digits of one, or a sum of several?
  static bool is_compound(const Statement& writer) {
    if (!writer.write.function.isa_multi_aff()) return false;
    auto index = tc::polyhedral::elements(writer.write.function.as_multi_aff().list());
    return std::any_of(index.begin(), index.end(), [](const isl::aff& aff) {
      int iterators = 0;
      for (int i = 0; i < isl_aff_dim(aff.get(), isl_dim_in); ++i) {
        const auto factor = call(aff.ctx(), isl_aff_get_coefficient_val, aff.get(), isl_dim_in, i);
        iterators += factor.is_zero() ? 0 : factor.is_one() ? 1 : 2;
      }
      return isl_aff_dim(aff.get(), isl_dim_div) > 0 || iterators > 1;
    });
  }
  void index_by_iterators(const Statement& writer) {
    auto names = dimension_names(dimensions(writer.domain));
    std::vector<std::string> kept;
    for (int i : kept_dimensions(writer)) kept.push_back(names[i]);
    isl::map pick(writer.domain.ctx(),
                  str("{ ", writer.id, "[", join(names), "] -> ", tensor_.name, "[", join(kept), "] }"));
    auto place = writer.write.relation.intersect_domain(writer.domain).reverse().apply_range(pick);
    if (!place.is_single_valued()) return;
    layout_ = place.as_pw_multi_aff();
    auto box = polyhedral::box(place.range());
    tensor_.min.clear();
    tensor_.extent.clear();
    for (const auto& interval : box) {
      tensor_.min.push_back(interval.min);
      tensor_.extent.push_back(interval.extent());
    }
  }
};

/// The copy statement \p id, one instance for each element \p host writes; \p into: from the tensor to the temporary.
Addition copy_statement(const Statement& host, const std::string& id, const Temporary& temporary, bool into) {
  auto ctx = host.domain.ctx();
  auto kept = kept_dimensions(host);
  auto names = dimension_names(dimensions(host.domain));
  auto box = polyhedral::box(host.domain);
  std::vector<std::string> own, first;
  for (std::size_t i = 0; i < names.size(); ++i) {
    bool stays = std::find(kept.begin(), kept.end(), static_cast<int>(i)) != kept.end();
    if (stays) own.push_back(names[i]);
    first.push_back(stays ? names[i] : str(box[i].min));
  }
  auto tuple = str(id, "[", join(own), "]");
  Addition addition;
  addition.host = host.id;
  addition.statement.id = id;
  addition.statement.body = Statement::Body::Copy;
  addition.statement.iterators = own;
  addition.statement.domain =
      host.domain.apply(isl::map(ctx, str("{ ", host.id, "[", join(names), "] -> ", tuple, " }")));
  addition.like = isl::multi_aff(ctx, str("{ ", tuple, " -> ", host.id, "[", join(first), "] }"));
  auto function = host.write.function.pullback(addition.like.to_pw_multi_aff());
  Access memory{function.as_map().intersect_domain(addition.statement.domain), true, function};
  auto local = temporary.redirected(memory, addition.statement);
  addition.statement.write = into ? local : memory;
  addition.statement.reads = {into ? memory : local};
  return addition;
}

/// Fewer lanes than that are not worth a vector of their own.
constexpr int least_lanes = 4;

/// Maps a copy like the points of the outer band \p band: lanes along the member that the mapping names for copies, as many as the
/// tensor has side by side.
void map_copy(const Scop& scop, const Addition& copy, const Statement& host, const isl::schedule_node& band,
              ClusterState& cluster) {
  const auto& copies = cluster.copies;
  if (copies.iterator < 0) return;
  auto iterator = only_iterator(band_members(band)[copies.iterator], host.domain);
  auto kept = kept_dimensions(host);
  auto position = std::find(kept.begin(), kept.end(), iterator);
  if (position == kept.end()) return;
  auto lanes = even_lanes(scop, host.write, iterator, copies.lanes);
  if (lanes < least_lanes) lanes = copies.lanes;
  cluster.added.push_back({copy.statement.id, static_cast<int>(position - kept.begin()), lanes});
}

}  // namespace

Scop stage_tensor(const Scop& scop, const std::vector<int>& path, const std::string& name, ClusterState& cluster) {
  auto band = node_at(scop.schedule, path);
  if (!band.isa<isl::schedule_node_band>()) return scop;
  Uses uses(scop, band, name);
  if (!uses.exclusive || !uses.writer) return scop;
  const auto& tensor = scop.tensor(name);
  Temporary temporary(scop, tensor, *uses.writer);
  const auto& staged = temporary.tensor().name;
  std::vector<Addition> before, after;
  if (uses.reads_first)
    before.push_back(copy_statement(*uses.writer, unused_name(scop, name + "_in"), temporary, true));
  if (uses.outside || tensor.live_out)
    after.push_back(copy_statement(*uses.writer, unused_name(scop, name + "_out"), temporary, false));
  for (const auto* additions : {&before, &after})
    for (const auto& addition : *additions) map_copy(scop, addition, *uses.writer, band, cluster);
  std::replace(cluster.temporaries.begin(), cluster.temporaries.end(), name, staged);
  auto result = scop;
  for (const auto& id : statement_ids(band.child(0)))
    for (auto* access : accesses(result.statement(id)))
      if (touches(*access, name)) *access = temporary.redirected(*access, result.statement(id));
  result.tensors.push_back(temporary.tensor());
  auto inside = path;
  inside.push_back(0);
  return surround(result, inside, before, after);
}

}  // namespace tc::polyhedral
