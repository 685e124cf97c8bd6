#include "tc/polyhedral/map_grid/repeat_in_lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// The thread along x of an instance: floor((iterator - min) mod `mod` / step); without an iterator it is 0.
struct Lane {
  int iterator = -1;
  std::int64_t min = 0, mod = 0, step = 1;
};

/// How the threads along x run the statements of a cluster.
class LanesOfStatements {
 public:
  LanesOfStatements(const Scop& scop, const GridClusterState& state) : state_(state) {
    for (const auto& statement : scop.statements)
      if (const auto lane = find(statement)) lanes_[statement.id] = *lane;
  }

  /// Nothing where several loops of \p id are on these threads, or all threads of a block share one.
  std::optional<Lane> of(const std::string& id) const {
    const auto found = lanes_.find(id);
    return found == lanes_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const NestBranch* branch_of(const std::string& id) const {
    if (const auto number = state_.position(id); number >= 0)
      return &state_.nest.branches[static_cast<std::size_t>(number)];
    for (const auto& branch : state_.added)
      if (branch.statement == id) return &branch;
    return nullptr;
  }

  std::optional<Lane> find(const Statement& statement) const {
    const auto* branch = branch_of(statement.id);
    if (!branch) return std::nullopt;
    Lane result;
    for (const auto& loop : branch->loops) {
      if (loop.place == NestPlace::Threads) return std::nullopt;
      if (loop.place != NestPlace::Thread || loop.dimension != 0) continue;
      const auto& index = loop.digit.index;
      if (result.iterator >= 0) return std::nullopt;
      result = {iterator_of(statement, index), 0, loop.digit.mod, loop.digit.step};
      if (result.iterator < 0) return std::nullopt;
      result.min = box(statement.domain)[static_cast<std::size_t>(result.iterator)].min;
    }
    return result;
  }

  int iterator_of(const Statement& statement, const NestIndex& index) const {
    if (index.statement >= 0) return index.number;
    const auto number = state_.position(statement.id);
    return number < 0 ? -1
                      : state_.space.statements[static_cast<std::size_t>(number)]
                            .entry.outer[static_cast<std::size_t>(index.number)];
  }

  const GridClusterState& state_;
  std::map<std::string, Lane> lanes_;
};

class Repeater {
 public:
  Repeater(const Scop& scop, GridClusterState& state) : scop_(scop), state_(state), lanes_(scop, state) {}

  Scop run() {
    find_tensors();
    if (tensors_.empty()) return scop_;
    auto result = scop_;
    auto backward = isl::union_pw_multi_aff::empty(scop_.ctx());
    for (auto& statement : result.statements) {
      auto from = statement.domain.space().identity_multi_aff_on_domain();
      if (is_repeated(statement)) {
        from = without_lane(statement);
        statement = repeated(statement, from);
      }
      backward = backward.union_add(isl::union_pw_multi_aff(from.to_pw_multi_aff()));
    }
    const auto pulled = isl::schedule(scop_.schedule).pullback(backward);
    result.schedule = call(scop_.ctx(), isl_schedule_intersect_domain, pulled.copy(), result.domain().release());
    for (auto& statement : result.statements) {
      if (is_repeated(scop_.statement(statement.id))) add_loop(result, statement);
      add_lane_to_accesses(statement);
    }
    for (const auto& name : tensors_) add_lane_to_tensor(result.tensor(name));
    return result;
  }

 private:
  std::int64_t threads() const { return state_.block()[0]; }

  static bool touches_tensor(const Statement& statement, const std::string& tensor) {
    const auto all = accesses(statement);
    return std::any_of(all.begin(), all.end(), [&](const Access* access) { return touches(*access, tensor); });
  }

  /// Do all threads along x know what \p statement has combined?
  bool combines(const Statement& statement) const { return statement.combined_lanes == threads(); }
  /// Does the first of the threads along x alone run \p statement?
  bool is_of_first(const Statement& statement) const {
    const auto lane = lanes_.of(statement.id);
    return lane && lane->iterator < 0;
  }
  bool writes_one_of(const Statement& statement, const std::set<std::string>& tensors) const {
    return tensors.count(range_name(statement.write.relation)) > 0;
  }
  bool is_repeated(const Statement& statement) const {
    return writes_one_of(statement, tensors_) && !combines(statement);
  }

  /// May all threads along x have \p tensor? It is a temporary of the cluster that statements of the first of them write, or sums that
  /// all know.
  bool may_be_repeated(const Tensor& tensor) const {
    if (tensor.storage != Tensor::Storage::Workspace || tensor.live_in || tensor.live_out) return false;
    for (const auto& statement : scop_.statements) {
      if (!touches_tensor(statement, tensor.name)) continue;
      for (const auto* access : accesses(statement))
        if (touches(*access, tensor.name) && (!access->exact || access->function.is_null())) return false;
      if (!lanes_.of(statement.id) || has_unit(statement)) return false;
      const bool writes = touches(statement.write, tensor.name);
      if (writes && !combines(statement) && !(is_of_first(statement) && writes_one(statement))) return false;
    }
    return true;
  }
  /// Of several elements each thread would hold all.
  bool writes_one(const Statement& statement) const {
    const auto number = state_.position(statement.id);
    return number >= 0 && state_.space.writes_one_in_shared_loops(number);
  }
  bool has_unit(const Statement& statement) const {
    const auto number = state_.position(statement.id);
    return number >= 0 && !state_.nest.branches[static_cast<std::size_t>(number)].unit.empty();
  }

  /// Do threads along x, or statements that all of them are to run, read \p tensor, which the first one writes?
  bool is_handed(const std::string& tensor) const {
    return std::any_of(scop_.statements.begin(), scop_.statements.end(), [&](const Statement& statement) {
      return touches_tensor(statement, tensor) && !combines(statement) &&
             (!is_of_first(statement) || is_repeated(statement));
    });
  }

  void find_tensors() {
    std::vector<std::string> open;
    for (const auto& name : state_.promoted)
      if (may_be_repeated(scop_.tensor(name))) open.push_back(name);
    for (bool changes = true; changes;) {
      changes = false;
      for (const auto& name : open)
        if (tensors_.count(name) == 0 && is_handed(name)) changes = tensors_.insert(name).second;
    }
  }

  /// { S[i, lane] -> S[i] }
  isl::multi_aff without_lane(const Statement& statement) const {
    const auto names = dimension_names(dimensions(statement.domain));
    auto all = names;
    all.push_back("lane");
    return isl::multi_aff(scop_.ctx(),
                          str("{ ", statement.id, "[", join(all), "] -> ", statement.id, "[", join(names), "] }"));
  }

  Statement repeated(const Statement& statement, const isl::multi_aff& from) const {
    const auto last = static_cast<unsigned>(dimensions(statement.domain));
    auto domain = statement.domain.preimage(from);
    domain = call(domain.ctx(), isl_set_lower_bound_si, domain.copy(), isl_dim_set, last, 0);
    domain =
        call(domain.ctx(), isl_set_upper_bound_si, domain.copy(), isl_dim_set, last, static_cast<int>(threads() - 1));
    auto result = moved(statement, from, domain);
    result.iterators.push_back("lane");
    return result;
  }

  /// The loop of \p statement over the threads, innermost, in the schedule and in the nest.
  void add_loop(Scop& scop, const Statement& statement) {
    const int last = dimensions(statement.domain) - 1;
    auto leaf = common_node(scop.schedule, {statement.id});
    const auto identity = isl::multi_aff(statement.domain.space().identity_multi_aff_on_domain());
    scop.schedule = insert_band(leaf, {isl::union_pw_aff(identity.at(last))}, {true}).schedule();
    const auto number = state_.position(statement.id);
    auto loop = loop_over(NestIndex{std::max(number, 0), last}, 0, 1);
    loop.place = NestPlace::Thread;
    if (number < 0) return void(state_.added.push_back({.statement = statement.id, .loops = {loop}}));
    state_.nest.branches[static_cast<std::size_t>(number)].loops.push_back(loop);
    auto& space = state_.space.statements[static_cast<std::size_t>(number)];
    space.extents.push_back(threads());
    space.kept.push_back(last);
  }

  /// The thread of \p statement, of the scop that is made, as a function of its instances.
  isl::pw_aff lane_of(const Statement& statement) const {
    const auto names = dimension_names(dimensions(statement.domain));
    std::string value = "0";
    const auto& before = scop_.statement(statement.id);
    const auto lane = lanes_.of(statement.id);
    if (is_repeated(before) || combines(before)) {
      value = names.back();
    } else if (lane && lane->iterator >= 0) {
      value = str("(", names[static_cast<std::size_t>(lane->iterator)], " - ", lane->min, ")");
      if (lane->mod > 0) value = str("(", value, " mod ", lane->mod, ")");
      value = str("floor(", value, "/", lane->step, ") mod ", threads());
    }
    return isl::pw_aff(scop_.ctx(), str("{ ", statement.id, "[", join(names), "] -> [(", value, ")] }"));
  }

  void add_lane_to_accesses(Statement& statement) const {
    for (auto* access : accesses(statement)) {
      if (access->function.is_null() || tensors_.count(range_name(access->function)) == 0) continue;
      const auto tensor = range_name(access->function);
      const auto runs = access->relation.domain();
      const auto lane = call(scop_.ctx(), isl_pw_multi_aff_from_pw_aff, lane_of(statement).release());
      access->function = access->function.flat_range_product(lane).set_range_tuple(tensor);
      access->relation = access->function.as_map().intersect_domain(runs);
    }
    if (combines(statement) && tensors_.count(range_name(statement.write.relation)) > 0)
      statement.combined_in_all = true;
  }

  void add_lane_to_tensor(Tensor& tensor) const {
    tensor.min.push_back(0);
    tensor.extent.push_back(threads());
    tensor.strides = row_major(tensor.extent);
  }

  const Scop& scop_;
  GridClusterState& state_;
  const LanesOfStatements lanes_;
  std::set<std::string> tensors_;
};

}  // namespace

Scop repeat_in_lanes(const Scop& scop, GridClusterState& state) {
  const auto threads = state.block()[0];
  if (threads == 1 || state.warp_size % threads != 0) return scop;
  return Repeater(scop, state).run();
}

}  // namespace tc::polyhedral
