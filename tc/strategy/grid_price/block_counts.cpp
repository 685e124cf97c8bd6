#include "tc/strategy/grid_price/block_counts.h"

#include <algorithm>
#include <cmath>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/strategy/grid_price/access_box.h"
#include "tc/strategy/grid_price/copy_conflicts.h"
#include "tc/strategy/grid_price/kept_temporaries.h"
#include "tc/strategy/grid_price/warp_costs.h"

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestAdded;
using polyhedral::NestKeep;
using polyhedral::NestSharedCopy;

/// Bytes that a thread moves at once, at most.
constexpr std::int64_t widest_access = 16;
/// Times that a block takes whose tile of accumulators is not whole: where runs of threads are not, where some threads go round once
/// more than others, and where all have less. Measured on an H100: products of 1000 x 777 x 1234 and convolutions of rows of 14; of 112
/// columns and of 96 channels in tiles of 128; sums of products of 192 columns in tiles of 128.
constexpr double torn_run_times = 4, torn_round_times = 2, torn_tile_times = 1.3;
/// Four matrices of 8 rows of 16 bytes that a warp loads at once, in so many rounds of the banks.
constexpr double fragment_bytes = 512, fragment_rounds = 4;
/// Registers of a thread for addresses and loops.
constexpr double other_registers = 24;

/// What statements have touched of each tensor: boxes that differ in where they begin are one.
using TouchedBoxes = std::vector<std::vector<std::vector<BoxSide>>>;

/// What all statements of a kernel have in common.
struct KernelSteps {
  std::vector<const NestSharedCopy*> copies;
  std::vector<bool> kept;      ///< for each tensor: threads keep its elements while they work on them
  bool has_tile_ends = false;  ///< tiles of accumulators are filled and emptied, points innermost

  KeptTemporaries temporaries;

  KernelSteps(const PricedCluster& cluster, const Nest& nest, const std::vector<ThreadSpread>& spreads,
              const KernelShape& shape)
      : kept(cluster.tensors.size()) {
    for (const auto& step : nest.trunk) {
      if (const auto* copy = std::get_if<NestSharedCopy>(&step.what)) copies.push_back(copy);
      if (const auto* added = std::get_if<NestAdded>(&step.what)) has_tile_ends = added->points_innermost;
      if (const auto* keep = std::get_if<NestKeep>(&step.what))
        for (std::size_t t = 0; t < kept.size(); ++t)
          if (cluster.tensors[t].name == keep->tensor) kept[t] = cluster.tensors[t].written;
    }
    temporaries = kept_temporaries(cluster, spreads, shape, kept);
  }
};

int slots_of_branch(const polyhedral::NestBranch& branch) {
  int result = 1;
  for (const auto& loop : branch.loops) result = std::max(result, loop.slots);
  return result;
}

/// Counts one statement into the counts of its block.
class StatementCounter {
 public:
  StatementCounter(const PricedCluster& cluster, const Nest& nest, const KernelSteps& steps, const ThreadSpread& spread,
                   const KernelShape& shape, int index, TouchedBoxes& touched, BlockCounts& counts)
      : cluster_(cluster),
        steps_(steps),
        spread_(spread),
        shape_(shape),
        index_(index),
        statement_(cluster.statements[static_cast<std::size_t>(index)]),
        slots_(slots_of_branch(nest.branches[static_cast<std::size_t>(index)])),
        touched_(touched),
        counts_(counts) {}

  void count() {
    count_operations();
    counts_.waits.emplace_back();
    for (const auto& it : spread_.iterators) counts_.waits.back().rounds *= it.tiles;
    for (std::size_t r = 0; r < statement_.reads.size(); ++r) {
      const auto& read = statement_.reads[r];
      if (const auto* copy = copy_of(static_cast<int>(r)))
        count_copy(read, *copy);
      else if (!is_kept(read.tensor))
        count_memory(read, false);
      else if (is_handed(read.tensor) && statement_.accumulates && read.tensor != statement_.write.tensor)
        count_handed(read);
    }
    if (is_kept(statement_.write.tensor) ? writes_back() : !reduces_in_block()) count_memory(statement_.write, true);
    if (reduces_in_block()) count_combination();
    counts_.registers += fragment_registers_;
  }

 private:
  const NestSharedCopy* copy_of(int read) const {
    for (const auto* copy : steps_.copies)
      if (copy->statement == index_ && copy->read == read) return copy;
    return nullptr;
  }

  bool is_handed(int tensor) const { return steps_.temporaries.handed[static_cast<std::size_t>(tensor)]; }
  bool is_kept(int tensor) const { return steps_.kept[static_cast<std::size_t>(tensor)]; }

  /// Is it the last statement that writes what threads keep, and does memory get it?
  bool writes_back() const {
    auto tensor = statement_.write.tensor;
    if (cluster_.tensors[static_cast<std::size_t>(tensor)].own) return false;
    const PricedStatement* last = nullptr;
    for (const auto& other : cluster_.statements)
      if (other.write.tensor == tensor) last = &other;
    return last == &statement_;
  }

  const PricedTensor& tensor_of(const PricedAccess& access) const {
    return cluster_.tensors[static_cast<std::size_t>(access.tensor)];
  }
  TensorSectors& sectors_of(const PricedAccess& access) {
    return counts_.tensors[static_cast<std::size_t>(access.tensor)];
  }
  std::int64_t widest(const PricedAccess& access) const {
    return widest_access / static_cast<std::int64_t>(tensor_of(access).element);
  }
  std::int64_t run_of(int iterator) const { return spread_.iterators[static_cast<std::size_t>(iterator)].run; }

  /// How often a thread asks for elements of \p access, \p at_once of them.
  double executions(const PricedAccess& access, std::int64_t at_once) const {
    return spread_.rounds(&access) / static_cast<double>(at_once);
  }

  /// Elements of \p access that a thread moves at once.
  std::int64_t at_once(const PricedAccess& access) const {
    if (spread_.vector < 0 || access.strides[static_cast<std::size_t>(spread_.vector)] != 1) return 1;
    return std::min(run_of(spread_.vector), widest(access));
  }

  /// Elements of a copy that a thread moves at once: those that a run reads side by side, as compilers join them.
  std::int64_t at_once(const PricedAccess& read, const NestSharedCopy& copy) const {
    return copy.contiguous < 0 ? 1 : std::min(run_of(copy.contiguous), widest(read));
  }

  double conflicts(const PricedAccess& read, const NestSharedCopy& copy, double times, std::int64_t slots) const {
    const auto element = static_cast<std::int64_t>(tensor_of(read).element);
    const auto room = std::max<std::int64_t>(cluster_.target.grid->block_shared_bytes - counts_.shared_bytes, 0);
    return bank_conflicts({.read = read,
                           .choice = copy,
                           .values = values_in_copy(),
                           .element = element,
                           .at_once = at_once(read, copy),
                           .times = times / copies_made(read),
                           .slots = slots,
                           .room = room / element},
                          spread_, shape_, *cluster_.target.grid);
  }

  WarpCosts costs(const PricedAccess& access, bool write, std::int64_t at_once) const {
    auto element = static_cast<std::int64_t>(tensor_of(access).element);
    return warp_costs(access, {element, at_once, write}, spread_, shape_, *cluster_.target.grid);
  }

  /// Dimensions of the grid along which \p access moves.
  void note_grid(const PricedAccess& access, TensorSectors& tensor) const {
    for (std::size_t i = 0; i < spread_.iterators.size(); ++i)
      if (access.used[i] && spread_.iterators[i].grid >= 0 && !contains(tensor.grid, spread_.iterators[i].grid))
        tensor.grid.push_back(spread_.iterators[i].grid);
  }

  std::vector<std::int64_t> values_in_block() const {
    std::vector<std::int64_t> result;
    for (const auto& it : spread_.iterators)
      result.push_back(static_cast<std::int64_t>(std::ceil(static_cast<double>(it.tile) * it.tiles)));
    return result;
  }

  void count_once(const PricedAccess& access, double transactions, TensorSectors& tensor) {
    note_grid(access, tensor);
    auto box = access_box(access, values_in_block());
    auto& known = touched_[static_cast<std::size_t>(access.tensor)];
    if (std::find(known.begin(), known.end(), box) != known.end()) return;
    known.push_back(box);
    auto sector = static_cast<double>(cluster_.target.grid->sector_bytes);
    tensor.once += std::min(transactions, sectors(box, tensor_of(access).element, sector));
  }

  void count_memory(const PricedAccess& access, bool write) {
    auto& tensor = sectors_of(access);
    auto times = executions(access, at_once(access));
    auto warps = costs(access, write, at_once(access));
    auto transactions = times * warps.sectors;
    counts_.cache_rounds += times * warps.cache_rounds;
    counts_.instructions += times * warps.warps;
    (write ? tensor.written : tensor.read) += transactions;
    count_once(access, transactions, tensor);
    auto words = tensor_of(access).element * static_cast<double>(at_once(access)) / 4;
    if (!write) counts_.waits.back().tensors.push_back({access.tensor, times * std::max(words, 1.0)});
  }

  /// What threads read of a temporary that others have left in shared memory.
  void count_handed(const PricedAccess& read) {
    if (spread_.unit) return count_fragments(read);
    std::int64_t together = at_once(read);
    for (std::size_t i = 0; i < spread_.iterators.size(); ++i)
      if (read.strides[i] == 1 && spread_.iterators[i].dimension < 0) together = widest(read);
    const auto times = executions(read, together);
    const auto warps = costs(read, false, together);
    counts_.shared_rounds += times * warps.shared_rounds;
    counts_.instructions += times * warps.warps;
  }

  /// Values of each iterator in one copy.
  std::vector<std::int64_t> values_in_copy() const {
    std::vector<std::int64_t> result;
    for (const auto& it : spread_.iterators) result.push_back(it.cut > 0 ? std::min(it.cut, it.extent) : it.tile);
    return result;
  }

  /// Copies of \p read that a block makes, one after the other: once for a loop whose iterations all read the same.
  double copies_made(const PricedAccess& read) const {
    double result = 1;
    for (std::size_t i = 0; i < spread_.iterators.size(); ++i) {
      const auto& it = spread_.iterators[i];
      if (it.has_copies && !read.used[i]) continue;
      result *= it.tiles * static_cast<double>(it.cut > 0 ? ceil_div(it.extent, it.cut) : 1);
    }
    return result;
  }
  /// Is a copy of \p read made at the begin of each iteration of a loop around several statements?
  bool is_in_loop(const PricedAccess& read) const {
    for (std::size_t i = 0; i < spread_.iterators.size(); ++i)
      if (spread_.iterators[i].has_copies && read.used[i]) return true;
    return false;
  }
  bool has_copies_in_loop() const {
    return std::any_of(spread_.iterators.begin(), spread_.iterators.end(),
                       [](const auto& it) { return it.has_copies; });
  }

  /// Sectors of one copy of \p box: neighbouring threads read pieces of its rows.
  double copy_sectors(const PricedAccess& read, const NestSharedCopy& copy, std::vector<BoxSide> box,
                      double element) const {
    auto sector = static_cast<double>(cluster_.target.grid->sector_bytes);
    auto along = static_cast<std::size_t>(std::max(copy.run_along, 0));
    bool in_rows = copy.run_along < 0 || copy.run_along == copy.contiguous || read.strides[along] != 1;
    if (in_rows || box.empty() || box[0].stride != 1) return sectors(box, element, sector);
    auto piece = std::min(box[0].count, copy.vector * copy.beside);
    auto pieces = static_cast<double>(ceil_div(box[0].count, piece));
    box[0].count = piece;
    return pieces * sectors(box, element, sector);
  }

  void count_copy(const PricedAccess& read, const NestSharedCopy& copy) {
    auto& tensor = sectors_of(read);
    auto element = tensor_of(read).element;
    const auto& limits = *cluster_.target.grid;
    auto box = access_box(read, values_in_copy());
    auto made = copies_made(read);
    auto bytes = elements(box) * element;
    auto transactions = made * copy_sectors(read, copy, box, element);
    auto round = static_cast<double>(limits.shared_banks * 4);
    auto moves = elements(box) / static_cast<double>(copy.vector * limits.warp_size);
    tensor.read += transactions;
    count_once(read, transactions, tensor);
    counts_.instructions += 2 * made * std::max(moves, 1.0);
    auto slots = has_copies_in_loop() && !is_in_loop(read) ? 1 : copy.asynchronous ? slots_ : std::min(slots_, 2);
    counts_.shared_bytes += static_cast<std::int64_t>(bytes) * slots;
    count_rounds(read, made);
    const auto written = made * std::max(bytes / round, 1.0);
    if (spread_.unit) counts_.shared_rounds += written;
    if (spread_.unit) return spread_.unit->from_shared ? count_operand(read) : count_fragments(read);
    auto times = executions(read, at_once(read, copy));
    auto warps = costs(read, false, at_once(read, copy));
    counts_.shared_rounds += (written + times * warps.shared_rounds) * conflicts(read, copy, times, slots);
    counts_.instructions += times * warps.warps;
  }

  /// The threads wait for each other before they read a copy, and before they make the next. Copies for a loop around several
  /// statements are made at once.
  void count_rounds(const PricedAccess& read, double made) {
    counts_.copies = std::max(counts_.copies, made);
    const auto together = [&](const NestSharedCopy* each) {
      return has_copies_in_loop() ? each->asynchronous : each->statement == index_;
    };
    const auto copies = std::count_if(steps_.copies.begin(), steps_.copies.end(), together);
    const double waits = has_copies_in_loop() ? 1 : 2;
    counts_.barriers += waits * made / (has_copies_in_loop() && !is_in_loop(read) ? 1.0 : static_cast<double>(copies));
  }

  /// Warps load four matrices of 8 x 16 bytes of an operand at once, for each step of their unit.
  void count_fragments(const PricedAccess& read) {
    double elements = shape_.warps(cluster_.target.grid->warp_size);
    for (std::size_t i = 0; i < spread_.iterators.size(); ++i) {
      const auto& it = spread_.iterators[i];
      if (!read.used[i]) continue;
      elements *= it.tiles * static_cast<double>(it.tile) / static_cast<double>(it.warps.count);
    }
    auto loads = elements * tensor_of(read).element / fragment_bytes;
    counts_.instructions += loads;
    counts_.shared_rounds += loads * fragment_rounds;
    double registers = 0;
    for (auto i : {spread_.rows, spread_.columns})
      if (read.used[static_cast<std::size_t>(i)])
        registers =
            static_cast<double>(spread_.iterators[static_cast<std::size_t>(i)].warps.run * spread_.unit->steps) *
            tensor_of(read).element / 4 / static_cast<double>(cluster_.target.grid->warp_size);
    fragment_registers_ += registers;
  }

  /// A unit of a group reads both operands of each product of small matrices from shared memory.
  void count_operand(const PricedAccess& read) {
    const auto& unit = *spread_.unit;
    auto along = read.used[static_cast<std::size_t>(spread_.rows)] ? unit.rows : unit.columns;
    auto bytes = static_cast<double>(along) * unit.steps * tensor_of(read).element;
    counts_.shared_rounds += products_of_unit() * bytes / static_cast<double>(cluster_.target.grid->shared_banks * 4);
  }

  double instances() const { return spread_.rounds() * static_cast<double>(shape_.threads()); }

  /// Products of small matrices, one instruction each.
  double products_of_unit() const {
    const auto& unit = *spread_.unit;
    return instances() / (static_cast<double>(unit.rows) * unit.columns * unit.steps);
  }

  /// What a unit computes.
  void count_products() {
    const auto& unit = *spread_.unit;
    (unit.from_shared ? counts_.group_products : counts_.products) += instances();
    counts_.instructions += products_of_unit() * unit.warps;
    double elements = 1;
    for (std::size_t i = 0; i < spread_.iterators.size(); ++i)
      if (statement_.write.used[i]) elements *= spread_.iterators[i].in_thread();
    counts_.registers = std::max(counts_.registers, elements);
  }

  std::int64_t vector_lanes() const { return spread_.vector < 0 ? 1 : run_of(spread_.vector); }

  /// Times that a block takes whose last tile of \p it is not whole; 1 where it is.
  static double times_of_last(const SpreadIterator& it) {
    auto rest = it.extent % it.tile == 0 ? it.tile : it.extent % it.tile;
    auto runs = ceil_div(rest, it.run);
    if (rest % it.run != 0) return torn_run_times;
    if (runs > it.count && runs % it.count != 0) return torn_round_times;
    return rest < it.tile ? torn_tile_times : 1;
  }

  /// The iterator that tears tiles worst, and how many blocks have such a tile.
  void count_torn() {
    for (const auto& it : spread_.iterators) {
      if (it.dimension < 0 || times_of_last(it) < counts_.torn_times || times_of_last(it) == 1) continue;
      auto last = 1.0 / static_cast<double>(ceil_div(it.extent, it.tile));
      bool worse = times_of_last(it) > counts_.torn_times;
      counts_.torn_share = worse ? last : 1 - (1 - counts_.torn_share) * (1 - last);
      counts_.torn_times = times_of_last(it);
    }
  }

  void count_operations() {
    if (spread_.unit) return count_products();
    auto active = active_threads(spread_, shape_, *cluster_.target.grid);
    auto instances = spread_.rounds();
    auto simple = std::max(statement_.body.simple, 0.0);
    auto functions = statement_.body.functions + statement_.body.divisions;
    counts_.operations += active.threads * instances * simple;
    counts_.functions += active.threads * instances * functions;
    auto loops = spread_.has_loops ? 1.0 / static_cast<double>(vector_lanes()) : 0.0;
    counts_.instructions += active.warps * instances * (simple + functions + loops);
    if (statement_.accumulates && steps_.has_tile_ends) count_torn();
    double elements = 1, steps = 1;
    for (std::size_t i = 0; i < spread_.iterators.size(); ++i)
      (statement_.write.used[i] ? elements : steps) *= spread_.iterators[i].in_thread();
    if (!statement_.accumulates) return;
    counts_.chain += steps;
    counts_.registers = std::max(counts_.registers, elements);
  }

  /// Do the threads along x, a part of a warp, combine sums by exchanges alone (reduce_in_block.h)?
  bool combines_in_part_of_warp() const {
    const auto warp = cluster_.target.grid->warp_size;
    if (shape_.block[0] >= warp || warp % shape_.block[0] != 0 || shape_.threads() % warp != 0) return false;
    return std::all_of(spread_.iterators.begin(), spread_.iterators.end(), [](const SpreadIterator& it) {
      return it.dimension <= 0 || (it.extent % it.tile == 0 && it.tile % (it.run * it.count * it.warps.count) == 0);
    });
  }

  /// The warps leave what they have summed in shared memory, from where one thread adds it.
  void count_combination() {
    auto warps = static_cast<double>(ceil_div(shape_.threads(), cluster_.target.grid->warp_size));
    auto sums = spread_.rounds(&statement_.write);
    counts_.waits.back().rounds = std::max(counts_.waits.back().rounds, sums);
    const bool in_part = combines_in_part_of_warp();
    auto shuffles = std::log2(static_cast<double>(in_part ? shape_.block[0] : cluster_.target.grid->warp_size));
    counts_.exchanges += sums * shuffles;
    counts_.instructions += sums * warps * 2 * shuffles;
    if (!in_part) {
      counts_.barriers += 2 * sums;
      counts_.exchanges += sums * static_cast<double>(ceil_div(shape_.block[0], cluster_.target.grid->warp_size));
      counts_.shared_rounds += 2 * sums * warps;
      counts_.instructions += 2 * sums * warps;
    }
    if (is_kept(statement_.write.tensor)) return;
    counts_.waits.push_back({{{statement_.write.tensor, sums}}, sums});
    auto& tensor = sectors_of(statement_.write);
    tensor.read += sums * warps;
    tensor.written += sums * warps;
  }

  bool reduces_in_block() const {
    for (int d = 0; d < 3; ++d)
      if (spread_.uses(d) && !spread_.moves_along(statement_.write, d)) return true;
    return false;
  }

  const PricedCluster& cluster_;
  const KernelSteps& steps_;
  const ThreadSpread& spread_;
  const KernelShape& shape_;
  int index_;
  const PricedStatement& statement_;
  int slots_;  ///< parts of a copy of its reads in memory at once
  double fragment_registers_ = 0;
  TouchedBoxes& touched_;
  BlockCounts& counts_;
};

}  // namespace

double BlockCounts::sectors_read() const {
  double result = 0;
  for (const auto& tensor : tensors) result += tensor.read;
  return result;
}

double BlockCounts::sectors_written() const {
  double result = 0;
  for (const auto& tensor : tensors) result += tensor.written;
  return result;
}

int slots_of_copies(const Nest& nest) {
  int result = 1;
  for (const auto& branch : nest.branches) result = std::max(result, slots_of_branch(branch));
  return result;
}

BlockCounts block_counts(const PricedCluster& cluster, const Nest& nest, const KernelShape& shape) {
  BlockCounts result;
  result.tensors.resize(cluster.tensors.size());
  TouchedBoxes touched(cluster.tensors.size());
  std::vector<ThreadSpread> spreads;
  for (int s = 0; s < static_cast<int>(cluster.statements.size()); ++s)
    spreads.push_back(thread_spread(cluster, nest, s));
  const KernelSteps steps(cluster, nest, spreads, shape);
  for (int s = 0; s < static_cast<int>(cluster.statements.size()); ++s)
    StatementCounter(cluster, nest, steps, spreads[static_cast<std::size_t>(s)], shape, s, touched, result).count();
  result.registers = std::max(result.registers, steps.temporaries.registers);
  result.shared_bytes += steps.temporaries.shared_bytes;
  result.registers += other_registers;
  return result;
}

}  // namespace tc::strategy
