#include "tc/cpu/stmt/match_tiles.h"

#include <vector>

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

Expr without_casts(Expr e) {
  while (true) {
    const auto* call = e.as<ir::Call>();
    const auto* cast = e.as<ir::Cast>();
    if (call && call->is_intrinsic(ir::Call::strict_float))
      e = call->args[0];
    else if (cast && cast->type.bits() == 32 && cast->value.type().bits() == 32 && !cast->value.type().is_float() &&
             !cast->type.is_float())
      e = cast->value;
    else
      return e;
  }
}

/// The load of a bfloat16 that \p e widens to a float32, or of a byte it widens to an int32.
const ir::Load* widened(const Expr& e) {
  const auto* call = e.as<ir::Call>();
  if (call && call->name == "tc_from_bfloat_f32") return call->args[0].as<ir::Load>();
  const auto* cast = without_casts(e).as<ir::Cast>();
  bool byte = cast && cast->type == Halide::Int(32) && cast->value.type().bits() == 8 && !cast->value.type().is_float();
  return byte ? cast->value.as<ir::Load>() : nullptr;
}

struct Loop {
  std::string name;
  Expr extent;
};

/// The loops of a nest, the store in it and its two factors.
struct Nest {
  std::vector<Loop> loops;
  const ir::Store* store = nullptr;
  const ir::Load *first = nullptr, *second = nullptr;
};

std::optional<Nest> nest_of(const Stmt& stmt) {
  Nest nest;
  Stmt inner = stmt;
  while (const auto* loop = inner.as<ir::For>()) {
    if (loop->for_type != ir::ForType::Serial || !ir::is_const_zero(loop->min)) return std::nullopt;
    nest.loops.push_back({loop->name, loop->extent});
    inner = loop->body;
  }
  nest.store = inner.as<ir::Store>();
  if (!nest.store || nest.loops.empty() || !nest.store->value.type().is_scalar() ||
      !ir::is_const_one(nest.store->predicate))
    return std::nullopt;
  const auto* sum = without_casts(nest.store->value).as<ir::Add>();
  if (!sum) return std::nullopt;
  Expr before = without_casts(sum->a), product = without_casts(sum->b);
  const auto* old = before.as<ir::Load>();
  const auto* times = product.as<ir::Mul>();
  if (!old || !times || old->name != nest.store->name || !ir::equal(old->index, nest.store->index)) return std::nullopt;
  nest.first = widened(times->a);
  nest.second = widened(times->b);
  bool loads =
      nest.first && nest.second && nest.first->name != nest.store->name && nest.second->name != nest.store->name;
  if (!loads || nest.first->type.bits() != nest.second->type.bits()) return std::nullopt;
  return nest;
}

Expr variable(const std::string& name) { return ir::Variable::make(Halide::Int(32), name); }

/// Elements from \p index at one iteration of \p loop to that at the next, where that is a constant.
std::optional<std::int64_t> stride(const Expr& index, const Loop& loop) {
  Expr step = ir::simplify(ir::substitute(loop.name, variable(loop.name) + 1, index) - index);
  const auto* number = ir::as_const_int(step);
  return number ? std::optional(*number) : std::nullopt;
}

/// Elements from \p index at iteration 0 of \p loop to that at iteration \p trip.
std::optional<std::int64_t> distance(const Expr& index, const Loop& loop, int trip) {
  Expr way = ir::simplify(ir::substitute(loop.name, trip, index) - ir::substitute(loop.name, 0, index));
  const auto* number = ir::as_const_int(way);
  return number ? std::optional(*number) : std::nullopt;
}

bool moves(const Expr& index, const Loop& loop) {
  return ir::expr_uses_var(index, loop.name) && stride(index, loop) != 0;
}

/// Tells apart the loops of a nest and checks how the factors lie.
class Matcher {
 public:
  explicit Matcher(const Nest& nest) : nest_(nest) {
    product_.a = matrix(nest.first->name, nest.first->type, nest.first->index);
    product_.b = matrix(nest.second->name, nest.second->type, nest.second->index);
    product_.c = matrix(nest.store->name, nest.store->value.type(), nest.store->index);
    product_.rows = product_.columns = 1;
    product_.width = 32 / nest.first->type.bits();
  }

  std::optional<TileProduct> run() {
    if (!find_loops() || !rows_lie_well() || !columns_lie_well() || !steps_lie_well()) return std::nullopt;
    for (auto* matrix : {&product_.a, &product_.b, &product_.c})
      for (const auto& loop : nest_.loops) matrix->base = ir::simplify(ir::substitute(loop.name, 0, matrix->base));
    return product_;
  }

 private:
  const Nest& nest_;
  TileProduct product_;
  const Loop *rows_ = nullptr, *columns_ = nullptr, *steps_ = nullptr;

  static TileMatrix matrix(const std::string& buffer, const Halide::Type& type, const Expr& index) {
    return {buffer, type, index, 0};
  }

  static bool take(const Loop*& place, const Loop& loop) {
    if (place) return false;
    place = &loop;
    return true;
  }

  /// A loop of rows moves one factor and the sum, one of columns the other factor and the sum, one of steps both
  /// factors.
  bool find_loops() {
    for (const auto& loop : nest_.loops) {
      bool a = moves(product_.a.base, loop), b = moves(product_.b.base, loop), c = moves(product_.c.base, loop);
      if (!c && a && b ? !take(steps_, loop) : c && a != b ? !take(a ? rows_ : columns_, loop) : true) return false;
    }
    bool swapped = (columns_ && stride(product_.c.base, *columns_) != 1) ||
                   (!columns_ && rows_ && stride(product_.c.base, *rows_) == 1);
    if (swapped) {
      std::swap(rows_, columns_);
      std::swap(product_.a, product_.b);
    }
    return true;
  }

  bool rows_lie_well() {
    product_.a.row = product_.width;
    product_.c.row = 1;
    if (!rows_) return true;
    auto a = stride(product_.a.base, *rows_), c = stride(product_.c.base, *rows_);
    if (!a || !c) return false;
    product_.a.row = *a;
    product_.c.row = *c;
    product_.rows = rows_->extent;
    return true;
  }

  bool columns_lie_well() {
    if (!columns_) return true;
    product_.columns = columns_->extent;
    return stride(product_.b.base, *columns_) == product_.width && stride(product_.c.base, *columns_) == 1;
  }

  bool steps_lie_well() {
    product_.b.row = row_bytes;
    if (!steps_) return true;
    const auto* count = ir::as_const_int(steps_->extent);
    if (!count || *count > row_bytes * 8 / product_.a.type.bits()) return false;
    product_.steps = static_cast<int>(*count);
    int width = product_.width;
    if (product_.steps > width) {
      auto row = distance(product_.b.base, *steps_, width);
      if (!row) return false;
      product_.b.row = *row;
    }
    for (int q = 1; q < product_.steps; ++q) {
      if (distance(product_.a.base, *steps_, q) != q) return false;
      if (distance(product_.b.base, *steps_, q) != q / width * product_.b.row + q % width) return false;
    }
    return true;
  }
};

}  // namespace

std::optional<TileProduct> match_tile_product(const Stmt& nest) {
  auto found = nest_of(nest);
  return found ? Matcher(*found).run() : std::nullopt;
}

}  // namespace tc::cpu
