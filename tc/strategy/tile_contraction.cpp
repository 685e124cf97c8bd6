#include "tc/strategy/tile_contraction.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/base/dtype.h"
#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map_grid/copy_dimensions.h"
#include "tc/strategy/copy_gathers.h"
#include "tc/strategy/vector_runs.h"

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

/// Iterations of the longest loop of the reduction between two barriers, at least.
constexpr std::int64_t shortest_block = 4;
/// Cycles from asking memory for an element to having it, and multiply-adds of a processor in one.
constexpr std::int64_t latency = 800, products_a_cycle = 128;
/// Registers of a thread for each of its accumulators, with what it loads for them.
constexpr std::int64_t own_registers = 2;
/// Of copies that wait in the registers of a thread, at most.
constexpr std::int64_t most_held_bytes = 32;
/// Blocks in shared memory at most.
constexpr std::int64_t most_slots = 4;

class ContractionTiler {
 public:
  ContractionTiler(const Scop& scop, const ClusterView& cluster, const GridLimits& limits,
                   const polyhedral::MappingOptions& options)
      : scop_(scop), cluster_(cluster), limits_(limits), options_(options) {}

  std::optional<GridClusterMapping> run() {
    if (!options_.promote || !find_statement() || !find_members()) return std::nullopt;
    if (!choose_tile()) return std::nullopt;
    choose_copies();
    if (leaves_gathers()) return std::nullopt;
    choose_slots();
    copy_subscripts();
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
    for (int read = 0; read < reads(); ++read)
      if (!is_subscript(read) && !polyhedral::element_iterators(update(), read)) return false;
    return update().write.exact;
  }

  int reads() const { return static_cast<int>(update().reads.size()); }
  bool is_subscript(int read) const { return polyhedral::is_subscript(update(), read); }
  bool depends_on(int read, int iterator) const {
    return contains(*polyhedral::element_iterators(update(), read), iterator);
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
    for (int read = 0; read < reads(); ++read)
      if (!is_subscript(read) && depends_on(read, iterator(a)) && !depends_on(read, iterator(b))) return true;
    return false;
  }

  /// The largest tile of which there are enough for the processors.
  bool choose_tile() {
    std::int64_t reduction = 1;
    for (int i : reduced_) reduction = count_product(reduction, extent(i));
    if (reduction < 8) return false;
    std::int64_t others = 1;
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (static_cast<int>(i) != rows_ && static_cast<int>(i) != columns_)
        others = count_product(others, cluster_.members[i].extent());
    auto rows = cluster_.members[rows_].extent(), columns = cluster_.members[columns_].extent();
    for (std::int64_t size : {128, 64, 32}) {
      auto each_row = options_.register_tile.size() == 2 ? options_.register_tile[0] : size / 16;
      auto each_column = options_.register_tile.size() == 2 ? options_.register_tile[1] : size / 16;
      auto count = count_product(others, count_product(ceil_div(rows, size), ceil_div(columns, size)));
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
      auto type = scop_.tensor(polyhedral::range_name(update().write.relation)).type;
      auto words = own_registers * ((byte_size(type) + 3) / 4);
      bool fills = each_row * each_column * words * 256 * 2 <= limits_.processor_registers;
      result_.blocks_per_processor = fills ? 2 : 1;
      return limits_.block_threads >= 256;
    }
    return false;
  }

  /// How many of its \p each neighbouring rows or columns a thread has at once.
  static std::int64_t run_of(std::int64_t each) { return each % 4 == 0 ? 4 : each % 2 == 0 ? 2 : 1; }

  /// May four elements of each row be touched at once? Copies are laid out so.
  bool writes_vectors() const {
    for (const auto& entry : cluster_.statements) {
      const auto& statement = scop_.statement(entry.id);
      for (const auto* access : polyhedral::accesses(statement)) {
        auto step = polyhedral::stride(scop_, *access, entry.outer[columns_]);
        int read = access == &statement.write ? -1 : static_cast<int>(access - statement.reads.data());
        bool copied = &entry == entry_ && read >= 0 && (is_copied(read) || is_subscript(read));
        if (step != 0 && step != 1 && !copied) return false;
      }
    }
    return true;
  }

  /// Do several threads share what read number \p read of the accumulating statement reads, in a copy if there is room?
  bool is_copied(int read) const {
    return !is_subscript(read) && is_shared(read) && !polyhedral::copy_dimensions(update(), read).empty() &&
           !is_written(scop_, cluster_, update(), read);
  }
  bool is_shared(int read) const { return depends_on(read, iterator(rows_)) != depends_on(read, iterator(columns_)); }
  /// How many rows or columns of a tile read the same element.
  std::int64_t reuse(int read) const { return tile(iterator(depends_on(read, iterator(rows_)) ? columns_ : rows_)); }

  /// Would each thread follow subscripts that depend on data, though its block shares what they lead to?
  bool leaves_gathers() const {
    for (int read = 0; read < reads(); ++read) {
      if (update().reads[read].exact || is_subscript(read) || !is_shared(read)) continue;
      bool copied = std::any_of(result_.copies.begin(), result_.copies.end(),
                                [&](const GridCopy& copy) { return copy.read == read; });
      if (!copied || reuse(read) < least_reuse(options_)) return true;
    }
    return false;
  }

  /// Copies what stands in the subscripts of copies, where they use it often and are not made ahead: it would have to
  /// be there a block earlier.
  void copy_subscripts() {
    if (result_.blocks.slots > 1) return;
    auto room = result_.shared_bytes;
    for (const auto& copy : result_.copies) room -= block_bytes(copy.read);
    std::vector<GridCopy> all;
    for (const auto& copy : result_.copies) {
      for (int read = 0; read < copy.read; ++read) {
        if (!is_subscript_of(read, copy.read) || polyhedral::copy_dimensions(update(), read).empty()) continue;
        if (block_elements(copy.read) / copy.vector / block_elements(read) < least_reuse(options_)) continue;
        if (block_bytes(read) > room) continue;
        room -= block_bytes(read);
        all.push_back({update().id, read, polyhedral::copy_dimensions(update(), read).back().iterator});
      }
      all.push_back(copy);
    }
    result_.copies = all;
  }
  bool is_subscript_of(int read, int other) const {
    const auto& access = update().reads[other];
    return !access.exact && read < other && other - access.indirection->subscript_reads <= read;
  }

  std::int64_t tile(int iterator_) const {
    for (std::size_t i = 0; i < cluster_.members.size(); ++i)
      if (iterator(static_cast<int>(i)) == iterator_) return result_.members[i].tile;
    return iterator_ == result_.blocks.iterator ? result_.blocks.size : extent(iterator_);
  }

  /// Copies of the reads that several threads share, as long as there is room.
  void choose_copies() {
    choose_blocks();
    result_.shared_bytes = options_.shared_bytes > 0
                               ? std::min(options_.shared_bytes, limits_.block_shared_bytes_requested)
                               : limits_.block_shared_bytes;
    auto room = result_.shared_bytes;
    for (std::size_t i = 0; i < update().reads.size(); ++i) {
      if (!is_copied(static_cast<int>(i))) continue;
      auto bytes = block_bytes(static_cast<int>(i));
      if (bytes > room) continue;
      room -= bytes;
      result_.copies.push_back(copy(static_cast<int>(i), polyhedral::copy_dimensions(update(), static_cast<int>(i))));
    }
    if (result_.copies.empty()) result_.blocks = {};
  }

  /// Are all tiles and blocks full, and copies boxes of the tensor? Others need so many conditions that copies do not
  /// run ahead.
  bool are_whole() const {
    auto is_box = [&](const GridCopy& copy) {
      const auto& read = update().reads[copy.read];
      auto index = polyhedral::copy_dimensions(update(), copy.read);
      if (!read.exact && !update().domain.is_subset(read.relation.domain())) return false;
      return std::all_of(index.begin(), index.end(), [](const auto& dimension) { return dimension.iterator >= 0; });
    };
    return !result_.separate && extent(result_.blocks.iterator) % result_.blocks.size == 0 &&
           std::all_of(result_.copies.begin(), result_.copies.end(), is_box);
  }

  /// Copies run ahead by as many blocks as hide the way from memory behind what is computed, where there is room for
  /// them.
  void choose_slots() {
    auto& blocks = result_.blocks;
    if (blocks.iterator < 0 || !are_whole()) return;
    while (options_.reduction_block == 0 && blocks.size > shortest_block && held_bytes() > most_held_bytes)
      blocks.size /= 2;
    auto count = ceil_div(extent(blocks.iterator), blocks.size);
    std::int64_t cycles =
        std::max<std::int64_t>(1, tile(iterator(rows_)) * tile(iterator(columns_)) * blocks.size / products_a_cycle);
    auto wish = std::min({1 + ceil_div(latency, cycles), most_slots, count});
    bool asynchronous = std::any_of(result_.copies.begin(), result_.copies.end(),
                                    [](const GridCopy& copy) { return copy.way == GridCopy::Way::Asynchronous; });
    if (!asynchronous) wish = std::min<std::int64_t>(wish, 2);
    while (wish > 1 && shared_bytes(wish) > result_.shared_bytes) --wish;
    blocks.slots = static_cast<int>(std::max<std::int64_t>(wish, 1));
  }

  /// What wait in the registers of a thread while a block is computed.
  std::int64_t held_bytes() const {
    std::int64_t total = 0;
    for (const auto& copy : result_.copies)
      if (copy.way == GridCopy::Way::Registers) total += block_bytes(copy.read);
    return total / (result_.block[0] * result_.block[1]);
  }

  /// What the copies take with \p slots blocks at once.
  std::int64_t shared_bytes(std::int64_t slots) const {
    std::int64_t total = 0;
    for (const auto& copy : result_.copies)
      total +=
          block_bytes(copy.read) * (copy.way == GridCopy::Way::Asynchronous ? slots : std::min<std::int64_t>(slots, 2));
    return total;
  }

  /// What a copy of \p read has in one block.
  std::int64_t block_bytes(int read) const {
    return block_elements(read) *
           byte_size(scop_.tensor(polyhedral::range_name(update().reads.at(read).relation)).type);
  }
  std::int64_t block_elements(int read) const {
    std::int64_t result = 1;
    for (const auto& dimension : polyhedral::copy_dimensions(update(), read))
      result *= dimension.extent([&](int j) { return tile(j); });
    return result;
  }

  /// The reduction's longest loop is cut, the shorter the more iterations stand below it.
  void choose_blocks() {
    int longest = -1;
    for (int i : reduced_)
      if (longest < 0 || extent(i) > extent(longest)) longest = i;
    auto size = options_.reduction_block > 0 ? options_.reduction_block : block_size;
    std::int64_t below = 1;
    for (int i : reduced_)
      if (i != longest) below = count_product(below, extent(i));
    while (options_.reduction_block == 0 && size > shortest_block && size * below > 4 * block_size) size /= 2;
    if (extent(longest) > size && ranges_.at(longest).min % size == 0) result_.blocks = {update().id, longest, size};
  }

  GridCopy copy(int read, const std::vector<polyhedral::CopyDimension>& index) const {
    GridCopy result{update().id, read};
    const auto& access = update().reads.at(read);
    result.contiguous = depends_on(read, iterator(columns_)) ? iterator(columns_) : iterator(rows_);
    for (const auto& dimension : index) {
      int j = dimension.iterator;
      if (j < 0) continue;
      bool whole = extent(j) % 4 == 0 && tile(j) % 4 == 0 && ranges_.at(j).min == 0;
      if (polyhedral::known_stride(scop_, access, j) != 1 || !whole || !aligned(access, j)) continue;
      result.run_along = j;
      result.vector = 4;
    }
    if (comes_by_itself(result)) result.way = GridCopy::Way::Asynchronous;
    return result;
  }

  /// Can the machine make the copy without registers, neighbouring threads neighbouring elements?
  bool comes_by_itself(const GridCopy& copy) const {
    const auto& read = update().reads.at(copy.read);
    auto type = scop_.tensor(polyhedral::range_name(read.relation)).type;
    bool whole_words = byte_size(type) >= 4;
    return limits_.asynchronous_copies && whole_words && (copy.vector == 1 || copy.run_along == copy.contiguous) &&
           polyhedral::known_stride(scop_, read, copy.contiguous) == 1;
  }

  /// Do rows of the tensor start at multiples of four elements?
  bool aligned(const Access& access, int along) const {
    if (!access.exact) return is_aligned(scop_, update(), access, along, 4);
    const auto& tensor = scop_.tensor(polyhedral::range_name(access.relation));
    return tensor.aligned && std::all_of(tensor.strides.begin(), tensor.strides.end(),
                                         [](auto stride) { return stride == 1 || stride % 4 == 0; });
  }

  /// The accumulators stay in registers.
  void stage() {
    result_.staged = {polyhedral::range_name(update().write.relation)};
    for (const auto& tensor : scop_.tensors)
      if (tensor.storage == polyhedral::Tensor::Storage::Workspace && !tensor.live_in && !tensor.live_out &&
          tensor.name != result_.staged[0] && writes(scop_, cluster_, tensor.name))
        result_.promoted.push_back(tensor.name);
  }

  void spread_over_grid() {
    int dimension = 0;
    auto take = [&](int member) {
      auto& choice = result_.members[member];
      auto count = ceil_div(cluster_.members[member].extent(), choice.tile);
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

std::optional<GridClusterMapping> tile_contraction(const Scop& scop, const ClusterView& cluster,
                                                   const GridLimits& limits,
                                                   const polyhedral::MappingOptions& options) {
  if (cluster.members.size() < 2) return std::nullopt;
  return ContractionTiler(scop, cluster, limits, options).run();
}

}  // namespace tc::strategy
