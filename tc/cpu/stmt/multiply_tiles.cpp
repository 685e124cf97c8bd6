#include "tc/cpu/stmt/multiply_tiles.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"
#include "tc/cpu/prefetch/loop_reads.h"
#include "tc/cpu/stmt/configure_tiles.h"
#include "tc/cpu/stmt/match_tiles.h"
#include "tc/halide_bridge/stmt/flatten.h"
#include "tc/halide_bridge/stmt/function_call.h"
#include "tc/halide_bridge/stmt/strict.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

/// Rows of a tile, and bytes of a row.
constexpr int tile_rows = 16, tile_columns = 16;

using halide_bridge::function_call;

Expr int64(const Expr& value) { return Halide::cast<std::int64_t>(value); }
Expr all_ones() { return ir::UIntImm::make(Halide::UInt(64), ~std::uint64_t{0}); }

/// At most how many 16s \p extent has; 0: unknown.
int count_of_tiles(const Expr& extent) { return static_cast<int>(ceil_div(most_trips(extent), tile_rows)); }

/// Accumulators that stay in tiles: what all products of a run share.
struct Accumulators {
  TileMatrix c;
  Expr rows, columns;
  int down = 0, across = 0;  ///< tiles

  explicit Accumulators(const TileProduct& product)
      : c(product.c),
        rows(product.rows),
        columns(product.columns),
        down(count_of_tiles(rows)),
        across(count_of_tiles(columns)) {}

  bool fit() const {
    bool square = down <= 2 && across <= 2, line = (down == 1 && across <= 3) || (across == 1 && down <= 3);
    return down > 0 && across > 0 && (square || line);
  }
  bool hold(const TileProduct& product) const {
    return product.c.buffer == c.buffer && product.c.row == c.row && ir::equal(product.c.base, c.base) &&
           ir::equal(product.rows, rows) && ir::equal(product.columns, columns);
  }

  int c_tile(int i, int j) const { return i * across + j; }
  static int a_tile(int i) { return 4 + i; }
  static int b_tile(int j) { return 7 - j; }

  /// Rows or columns, \p extent in all, in tile number \p i.
  static Expr in_tile(const Expr& extent, int i) {
    return ir::simplify(max(min(extent - i * tile_rows, tile_rows), 1));
  }
  /// \p body if there is something in tile number \p i.
  static Stmt where_used(const Expr& extent, int i, const Stmt& body) {
    Expr used = ir::simplify(extent > i * tile_rows);
    return ir::is_const_one(used) ? body : ir::IfThenElse::make(used, body);
  }
};

/// The statements for one run of products.
class RunEmitter {
 public:
  explicit RunEmitter(const Accumulators& accumulators) : acc_(accumulators) {}

  Stmt configure() const {
    std::vector<Expr> rows(8, ir::make_zero(Halide::Int(32))), bytes = rows;
    for (int i = 0; i < acc_.down; ++i) {
      rows[Accumulators::a_tile(i)] = Accumulators::in_tile(acc_.rows, i);
      bytes[Accumulators::a_tile(i)] = row_bytes;
      for (int j = 0; j < acc_.across; ++j) {
        rows[acc_.c_tile(i, j)] = Accumulators::in_tile(acc_.rows, i);
        bytes[acc_.c_tile(i, j)] = bytes_of(j);
      }
    }
    for (int j = 0; j < acc_.across; ++j) {
      rows[Accumulators::b_tile(j)] = tile_rows;
      bytes[Accumulators::b_tile(j)] = bytes_of(j);
    }
    return configure_call(rows, bytes);
  }

  Stmt zeros() const {
    return for_each_accumulator(
        [&](int i, int j) { return function_call(str("tc_tile_zero_", acc_.c_tile(i, j)), {}); });
  }
  Stmt loads() const { return move("tc_tile_load_"); }
  Stmt stores() const { return move("tc_tile_store_"); }

  /// One product: each tile of a factor is loaded once.
  Stmt multiply(const TileProduct& p) const {
    std::vector<Stmt> result;
    for (int j = 0; j < acc_.across; ++j) {
      std::vector<Stmt> column = {load_b(p, j)};
      for (int i = 0; i < acc_.down; ++i) {
        Stmt product = function_call(str("tc_tile_multiply_", kind(p), "_", acc_.c_tile(i, j), "_",
                                         Accumulators::a_tile(i), "_", Accumulators::b_tile(j)),
                                     {});
        if (j == 0) product = ir::Block::make(load_a(p, i), product);
        column.push_back(Accumulators::where_used(acc_.rows, i, product));
      }
      result.push_back(Accumulators::where_used(acc_.columns, j, ir::Block::make(column)));
    }
    return ir::Block::make(result);
  }

 private:
  const Accumulators& acc_;

  Expr bytes_of(int j) const { return ir::simplify(Accumulators::in_tile(acc_.columns, j) * 4); }

  template <typename Function>
  Stmt for_each_accumulator(const Function& function) const {
    std::vector<Stmt> result;
    for (int i = 0; i < acc_.down; ++i)
      for (int j = 0; j < acc_.across; ++j)
        result.push_back(
            Accumulators::where_used(acc_.rows, i, Accumulators::where_used(acc_.columns, j, function(i, j))));
    return ir::Block::make(result);
  }

  static std::string kind(const TileProduct& p) {
    if (p.a.type.bits() == 16) return "bf16";
    return str(p.a.type.is_uint() ? "u" : "s", p.b.type.is_uint() ? "u" : "s");
  }

  /// Bytes from the start of the buffer to the element \p elements behind the matrix's first.
  static Expr place(const TileMatrix& matrix, std::int64_t elements) {
    return ir::simplify(int64(ir::simplify(matrix.base + ir::make_const(matrix.base.type(), elements))) *
                        matrix.type.bytes());
  }
  static std::vector<Expr> rows_at(const TileMatrix& matrix, std::int64_t elements) {
    return {ir::Variable::make(Halide::Handle(), matrix.buffer), place(matrix, elements),
            ir::make_const(Halide::Int(64), matrix.row * matrix.type.bytes())};
  }

  Stmt move(const char* function) const {
    return for_each_accumulator([&](int i, int j) {
      return function_call(str(function, acc_.c_tile(i, j)),
                           rows_at(acc_.c, i * tile_rows * acc_.c.row + j * tile_columns));
    });
  }

  /// The bytes of the steps there are; where they fill a row of the tile, rows are loaded whole.
  Stmt load_a(const TileProduct& p, int i) const {
    int tile = Accumulators::a_tile(i), bytes = p.steps * p.a.type.bytes();
    auto arguments = rows_at(p.a, i * tile_rows * p.a.row);
    if (bytes == row_bytes) return function_call(str("tc_tile_load_", tile), arguments);
    Expr mask = ir::UIntImm::make(Halide::UInt(64), (std::uint64_t{1} << bytes) - 1);
    arguments.insert(arguments.end(), {Accumulators::in_tile(acc_.rows, i), mask, mask});
    return function_call(str("tc_tile_load_part_", tile), arguments);
  }

  Stmt load_b(const TileProduct& p, int j) const {
    int tile = Accumulators::b_tile(j), rows = ceil_div(p.steps, p.width);
    auto arguments = rows_at(p.b, j * tile_columns * p.width);
    if (p.steps == tile_rows * p.width) return function_call(str("tc_tile_pass_", tile), arguments);
    Expr mask = all_ones() >> Halide::cast(Halide::UInt(64), row_bytes - bytes_of(j));
    std::uint64_t group = 0;
    int bytes = (p.steps - (rows - 1) * p.width) * p.b.type.bytes();
    for (int lane = 0; lane < tile_columns; ++lane) group |= ((std::uint64_t{1} << bytes) - 1) << (4 * lane);
    Expr last = mask & ir::UIntImm::make(Halide::UInt(64), group);
    arguments.insert(arguments.end(), {rows, ir::simplify(mask), ir::simplify(last)});
    return function_call(str("tc_tile_load_part_", tile), arguments);
  }
};

/// Statements that consist of products into the same accumulators, and loops around them.
class Run {
 public:
  /// Does \p stmt belong to this run, which the first one starts?
  bool takes(const Stmt& stmt) {
    Run extended = *this;
    if (!extended.add(stmt, {})) return false;
    *this = extended;
    return true;
  }
  const std::optional<Accumulators>& accumulators() const { return accumulators_; }

  /// \p stmt with operations of tiles in place of its products.
  static Stmt emit(const Stmt& stmt, const RunEmitter& emitter) {
    if (auto product = match_tile_product(stmt)) return emitter.multiply(*product);
    if (const auto* loop = stmt.as<ir::For>())
      return ir::For::make(loop->name, loop->min, loop->extent, loop->for_type, loop->device_api,
                           emit(loop->body, emitter));
    const auto* block = stmt.as<ir::Block>();
    return ir::Block::make(emit(block->first, emitter), emit(block->rest, emitter));
  }

 private:
  std::optional<Accumulators> accumulators_;

  bool add(const Stmt& stmt, std::set<std::string> inside) {
    if (auto product = match_tile_product(stmt)) return add(*product, inside);
    if (const auto* block = stmt.as<ir::Block>()) return add(block->first, inside) && add(block->rest, inside);
    const auto* loop = stmt.as<ir::For>();
    if (!loop || loop->for_type != ir::ForType::Serial) return false;
    inside.insert(loop->name);
    return add(loop->body, inside);
  }
  bool add(const TileProduct& product, const std::set<std::string>& inside) {
    for (const auto& name : inside)
      for (const Expr& e : {product.c.base, product.rows, product.columns})
        if (ir::expr_uses_var(e, name)) return false;
    if (accumulators_) return accumulators_->hold(product);
    accumulators_.emplace(product);
    return accumulators_->fit();
  }
};

/// The zeros that vectors store to accumulators before a run.
class Zeros {
 public:
  explicit Zeros(const Accumulators& accumulators, bool local) : acc_(accumulators), local_(local) {
    const auto *rows = ir::as_const_int(acc_.rows), *columns = ir::as_const_int(acc_.columns);
    if (rows && columns) missing_.assign(*rows, std::vector<bool>(*columns, true));
  }

  /// Does \p stmt store nothing but zeros, to these accumulators alone?
  bool take(const Stmt& stmt) {
    const auto* store = stmt.as<ir::Store>();
    if (!store || missing_.empty() || store->name != acc_.c.buffer || !ir::is_const_one(store->predicate) ||
        !is_zero(store->value))
      return false;
    const auto* ramp = store->index.as<ir::Ramp>();
    if (store->index.type().is_vector() && !(ramp && ir::is_const_one(ramp->stride) && ramp->base.type().is_scalar()))
      return false;
    const auto* start = ir::as_const_int(ir::simplify((ramp ? ramp->base : store->index) - acc_.c.base));
    if (!start || *start < 0 || acc_.c.row <= 0) return false;
    std::size_t row = *start / acc_.c.row, first = *start % acc_.c.row, last = first + store->index.type().lanes();
    if (missing_.size() == 1) row = 0, first = *start, last = first + store->index.type().lanes();
    bool inside = row < missing_.size() && first < missing_[0].size() && (last <= missing_[0].size() || local_);
    if (!inside) return false;
    std::fill(missing_[row].begin() + first, missing_[row].begin() + std::min(last, missing_[0].size()), false);
    return true;
  }
  bool complete() const {
    return !missing_.empty() && std::none_of(missing_.begin(), missing_.end(), [](const auto& row) {
      return std::count(row.begin(), row.end(), true) > 0;
    });
  }

 private:
  const Accumulators& acc_;
  bool local_;  ///< in a buffer, where what a vector stores beside the accumulators has no value
  std::vector<std::vector<bool>> missing_;

  static bool is_zero(const Expr& e) { return ir::is_const_zero(halide_bridge::without_strict(e)); }
};

class Multiply : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;

  std::set<std::string> local_;

  Stmt visit(const ir::Allocate* op) override {
    local_.insert(op->name);
    return ir::IRMutator::visit(op);
  }
  Stmt visit(const ir::For* op) override {
    Run run;
    if (!run.takes(op)) return ir::IRMutator::visit(op);
    std::vector<Stmt> result;
    append(result, {Stmt(op)}, *run.accumulators());
    return ir::Block::make(result);
  }
  Stmt visit(const ir::Block* op) override {
    std::vector<Stmt> parts, result;
    halide_bridge::flatten(op, parts);
    for (std::size_t i = 0; i < parts.size();) {
      Run run;
      std::size_t end = i;
      while (end < parts.size() && run.takes(parts[end])) ++end;
      if (end == i) {
        result.push_back(mutate(parts[i++]));
        continue;
      }
      append(result, {parts.begin() + static_cast<long>(i), parts.begin() + static_cast<long>(end)},
             *run.accumulators());
      i = end;
    }
    return ir::Block::make(result);
  }

  /// Appends the run \p parts to \p result, whose last statements go where they only store zeros for it.
  void append(std::vector<Stmt>& result, const std::vector<Stmt>& parts, const Accumulators& accumulators) const {
    Zeros zeros(accumulators, local_.count(accumulators.c.buffer) > 0);
    std::size_t kept = result.size();
    while (kept > 0 && zeros.take(result[kept - 1])) --kept;
    if (zeros.complete()) result.resize(kept);
    RunEmitter emitter(accumulators);
    std::vector<Stmt> run = {emitter.configure(), zeros.complete() ? emitter.zeros() : emitter.loads()};
    for (const auto& part : parts) run.push_back(Run::emit(part, emitter));
    run.push_back(emitter.stores());
    result.push_back(ir::Block::make(run));
  }
};

}  // namespace

Stmt multiply_tiles(const Stmt& body) { return configure_tiles_once(Multiply().mutate(body)); }

}  // namespace tc::cpu
