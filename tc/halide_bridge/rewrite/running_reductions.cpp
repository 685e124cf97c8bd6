#include "tc/halide_bridge/rewrite/running_reductions.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/lower/builtin_calls.h"
#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/iterator_order.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Kind = ProgramStatement::Kind;

/// Values of an iterator from which on as many steps that wait for each other, some 4 cycles each, take less time than the square of
/// them in vectors of 16: an estimate, 4 n < n^2 / 16.
constexpr std::int64_t least_terms = 64;

/// a op b in their type; integers wrap.
Expr joined(ReductionOp op, const Expr& a, const Expr& b) {
  const auto type = a.type();
  const auto wrapping = [&](const auto& make) {
    if (type.is_float()) return make(a, b);
    const auto bits = Halide::UInt(type.bits());
    return ir::Cast::make(type, make(ir::Cast::make(bits, a), ir::Cast::make(bits, b)));
  };
  switch (op) {
    case ReductionOp::Sum:
      return wrapping(ir::Add::make);
    case ReductionOp::Product:
      return wrapping(ir::Mul::make);
    case ReductionOp::Min:
      return type.is_float() ? float_call("min", {a, b}) : ir::Min::make(a, b);
    case ReductionOp::Max:
      return type.is_float() ? float_call("max", {a, b}) : ir::Max::make(a, b);
    case ReductionOp::And:
      return ir::And::make(a, b);
    case ReductionOp::Or:
      return ir::Or::make(a, b);
  }
  throw InternalError("running_reductions: an unknown operator");
}

/// A reduction over the terms k <= i + offset, or, \p falls, over the terms k >= i + offset.
struct Running {
  std::string index, term;  ///< i and k
  std::int64_t offset = 0;
  bool falls = false;
  lang::IntegerRange results, terms;  ///< the values of i and of k
  Expr value, identity;               ///< of one term
};

class Recogniser {
 public:
  explicit Recogniser(const ProgramStatement& update) : update_(update) {}

  std::optional<Running> run() const {
    const auto parts = guarded_update(update_);
    const auto k = reduced();
    if (!parts || !k || !update_.loops.empty()) return std::nullopt;
    for (std::size_t c = 0; c < parts->conditions.size(); ++c) {
      const auto order = iterator_order(parts->conditions[c]);
      if (!order || (order->smaller != *k && order->larger != *k)) continue;
      const bool falls = order->larger == *k;
      Running running{falls ? order->smaller : order->larger,
                      *k,
                      falls ? -order->offset : order->offset,
                      falls,
                      {},
                      {},
                      parts->value,
                      parts->identity};
      if (!contains(left(), running.index)) continue;
      running.results = range_of(running.index);
      running.terms = range_of(*k);
      auto others = parts->conditions;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(c));
      if (!others.empty()) running.value = if_then_else(all_of(others), running.value, running.identity);
      if (begins_alone(running) && !ir::expr_uses_var(running.value, running.index)) return running;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const Expr& subscript : update_.subscripts)
      if (const auto* variable = subscript.as<ir::Variable>()) names.push_back(variable->name);
    return names;
  }
  /// The only iterator that is not on the left, where all subscripts are iterators.
  std::optional<std::string> reduced() const {
    const auto written = left();
    if (written.size() != update_.subscripts.size() || written.size() + 1 != update_.iterators.size())
      return std::nullopt;
    for (const auto& name : update_.iterators)
      if (!contains(written, name)) return name;
    return std::nullopt;
  }
  lang::IntegerRange range_of(const std::string& iterator) const {
    const auto at = std::find(update_.iterators.begin(), update_.iterators.end(), iterator);
    return update_.domain[static_cast<std::size_t>(at - update_.iterators.begin())];
  }
  /// Has the first result at most one term, and are there enough of both? Of terms from an index on, the last result is the
  /// first, so that no symbolic size may decide which one that is.
  bool begins_alone(const Running& running) const {
    const auto &results = running.results, &terms = running.terms;
    if (running.falls && !conditions_of({running.index, running.term}, update_.conditions).empty()) return false;
    if (results.extent < least_terms || terms.extent < least_terms) return false;
    const auto first = (running.falls ? results.min + results.extent - 1 : results.min) + running.offset;
    return running.falls ? first >= terms.min + terms.extent - 1 : first <= terms.min;
  }

  const ProgramStatement& update_;
};

std::vector<std::string> others(std::vector<std::string> iterators, const std::string& without) {
  std::erase(iterators, without);
  return iterators;
}

/// The statement of the loop over i that \p running is, in place of \p update.
ProgramStatement in_order(const ProgramStatement& update, const Running& running, int loop) {
  const auto& results = running.results;
  const Expr step = ir::Variable::make(Halide::Int(64), running.index);
  const Expr last_result = index_value(results.min + results.extent - 1);
  const Expr at = running.falls ? ir::Sub::make(last_result, ir::Sub::make(step, index_value(results.min))) : step;
  const Expr before = running.falls ? ir::Add::make(at, index_value(1)) : ir::Sub::make(at, index_value(1));
  ProgramStatement result = update;
  result.kind = Kind::Assign;
  result.loops = {{loop, running.index}};
  result.conditions = conditions_of(others(update.iterators, running.term), update.conditions);
  const auto k = std::find(result.iterators.begin(), result.iterators.end(), running.term);
  result.domain.erase(result.domain.begin() + (k - result.iterators.begin()));
  result.iterators.erase(k);
  std::vector<Expr> earlier = update.subscripts;
  for (std::size_t d = 0; d < earlier.size(); ++d)
    if (is_iterator(earlier[d], running.index)) {
      earlier[d] = before;
      result.subscripts[d] = at;
    }
  const auto type = running.identity.type();
  const Expr carried = if_then_else(ir::LE::make(index_value(results.min + 1), step),
                                    element_read(type, update.target, earlier), running.identity);
  const Expr term_index = running.offset == 0 ? at : ir::Add::make(at, index_value(running.offset));
  Expr term = replaced(running.value, {{running.term, term_index}});
  const auto low = results.min + running.offset, high = low + results.extent - 1;
  const Expr first = index_value(running.terms.min), last = index_value(running.terms.min + running.terms.extent - 1);
  std::vector<Expr> inside;
  if (low < running.terms.min) inside.push_back(ir::LE::make(first, term_index));
  if (high > running.terms.min + running.terms.extent - 1) inside.push_back(ir::LE::make(term_index, last));
  for (const Expr& condition : conditions_of({running.term}, update.conditions)) {
    const Expr is_term = replaced(condition, {{running.term, term_index}});
    const auto is_known = [&](const Expr& known) { return ir::equal(known, is_term); };
    if (std::none_of(result.conditions.begin(), result.conditions.end(), is_known)) inside.push_back(is_term);
  }
  if (!inside.empty()) term = if_then_else(all_of(inside), term, running.identity);
  result.value = joined(update.op, carried, term);
  return result;
}

bool initialises(const ProgramStatement& statement, const ProgramStatement& update) {
  return statement.kind == Kind::Init && statement.target == update.target && statement.op == update.op &&
         statement.loops.empty();
}

/// How many statements of \p program write \p tensor.
std::ptrdiff_t writers(const Program& program, const std::string& tensor) {
  std::ptrdiff_t count = 0;
  for (const auto& launch : program.launches)
    count += std::count_if(launch.statements.begin(), launch.statements.end(),
                           [&](const ProgramStatement& statement) { return statement.target == tensor; });
  return count;
}

}  // namespace

Program running_reductions(const Program& program) {
  Program result = program;
  int loops = 0, count = 0;
  for (const auto& launch : program.launches)
    for (const auto& statement : launch.statements)
      for (const auto& loop : statement.loops) loops = std::max(loops, loop.id + 1);
  for (auto& launch : result.launches) {
    std::vector<ProgramStatement> made;
    for (auto& statement : launch.statements) {
      const bool is_new = !made.empty() && initialises(made.back(), statement);
      const auto running = is_new ? Recogniser(statement).run() : std::nullopt;
      if (running) result.running.insert(statement.target);
      if (running)
        made.back() = in_order(statement, *running, loops++);
      else
        made.push_back(std::move(statement));
    }
    launch.statements = std::move(made);
    for (auto& statement : launch.statements) statement.id = str("S", count++);
  }
  std::erase_if(result.running, [&](const std::string& tensor) { return writers(result, tensor) > 1; });
  return result;
}

}  // namespace tc::halide_bridge
