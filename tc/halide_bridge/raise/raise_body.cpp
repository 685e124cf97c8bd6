#include "tc/halide_bridge/raise/raise_body.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/math/float_ops.h"
#include "tc/halide_bridge/raise/raise_expr.h"
#include "tc/halide_bridge/raise/raise_value.h"
#include "tc/halide_bridge/stmt/value_name.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Int;
namespace ir = Halide::Internal;
using ir::Stmt;
using polyhedral::Statement;
using polyhedral::Tensor;

/// The tensor from which the copy at \p place takes elements.
const Tensor& copied_tensor(const Place& place) {
  const auto& read = place.statement.reads.back();
  return place.scop.tensor(polyhedral::range_name(read.exact ? read.function.as_map() : read.relation));
}

/// Does the statement at \p place only copy elements of the type of \p target? Their bits are then moved as they are.
bool moves_bits(const Place& place, const Tensor& target) {
  bool computes = place.statement.accumulates || place.statement.combined_iterator >= 0;
  if (place.statement.body != Statement::Body::Copy || computes) return false;
  return copied_tensor(place).type == target.type;
}

/// What the copy at \p place moves.
Expr copied_value(const Place& place, const Program& program, bool as_bits, const Lanes& lanes) {
  if (place.statement.source_read < 0) {
    const auto found = site_address(place, place.site.reads.back());
    return load(as_bits ? as_words(*found.tensor) : *found.tensor, found.at, lanes);
  }
  return raise_read(place, program, as_bits, lanes);
}

Raised raise_instance(const Place& place, const Program& program, const Tensor& target, const Lanes& lanes) {
  switch (place.statement.body) {
    case Statement::Body::Identity:
      return {identity(place.statement.op, target.type), exactly(0), {}};
    case Statement::Body::Copy:
      return {copied_value(place, program, moves_bits(place, target), lanes), exactly(0), {}};
    case Statement::Body::Source:
      break;
  }
  return raise_source(place, program, lanes);
}

/// A store of the element \p value that the machine makes on its own; subscripts that it names are computed before.
Stmt begin_copy(const Tensor& target, const Bounded& at, const Expr& value, const Lanes& lanes) {
  if (const auto* let = value.as<ir::Let>())
    return ir::LetStmt::make(let->name, let->value, begin_copy(target, at, let->body, lanes));
  Expr begun = ir::Call::make(value.type(), "tc_copy_async", {value}, ir::Call::PureExtern);
  return store(target, at, begun, lanes);
}

/// The running lanes of \p value combined into one.
Expr combined(const Statement& statement, const Tensor& target, Expr value, const Lanes& lanes) {
  if (value.type().is_scalar()) value = broadcast(value, lanes.count);
  for (const Expr& runs : {lanes.tail, lanes.guard})
    if (runs.defined())
      value = ir::Select::make(runs, value, broadcast(identity(statement.op, target.type), lanes.count));
  return combine_lanes(statement.op, value);
}

/// The values of neighbouring threads combined: each of the lanes has the result. Every lane shuffles, whatever it
/// combines: an || whose right side shuffles would not.
Expr combined_in_warp(const Statement& statement, Expr value) {
  for (int distance = statement.combined_lanes / 2; distance > 0; distance /= 2)
    value = let(value, [&](const Expr& mine) {
      Expr shuffled = ir::Call::make(mine.type(), "tc_shuffle_xor", {mine, distance}, ir::Call::Extern);
      return let(shuffled, [&](const Expr& other) { return combine(statement.op, mine, other); });
    });
  return value;
}

/// Is the thread the first of those that combine their values?
Expr is_first_lane(const Place& place) {
  Bounded at = raise_integer(place.site.iterators.at(place.statement.combined_iterator), place.environment);
  Bounded lane = modulo(at, exactly(place.statement.combined_lanes));
  return ir::EQ::make(lane.expr, ir::make_zero(lane.expr.type()));
}

/// The write of \p value, of the instances of the lanes, to the elements \p at of \p target.
Stmt write_value(const Place& place, const Tensor& target, const Bounded& at, Expr value, const Lanes& lanes) {
  const Statement& statement = place.statement;
  bool one_element = at.expr.type().is_scalar();
  if (one_element && lanes.count > 1 && statement.accumulates) {
    value = combined(statement, target, value, lanes);
  } else if (one_element && value.type().is_vector()) {
    throw InternalError(str("statement ", statement.id, " writes one element in several lanes of a vector"));
  }
  if (statement.combined_iterator >= 0) {
    auto name = value_name("combined");
    Expr all = combined_in_warp(statement, value);
    value = ir::Variable::make(all.type(), name);
    if (statement.accumulates) value = combine(statement.op, load(target, at, lanes), value);
    Stmt write = store(target, at, value, lanes);
    if (!statement.combined_in_all) write = ir::IfThenElse::make(is_first_lane(place), write);
    return ir::LetStmt::make(name, all, write);
  }
  if (statement.accumulates) {
    Expr old = load(target, at, one_element ? Lanes() : lanes);
    match_lanes(old, value);
    value = combine(statement.op, old, value);
  }
  const Tensor words = moves_bits(place, target) ? as_words(target) : target;
  if (statement.asynchronous) return begin_copy(words, at, value, one_element ? Lanes() : lanes);
  return store(words, at, value, one_element ? Lanes() : lanes);
}

/// \p body, in which \p names have their values.
Stmt with_names(const std::vector<std::pair<std::string, Expr>>& names, Stmt body) {
  for (auto name = names.rbegin(); name != names.rend(); ++name)
    body = ir::LetStmt::make(name->first, name->second, body);
  return body;
}

/// \p body in \p loop.
Stmt looped(const RaisedLoop& loop, const Stmt& body) {
  return with_names(loop.names, ir::For::make(loop.name, loop.first.expr, loop.trips.expr, ir::ForType::Serial,
                                              Halide::DeviceAPI::None, body));
}

/// A buffer of \p count elements that hold values for \p target.
Tensor kept_lanes(const Tensor& target, int count) {
  Tensor result;
  result.name = value_name("kept");
  result.type = compute_type(target.type);
  result.min = {0};
  result.extent = {count};
  result.strides = {1};
  result.storage = Tensor::Storage::Local;
  result.padded = true;
  return result;
}

/// The ragged loop of \p raised, in vectors where it has lanes: each lane has a sum of its own, and the sum of these goes to element \p at of
/// \p target, once.
Stmt summed_first(const Place& place, const Tensor& target, const Bounded& at, const Raised& raised) {
  const auto op = place.statement.op;
  const Lanes& running = raised.loop->lanes;
  const Lanes all{running.count, {}, {}};
  const Tensor kept = kept_lanes(target, all.count);
  const Bounded lanes{all.count > 1 ? ir::Ramp::make(0, 1, all.count) : Expr(0), 0, all.count - 1};
  const Expr none = broadcast(identity(op, kept.type), all.count);
  Expr value = broadcast(raised.value, all.count);
  if (running.tail.defined()) value = ir::Select::make(running.tail, value, none);
  const Stmt step = store(kept, lanes, combine(op, load(kept, lanes, all), value), all);
  const Stmt run = looped(*raised.loop, with_names(raised.names, step));
  const Stmt write = write_value(place, target, at, load(kept, lanes, all), all);
  return ir::Allocate::make(kept.name, storage_type(kept.type), Halide::MemoryType::Stack, {Expr(all.count)},
                            ir::const_true(), ir::Block::make({store(kept, lanes, none, all), run, write}));
}

}  // namespace

Stmt raise_body(const polyhedral::Site& site, const polyhedral::Scop& scop, const Program& program,
                const Environment& environment, const Lanes& lanes) {
  const Statement& statement = scop.statement(site.statement);
  Place place{site, scop, statement, environment};
  const auto found = site_address(place, site.write);
  Bounded at = found.at;
  if (const auto* same = at.expr.as<ir::Broadcast>()) at.expr = same->value;
  auto raised = raise_instance(place, program, *found.tensor, lanes);
  if (!statement.write.exact) at = simplified(add(at, raised.offset));
  const bool writes_once = statement.combined_iterator >= 0 || (raised.loop && raised.loop->lanes.count > lanes.count);
  if (raised.loop && writes_once) return summed_first(place, *found.tensor, at, raised);
  const Stmt write = write_value(place, *found.tensor, at, raised.value, raised.loop ? raised.loop->lanes : lanes);
  const Stmt result = with_names(raised.names, write);
  return raised.loop ? looped(*raised.loop, result) : result;
}

}  // namespace tc::halide_bridge
