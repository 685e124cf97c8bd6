#include "tc/halide_bridge/raise/raise_unit.h"

#include <string>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/raise/ast_loop.h"
#include "tc/halide_bridge/raise/raise_value.h"
#include "tc/halide_bridge/stmt/function_call.h"
#include "tc/polyhedral/spread/thread_map.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Int;
using Halide::UInt;
using polyhedral::Nullable;
namespace ir = Halide::Internal;
using ir::Stmt;

/// Rows of the matrices of 8 rows of 16 bytes that tc_load_matrix_... loads, and words of a thread for each.
constexpr int matrix_rows = 8;
/// Columns of which the threads of a warp along x have two each.
constexpr std::int64_t group_columns = unit_threads_x * unit_run;
/// Of the swizzled layout of operands in shared memory: of a row, of 8 rows, of what a descriptor counts in.
constexpr std::int64_t row_bytes = 128, piece_bytes = 1024, descriptor_bytes = 16;

/// Where a thread stands in a tile of instructions: the number of an instruction along rows and along columns, one of its
/// halves of rows, one of its groups of 8 columns and two neighbouring ones of it, a step; the number of an instruction along
/// the steps.
struct PlaceInTile {
  Bounded row = exactly(0), column = exactly(0);
  std::int64_t half = 0, group = 0, neighbour = 0, step = 0, block = 0;
};

/// An operand in shared memory: elements from one row (of A; column of B) and from one step to the next.
struct OperandStrides {
  std::int64_t along = 0, step = 0;
};

class UnitRaiser {
 public:
  UnitRaiser(const isl::ast_node& node, const polyhedral::Ast& ast, const polyhedral::Scop& scop,
             const Environment& environment)
      : scop_(scop), environment_(environment), site_(descend(node, ast)), statement_(scop.statement(site_.statement)) {
    for (std::size_t i = 0; i < loops_.size(); ++i) classify(i);
  }

  Stmt run() {
    const auto& unit = *statement_.unit;
    if (unit.from_shared) return products_of_group();
    int a = moves_with_rows(0) ? 0 : 1;
    auto rows = fragment_name(a), columns = fragment_name(1 - a);
    Stmt loads = ir::Block::make(load_rows(a, rows), load_columns(1 - a, columns));
    Stmt products = unrolled("row", rows_, [&](const Bounded& row) {
      return unrolled("column", columns_, [&](const Bounded& column) {
        std::vector<Expr> arguments;
        for (int c = 0; c < 4; ++c)
          arguments.push_back(element(site_.write, {.row = row, .column = column, .half = c / 2, .neighbour = c % 2}));
        arguments.push_back(word(rows, multiply(row, exactly(4))));
        arguments.push_back(word(columns, multiply(column, exactly(2))));
        return function_call(std::string(unit.instruction), arguments);
      });
    });
    Stmt body = ir::Block::make(loads, products);
    body = allocate(columns, 2 * columns_, body);
    return allocate(rows, 4 * rows_, body);
  }

 private:
  /// What a loop below the mark counts: instructions along rows or columns, a thread's own parts of one, or steps.
  enum class Counts { Rows, Columns, Halves, Groups, Neighbours, Steps, Blocks };

  [[noreturn]] void fail(const std::string& why) const {
    throw InternalError(str("a unit cannot compute statement ", site_.statement, ": ", why));
  }

  /// The site of the statement; the loops around it with several trips are noted.
  const polyhedral::Site& descend(isl::ast_node node, const polyhedral::Ast& ast) {
    auto environment = environment_;
    while (isl_ast_node_get_type(node.get()) == isl_ast_node_for) {
      auto loop = describe_loop(node, environment);
      if (!loop.has_constant_trips()) throw InternalError("a unit has a loop of an unknown number of trips");
      loops_.push_back(node);
      environment[loop.iterator] = loop.init;
      node = loop.body;
    }
    if (isl_ast_node_get_type(node.get()) != isl_ast_node_user)
      throw InternalError(str("a unit has a tile that is not whole: ", node));
    return ast.sites.at(static_cast<std::size_t>(polyhedral::annotation(node)));
  }

  /// The environment in which each loop is in the trip that \p trips says, in the thread that \p around names.
  Environment at(const std::vector<Bounded>& trips, const Environment& around) const {
    auto result = around;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      auto loop = describe_loop(loops_[i], result);
      result[loop.iterator] = simplified(add(loop.init, multiply(trips[i], exactly(loop.increment))));
    }
    return result;
  }
  std::vector<Bounded> first_trips() const { return std::vector<Bounded>(loops_.size(), exactly(0)); }

  std::int64_t distance(const Bounded& from, const Bounded& to) const {
    Expr difference = simplified(subtract(to, from)).expr;
    const auto* number = ir::as_const_int(difference);
    if (!number) fail(str("its operands do not lie evenly: ", difference));
    return *number;
  }

  std::int64_t trips_of(std::size_t loop) const {
    auto environment = environment_;
    for (std::size_t i = 0; i < loop; ++i) {
      auto around = describe_loop(loops_[i], environment);
      environment[around.iterator] = around.init;
    }
    auto last = describe_loop(loops_[loop], environment).last;
    return (last.is_constant() ? last.low : *ir::as_const_int(last.expr)) + 1;
  }

  void classify(std::size_t loop) {
    auto count = trips_of(loop);
    counts_.push_back(Counts::Rows);
    if (count == 1) return;
    auto next = first_trips();
    next[loop] = exactly(1);
    auto here = at(first_trips(), environment_), there = at(next, environment_);
    auto step = [&](int index) {
      const auto& value =
          site_.iterators.at(static_cast<std::size_t>(statement_.unit_iterators[static_cast<std::size_t>(index)]));
      return distance(raise_integer(value, here), raise_integer(value, there));
    };
    const auto& unit = *statement_.unit;
    auto& kind = counts_.back();
    auto is = [&](int index, std::int64_t distance, Counts counts, std::int64_t most) {
      if (step(index) != distance || (most > 0 && count != most)) return false;
      kind = counts;
      return true;
    };
    if (is(0, unit.rows, Counts::Rows, 0))
      rows_ = count;
    else if (is(1, unit.columns, Counts::Columns, 0))
      columns_ = count;
    else if (unit.from_shared && is(2, unit.steps, Counts::Blocks, 0))
      blocks_ = count;
    else if (!is(0, matrix_rows, Counts::Halves, 2) &&
             !is(1, group_columns, Counts::Groups, unit.columns / group_columns) &&
             !is(1, 1, Counts::Neighbours, unit_run) && !is(2, 1, Counts::Steps, unit.steps))
      fail(str("a loop of ", count, " trips is none of an instruction"));
  }

  Environment at(const PlaceInTile& place, const Environment& around) const {
    auto trips = first_trips();
    for (std::size_t i = 0; i < trips.size(); ++i) {
      if (trips_of(i) == 1) continue;
      switch (counts_[i]) {
        case Counts::Rows:
          trips[i] = place.row;
          break;
        case Counts::Columns:
          trips[i] = place.column;
          break;
        case Counts::Halves:
          trips[i] = exactly(place.half);
          break;
        case Counts::Groups:
          trips[i] = exactly(place.group);
          break;
        case Counts::Blocks:
          trips[i] = exactly(place.block);
          break;
        case Counts::Neighbours:
          trips[i] = exactly(place.neighbour);
          break;
        case Counts::Steps:
          trips[i] = exactly(place.step);
          break;
      }
    }
    return at(trips, around);
  }

  SiteAddress address(const Nullable<isl::ast_expr>& access, const PlaceInTile& place) const {
    return address(access, place, environment_);
  }
  SiteAddress address(const Nullable<isl::ast_expr>& access, const PlaceInTile& place,
                      const Environment& around) const {
    auto environment = at(place, around);
    auto result = site_address({site_, scop_, statement_, environment}, access);
    result.at = simplified(result.at);
    return result;
  }

  Expr element(const Nullable<isl::ast_expr>& access, const PlaceInTile& place) const {
    auto found = address(access, place);
    return load(*found.tensor, found.at.expr);
  }
  static Expr load(const polyhedral::Tensor& tensor, const Expr& at) {
    return ir::Load::make(storage_type(tensor.type), tensor.name, at, Halide::Buffer<>(), ir::Parameter(),
                          ir::const_true(), ir::ModulusRemainder());
  }
  static Expr word(const std::string& fragment, const Bounded& at) {
    return ir::Load::make(UInt(32), fragment, simplified(at).expr, Halide::Buffer<>(), ir::Parameter(),
                          ir::const_true(), ir::ModulusRemainder());
  }

  const Nullable<isl::ast_expr>& read(int number) const { return site_.reads.at(static_cast<std::size_t>(number)); }
  bool moves_with_rows(int number) const {
    return distance(address(read(number), {}).at, address(read(number), {.half = 1}).at) != 0;
  }

  OperandStrides strides(int number, const PlaceInTile& next, std::int64_t between) const {
    const auto first = address(read(number), {});
    if (first.tensor->storage != polyhedral::Tensor::Storage::Local || first.tensor->in_registers)
      fail(str("'", first.tensor->name, "' is not in shared memory"));
    const auto& here = first.at;
    OperandStrides result;
    result.along = distance(here, address(read(number), next).at) / between;
    result.step = distance(here, address(read(number), {.step = 1}).at);
    auto last = statement_.unit->steps - 1;
    bool even = distance(here, address(read(number), {.step = last}).at) == last * result.step;
    if (!even || (result.along != 1) == (result.step != 1)) fail("its operands are not contiguous along one index");
    return result;
  }

  /// Coordinate \p dimension of the thread in its warp.
  Bounded lane(int dimension, std::int64_t count) const {
    auto found = environment_.find(polyhedral::thread_name(dimension));
    return found == environment_.end() ? exactly(0) : simplified(modulo(found->second, exactly(count)));
  }
  /// The row of a matrix whose address this thread names, and the number of the matrix.
  Bounded row_of_lane() const {
    return add(multiply(modulo(lane(1, unit_threads_y), exactly(2)), exactly(4)), lane(0, unit_threads_x));
  }
  Bounded matrix_of_lane() const { return divide(lane(1, unit_threads_y), exactly(2)); }

  /// The environment in the thread that has the first element of its warp along dimension \p dimension, which has \p count
  /// threads of it.
  Environment first_thread(int dimension, std::int64_t count) const {
    auto result = environment_;
    auto found = result.find(polyhedral::thread_name(dimension));
    if (found == result.end()) return result;
    found->second = simplified(multiply(divide(found->second, exactly(count)), exactly(count)));
    return result;
  }

  /// The products of a group of warps, which reads both operands from shared memory.
  Stmt products_of_group() {
    const auto& unit = *statement_.unit;
    const int a = moves_with_rows(0) ? 0 : 1;
    const auto sum = address(site_.write, {});
    if (!sum.tensor->in_registers) fail(str("its sums '", sum.tensor->name, "' are not in registers"));
    auto from_sum = [&](const PlaceInTile& to) { return distance(sum.at, address(site_.write, to).at); };
    if (from_sum({.neighbour = 1}) != 1 || from_sum({.group = 1}) != unit_run) fail("its sums are not in order");
    const auto of_a = strides(a, {.half = 1}, matrix_rows), of_b = strides(1 - a, {.neighbour = 1}, 1);
    const auto first = first_thread_of_group();
    return unrolled("block", blocks_, [&](const Bounded& block) {
      return unrolled("row", rows_, [&](const Bounded& row) {
        return unrolled("column", columns_, [&](const Bounded& column) {
          const PlaceInTile place{.row = row, .column = column};
          return function_call(
              std::string(unit.instruction),
              {element(site_.write, place), static_cast<int>(from_sum({.half = 1})), of_a.step == 1 ? 0 : 1,
               of_b.step == 1 ? 0 : 1, matrix(a, {.row = row}, of_a, first, block),
               matrix(1 - a, {.column = column}, of_b, first, block)});
        });
      });
    });
  }

  /// The environment in the first thread of its group of warps, seen to be the same in all lanes.
  Environment first_thread_of_group() const {
    auto result = first_thread(0, unit_threads_x);
    auto uniform = [](const Bounded& value) {
      return within(ir::Call::make(value.expr.type(), "tc_uniform", {value.expr}, ir::Call::PureExtern), value.low,
                    value.high);
    };
    const auto threads = exactly(unit_threads_y * statement_.unit->warps);
    if (auto y = result.find(polyhedral::thread_name(1)); y != result.end())
      y->second = multiply(uniform(simplified(divide(y->second, threads))), threads);
    if (auto z = result.find(polyhedral::thread_name(2)); z != result.end()) z->second = uniform(z->second);
    return result;
  }

  /// What describes operand \p number from \p place on in block \p block of the steps, for the group of \p first.
  Expr matrix(int number, const PlaceInTile& place, const OperandStrides& strides, const Environment& first,
              const Bounded& block) const {
    const auto begin = address(read(number), place, first);
    const bool transposed = strides.step != 1;
    const auto pitch = transposed ? strides.step : strides.along;
    if (transposed ? pitch % unit_row_elements != 0 : pitch != unit_row_elements)
      fail(str("rows of '", begin.tensor->name, "' have ", pitch, " elements"));
    const auto& unit = *statement_.unit;
    if (blocks_ > 1 &&
        distance(begin.at, address(read(number), {.row = place.row, .column = place.column, .block = 1}, first).at) !=
            unit.steps * strides.step)
      fail("its steps do not follow each other");
    std::int64_t elements = 1;
    for (auto extent : begin.tensor->extent) elements *= extent;
    const auto leading = transposed ? elements / pitch * row_bytes : 0;
    const auto ahead =
        (transposed ? unit.steps * row_bytes : unit.steps * byte_size(begin.tensor->type)) / descriptor_bytes;
    Expr described =
        ir::Call::make(UInt(64), "tc_matrix",
                       {load(*begin.tensor, begin.at.expr), static_cast<int>(leading), static_cast<int>(piece_bytes)},
                       ir::Call::PureExtern);
    auto moved = simplified(multiply(block, exactly(ahead)));
    return described + ir::Cast::make(UInt(64), moved.expr);
  }

  /// Loads \p count matrices of an operand with \p strides, the first element of which is at \p first: the matrix of a lane
  /// is number \p along along the operand and number \p step along the steps.
  Stmt load_matrices(int count, const std::string& fragment, const Bounded& at, const SiteAddress& first,
                     const OperandStrides& strides, const Bounded& along, const Bounded& step) const {
    bool transposed = strides.step != 1;
    auto row = row_of_lane();
    auto first_along = multiply(along, exactly(matrix_rows)), first_step = multiply(step, exactly(matrix_rows));
    auto place_along = transposed ? first_along : add(first_along, row);
    auto place_step = transposed ? add(first_step, row) : first_step;
    auto moved = add(multiply(place_along, exactly(strides.along)), multiply(place_step, exactly(strides.step)));
    Expr element = load(*first.tensor, simplified(add(first.at, moved)).expr);
    return function_call(str("tc_load_matrix_", count, transposed ? "_transposed" : ""), {word(fragment, at), element});
  }

  Stmt load_rows(int number, const std::string& fragment) {
    auto sides = strides(number, {.half = 1}, matrix_rows);
    auto matrix = matrix_of_lane();
    auto first = first_thread(1, unit_threads_y);
    return unrolled("row", rows_, [&](const Bounded& row) {
      return load_matrices(4, fragment, multiply(row, exactly(4)), address(read(number), {.row = row}, first), sides,
                           modulo(matrix, exactly(2)), divide(matrix, exactly(2)));
    });
  }

  Stmt load_columns(int number, const std::string& fragment) {
    auto sides = strides(number, {.neighbour = 1}, 1);
    auto matrix = matrix_of_lane();
    auto first = first_thread(0, unit_threads_x);
    std::int64_t together = columns_ % 2 == 0 ? 2 : 1;
    auto along = together == 2 ? divide(matrix, exactly(2)) : exactly(0);
    return unrolled("column", columns_ / together, [&](const Bounded& pair) {
      auto column = multiply(pair, exactly(together));
      return load_matrices(static_cast<int>(2 * together), fragment, multiply(column, exactly(2)),
                           address(read(number), {.column = column}, first), sides, along, modulo(matrix, exactly(2)));
    });
  }

  template <typename Body>
  Stmt unrolled(const std::string& name, std::int64_t count, const Body& body) {
    auto variable = str(name, "$unit", next_name_++);
    Bounded trip = within(ir::Variable::make(Int(32), variable), 0, count - 1);
    if (count == 1) return body(exactly(0));
    return ir::For::make(variable, 0, static_cast<int>(count), ir::ForType::Unrolled, Halide::DeviceAPI::None,
                         body(trip));
  }

  std::string fragment_name(int number) const {
    return str("fragment_", polyhedral::range_name(statement_.reads.at(static_cast<std::size_t>(number)).relation), "_",
               number);
  }
  static Stmt allocate(const std::string& name, std::int64_t words, const Stmt& body) {
    return ir::Allocate::make(name, UInt(32), Halide::MemoryType::Register, {static_cast<int>(words)}, ir::const_true(),
                              body);
  }

  const polyhedral::Scop& scop_;
  const Environment& environment_;
  std::vector<isl::ast_node> loops_;
  const polyhedral::Site& site_;
  const polyhedral::Statement& statement_;
  std::vector<Counts> counts_;
  std::int64_t rows_ = 1, columns_ = 1, blocks_ = 1;  ///< instructions
  int next_name_ = 0;
};

}  // namespace

Stmt raise_unit(const isl::ast_node& node, const polyhedral::Ast& ast, const polyhedral::Scop& scop,
                const Environment& environment) {
  return UnitRaiser(node, ast, scop, environment).run();
}

}  // namespace tc::halide_bridge
