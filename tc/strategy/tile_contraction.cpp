#include "tc/strategy/tile_contraction.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/dtype.h"
#include "tc/polyhedral/copy_reads.h"
#include "tc/polyhedral/instances.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ClusterStatement;
using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::GridCopy;
using polyhedral::GridStatement;
using polyhedral::Scop;
using polyhedral::Statement;

/// Iterations of the reduction between two barriers.
constexpr std::int64_t block_size = 16;
/// Of its longest loop, at least.
constexpr std::int64_t shortest_block = 4;

bool depends_on(const Access& access, int iterator) {
  return !access.function.is_null() && isl_pw_multi_aff_involves_dims(access.function.get(), isl_dim_in, iterator, 1) == isl_bool_true;
}

class ContractionTiler {
 public:
  ContractionTiler(const Scop& scop, const ClusterView& cluster, const GridLimits& limits, const polyhedral::MappingOptions& options)
      : scop_(scop), cluster_(cluster), limits_(limits), options_(options) {}

  std::optional<GridClusterMapping> run() {
    if (!options_.promote || !find_statement() || !find_members()) return std::nullopt;
    if (!choose_tile()) return std::nullopt;
    choose_copies();
    stage();
    spread_over_grid();
    return result_;
  }

 private:
  const Statement& update() const { return scop_.statement(entry_->id); }
  std::int64_t extent(int iterator) const { return ranges_.at(iterator).extent(); }
  int iterator(int member) const { return entry_->outer[member]; }

  /// The one accumulating statement of the cluster with loops of its own.
  bool find_statement() {
    for (const auto& entry : cluster_.statements) {
      if (entry.inner.empty()) continue;
      if (entry_ || !scop_.statement(entry.id).accumulates) return false;
      entry_ = &entry;
    }
    if (!entry_) return false;
    ranges_ = polyhedral::box(update().domain);
    for (const auto& loop : entry_->inner) {
      if (loop.iterator < 0 || loop.shared) return false;
      reduced_.push_back(loop.iterator);
    }
    for (int member : entry_->outer)
      if (member < 0) return false;
    return update().write.exact && std::all_of(update().reads.begin(), update().reads.end(), [](const Access& a) { return a.exact; });
  }

  /// The member along which the result is contiguous, and the longest one that it shares an operand with.
  bool find_members() {
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (polyhedral::stride(scop_, update().write, iterator(static_cast<int>(i))) == 1) columns_ = static_cast<int>(i);
    if (columns_ < 0) return false;
    for (std::size_t i = 0; i < cluster_.members.size(); ++i) {
      int member = static_cast<int>(i);
      if (member == columns_ || !reuses(member, columns_) || !reuses(columns_, member)) continue;
      if (rows_ < 0 || cluster_.members[i].extent() > cluster_.members[rows_].extent()) rows_ = member;
    }
    return rows_ >= 0;
  }

  /// Is there a read that is indexed by member \p a and not by member \p b?
  bool reuses(int a, int b) const {
    return std::any_of(update().reads.begin(), update().reads.end(),
                       [&](const Access& read) { return depends_on(read, iterator(a)) && !depends_on(read, iterator(b)); });
  }

  /// The largest tile of which there are enough for the processors.
  bool choose_tile() {
    std::int64_t reduction = 1;
    for (int i : reduced_) reduction *= extent(i);
    if (reduction < 8) return false;
    std::int64_t others = 1;
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (static_cast<int>(i) != rows_ && static_cast<int>(i) != columns_) others *= cluster_.members[i].extent();
    auto rows = cluster_.members[rows_].extent(), columns = cluster_.members[columns_].extent();
    for (std::int64_t size : {128, 64, 32}) {
      auto each_row = options_.register_tile.size() == 2 ? options_.register_tile[0] : size / 16;
      auto each_column = options_.register_tile.size() == 2 ? options_.register_tile[1] : size / 16;
      auto count = others * ((rows + size - 1) / size) * ((columns + size - 1) / size);
      auto half = size > 32 ? size / 2 + 1 : size / 2;
      bool wasteful = rows < half || columns < half;
      bool given = !options_.register_tile.empty();
      if (!given && (wasteful || (size > 32 && count < limits_.processors))) continue;
      result_.members.assign(cluster_.members.size(), {1, -1, {}});
      result_.members[rows_] = {16 * each_row, -1, {1, run_of(each_row)}};
      result_.members[columns_] = {16 * each_column, -1, {0, run_of(each_column)}};
      result_.block = {16, 16, 1};
      result_.separate = rows % (16 * each_row) != 0 || columns % (16 * each_column) != 0;
      vector_ = run_of(each_column) == 4 && options_.vectorise && columns % 4 == 0 && writes_vectors();
      result_.others = {"", {}};
      result_.others.tile = result_.others.unroll = true;
      result_.others.vector = vector_;
      return limits_.block_threads >= 256;
    }
    return false;
  }

  /// How many of its \p each neighbouring rows or columns a thread has at once.
  static std::int64_t run_of(std::int64_t each) { return each % 4 == 0 ? 4 : each % 2 == 0 ? 2 : 1; }

  /// May four elements of each row be touched at once?
  bool writes_vectors() const {
    for (const auto& entry : cluster_.statements)
      for (const auto* access : polyhedral::accesses(scop_.statement(entry.id))) {
        auto step = polyhedral::stride(scop_, *access, entry.outer[columns_]);
        if (step != 0 && step != 1) return false;
      }
    return true;
  }

  std::int64_t tile(int iterator_) const {
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (iterator(static_cast<int>(i)) == iterator_) return result_.members[i].tile;
    return iterator_ == result_.blocks.iterator ? result_.blocks.size : extent(iterator_);
  }

  /// Copies of the reads that several threads share, as long as there is room.
  void choose_copies() {
    choose_blocks();
    result_.shared_bytes =
        options_.shared_bytes > 0 ? std::min(options_.shared_bytes, limits_.block_shared_bytes_requested) : limits_.block_shared_bytes;
    auto room = result_.shared_bytes;
    for (std::size_t i = 0; i < update().reads.size(); ++i) {
      auto index = polyhedral::copy_dimensions(update(), static_cast<int>(i));
      const auto& read = update().reads[i];
      bool shared = depends_on(read, iterator(rows_)) != depends_on(read, iterator(columns_));
      if (index.empty() || !shared || is_written(polyhedral::range_name(update().reads[i].relation))) continue;
      const auto& tensor = scop_.tensor(polyhedral::range_name(update().reads[i].relation));
      std::int64_t bytes = byte_size(tensor.type);
      for (const auto& dimension : index) bytes *= dimension.extent([&](int j) { return tile(j); });
      if (bytes > room) continue;
      room -= bytes;
      result_.copies.push_back(copy(static_cast<int>(i), index));
    }
    if (result_.copies.empty()) result_.blocks = {};
  }

  bool is_written(const std::string& tensor) const {
    return std::any_of(cluster_.statements.begin(), cluster_.statements.end(), [&](const auto& entry) {
      return polyhedral::touches(scop_.statement(entry.id).write, tensor);
    });
  }

  /// The reduction's longest loop is cut, the shorter the more iterations stand below it.
  void choose_blocks() {
    int longest = -1;
    for (int i : reduced_)
      if (longest < 0 || extent(i) > extent(longest)) longest = i;
    auto size = options_.reduction_block > 0 ? options_.reduction_block : block_size;
    std::int64_t below = 1;
    for (int i : reduced_)
      if (i != longest) below *= extent(i);
    while (options_.reduction_block == 0 && size > shortest_block && size * below > 4 * block_size) size /= 2;
    if (extent(longest) > size && ranges_.at(longest).min % size == 0) result_.blocks = {update().id, longest, size};
  }

  GridCopy copy(int read, const std::vector<polyhedral::CopyDimension>& index) const {
    GridCopy result{update().id, read};
    result.contiguous = depends_on(update().reads.at(read), iterator(columns_)) ? iterator(columns_) : iterator(rows_);
    for (const auto& dimension : index) {
      int j = dimension.iterator;
      if (j < 0) continue;
      bool whole = extent(j) % 4 == 0 && tile(j) % 4 == 0 && ranges_.at(j).min == 0;
      if (polyhedral::stride(scop_, update().reads.at(read), j) != 1 || !whole || !aligned(update().reads.at(read))) continue;
      result.run_along = j;
      result.vector = 4;
    }
    return result;
  }

  /// Do rows of the tensor start at multiples of four elements?
  bool aligned(const Access& access) const {
    const auto& tensor = scop_.tensor(polyhedral::range_name(access.relation));
    return std::all_of(tensor.strides.begin(), tensor.strides.end(), [](auto stride) { return stride == 1 || stride % 4 == 0; });
  }

  /// The accumulators stay in registers.
  void stage() {
    result_.staged = {polyhedral::range_name(update().write.relation)};
    for (const auto& tensor : scop_.tensors)
      if (tensor.storage == polyhedral::Tensor::Storage::Workspace && !tensor.live_in && !tensor.live_out && tensor.name != result_.staged[0] &&
          is_written(tensor.name))
        result_.promoted.push_back(tensor.name);
  }

  void spread_over_grid() {
    int dimension = 0;
    auto take = [&](int member) {
      auto& choice = result_.members[member];
      auto count = (cluster_.members[member].extent() + choice.tile - 1) / choice.tile;
      if (dimension > 2 || count <= 1) return;
      choice.grid = dimension;
      result_.grid[dimension] = std::min(count, limits_.grid[dimension]);
      ++dimension;
    };
    take(columns_);
    take(rows_);
    for (int i = static_cast<int>(cluster_.members.size()) - 1; i >= 0; --i)
      if (i != rows_ && i != columns_) take(i);
  }

  const Scop& scop_;
  const ClusterView& cluster_;
  const GridLimits& limits_;
  const polyhedral::MappingOptions& options_;
  const ClusterStatement* entry_ = nullptr;
  std::vector<polyhedral::Interval> ranges_;
  std::vector<int> reduced_;
  int rows_ = -1, columns_ = -1;
  bool vector_ = false;
  GridClusterMapping result_;
};

}  // namespace

std::optional<GridClusterMapping> tile_contraction(const Scop& scop, const ClusterView& cluster, const GridLimits& limits,
                                                   const polyhedral::MappingOptions& options) {
  if (cluster.members.size() < 2) return std::nullopt;
  return ContractionTiler(scop, cluster, limits, options).run();
}

}  // namespace tc::strategy
