#include "tc/cpu/stmt/jam_ragged_loops.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// Results in registers: half of the vector registers of the narrowest processor.
constexpr std::int64_t most_jammed = 8;

/// Puts another element in the place of one, and notes whether other elements of its tensor are read.
class ReplaceElement : public ir::IRMutator {
 public:
  ReplaceElement(const ir::Store& element, Expr value) : element_(element), value_(std::move(value)) {}
  bool reads_others = false, reads_it = false;

 private:
  using ir::IRMutator::visit;
  Expr visit(const ir::Load* op) override {
    if (op->name != element_.name) return ir::IRMutator::visit(op);
    const bool is_it = ir::is_const_one(op->predicate) && ir::equal(op->index, element_.index);
    (is_it ? reads_it : reads_others) = true;
    return is_it ? value_ : Expr(op);
  }
  const ir::Store& element_;
  const Expr value_;
};

/// A loop around a ragged loop.
struct RaggedNest {
  const ir::Store* first = nullptr;  ///< before the ragged loop, to the same place; null: none
  std::vector<const ir::LetStmt*> names;
  const ir::For* inner = nullptr;
  const ir::Store* store = nullptr;
};

/// \p index one iteration later is how far off? Nothing where that is no number.
std::optional<std::int64_t> step_of(const Expr& index, const std::string& loop) {
  const auto* ramp = index.as<ir::Ramp>();
  if (ramp && !ir::is_const_one(ramp->stride)) return std::nullopt;
  const Expr base = ramp ? ramp->base : index;
  const Expr next = ir::substitute(loop, ir::Variable::make(Halide::Int(32), loop) + 1, base);
  const Expr step = ir::simplify(next - base);
  const auto* number = ir::as_const_int(step);
  return number ? std::optional(*number) : std::nullopt;
}

/// Does \p store write its place in all lanes, reading no others of its tensor?
bool is_whole(const ir::Store& store, const ir::Store& place) {
  ReplaceElement reads(place, ir::make_zero(store.value.type()));
  reads.mutate(store.value);
  return ir::is_const_one(store.predicate) && store.name == place.name && ir::equal(store.index, place.index) &&
         !reads.reads_others && (&store == &place || !reads.reads_it);
}

std::optional<RaggedNest> nest_in(const ir::For& loop) {
  RaggedNest result;
  Stmt rest = loop.body;
  if (const auto* block = rest.as<ir::Block>()) {
    result.first = block->first.as<ir::Store>();
    if (!result.first) return std::nullopt;
    rest = block->rest;
  }
  for (const auto* let = rest.as<ir::LetStmt>(); let; let = rest.as<ir::LetStmt>()) {
    if (ir::expr_uses_var(let->value, loop.name)) return std::nullopt;
    result.names.push_back(let);
    rest = let->body;
  }
  result.inner = rest.as<ir::For>();
  result.store = result.inner ? result.inner->body.as<ir::Store>() : nullptr;
  const bool is_ragged = result.store && !result.names.empty() && !ir::as_const_int(result.inner->extent) &&
                         result.inner->for_type == ir::ForType::Serial;
  if (!is_ragged || ir::expr_uses_var(result.inner->min, loop.name) ||
      ir::expr_uses_var(result.inner->extent, loop.name) || ir::expr_uses_var(result.store->index, result.inner->name))
    return std::nullopt;
  const auto step = step_of(result.store->index, loop.name);
  if (!step || *step < result.store->value.type().lanes() || !is_whole(*result.store, *result.store) ||
      (result.first && !is_whole(*result.first, *result.store)))
    return std::nullopt;
  return result;
}

/// \p count iterations of \p loop from \p begin on, jammed.
Stmt jammed(const ir::For& loop, const RaggedNest& nest, const Expr& begin, std::int64_t count) {
  const auto type = nest.store->value.type();
  const std::string kept = ir::unique_name("kept");
  const auto place = [&](std::int64_t i) {
    const Expr at = static_cast<int>(i * type.lanes());
    return type.is_scalar() ? at : ir::Ramp::make(at, 1, type.lanes());
  };
  const Expr always = ir::const_true(type.lanes());
  const auto element = [&](std::int64_t i) { return ir::Load::make(type, kept, place(i), {}, {}, always, {}); };
  const auto at = [&](std::int64_t i, const Expr& expr) {
    return ir::substitute(loop.name, ir::simplify(begin + static_cast<int>(i)), expr);
  };
  std::vector<Stmt> before, inside, after;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& store = *nest.store;
    const Expr first =
        nest.first ? nest.first->value : ir::Load::make(type, store.name, store.index, {}, store.param, always, {});
    before.push_back(ir::Store::make(kept, at(i, first), place(i), {}, always, {}));
    inside.push_back(
        ir::Store::make(kept, at(i, ReplaceElement(store, element(i)).mutate(store.value)), place(i), {}, always, {}));
    after.push_back(
        ir::Store::make(store.name, element(i), at(i, store.index), store.param, store.predicate, store.alignment));
  }
  const auto& inner = *nest.inner;
  Stmt run =
      ir::For::make(inner.name, inner.min, inner.extent, inner.for_type, inner.device_api, ir::Block::make(inside));
  for (auto let = nest.names.rbegin(); let != nest.names.rend(); ++let)
    run = ir::LetStmt::make((*let)->name, (*let)->value, run);
  return ir::Allocate::make(kept, type.element_of(), Halide::MemoryType::Stack,
                            {Expr(static_cast<int>(count * type.lanes()))}, ir::const_true(),
                            ir::Block::make(ir::Block::make(before), ir::Block::make(run, ir::Block::make(after))));
}

class Jam : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;
  Stmt visit(const ir::For* op) override {
    const Stmt inner = ir::IRMutator::visit(op);
    const auto* loop = inner.as<ir::For>();
    const auto* extent = loop && loop->for_type == ir::ForType::Serial && ir::is_const_zero(loop->min)
                             ? ir::as_const_int(loop->extent)
                             : nullptr;
    const auto nest = extent && *extent > 1 ? nest_in(*loop) : std::nullopt;
    return nest ? in_groups(*loop, *nest, *extent) : inner;
  }

  static Stmt in_groups(const ir::For& loop, const RaggedNest& nest, std::int64_t extent) {
    const auto groups = extent / most_jammed, rest = extent % most_jammed;
    std::vector<Stmt> result;
    if (groups > 0) {
      const Expr group = ir::Variable::make(Halide::Int(32), loop.name);
      const Stmt body = jammed(loop, nest, group * static_cast<int>(most_jammed), most_jammed);
      result.push_back(
          ir::For::make(loop.name, 0, static_cast<int>(groups), ir::ForType::Serial, loop.device_api, body));
    }
    if (rest > 0) result.push_back(jammed(loop, nest, static_cast<int>(groups * most_jammed), rest));
    return ir::Block::make(result);
  }
};

}  // namespace

Stmt jam_ragged_loops(const Stmt& body) { return Jam().mutate(body); }

}  // namespace tc::cpu
