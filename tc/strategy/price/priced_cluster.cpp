#include "tc/strategy/price/priced_cluster.h"

#include <algorithm>
#include <optional>

#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/strategy/cost/vector_cost.h"
#include "tc/strategy/cost/vector_runs.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::Scop;
using polyhedral::Statement;
using polyhedral::Tensor;

/// Elements of the widest vector that alignment is asked of.
constexpr int most_aligned = 64;

/// Is \p tensor a temporary that only the statements of \p cluster touch?
bool is_own(const Scop& scop, const ClusterView& cluster, const Tensor& tensor) {
  if (tensor.storage != Tensor::Storage::Workspace || tensor.live_in || tensor.live_out) return false;
  return std::all_of(scop.statements.begin(), scop.statements.end(), [&](const Statement& statement) {
    bool here = std::any_of(cluster.statements.begin(), cluster.statements.end(),
                            [&](const ClusterStatement& entry) { return entry.id == statement.id; });
    auto all = polyhedral::accesses(statement);
    return here || std::none_of(all.begin(), all.end(),
                                [&](const Access* access) { return polyhedral::touches(*access, tensor.name); });
  });
}

/// Does \p function depend on dimension number \p i?
bool involves(const isl::aff& function, int i) {
  return isl_aff_involves_dims(function.get(), isl_dim_in, static_cast<unsigned>(i), 1) == isl_bool_true;
}

/// What a body computes of which nothing else is known.
BodyOperations guess(const Statement& statement) {
  if (statement.body != Statement::Body::Source) return {.simple = 0};
  auto reads = static_cast<double>(statement.reads.size());
  return {.simple = std::max(1.0, reads - 1 + (statement.accumulates && !statement.product))};
}

class Maker {
 public:
  Maker(const Scop& scop, const ClusterView& cluster, PricedCluster& result)
      : scop_(scop), cluster_(cluster), result_(result) {}

  void add(const ClusterStatement& entry, const OperationsOfBodies& bodies) {
    const auto& statement = scop_.statement(entry.id);
    PricedStatement priced;
    priced.entry = entry;
    box_ = polyhedral::box(statement.domain);
    for (const auto& interval : box_)
      priced.extent.push_back(static_cast<double>(std::max<std::int64_t>(interval.extent(), 1)));
    priced.lanes = vector_lanes(scop_, statement, result_.target);
    priced.accumulates = statement.accumulates;
    priced.reduces = polyhedral::reduces_alone(statement, entry);
    priced.guards = guards_of(statement);
    priced.run_share = run_share(statement);
    for (const auto& guard : priced.guards)
      priced.guarded_share *= guarded_shares(guard, priced.extent, std::vector<double>(priced.extent.size(), 1)).some;
    priced.write = access(statement, statement.write);
    result_.tensors[priced.write.tensor].written = true;
    for (std::size_t i = 0; i < statement.reads.size(); ++i) {
      priced.reads.push_back(access(statement, statement.reads[i]));
      if (!statement.reads[i].exact) find_strides(statement, i, priced.reads);
      priced.reads.back().near = near(statement, i, priced.reads);
      priced.reads.back().packable = is_packable(statement, static_cast<int>(i));
      if (result_.target.grid)
        priced.reads.back().dimensions = polyhedral::copy_dimensions(statement, static_cast<int>(i));
    }
    auto known = bodies.find(statement.source);
    priced.body = known == bodies.end() ? guess(statement) : known->second;
    for (auto& invariant : priced.body.invariants) invariant.changes = own_changes(statement, invariant.changes);
    result_.statements.push_back(std::move(priced));
  }

 private:
  /// The iterators of \p statement along which one of the source statement's, which \p changes tells, is another; all where
  /// it is not known how they belong together.
  static std::vector<bool> own_changes(const Statement& statement, const std::vector<bool>& changes) {
    const auto count = polyhedral::dimensions(statement.domain);
    if (statement.origin.is_null() && static_cast<int>(changes.size()) == count) return changes;
    if (statement.origin.is_null()) return std::vector<bool>(static_cast<std::size_t>(count), true);
    std::vector<bool> result;
    for (int i = 0; i < count; ++i) {
      bool moves = false;
      for (std::size_t k = 0; k < changes.size(); ++k)
        moves |= changes[k] && involves(statement.origin.at(static_cast<int>(k)), i);
      result.push_back(moves);
    }
    return result;
  }

  PricedAccess access(const Statement& statement, const Access& access) {
    PricedAccess result;
    result.tensor = number(polyhedral::range_name(access.relation));
    for (int i = 0; i < polyhedral::dimensions(statement.domain); ++i) {
      auto stride = polyhedral::stride(scop_, access, i);
      auto blocks = polyhedral::blocked_stride(scop_, access, i).value_or(polyhedral::BlockedStride());
      if (blocks.size > 0) stride = blocks.inside;
      result.strides.push_back(stride);
      result.blocks.push_back(blocks);
      result.used.push_back(stride != 0 || blocks.between != 0);
      result.aligned.push_back(stride == 1 ? aligned_run(scop_, box_, access, i, most_aligned) : 1);
    }
    result.guarded = !statement.domain.is_subset(access.relation.domain());
    return result;
  }

  /// Strides of read number \p index, whose element tensors tell, along the iterators that do not index these tensors.
  void find_strides(const Statement& statement, std::size_t index, std::vector<PricedAccess>& reads) const {
    const auto& access = statement.reads[index];
    if (!access.indirection) return;
    for (std::size_t i = 0; i < reads[index].strides.size(); ++i) {
      bool told = false;
      for (int k = 1; k <= access.indirection->subscript_reads; ++k)
        told = told || reads[index - static_cast<std::size_t>(k)].used[i];
      if (told) continue;
      auto stride = polyhedral::known_stride(scop_, access, static_cast<int>(i));
      if (stride == polyhedral::unknown_stride) continue;
      reads[index].strides[i] = stride;
      reads[index].used[i] = stride != 0;
    }
  }

  /// How far the reads before number \p index are from it that move as it does.
  std::vector<NearRead> near(const Statement& statement, std::size_t index,
                             const std::vector<PricedAccess>& reads) const {
    std::vector<NearRead> result;
    for (std::size_t i = 0; i < index; ++i) {
      if (reads[i].tensor != reads[index].tensor) continue;
      auto shifts = shifts_between(statement.reads[i], statement.reads[index]);
      bool guarded = reads[i].guarded || reads[index].guarded;
      if (!shifts || (guarded && !statement.reads[i].relation.is_equal(statement.reads[index].relation))) continue;
      result.push_back({static_cast<int>(i), *shifts});
    }
    return result;
  }
  std::optional<std::vector<Shift>> shifts_between(const Access& from, const Access& to) const {
    for (const auto* access : {&from, &to})
      if (!access->exact || access->function.is_null() || !access->function.isa_multi_aff()) return std::nullopt;
    const auto& tensor = scop_.tensor(polyhedral::range_name(to.relation));
    const auto a = from.function.as_multi_aff(), b = to.function.as_multi_aff();
    std::vector<Shift> result;
    for (std::size_t i = 0; i < tensor.strides.size(); ++i) {
      const auto apart = b.at(static_cast<int>(i)).sub(a.at(static_cast<int>(i)));
      if (!apart.is_cst()) return std::nullopt;
      if (const auto by = apart.constant_val(); !by.is_int())
        return std::nullopt;
      else if (!by.is_zero())
        result.push_back({tensor.strides[i], by.num_si()});
    }
    return result;
  }

  bool is_packable(const Statement& statement, int read) const {
    if (polyhedral::index_iterators(statement, read).empty()) return false;
    auto name = polyhedral::range_name(statement.reads[static_cast<std::size_t>(read)].relation);
    return std::none_of(cluster_.statements.begin(), cluster_.statements.end(), [&](const ClusterStatement& other) {
      return polyhedral::touches(scop_.statement(other.id).write, name);
    });
  }

  int number(const std::string& name) {
    auto& tensors = result_.tensors;
    auto found = std::find_if(tensors.begin(), tensors.end(), [&](const PricedTensor& t) { return t.name == name; });
    if (found != tensors.end()) return static_cast<int>(found - tensors.begin());
    const auto& tensor = scop_.tensor(name);
    PricedTensor priced{name, static_cast<double>(byte_size(tensor.type)), 0, tensor.type,
                        is_own(scop_, cluster_, tensor)};
    priced.bytes = priced.element;
    for (auto extent : tensor.extent) priced.bytes *= static_cast<double>(std::max<std::int64_t>(extent, 1));
    tensors.push_back(priced);
    return static_cast<int>(tensors.size()) - 1;
  }

  const Scop& scop_;
  const ClusterView& cluster_;
  PricedCluster& result_;
  std::vector<polyhedral::Interval> box_;  ///< of the statement that is added
};

}  // namespace

int row_of_squares(const PricedAccess& read, const polyhedral::NestCopy& copy) {
  if (!copy.panel_last || read.strides[static_cast<std::size_t>(copy.panel)] == 1) return -1;
  const auto row = std::find(read.strides.begin(), read.strides.end(), 1);
  return row == read.strides.end() ? -1 : static_cast<int>(row - read.strides.begin());
}

PricedCluster::PricedCluster(const Scop& scop, const ClusterView& cluster, const Target& machine,
                             const OperationsOfBodies& bodies)
    : permutable(cluster.permutable),
      target(machine),
      rates(rates_of(machine)),
      nests(machine.grid ? polyhedral::kernel_nest_space(scop, cluster) : polyhedral::nest_space(scop, cluster)) {
  for (const auto& member : cluster.members)
    extent.push_back(static_cast<double>(std::max<std::int64_t>(member.extent(), 1)));
  for (const auto& loop : cluster.around) strips *= static_cast<double>(loop.extent());
  if (!cluster.around.empty()) tasks = static_cast<double>(cluster.around.front().extent());
  Maker maker(scop, cluster, *this);
  for (const auto& entry : cluster.statements) maker.add(entry, bodies);
}

int PricedCluster::position(const std::string& id) const {
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (statements[i].entry.id == id) return static_cast<int>(i);
  return -1;
}

}  // namespace tc::strategy
