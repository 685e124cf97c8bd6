#include "tc/strategy/cpu/register_tile.h"

#include <algorithm>
#include <cmath>

namespace tc::strategy {
namespace {

/// Accumulators that keep the arithmetic units of a core busy: latency times units.
constexpr double busy_accumulators = 8;

/// The most operations that a tile with a window unrolls: more code takes longer to compile than it saves.
constexpr std::int64_t most_points = 96;

/// Rows of memory, read and written, that the processor asks for ahead on its own.
constexpr std::int64_t followed_rows = 16;

/// A tile of this share of the best score is almost as good.
constexpr double rival_share = 0.85;

/// What a vector from the second cache costs, in loads from the first; a load, in multiply-adds; an iteration of a
/// partial tile. The share of its speed that a loop without partial tiles may give up, as each of these is compiled too,
/// unless the rows come from a copy, from farther away than others.
constexpr double far_load = 2.5, load_cost = 1.0 / 3, partial_tile = 1.3, whole_tiles_gain = 0.01;

bool changes(const Operand& operand, int member) { return member >= 0 && operand.members[member]; }

class Search {
 public:
  Search(const std::vector<Operand>& operands, const std::vector<std::int64_t>& trips, const Target& target,
         const std::vector<std::int64_t>& wanted)
      : operands_(operands), trips_(trips), wanted_(wanted), registers_(target.vector_registers()) {
    for (const auto& operand : operands) {
      window_ = std::max(window_, operand.window);
      loads_alone_ += weight(operand);
      if (operand.across && !operand.vector) whole_gain_ = 0;
      cut_ = cut_ || operand.cut;
    }
  }

  void try_members(int rows, int columns) {
    auto row_trips = rows < 0 ? 1 : trips_[rows], column_trips = columns < 0 ? 1 : trips_[columns];
    if (!wanted_.empty())
      return rate({rows, columns, std::min(row_trips, wanted_[0]), std::min(column_trips, wanted_[1])});
    auto most_rows = std::min<std::int64_t>(row_trips, 14), most_columns = std::min<std::int64_t>(column_trips, 8);
    for (std::int64_t r = 1; r <= most_rows; ++r)
      for (std::int64_t c = 1; c <= most_columns; ++c) try_tile({rows, columns, r, c});
  }
  RegisterTile best() const { return best_; }

 private:
  /// Loads of one step of the reduction. Vectors of columns come from the second cache, rows from the first.
  double loads(const RegisterTile& tile) const {
    double result = 0;
    for (const auto& operand : operands_)
      result += weight(operand) * rows_read(operand, tile) * columns_read(operand, tile);
    return result;
  }
  static double weight(const Operand& operand) { return operand.vector ? far_load : 1.0; }
  /// The vectors of a window may start anywhere: the last line of a row is also the first one of the next tile.
  double columns_read(const Operand& operand, const RegisterTile& tile) const {
    if (!changes(operand, tile.columns)) return 1;
    bool whole_row = tile.column_count == trips_[tile.columns];
    return static_cast<double>(tile.column_count + (operand.window > 1 && !whole_row));
  }
  static double rows_read(const Operand& operand, const RegisterTile& tile) {
    if (!changes(operand, tile.rows)) return 1;
    if (operand.window == 1) return static_cast<double>(tile.row_count);
    return static_cast<double>(window_rows(operand, tile)) / static_cast<double>(operand.window);
  }
  static std::int64_t window_rows(const Operand& operand, const RegisterTile& tile) {
    return (tile.row_count - 1) * operand.step + operand.window;
  }
  /// Accumulators, what stays while the rows of a step pass, and what passes: a vector, of a window the next one too.
  std::int64_t registers(const RegisterTile& tile) const {
    auto result = tile.row_count * tile.column_count + (window_ > 1 ? 2 : 1);
    for (const auto& operand : operands_) {
      if (operand.vector && !changes(operand, tile.rows))
        result += changes(operand, tile.columns) ? tile.column_count : 1;
      if (window_ > 1 && !operand.vector) result += window_;
    }
    return result;
  }
  /// The share of the time that whole tiles would take; what is left over runs slower, and so does the last of several
  /// tiles that is \p cut.
  double fill(int member, std::int64_t count, bool cut) const {
    if (member < 0 || count == 1) return 1;
    auto rest = static_cast<double>(trips_[member] % count), all = static_cast<double>(trips_[member]);
    if (rest == 0 && cut && trips_[member] > count) rest = static_cast<double>(count);
    return (rest == 0 ? 1 : 1 - whole_gain_) * all / (all - rest + partial_tile * rest);
  }

  void try_tile(RegisterTile tile) {
    bool is_short = window_ == 1 || tile.row_count * tile.column_count * window_ <= most_points;
    if (registers(tile) <= registers_ && is_short && is_followed(tile)) rate(tile);
  }
  bool is_followed(const RegisterTile& tile) const {
    return std::all_of(operands_.begin(), operands_.end(), [&](const Operand& operand) {
      return operand.window == 1 || tile.row_count == 1 || window_rows(operand, tile) + tile.row_count <= followed_rows;
    });
  }
  void rate(RegisterTile tile) {
    auto operations = static_cast<double>(tile.row_count * tile.column_count);
    auto each = loads(tile) / operations;
    auto busy = std::sqrt(std::min(1.0, operations / busy_accumulators));
    auto score = fill(tile.rows, tile.row_count, false) * fill(tile.columns, tile.column_count, cut_) * busy /
                 (1 + load_cost * each);
    if (score < best_.score) return;
    best_ = tile;
    best_.score = score;
    best_.gain = loads_alone_ / std::max(each, 1e-6);
  }

  const std::vector<Operand>& operands_;
  const std::vector<std::int64_t>& trips_;
  const std::vector<std::int64_t>& wanted_;
  std::int64_t registers_, window_ = 1;
  double loads_alone_ = 0;  ///< of an operation without a tile
  double whole_gain_ = whole_tiles_gain;
  bool cut_ = false;  ///< the last vector of columns is partial
  RegisterTile best_;
};

}  // namespace

RegisterTile choose_register_tile(const std::vector<Operand>& operands, const std::vector<std::int64_t>& trips,
                                  int vector_member, const Target& target, const std::vector<std::int64_t>& wanted) {
  Search search(operands, trips, target, wanted);
  int members = static_cast<int>(trips.size());
  search.try_members(-1, vector_member);
  for (int rows = 0; rows < members; ++rows) {
    if (rows == vector_member) continue;
    search.try_members(rows, vector_member);
    for (int columns = rows + 1; columns < members && vector_member < 0; ++columns) search.try_members(rows, columns);
  }
  return search.best();
}

RegisterTile choose_register_tile_of(int rows, const std::vector<Operand>& operands,
                                     const std::vector<std::int64_t>& trips, int vector_member, const Target& target) {
  const std::vector<std::int64_t> wanted;
  Search search(operands, trips, target, wanted);
  search.try_members(rows, vector_member);
  return search.best();
}

std::vector<int> rival_rows(const std::vector<Operand>& operands, const std::vector<std::int64_t>& trips,
                            int vector_member, const Target& target, const RegisterTile& tile) {
  std::vector<int> result;
  if (vector_member < 0 || tile.row_count == 1) return result;
  for (int rows = 0; rows < static_cast<int>(trips.size()); ++rows) {
    if (rows == vector_member || rows == tile.rows) continue;
    const auto other = choose_register_tile_of(rows, operands, trips, vector_member, target);
    if (other.row_count > 1 && other.score >= rival_share * tile.score) result.push_back(rows);
  }
  return result;
}

RegisterTile choose_window_tile(const std::vector<Operand>& operands, const std::vector<std::int64_t>& trips,
                                const RegisterTile& tile, const Target& target,
                                const std::vector<std::int64_t>& wanted) {
  Search search(operands, trips, target, wanted);
  search.try_members(tile.rows, tile.columns);
  return search.best();
}

}  // namespace tc::strategy
