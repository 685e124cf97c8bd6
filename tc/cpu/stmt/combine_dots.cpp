#include "tc/cpu/stmt/combine_dots.h"

#include <optional>
#include <string>
#include <vector>

#include "tc/halide_bridge/stmt/flatten.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

/// Bytes that one lane of the instruction sums.
constexpr int width = 4;

using Stores = std::vector<const ir::Store*>;

Expr without_casts(Expr e) {
  while (true) {
    if (const auto* call = e.as<ir::Call>(); call && call->is_intrinsic(ir::Call::strict_float))
      e = call->args[0];
    else if (const auto* cast = e.as<ir::Cast>();
             cast && cast->type.bits() == 32 && cast->value.type().bits() == 32 && !cast->value.type().is_float())
      e = cast->value;
    else
      return e;
  }
}

/// A byte that becomes a number of 32 bits: where it is loaded from, for each lane or for all.
struct Factor {
  const ir::Load* load = nullptr;
  Expr start;
  bool broadcast = false;

  bool is_unsigned() const { return load->type.is_uint(); }
};

bool is_byte_load(const ir::Load* load) {
  return load && load->type.bits() == 8 && (load->type.is_int() || load->type.is_uint()) &&
         ir::is_const_one(load->predicate);
}

/// \p e as a byte of every lane, or as bytes \p width apart.
std::optional<Factor> factor(Expr e) {
  bool broadcast = false;
  for (bool changed = true; changed;) {
    changed = false;
    if (const auto* cast = e.as<ir::Cast>(); cast && cast->type.bits() == 32 && cast->type.is_int())
      e = cast->value, changed = true;
    if (const auto* same = e.as<ir::Broadcast>(); same && same->value.type().is_scalar())
      e = same->value, broadcast = changed = true;
  }
  const auto* load = e.as<ir::Load>();
  if (!is_byte_load(load)) return std::nullopt;
  if (broadcast) return load->type.is_scalar() ? std::optional(Factor{load, load->index, true}) : std::nullopt;
  const auto* ramp = load->index.as<ir::Ramp>();
  if (!ramp || !ramp->base.type().is_scalar() || !ir::is_const(ramp->stride, width)) return std::nullopt;
  return Factor{load, ramp->base, false};
}

/// The two factors that \p store adds to what it overwrites.
struct Term {
  Factor a, b;
};

std::optional<Term> term(const ir::Store* store) {
  if (!ir::is_const_one(store->predicate) || store->value.type().element_of() != Halide::Int(32)) return std::nullopt;
  const auto* sum = without_casts(store->value).as<ir::Add>();
  if (!sum) return std::nullopt;
  Expr old = without_casts(sum->a), product = without_casts(sum->b);
  const auto* load = old.as<ir::Load>();
  const auto* times = product.as<ir::Mul>();
  if (!load || !times || load->name != store->name || !ir::equal(load->index, store->index)) return std::nullopt;
  auto a = factor(times->a), b = factor(times->b);
  if (!a || !b || a->is_unsigned() == b->is_unsigned() || a->broadcast == b->broadcast) return std::nullopt;
  if (a->load->name == store->name || b->load->name == store->name) return std::nullopt;
  return Term{*a, *b};
}

bool follows(const Expr& place, const Expr& first, int distance) {
  return ir::is_const(ir::simplify(place - first), distance);
}

bool follows(const Factor& factor, const Factor& first, int distance) {
  return factor.load->name == first.load->name && factor.load->type == first.load->type &&
         factor.broadcast == first.broadcast && follows(factor.start, first.start, distance);
}

/// The bytes of \p first and its followers, for \p lanes lanes.
Expr bytes(const Factor& first, int lanes) {
  auto dense = [&](int count) {
    Expr index = ir::Ramp::make(first.start, 1, count);
    auto type = first.load->type.with_lanes(count);
    return ir::Load::make(type, first.load->name, index, first.load->image, first.load->param, ir::const_true(count),
                          ir::ModulusRemainder());
  };
  if (!first.broadcast) return dense(width * lanes);
  Expr word = Halide::reinterpret(Halide::Int(32), dense(width));
  return Halide::reinterpret(first.load->type.with_lanes(width * lanes), ir::Broadcast::make(word, lanes));
}

/// The dot product of \p stores, if they are one.
Stmt dot(const Stores& stores) {
  auto first = term(stores[0]);
  if (!first) return {};
  for (int i = 1; i < width; ++i) {
    auto next = term(stores[i]);
    bool same = next && stores[i]->name == stores[0]->name && ir::equal(stores[i]->index, stores[0]->index);
    if (!same || !follows(next->a, first->a, i) || !follows(next->b, first->b, i)) return {};
  }
  auto type = stores[0]->value.type();
  if (type.is_scalar()) return {};
  const auto& a = first->a.is_unsigned() ? first->a : first->b;
  const auto& b = first->a.is_unsigned() ? first->b : first->a;
  Expr old = ir::Load::make(type, stores[0]->name, stores[0]->index, Halide::Buffer<>(), stores[0]->param,
                            ir::const_true(type.lanes()), stores[0]->alignment);
  Expr value = ir::Call::make(type, "tc_dot_u8s8_i32", {old, bytes(a, type.lanes()), bytes(b, type.lanes())},
                              ir::Call::PureExtern);
  return ir::Store::make(stores[0]->name, value, stores[0]->index, stores[0]->param, stores[0]->predicate,
                         stores[0]->alignment);
}

bool reads(const Expr& value, const std::string& buffer) {
  struct Finder : ir::IRVisitor {
    using ir::IRVisitor::visit;
    const std::string* name = nullptr;
    bool found = false;
    void visit(const ir::Load* op) override {
      found = found || op->name == *name;
      ir::IRVisitor::visit(op);
    }
  } finder;
  finder.name = &buffer;
  value.accept(&finder);
  return finder.found;
}

/// How many values of the width of those in \p store make 32 bits; 0: they are no bytes or words.
int columns_of(const ir::Store* store) {
  int bits = store->value.type().bits();
  return bits == 8 || bits == 16 ? 32 / bits : 0;
}

/// One store of the columns that \p stores write side by side, if they do.
Stmt interleaved(const Stores& stores) {
  const auto* first = stores[0]->index.as<ir::Ramp>();
  int count = columns_of(stores[0]);
  if (!first || !first->base.type().is_scalar() || count == 0 || !ir::is_const(first->stride, count) ||
      static_cast<int>(stores.size()) < count)
    return {};
  std::vector<Expr> columns;
  for (int i = 0; i < count; ++i) {
    const auto* ramp = stores[i]->index.as<ir::Ramp>();
    bool same =
        ramp && stores[i]->name == stores[0]->name && ramp->lanes == first->lanes && ir::is_const(ramp->stride, count);
    if (!same || !ir::is_const_one(stores[i]->predicate) || reads(stores[i]->value, stores[0]->name)) return {};
    if (stores[i]->value.type() != stores[0]->value.type() || !follows(ramp->base, first->base, i)) return {};
    columns.push_back(stores[i]->value);
  }
  int lanes = count * first->lanes;
  return ir::Store::make(stores[0]->name, ir::Shuffle::make_interleave(columns), ir::Ramp::make(first->base, 1, lanes),
                         stores[0]->param, ir::const_true(lanes), ir::ModulusRemainder());
}

class Combine : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;

  Stmt visit(const ir::Block* op) override {
    std::vector<Stmt> parts, result;
    halide_bridge::flatten(op, parts);
    for (std::size_t i = 0; i < parts.size();) {
      auto stores = stores_from(parts, i);
      Stmt sum = stores.size() < width ? Stmt() : dot(stores),
           columns = sum.defined() || stores.empty() ? Stmt() : interleaved(stores);
      result.push_back(sum.defined() ? sum : columns.defined() ? columns : mutate(parts[i]));
      i += sum.defined() ? width : columns.defined() ? columns_of(stores[0]) : 1;
    }
    return ir::Block::make(result);
  }

  /// The next stores, up to \p width.
  static Stores stores_from(const std::vector<Stmt>& parts, std::size_t first) {
    Stores stores;
    for (std::size_t i = first; i < parts.size() && i < first + width; ++i) {
      const auto* store = parts[i].as<ir::Store>();
      if (!store) break;
      stores.push_back(store);
    }
    return stores;
  }
};

}  // namespace

Stmt combine_dots(const Stmt& body) { return Combine().mutate(body); }

}  // namespace tc::cpu
